"""Writing a stream's rows as frames: into anything that takes bytes (`FrameWriter`), or into a file (`MazeWriter`).

Invariants. Rows are read from the stream by whole frames, one or, where it carves many at once, several; their planes
go out as they are. A frame that is not full waits in memory until it is, or until the end: so the bytes do not
depend on how many rows were asked for at a time. The state for a checkpoint is taken as soon as the
stream stands where the checkpoint will, before anyone can finalize it there. After a write that failed, every
later one fails too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from ..ahead import ahead, rows_at_once
from ..block import Block, joined
from ..errors import StoreError
from ..frames import (
    MAX_ROWS_PER_FRAME,
    Checkpoint,
    End,
    Header,
    Rows,
    default_max_frame,
    encode_checkpoint,
    encode_end,
    encode_header,
    encode_rows,
    rows_frame_size,
)
from .behind import Behind
from .output import Output, WholeOrNot, write_all
from .part import PartFile, open_output
from .resume import first_stream, is_complete, kept_of

if TYPE_CHECKING:
    from typing import Self

    from ..frames import Buffer
    from ..spec import MazeSpec
    from ..stream import RowStream
    from .output import StandardOutput
    from .resume import Kept

_LARGE_FRAME = 2**16


class FrameWriter:
    """Writes a stream's rows as frames: the header at once, then rows as asked for, at last the end.

    Large frames are checksummed and written on a thread of its own while the next ones are carved; an error of that
    comes out with the next full frame, of `wait` or of `finish`.

    out             takes the bytes; it is neither flushed nor closed
    stream          gives the rows, from where it stands; rows that anyone else takes from it are an error
    rows_per_frame  R, None for the default of the width
    kept            what `out` holds already, up to the stream's row; None for nothing, not even a header

    Raises StoreError for frames larger than a reader takes, and what `out` and the stream raise.
    """

    def __init__(
        self, out: Output, stream: RowStream, *, rows_per_frame: int | None = None, kept: Kept | None = None
    ) -> None:
        self.header = kept.header if kept else _header(stream.spec, stream.position, rows_per_frame)
        self._out = out
        self.stream = stream
        self._at_once = rows_at_once(stream)
        self._next_frame = stream.position
        self._pending: list[Block] = []
        self._checkpoint: Checkpoint | None = None
        self._over = self._last = False
        self._failed = self._closed = False
        self._bytes = kept.size if kept else 0
        self._behind: Behind | None = None
        if kept is None:
            with self._all_or_never():
                self._put(encode_header(self.header))

    @property
    def rows(self) -> int:
        """Rows taken from the stream; those of a frame that is not full are not written yet."""
        return self._row - self.header.first_row

    @property
    def bytes_written(self) -> int:
        """Bytes of all that is written whole."""
        return self._bytes

    @property
    def finished(self) -> bool:
        """Whether the maze's last row was taken."""
        return self._last

    def write(self, rows: int) -> int:
        """Take `rows` rows from the stream, fewer at the end of the maze, and return how many.

        Raises StoreError after `finish` and after a write that failed.
        """
        self._check_usable()
        if rows < 0:
            raise StoreError(f"the number of rows to write is 0 or more, not {rows}")
        before = self._row
        while self._row < before + rows and not self._over:
            self._write_full_frames()
            self._take(before + rows - self._row)
            self._write_full_frames()
        return self._row - before

    def finish(self) -> None:
        """Write the rows of the frame that is not full, and the end frame. Doing it again does nothing."""
        if self._closed:
            return
        self._check_usable()
        self._write_frames()
        with self._all_or_never():
            self.wait()
            self._put(encode_end(End(self.rows, self._last)))
            self._closed = True
        self._behind = None

    def wait(self) -> None:
        """Wait until every frame that is full has been written; raise what that raises."""
        if self._behind is not None:
            try:
                self._behind.wait()
            except Exception:
                self._failed = True
                raise

    @property
    def _row(self) -> int:
        """Index of the row to come."""
        return self._pending[-1].stop if self._pending else self._next_frame

    def _check_usable(self) -> None:
        if self._failed:
            raise StoreError("a write failed before, so nothing more can be written")
        if self._closed:
            raise StoreError("the end frame is written, so nothing more can be")

    def _take(self, rows: int) -> None:
        """Take one block of at most `rows` rows from the stream, up to the end of a frame."""
        if self._over:
            return
        block = self.stream.read(min(rows, self._rows_due(min(rows, self._at_once))))
        if block.start != self._row:
            raise StoreError(f"the stream gave row {block.start} where row {self._row} was expected")
        if len(block):
            self._pending.append(block)
        else:
            self._over = True

    def _rows_due(self, most: int) -> int:
        """Return the rows to the end of the frame and, if none of it waits, of the last frame that `most` rows fill."""
        due = self.header.rows_due(self._row)
        if self._pending or self.header.checkpoint_every or most <= due:
            return due
        return due + (most - due) // self.header.rows_per_frame * self.header.rows_per_frame

    def _look_at_state(self) -> None:
        """Take the state for the next frame's checkpoint, if it has one and the stream stands there."""
        if self._checkpoint is None and self.header.checkpoint_due(self._row):
            self._checkpoint = Checkpoint(self._row, self.stream.snapshot())

    def _write_full_frames(self) -> None:
        if self._pending and (
            self._pending[-1].ends_at(self.stream.height) or self._row % self.header.rows_per_frame == 0
        ):
            self._write_frames()
        if not self._over:
            self._look_at_state()

    def _write_frames(self) -> None:
        """Write the rows that wait, if any, as frames, behind the checkpoint that is due."""
        if not self._pending:
            return
        block = joined(self._pending)
        with self._all_or_never():
            self._hand_over(partial(self._put_frames, self._checkpoint, block), block.nbytes)
            self._next_frame, self._pending, self._checkpoint = block.stop, [], None
            self._over = self._last = block.ends_at(self.stream.height)

    def _hand_over(self, job: Callable[[], None], size: int) -> None:
        """Do the job, behind the caller's back if it is large enough for that to pay."""
        if size < _LARGE_FRAME:
            self.wait()
            job()
        else:
            self._behind = self._behind or Behind()
            self._behind.do(job)

    def _put_frames(self, checkpoint: Checkpoint | None, block: Block) -> None:
        if checkpoint is not None:
            self._put(encode_checkpoint(checkpoint))
        for frame in self.header.frames(block):
            self._put(encode_rows(Rows(frame, frame.ends_at(self.stream.height))))

    @contextmanager
    def _all_or_never(self) -> Iterator[None]:
        """Whatever goes wrong in the body, an interrupt too, makes this the last write."""
        self._failed = True
        yield
        self._failed = False

    def _put(self, pieces: list[Buffer]) -> None:
        write_all(self._out, *pieces)
        self._bytes += sum(map(len, pieces))


class MazeWriter(WholeOrNot):
    """Writes a stream's rows into a file; use it in a `with` statement.

    When the `with` body ends well, or `close` is called, the file gets its end frame and takes its name, as a
    `PartFile` does. When the body or a write fails, `path` stays as it was and the .part stays with what was written.

    path            the file to make; "-" for standard output
    stream          gives the rows, from where it stands
    force           replace `path` and a .part that exist
    rows_per_frame  R, None for the default of the width

    Raises StoreError for a file or .part that exists (without force), for a `path` that is no regular file, and
    for frames larger than a reader takes; OSError for what the operating system refuses.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        stream: RowStream,
        *,
        force: bool = False,
        rows_per_frame: int | None = None,
    ) -> None:
        _header(stream.spec, stream.position, rows_per_frame)
        self._begin(open_output(path, force=force))
        try:
            self._frames = FrameWriter(self._output, stream, rows_per_frame=rows_per_frame)
        except BaseException:
            self._output.remove()
            raise

    def _begin(self, output: PartFile | StandardOutput) -> None:
        self._output = output
        self._abandoned = False

    @classmethod
    def resume(
        cls, path: str | os.PathLike[str], spec: MazeSpec, *, rows_per_frame: int | None = None, workers: int = 1
    ) -> Self:
        """Go on with a file that was broken off, to the same bytes that an undisturbed run gives.

        What stands at `path` + ".part", or else at `path`, loses a merging last row and all that is not whole, and is
        written on from the last multiple of R; `stream` gives the rows from there. Where nothing stands, or not even a
        header, it begins anew, with `rows_per_frame`. A file that was fetched from row > 0 goes on as such. So many
        `workers` carve the rows.

        Raises StoreError if the file holds another maze (naming the difference), is complete, or is being written;
        FormatError if it holds none; StreamError if there are neither key rows nor a checkpoint within reach.
        """
        file = PartFile.reopen(path)
        if file is None:
            return cls(path, ahead(first_stream(spec), workers), rows_per_frame=rows_per_frame)
        try:
            kept = kept_of(file, spec, file.stands_as)
            if not file.is_part and is_complete(path, spec):
                raise StoreError(f"{path}: it is complete already, with {spec.height} rows")
            stream = ahead(kept.stream() if kept else first_stream(spec), workers)
            file.go_back(kept.size if kept else 0)
            writer = cls.__new__(cls)
            writer._begin(file)
            writer._frames = FrameWriter(file, stream, rows_per_frame=rows_per_frame, kept=kept)
        except BaseException:
            file.abandon()
            raise
        return writer

    @property
    def stream(self) -> RowStream:
        """The stream that gives the rows."""
        return self._frames.stream

    @property
    def header(self) -> Header:
        """The file's header."""
        return self._frames.header

    @property
    def rows(self) -> int:
        """Rows taken from the stream so far."""
        return self._frames.rows

    @property
    def bytes_written(self) -> int:
        """Bytes written so far."""
        return self._frames.bytes_written

    @property
    def finished(self) -> bool:
        """Whether the maze's last row was taken."""
        return self._frames.finished

    def write(self, rows: int) -> int:
        """Take `rows` rows from the stream, fewer at the end of the maze, and return how many.

        Raises StoreError when the file is closed or a write failed before, OSError when one fails now.
        """
        if self._abandoned:
            raise StoreError("the file was given up, so nothing more can be written")
        return self._frames.write(rows)

    def close(self) -> None:
        """Write the end frame and give the file its name. Doing it again does nothing.

        Raises StoreError if a write failed before, the file was abandoned, or one of that name appeared meanwhile.
        """
        try:
            self._frames.finish()
        except BaseException:
            self.abandon()
            raise
        self._output.close()

    def abandon(self) -> None:
        """Close the .part as it is, without an end; `path` stays as it was."""
        self._abandoned = True
        if isinstance(self._output, PartFile):  # a pipe may keep a write waiting for ever, a file does not
            with suppress(Exception):
                self._frames.wait()
        self._output.abandon()


def _header(spec: MazeSpec, first_row: int, rows: int | None) -> Header:
    """Return the header to write; StoreError if readers would refuse its frames."""
    header = Header.of(spec, first_row, rows)
    most = default_max_frame(spec.width)
    if not 1 <= header.rows_per_frame <= MAX_ROWS_PER_FRAME:
        raise StoreError(f"rows_per_frame is from 1 to {MAX_ROWS_PER_FRAME}, not {rows}")
    size = rows_frame_size(spec.width, header.rows_per_frame, floor=True)
    if size > most:
        raise StoreError(f"rows_per_frame {rows} makes frames of up to {size} bytes, readers take {most}")
    return header
