"""`RowSource`: rows by their index, whatever they come from; and what makes one of a stream, a connection or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ..errors import StreamError
from ..spec import MAX_ROW
from ..store import MazeFile

if TYPE_CHECKING:
    from ..block import Block
    from ..stream import RowStream


@runtime_checkable
class RowSource(Protocol):
    """What a Scroller reads: a maze's rows by their index, in any order.

    The Scroller uses it from one thread at a time: the three properties before it starts, all else on a thread of its
    own, which closes it at last.
    """

    @property
    def width(self) -> int:
        """Cells in a row."""

    @property
    def first_row(self) -> int:
        """Index of the first row that there is."""

    @property
    def height(self) -> int | None:
        """Index behind the maze's last row; None while that is unknown."""

    def read_rows(self, start: int, count: int, /) -> Block:
        """Return rows from `start` on, `count` of them or fewer, but one at least.

        Behind the last row, return an empty block that stands where the rows end.
        """

    def finalize(self, row: int, /) -> None:
        """Make `row` the maze's last row; StreamError where that cannot be done."""

    def close(self) -> None:
        """Let go of what the rows are read from."""


class StreamSource:
    """The rows of a `RowStream`, one that is made here or one that comes through a connection.

    Going back, and forward past rows that nobody asked for, is the stream's `seek`: at most a key interval or a band
    where there is one, else all the rows up to there, and a StreamError where those are too many.
    """

    first_row = 0

    def __init__(self, stream: RowStream) -> None:
        self._stream = stream

    @property
    def width(self) -> int:
        """Cells in a row."""
        return self._stream.spec.width

    @property
    def height(self) -> int | None:
        """Rows of the whole maze; None while it is endless."""
        return self._stream.height

    def read_rows(self, start: int, count: int, /) -> Block:
        """Return rows from `start` on, fewer at the end, and behind it an empty block that stands there."""
        end = MAX_ROW if self.height is None else self.height
        if start >= end:
            return self._read(end - 1, 1)[1:]
        return self._read(start, min(count, end - start))

    def _read(self, start: int, count: int) -> Block:
        if self._stream.position != start:
            self._stream.seek(start)
        return self._stream.read(count)

    def finalize(self, row: int, /) -> None:
        """Make `row` the last one, whatever was read; StreamError where the stream is finalized or has ended."""
        self._stream.seek(row)
        self._stream.finalize()

    def close(self) -> None:
        """Close the connection, if the stream is one."""
        if close := getattr(self._stream, "close", None):
            close()


class FileSource:
    """The rows of a `MazeFile`, no pipe; of one that is followed while it is written, those that are whole by now."""

    def __init__(self, file: MazeFile) -> None:
        self._file = file

    @property
    def width(self) -> int:
        """Cells in a row."""
        return self._file.spec.width

    @property
    def first_row(self) -> int:
        """Index of the file's first row: above 0 for a fragment."""
        return self._file.header.first_row

    @property
    def height(self) -> int | None:
        """Index behind the file's last row; None for a file without an end frame."""
        return None if self._file.end is None else self._file.stop

    def read_rows(self, start: int, count: int, /) -> Block:
        """Return rows from `start` on, fewer at the end, and behind it an empty block that stands there."""
        return self._file.read(start, count)

    def finalize(self, row: int, /) -> None:
        """Raise StreamError: the rows of a file are made."""
        raise StreamError(f"a file's rows are made already, so row {row} cannot become the last one")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def source_of(rows: RowStream | MazeFile | RowSource) -> RowSource:
    """Return what rows are read from by their index."""
    if isinstance(rows, MazeFile):
        return FileSource(rows)
    return rows if isinstance(rows, RowSource) else StreamSource(rows)
