"""`MazeFile`: the rows of a maze file, in bounded memory, whatever its size.

Following. A file that is still being written grows, and when its writer was killed and the run resumed it may also
become shorter before it grows again. But all whole frames that are full stay what they are, and a frame that is not, or
holds a merging last row, stays if the end frame stands behind it. So a follower hands out a full frame when it is
whole, another one when the end is; it keeps nothing of the bytes behind them, and looks again. The file's
taking its name changes nothing for who has it open.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self, overload

import numpy as np

from ..block import Block, Row, joined, row_bytes
from ..errors import CapacityError, CutShortError, FormatError, StoreError
from ..frames import End, Event, Header, Rows
from .events import read_events
from .frame_file import FrameFile
from .output import STDIO
from .part import part_of

if TYPE_CHECKING:
    from types import TracebackType

    from ..block import Plane
    from ..spec import MazeSpec

_LOOK_EVERY = 0.05


class MazeFile:
    """A maze file, read in bounded memory, whatever its size.

    path       the file; "-" for standard input
    max_frame  bound for a frame, in bytes (None: 64 MiB, or one row where that is more)
    follow     seconds to wait, each time, for rows that are still being written; None: a file that is cut short
               ends where it ends. Where there is no file of that name yet, its .part is read

    `header` and `spec` are there at once. Rows are numbered as in the maze: `read` and `blocks` take these numbers. As
    a sequence it begins with its first row, whatever its number: `maze[0]` and `maze[-1]` are Rows, `maze[a:b]` is a
    Block in memory, iteration yields Rows. A regular file can be gone through any number of times, by several threads
    too; a pipe only once, and from its beginning.

    Raises FormatError for bytes that are no maze, with the path; OSError for a file that cannot be read; StoreError for
    rows before the file's first, and for a pipe that was read before.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, max_frame: int | None = None, follow: float | None = None
    ) -> None:
        self.path = Path(path)
        self._follow = follow
        self._is_stdin = os.fspath(path) == STDIO
        is_followed = follow is not None and not self._is_stdin
        if is_followed and not self.path.exists() and part_of(self.path).exists():
            self.path = part_of(self.path)
        self._file: BinaryIO = sys.stdin.buffer if self._is_stdin else self.path.open("rb", buffering=0)
        try:
            self._begin(max_frame)
        except BaseException:
            self.close()
            raise

    def _begin(self, max_frame: int | None) -> None:
        self._end: End | None = None
        self._stop: int | None = None
        self._pipe: Iterator[Event] | None = None
        self._frames: FrameFile | None = None
        if not self._is_stdin and self._file.seekable():
            self._frames = FrameFile(self.path, self._file, max_frame)
            self.header = self._frames.header
        else:
            self._pipe = self._named(read_events(self._file, max_frame))
            header = next(self._pipe)
            assert isinstance(header, Header)
            self.header = header

    @property
    def spec(self) -> MazeSpec:
        """The maze's spec."""
        return self.header.spec

    @property
    def end(self) -> End | None:
        """The end frame; None while it is unknown (a pipe), and if there is none.

        In a regular file it is looked up without reading the rows, so it is as good as the file's last bytes.
        """
        if self._frames is not None and (self._end is None or self._follow is not None):
            self._end = self._frames.end()
        return self._end

    @property
    def stop(self) -> int:
        """Index of the first row behind those that the file holds whole; StoreError for a pipe.

        It is found from the file's size and its last frame.
        """
        frames, end = self._regular(), self.end
        if end is not None:
            return self.header.first_row + end.rows
        if self._stop is None or self._follow is not None:
            self._stop = self._behind_whole_rows(frames)
        return self._stop

    def __len__(self) -> int:
        return self.stop - self.header.first_row

    def __iter__(self) -> Iterator[Row]:
        return (row for block in self.blocks() for row in block)

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> Block: ...
    def __getitem__(self, key: int | slice) -> Row | Block:
        first, rows = self.header.first_row, range(len(self))
        if not isinstance(key, slice):
            return self.read(first + rows[index(key)], 1)[0]
        wanted = rows[key]
        if wanted.step != 1:
            raise StoreError(f"a maze file is sliced with step 1, not {wanted.step}")
        return self.read(first + wanted.start, len(wanted))

    def read(self, start: int, rows: int) -> Block:
        """Return rows `start` to `start + rows - 1`; fewer at the end of what the file holds whole, then none.

        Only the frames that hold them are read. A block of no rows stands where the file's rows end, if it was
        asked for rows behind them. Raises StoreError for a row before the file's first one, a number of rows below 0
        and a pipe, CapacityError if they find no room in memory.
        """
        if rows < 0:
            raise StoreError(f"the number of rows to read is 0 or more, not {rows}")
        self._check_first(start)
        kept = self._regular().kept
        if kept is not None and kept.start <= start and start + rows <= kept.stop:
            return kept[start - kept.start : start + rows - kept.start]
        stop = self.stop
        start = min(start, stop)
        try:
            blocks = list(self.blocks(start, min(start + rows, stop)))
            return joined(blocks) if blocks else Block.empty(start, self.spec.width, self._north_of(start))
        except MemoryError:
            raise CapacityError(f"{rows} rows of {self.spec.width} cells find no room in memory") from None

    def _north_of(self, row: int) -> Plane:
        """Return the passages south of the row above `row`; zeros where the file has no rows to tell them."""
        if row > self.header.first_row:
            return self.read(row - 1, 1).south.reshape(-1)
        if self.stop > row:
            return self.read(row, 1).north
        return np.zeros(row_bytes(self.spec.width), np.uint8)

    def blocks(self, start: int | None = None, stop: int | None = None) -> Iterator[Block]:
        """Yield the rows from `start` (None: the first) up to `stop` (None: the end), a frame at a time.

        Blocks are read-only and stay good. Followed, a file's rows come as they are written.
        Raises CutShortError after all whole rows if the end is missing, FormatError at the first frame that is
        damaged, StoreError for a pipe that was read before and for a `start` before the first row.
        """
        start = self.header.first_row if start is None else start
        self._check_first(start)
        for block in [] if start == stop else self._blocks_from(start):
            last = block.stop if stop is None else stop
            wanted = block[max(start - block.start, 0) : max(last - block.start, 0)]
            if len(wanted):
                yield wanted
            if stop is not None and block.stop >= stop:
                return

    def frames(self, row: int) -> Iterator[Rows]:
        """Yield the frames as they stand in the file, from that which holds `row` on, whatever comes behind it.

        Raises what `blocks` does, StoreError for every pipe; a file that grows is not waited for.
        """
        self._check_first(row)
        return (event for event in self._regular().events(row) if isinstance(event, Rows))

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

    def _check_first(self, row: int) -> None:
        if row < self.header.first_row:
            raise StoreError(f"{self.path}: it begins with row {self.header.first_row}, so row {row} is not in it")

    def _regular(self) -> FrameFile:
        if self._frames is None:
            raise StoreError(f"{self.path}: it is a pipe, of which the rows can only be gone through")
        return self._frames

    def _blocks_from(self, row: int) -> Iterator[Block]:
        """Yield the frames from the one that holds `row` on, or from the beginning of a pipe."""
        if self._frames is None:
            return self._blocks_of_pipe()
        return self._whole(self._frames, row) if self._follow is None else self._following(self._frames, row)

    def _blocks_of_pipe(self) -> Iterator[Block]:
        events, self._pipe = self._pipe, None
        if events is None:
            raise StoreError(f"{self.path}: it is a pipe, and was read before")
        for event in events:
            if isinstance(event, Rows):
                yield event.block
            elif isinstance(event, End):
                self._end = event

    def _named(self, events: Iterator[Event]) -> Iterator[Event]:
        try:
            yield from events
        except FormatError as error:
            raise type(error)(f"{self.path}: {error}") from error

    def _whole(self, frames: FrameFile, row: int) -> Iterator[Block]:
        """Yield all whole frames."""
        if not self._is_behind(row):
            yield from (event.block for event in frames.events(row) if isinstance(event, Rows))

    def _is_behind(self, row: int) -> bool:
        """Return whether a complete file ends before `row`."""
        end = self.end
        return end is not None and row >= self.header.first_row + end.rows

    def _behind_whole_rows(self, frames: FrameFile) -> int:
        """Return the row behind those that a file without an end holds whole: for good, where it is followed."""
        row = frames.last_full_frame()
        with suppress(FormatError):
            for block in self._whole(frames, row) if self._follow is None else _for_good(frames, row):
                row = block.stop
        return row

    def _following(self, frames: FrameFile, row: int) -> Iterator[Block]:
        """Yield frames as they become whole for good; a frame that is damaged is looked at twice."""
        wait, damaged = _Patience(self._follow or 0.0), -1
        while not self._is_behind(row):
            try:
                for block in _for_good(frames, row):
                    yield block
                    row = block.stop
                    wait.begin()
                return
            except CutShortError:
                if wait.is_over():
                    raise
            except FormatError:
                if damaged == row:
                    raise
                damaged = row
            frames.check_is_there()
            time.sleep(_LOOK_EVERY)


def _for_good(frames: FrameFile, row: int) -> Iterator[Block]:
    """Yield the whole frames that a resumed run will not change.

    Raises CutShortError if there is more to come: also where the end that was read is not the file's any more.
    """
    waiting: list[Block] = []
    for event in frames.events(row):
        if isinstance(event, Rows) and frames.is_for_good(event):
            yield event.block
        elif isinstance(event, Rows):
            waiting.append(event.block)
        elif isinstance(event, End):
            if frames.end() != event:
                raise CutShortError(f"{frames.path}: the file was gone on with, and its end is not there yet")
            yield from waiting


class _Patience:
    """Time that may pass without anything new."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.begin()

    def begin(self) -> None:
        self._until = time.monotonic() + self._seconds

    def is_over(self) -> bool:
        return time.monotonic() >= self._until
