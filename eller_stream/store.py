"""Maze files: writing a stream into one, and reading it again in bounded memory.

`FrameWriter` puts a stream's rows as frames into anything that can be written to; `MazeWriter` makes a file of
them; `read_events` takes frames from anything that can be read, and `MazeFile` gives a file's rows.

Invariants. Rows are read from the stream frame by frame, so a frame is normally one block, and its planes
go out as they are. A frame that is not full waits in memory until it is, or until the end: so the bytes do not
depend on how many rows were asked for at a time. The state for a checkpoint is taken as soon as the
stream stands where the checkpoint will, before anyone can finalize it there. A file is written under the name
`.part` and takes its own name when it is complete and on disk: what stands under that name is whole, and
what stood there before stays until then. After a write that failed, every later one fails too.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, BinaryIO, Protocol, Self

import numpy as np

from .block import Block
from .errors import FormatError, StoreError
from .frames import (
    END_FRAME_SIZE,
    MAX_ROWS_PER_FRAME,
    Checkpoint,
    End,
    Event,
    FrameDecoder,
    Header,
    Rows,
    decode_end,
    default_max_frame,
    encode_checkpoint,
    encode_end,
    encode_header,
    encode_rows,
    rows_frame_size,
)

if TYPE_CHECKING:
    from types import TracebackType

    from .frames import Buffer
    from .spec import MazeSpec
    from .stream import RowStream

PART = ".part"
STDIO = "-"
_LARGE_FRAME = 2**16
MAX_READ = 2**20

_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.EACCES}


class Output(Protocol):
    """What frames are written to: a binary file, a pipe, a list of one's own.

    `write` takes bytes or a memoryview, and may return how many of them it took; None means all.
    """

    def write(self, data: bytes | memoryview, /) -> int | None:
        """Take bytes."""


class Source(Protocol):
    """What frames are read from: a binary file or a pipe, blocking; `read1` is used where there is one."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""


def write_all(out: Output, *pieces: bytes | memoryview) -> None:
    """Write all the pieces to what may take only a part at a time; StoreError if it takes nothing."""
    left = [memoryview(piece) for piece in pieces if len(piece)]
    while left:
        taken = _write_some(out, left)
        while left and taken >= len(left[0]):
            taken -= len(left.pop(0))
        if taken:
            left[0] = left[0][taken:]


def _write_some(out: Output, pieces: list[memoryview]) -> int:
    """Offer the pieces, all at once where that is possible, and return how many bytes were taken."""
    if isinstance(out, PartFile):
        return out.write_pieces(pieces)
    taken = out.write(pieces[0])
    if taken is None:
        return len(pieces[0])
    if not 0 < taken <= len(pieces[0]):
        raise StoreError(f"the output took {taken} of {len(pieces[0])} bytes")
    return taken


class _Behind:
    """Does one job at a time on a thread of its own, while the caller goes on with the next.

    What a job raises comes out of the next `do` or `wait`. The thread is a daemon, since a job may wait for ever for
    a reader, and holds nothing of its owner: it ends with it.

    Jobs are done in the order of the queue, and waiting is one more of them. So nothing is kept here of what is
    being done, and an interrupt between any two steps leaves nothing half told.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._errors: SimpleQueue[BaseException] = SimpleQueue()
        threading.Thread(target=_work, args=(self._jobs, self._errors), daemon=True).start()

    def do(self, job: Callable[[], None]) -> None:
        """Wait for the job before, and begin this one."""
        self.wait()
        self._jobs.put(job)

    def wait(self) -> None:
        """Wait until nothing is being done."""
        idle = threading.Event()
        self._jobs.put(idle.set)
        idle.wait()
        if not self._errors.empty():
            raise self._errors.get()

    def __del__(self) -> None:
        self._jobs.put(None)


def _work(jobs: SimpleQueue[Callable[[], object] | None], errors: SimpleQueue[BaseException]) -> None:
    while (job := jobs.get()) is not None:
        try:
            job()
        except BaseException as error:
            errors.put(error)
        del job


class FrameWriter:
    """Writes a stream's rows as frames: the header at once, then rows as asked for, at last the end.

    A large frame is checksummed and written on a thread of its own while the next one is carved; an error of that
    comes out with the next full frame, of `wait` or of `finish`.

    out             takes the bytes; it is neither flushed nor closed
    stream          gives the rows, from where it stands; rows that anyone else takes from it are an error
    rows_per_frame  R, None for the default of the width

    Raises StoreError for frames larger than a reader takes, and what `out` and the stream raise.
    """

    def __init__(self, out: Output, stream: RowStream, *, rows_per_frame: int | None = None) -> None:
        self.header = _header(stream.spec, stream.position, rows_per_frame)
        self._out = out
        self._stream = stream
        self._next_frame = stream.position
        self._pending: list[Block] = []
        self._checkpoint: Checkpoint | None = None
        self._over = self._last = False
        self._failed = self._closed = False
        self._bytes = 0
        self._behind: _Behind | None = None
        with self._all_or_never():
            self._put(encode_header(self.header))

    @property
    def rows(self) -> int:
        """Rows taken from the stream; those of a frame that is not full are not written yet."""
        return self._row - self.header.first_row

    @property
    def bytes_written(self) -> int:
        """Bytes of all that was written whole."""
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
            self._write_full_frame()
            self._take(before + rows - self._row)
            self._write_full_frame()
        return self._row - before

    def finish(self) -> None:
        """Write the rows of the frame that is not full, and the end frame. Doing it again does nothing."""
        if self._closed:
            return
        self._check_usable()
        self._write_frame()
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
        """Take one block of at most `rows` rows from the stream, up to the end of the frame."""
        if self._over:
            return
        block = self._stream.read(min(rows, self.header.rows_due(self._row)))
        if block.start != self._row:
            raise StoreError(f"the stream gave row {block.start} where row {self._row} was expected")
        if len(block):
            self._pending.append(block)
        else:
            self._over = True

    def _look_at_state(self) -> None:
        """Take the state for the next frame's checkpoint, if it has one and the stream stands there."""
        if self._checkpoint is None and self.header.checkpoint_due(self._row):
            self._checkpoint = Checkpoint(self._row, self._stream.snapshot())

    def _write_full_frame(self) -> None:
        if self._pending and (self._ends(self._pending[-1]) or self._row % self.header.rows_per_frame == 0):
            self._write_frame()
        if not self._over:
            self._look_at_state()

    def _ends(self, block: Block) -> bool:
        """Return whether the block ends the maze; in a map, rows of walls open nothing south either."""
        return block.ends and (block.floor is None or block.stop == self._stream.height)

    def _write_frame(self) -> None:
        """Write the rows that wait, if any, as one frame, behind the checkpoint that is due."""
        if not self._pending:
            return
        block = _joined(self._pending)
        with self._all_or_never():
            self._hand_over(partial(self._put_frame, self._checkpoint, block), block.nbytes)
            self._next_frame, self._pending, self._checkpoint = block.stop, [], None
            self._over = self._last = self._ends(block)

    def _hand_over(self, job: Callable[[], None], size: int) -> None:
        """Do the job, behind the caller's back if it is large enough for that to pay."""
        if size < _LARGE_FRAME:
            self.wait()
            job()
        else:
            self._behind = self._behind or _Behind()
            self._behind.do(job)

    def _put_frame(self, checkpoint: Checkpoint | None, block: Block) -> None:
        if checkpoint is not None:
            self._put(encode_checkpoint(checkpoint))
        self._put(encode_rows(Rows(block, self._ends(block))))

    @contextmanager
    def _all_or_never(self) -> Iterator[None]:
        """Whatever goes wrong in the body, an interrupt too, makes this the last write."""
        self._failed = True
        yield
        self._failed = False

    def _put(self, pieces: list[Buffer]) -> None:
        write_all(self._out, *pieces)
        self._bytes += sum(map(len, pieces))


class _WholeOrNot(ABC):
    """Used in a `with` statement: closed when the body ends well, abandoned when it fails."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def abandon(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


class PartFile(_WholeOrNot):
    """A new file that takes its name when it is whole: the bytes go to `path` + ".part" until then.

    Use it in a `with` statement: when the body ends well the file goes to disk and takes the name `path`, at
    once; when it fails, `path` stays as it was and the .part stays with what was written. With `force`, a `path`
    and a .part that exist are replaced.

    Raises StoreError for a file or .part that exists (without force) and for a `path` that is no regular file;
    OSError for what the operating system refuses.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        self.path = Path(path)
        _check_target(self.path, force)
        self.part = self.path.with_name(self.path.name + PART)
        self._force = force
        self._complete = False
        self._file = _create(self.part, force)

    def write(self, data: bytes | memoryview, /) -> int:
        """Take bytes, and return how many of them were taken."""
        self._check_open()
        with _naming(self.part):
            return self._file.write(data)

    def write_pieces(self, pieces: list[memoryview]) -> int:
        """Take bytes of several pieces, in one call where the system can, and return how many were taken."""
        self._check_open()
        with _naming(self.part):
            return os.writev(self._file.fileno(), pieces) if hasattr(os, "writev") else self._file.write(pieces[0])

    def rewrite_beginning(self, data: bytes) -> bool:
        """Put `data` over the first bytes; return whether that can be done."""
        self._check_open()
        self._file.seek(0)
        write_all(self, data)
        self._file.seek(0, os.SEEK_END)
        return True

    def close(self) -> None:
        """Give the file its name. Doing it again does nothing.

        Raises StoreError if it was abandoned, or if a file of that name appeared meanwhile.
        """
        if self._complete:
            return
        self._check_open()
        try:
            with _naming(self.part):
                os.fsync(self._file.fileno())
                self._file.close()
            _take_name(self.part, self.path, self._force)
        finally:
            self.abandon()
        self._complete = True
        _sync_folder(self.path.parent)

    def abandon(self) -> None:
        """Close the .part as it is; `path` stays as it was."""
        with suppress(OSError):
            self._file.close()

    def remove(self) -> None:
        """Close and remove the .part; `path` stays as it was."""
        self.abandon()
        self.part.unlink()

    def _check_open(self) -> None:
        if self._file.closed:
            raise StoreError(f"{self.path if self._complete else self.part}: closed, nothing more can be written")


class StandardOutput(_WholeOrNot):
    """Standard output in the place of a PartFile: what was written cannot be taken back.

    It is written to without Python's buffer, of which a write that waits for a reader would keep the lock for ever.
    """

    def __init__(self) -> None:
        self._file: BinaryIO = getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)

    def write(self, data: bytes | memoryview, /) -> int:
        """Take bytes, and return how many of them were taken."""
        with _naming("stdout"):
            return self._file.write(data)

    def rewrite_beginning(self, data: bytes) -> bool:
        """Return that it cannot be done."""
        del data
        return False

    def close(self) -> None:
        """Hand on what waits; standard output stays open."""
        with _naming("stdout"):
            self._file.flush()

    def abandon(self) -> None:
        """Leave it."""

    remove = abandon


def open_output(path: str | os.PathLike[str], *, force: bool = False) -> PartFile | StandardOutput:
    """Return what to write a new file to: a PartFile, or standard output for "-"."""
    return StandardOutput() if os.fspath(path) == STDIO else PartFile(path, force=force)


class MazeWriter(_WholeOrNot):
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
        self._output = open_output(path, force=force)
        self._abandoned = False
        try:
            self._frames = FrameWriter(self._output, stream, rows_per_frame=rows_per_frame)
        except BaseException:
            self._output.remove()
            raise

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


def read_events(source: Source, max_frame: int | None = None) -> Iterator[Event]:
    """Yield the events of a maze's bytes as they come from `source`, a blocking file or pipe.

    `max_frame` bounds a frame, in bytes (None: 64 MiB, or one row where that is more).
    Raises FormatError, CutShortError after all whole rows, and what the source raises.
    """
    decoder = FrameDecoder(max_frame)
    read = getattr(source, "read1", source.read)
    while data := read(min(decoder.wanted, MAX_READ)):
        decoder.feed(data)
        yield from decoder.events()
    decoder.close()


class MazeFile:
    """A maze file, read in bounded memory.

    `path` may be "-" for standard input. `header` and `spec` are there at once. A regular file can be gone
    through any number of times, by several threads too; a pipe only once. `max_frame` bounds a frame, in
    bytes (None: 64 MiB, or one row where that is more).

    Raises FormatError for bytes that are no maze, with the path; OSError for a file that cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_frame: int | None = None) -> None:
        self.path = Path(path)
        self._max_frame = max_frame
        self._lock = threading.Lock()
        self._is_stdin = os.fspath(path) == STDIO
        self._file: BinaryIO = sys.stdin.buffer if self._is_stdin else self.path.open("rb", buffering=0)
        try:
            self._seekable = not self._is_stdin and self._file.seekable()
            self._first_pass: Iterator[Event] | None = self._events()
            header = next(self._first_pass)
            assert isinstance(header, Header)
            self.header = header
            self._end = self._end_at_the_end()
        except BaseException:
            self.close()
            raise

    @property
    def spec(self) -> MazeSpec:
        """The maze's spec."""
        return self.header.spec

    @property
    def end(self) -> End | None:
        """The end frame; None while it is unknown (a pipe), and if there is none.

        In a regular file it is looked up without reading the rows, so it is as good as the file's last bytes.
        """
        return self._end

    def blocks(self) -> Iterator[Block]:
        """Yield the rows, a frame at a time. Blocks are read-only and stay good.

        Raises CutShortError after all whole rows if the end is missing, FormatError at the first frame that is
        damaged, StoreError for a pipe that was read before.
        """
        for event in self._take_events():
            if isinstance(event, Rows):
                yield event.block
            elif isinstance(event, End):
                self._end = event

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if not self._is_stdin:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _take_events(self) -> Iterator[Event]:
        if self._seekable:
            return self._events()
        events, self._first_pass = self._first_pass, None
        if events is None:
            raise StoreError(f"{self.path}: it is a pipe, and was read before")
        return events

    def _events(self) -> Iterator[Event]:
        source = _Cursor(self._file, self._lock) if self._seekable else self._file
        try:
            yield from read_events(source, self._max_frame)
        except FormatError as error:
            raise type(error)(f"{self.path}: {error}") from error

    def _end_at_the_end(self) -> End | None:
        if not self._seekable:
            return None
        with self._lock:
            self._file.seek(max(self._file.seek(0, os.SEEK_END) - END_FRAME_SIZE, 0))
            tail = self._file.read(END_FRAME_SIZE)
        with suppress(FormatError):
            return decode_end(tail)
        return None


class _Cursor:
    """A place of its own in a shared file, so that several readers do not move each other."""

    def __init__(self, file: BinaryIO, lock: threading.Lock) -> None:
        self._file, self._lock, self._at = file, lock, 0

    def read(self, size: int) -> bytes:
        with self._lock:
            self._file.seek(self._at)
            data = self._file.read(size)
        self._at += len(data)
        return data


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


def _joined(blocks: list[Block]) -> Block:
    """Return blocks that follow one another as one; a single one is returned as it is."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    east, south = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("east", "south"))
    floors = [block.floor for block in blocks if block.floor is not None]
    return Block(first.start, first.width, east, south, first.north, np.concatenate(floors) if floors else None)


@contextmanager
def _naming(file: Path | str) -> Iterator[None]:
    """Let errors of the operating system in the body say which file it was."""
    try:
        yield
    except OSError as error:
        error.filename = str(file)
        raise


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _check_target(path: Path, force: bool) -> None:
    """Raise StoreError for a name that a maze file must not take."""
    if not path.name:
        raise StoreError(f"{path}: it names no file")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path}: it exists and is no regular file, so it is not replaced")
    if _exists(path) and not force:
        raise StoreError(f"{path}: the file exists already; force replaces it")


def _create(part: Path, force: bool) -> BinaryIO:
    """Return the new .part, opened for writing; what stood there is not followed and, with force, removed."""
    if force:
        part.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.fdopen(os.open(part, flags, 0o666), "wb", buffering=0)
    except FileExistsError:
        raise StoreError(
            f"{part}: the file exists already; another run writes it, or one was broken off; force starts anew"
        ) from None


def _take_name(part: Path, path: Path, force: bool) -> None:
    """Give the .part its name, at once; StoreError if a file of that name appeared meanwhile."""
    try:
        if force:
            part.replace(path)
        else:
            _take_free_name(part, path)
    except FileExistsError:
        raise StoreError(f"{path}: a file of that name appeared meanwhile; the maze is whole in {part}") from None


def _take_free_name(part: Path, path: Path) -> None:
    if os.name == "nt":
        part.rename(path)
        return
    try:
        path.hardlink_to(part)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if _exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        part.replace(path)
    else:
        part.unlink()


def _sync_folder(folder: Path) -> None:
    """Put the folder's names on disk, where the system can: those that cannot say so in many ways."""
    if os.name == "nt":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
