"""`AheadStream`: a stream whose rows several threads carve ahead of whoever takes them.

The rows are cut into *groups*, which begin below key rows or with a band, so that each is carved from nothing by
a stream of its own. The groups are handed out in their order, and only so many are carved ahead. So the rows, the state
between them and the end are those of the stream that is wrapped; it is a fast path and nothing else.

Memory: at most twice as many groups as workers, each of about 4 MiB, or of one key interval or band where that is
more.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Self

from .block import Block, Row, joined, row_bytes
from .parallel import in_order, worker_count
from .spec import MAX_ROW
from .stream import EllerStream, check_divisible, row_number

if TYPE_CHECKING:
    from .spec import MazeSpec
    from .stream import RowStream

_GROUP_BYTES = 2**22
_BANDS, _BANDS_BYTES = 8, 2**21  # what a kernel carves side by side at most; what of it one thread takes at a time


class AheadStream:
    """The rows of a stream, carved ahead on threads; a RowStream as well.

    stream    gives spec, place and end; it is no longer to be used by itself
    workers   threads that carve, 1 to 1,024

    Raises StreamError for a stream without key rows and bands, whose rows have to follow one another.
    """

    def __init__(self, stream: RowStream, workers: int) -> None:
        check_divisible(stream.spec)
        self._stream = stream
        self._workers = worker_count(workers)
        self._group_rows = group_rows(stream.spec)
        self._lock = threading.Lock()
        self._look_from(stream.position)

    def _look_from(self, row: int) -> None:
        """Make `row` the row to come, with none carved ahead."""
        self._position = row
        self._groups = in_order(self._jobs(row), self._workers)
        self._rest: Block | None = None

    def _jobs(self, row: int) -> Iterator[partial[Block]]:
        """Yield what carves the groups from `row` on."""
        end = MAX_ROW if self.height is None else self.height
        while row < end:
            stop = min(row - row % self._group_rows + self._group_rows, end)
            yield partial(_carve, copy(self._stream), row, stop - row)
            row = stop

    @property
    def spec(self) -> MazeSpec:
        """Everything that determines the maze."""
        return self._stream.spec

    @property
    def position(self) -> int:
        """Index of the row to come."""
        return self._position

    @property
    def height(self) -> int | None:
        """Rows of the whole maze: as planned or as finalized; None while it is endless."""
        return self._stream.height

    def __repr__(self) -> str:
        return f"<AheadStream at row {self.position}, {self._workers} workers, of {self.spec}>"

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        for row in self.read(1):
            return row
        raise StopIteration

    def read(self, rows: int, /) -> Block:
        """Return the next `rows` rows as a Block; fewer at the end of the maze, then none.

        It is a view of one group, or a copy of several. Raises StreamError if `rows` is not an integer >= 0,
        CapacityError if a group finds no room in memory.
        """
        left = row_number("the number of rows to read", rows, MAX_ROW)
        with self._lock:
            before, parts = self._position, list[Block]()
            try:
                while left and (part := self._part(left)) is not None:
                    parts.append(part)
                    left -= len(part)
                return joined(parts) if parts else self._settled().read(0)
            except BaseException:
                self._look_from(before)
                raise

    def _part(self, rows: int) -> Block | None:
        """Return the next rows of one group, at most so many; None at the end of the maze."""
        if self._rest is None:
            self._rest = next(self._groups, None)
            if self._rest is None:
                return None
        part, rest = self._rest[:rows], self._rest[rows:]
        self._position, self._rest = part.stop, rest if len(rest) else None
        return part

    def _settled(self) -> RowStream:
        """Return the wrapped stream, standing at the row to come."""
        if self._stream.position != self._position:
            self._stream.seek(self._position)
        return self._stream

    def seek(self, row: int, /) -> None:
        """Make `row` the row to come; what was carved ahead is dropped. StreamError for a row outside the maze."""
        with self._lock:
            self._stream.seek(row)
            self._look_from(self._stream.position)

    def snapshot(self) -> bytes:
        """Return the state at the row to come as bytes, as the wrapped stream does."""
        with self._lock:
            return self._settled().snapshot()

    def finalize(self, rows: int = 1) -> None:
        """End the maze after `rows` more rows, counted from those taken; StreamError as the wrapped stream says."""
        with self._lock:
            self._settled().finalize(rows)
            self._look_from(self._position)


def ahead(stream: RowStream, workers: int) -> RowStream:
    """Return what carves the rows of a stream on so many threads: the stream itself for one."""
    return stream if worker_count(workers) == 1 else AheadStream(stream, workers)


def group_rows(spec: MazeSpec) -> int:
    """Return the rows of a group: key intervals or bands, a power of two of them, of about 4 MiB together."""
    step = spec.key_interval or spec.band or 1
    return step << max(_fitting(_GROUP_BYTES, spec.width, step), 1).bit_length() - 1


def rows_at_once(stream: RowStream) -> int:
    """Return how many rows of a stream are worth taking at a time.

    More than a single one where a group is there already (of 4 MiB at most), or where bands are carved side by side,
    which is faster (of 2 MiB at most).
    """
    spec = stream.spec
    if isinstance(stream, AheadStream):
        group = group_rows(spec)
        return group if _fitting(_GROUP_BYTES, spec.width, group) else 1
    step = spec.key_interval if isinstance(stream, EllerStream) else 0
    return max(step * min(_fitting(_BANDS_BYTES, spec.width, step), _BANDS), 1) if step else 1


def _fitting(size: int, width: int, rows: int) -> int:
    """Return how many times so many rows find room in so many bytes."""
    return size // (2 * row_bytes(width) * rows)


def _carve(stream: RowStream, row: int, rows: int) -> Block:
    stream.seek(row)
    return stream.read(rows)
