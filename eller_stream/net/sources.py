"""Where a server's rows come from: a stream carved for one client, or the file that all may have.

Both are asked for rows by their index. A stream keeps its state before each of the last rows frames (`ahead` of them),
so that a client that finalizes at a row it has taken, or steps back a little, costs less than a frame wherever
there are no key rows near to start from. The way to a row further off is gone in steps (`approach`), so that no client
takes more than its turn.

A turn is one frame; where rows cost little, which is in a file and where key rows are near, it is as many as have
1 MiB of rows, up to 32: so the kernel has key intervals to carve side by side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from .. import kernel
from ..block import row_bytes
from ..errors import EllerStreamError, StreamError
from ..frames import End, Header, Rows, encode_end, encode_header, encode_rows
from ..spec import MAX_ROW
from ..streams import open_stream, restore_stream
from .protocol import packet

if TYPE_CHECKING:
    from ..block import Block
    from ..frames import Buffer
    from ..spec import MazeSpec
    from ..store import MazeFile
    from .limits import ServerLimits

_CELLS_A_STEP = 2**26
_BYTES_A_TURN, _FRAMES_A_TURN = 2**20, 32


class RowSource(Protocol):
    """Rows of one maze, by their index."""

    @property
    def header(self) -> Header:
        """The header of the whole: spec, rows a frame, first row."""

    @property
    def height(self) -> int | None:
        """Rows of the whole maze, None where that is not known."""

    @property
    def stop(self) -> int | None:
        """Index behind the last row there is; None without end."""

    @property
    def position(self) -> int | None:
        """The row it has come to; None where every row is as near."""

    @property
    def states(self) -> RowSource:
        """The source whose `snapshot` gives the states of these rows."""

    @property
    def rows_a_turn(self) -> int:
        """Rows that may be asked for at once: those of one frame or of several."""

    def approach(self, row: int, /) -> int:
        """Take one step of bounded work towards `row`, and return the row it led to."""

    def read(self, row: int, rows: int, /) -> Block:
        """Return `rows` rows from `row` on, which `approach` has led to."""

    def frames(self, row: int, stop: int, /) -> Iterator[Rows]:
        """Yield the rows from `row` on, which `approach` has led to, up to `stop`, in frames; fewer at the end."""

    def finalize(self, row: int, rows: int, /) -> None:
        """End the maze after `rows` rows from `row` on, which `approach` has led to."""

    def snapshot(self, row: int, /) -> bytes:
        """Return the state before `row`, which `approach` has led to."""


class StreamSource:
    """A stream of its own for one client."""

    def __init__(self, spec: MazeSpec, limits: ServerLimits) -> None:
        self.header = Header.of(spec)
        self._limits = limits
        limits.check_frame(spec.width, self.header.rows_per_frame)
        limits.check_spec(spec)
        self._stream = open_stream(spec)
        self._key_rows_near = 0 < (spec.key_interval or 0) <= self.header.rows_per_frame
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=limits.ahead + 2)
        self._first = {0: self._stream.snapshot()}
        self._aim: int | None = None

    @property
    def height(self) -> int | None:
        """Rows of the maze, as planned or as finalized."""
        return self._stream.height

    stop = height

    @property
    def position(self) -> int:
        """The row it has come to."""
        return self._stream.position

    @property
    def states(self) -> RowSource:
        """Itself."""
        return self

    @property
    def rows_a_turn(self) -> int:
        """Those of one frame, unless key rows are near and the kernel is quick."""
        quick = self._key_rows_near and kernel.BACKEND == "c"
        return _rows_a_turn(self.header) if quick else self.header.rows_per_frame

    def approach(self, row: int) -> int:
        """Go one step towards `row`; NetError if the way is too long, StreamError if the maze has no such row."""
        if self._aim != row or self._stream.position > row:
            self._start_for(row)
        self._aim = row
        step = max(1, _CELLS_A_STEP // self.header.spec.width)
        if self._stream.position != row:
            self._stream.seek(min(row, self._stream.position + step))
        return self._stream.position

    def _start_for(self, row: int) -> None:
        """Stand at the nearest row before `row` that costs nothing: key rows, bands, kept states, row 0, or here."""
        if self.stop is not None and row > self.stop:
            raise StreamError(f"the maze has {self.stop} rows, there is no row {row}")
        spec, kept = self.header.spec, self._first | dict(self._kept)
        interval = spec.key_interval or spec.band
        free = {0, row - row % interval if interval else 0, self._stream.position, *kept}
        start = max(place for place in free if place <= row)
        self._limits.check_seek(row - start, self.header.spec.width)
        if start in kept and start != self._stream.position:
            self._stream = restore_stream(kept[start])
        self._stream.seek(start)

    def read(self, row: int, rows: int) -> Block:
        """Return the rows, and keep the state before them unless key rows are near."""
        assert self._stream.position == row
        if not self._key_rows_near:
            self._keep_state(row)
        return self._stream.read(rows)

    def _keep_state(self, row: int) -> None:
        while self._kept and self._kept[-1][0] >= row:
            self._kept.pop()
        self._kept.append((row, self._stream.snapshot()))

    def frames(self, row: int, stop: int) -> Iterator[Rows]:
        """Yield the rows in frames; all are carved with the first."""
        for frame in self.header.frames(self.read(row, stop - row)):
            yield Rows(frame, frame.ends_at(self.height))

    def finalize(self, row: int, rows: int) -> None:
        """End the maze; StreamError if that was done before. States kept until then know nothing of it."""
        assert self._stream.position == row
        self._stream.finalize(rows)
        self._kept.clear()
        self._first.clear()

    def snapshot(self, row: int) -> bytes:
        """Return the state before `row`."""
        assert self._stream.position == row
        return self._stream.snapshot()


class FileSource:
    """The file that a server offers, as it stands; for one client of many."""

    def __init__(self, maze: MazeFile, limits: ServerLimits) -> None:
        self.header = maze.header
        self._maze = maze
        self._limits = limits
        limits.check_frame(maze.spec.width, maze.header.rows_per_frame)

    @property
    def height(self) -> int | None:
        """Rows of the maze, as planned or as finished."""
        end = self._maze.end
        return self.stop if end is not None and end.finished else self.header.spec.height

    @property
    def stop(self) -> int:
        """Index behind the file's last whole row."""
        return self._maze.stop

    @property
    def position(self) -> None:
        """None: every row is as near."""

    @property
    def rows_a_turn(self) -> int:
        """Those of several frames: they are read, not carved."""
        return _rows_a_turn(self.header)

    @cached_property
    def states(self) -> RowSource:
        """A stream of the file's spec, which goes along with the states asked for."""
        return StreamSource(self.header.spec, self._limits)

    def approach(self, row: int) -> int:
        """Return `row`: places are computed. StreamError for a row that the file does not have."""
        if not self.header.first_row <= row <= self.stop:
            raise StreamError(f"the file has rows from {self.header.first_row} up to {self.stop}, not row {row}")
        return row

    def read(self, row: int, rows: int) -> Block:
        """Return the rows."""
        return self._maze.read(row, rows)

    def frames(self, row: int, stop: int) -> Iterator[Rows]:
        """Yield the rows in frames: those of the file as they are, cut where others are asked for."""
        stop = min(stop, self.stop)
        for rows in self._maze.frames(row):
            begin, end = max(row - rows.block.start, 0), stop - rows.block.start
            if begin or end < len(rows.block):
                cut = rows.block[begin:end]
                rows = Rows(cut, cut.ends_at(self.height))
            yield rows
            if rows.block.stop >= stop:
                return

    def finalize(self, row: int, rows: int) -> None:
        """Refuse: a file is as long as it is."""
        raise StreamError(f"a file is offered here, so row {row + rows - 1} cannot be made its last one")

    def snapshot(self, row: int) -> bytes:
        """Refuse: a file has rows, the states come from `states`."""
        raise StreamError(f"a file has no state before row {row}")


def _rows_a_turn(header: Header) -> int:
    """Return the rows of as many frames as have 1 MiB together, from 1 to 32."""
    frame = 2 * row_bytes(header.spec.width) * header.rows_per_frame
    return min(max(_BYTES_A_TURN // frame, 1), _FRAMES_A_TURN) * header.rows_per_frame


class Frames:
    """The answer to one request, packet by packet: a header, the rows from `row` up to `stop`, the end.

    So it is a maze of docs/FORMAT.md by itself, a fragment of the whole.
    """

    def __init__(self, source: RowSource, row: int, stop: int | None) -> None:
        whole = source.header
        self.row = row
        self.source = source
        self._header = Header(whole.spec, whole.rows_per_frame, 0, row)
        self._stop = MAX_ROW if stop is None else stop
        self._finished = False

    @property
    def at_end(self) -> bool:
        """Whether nothing but the end is left."""
        end = self.source.stop
        return self._finished or self.row >= self._stop or (end is not None and self.row >= end)

    @property
    def is_near(self) -> bool:
        """Whether the source has come to the row to come."""
        return self.source.position in (None, self.row)

    def head(self) -> list[Buffer]:
        """Return the header's packet."""
        return packet(*encode_header(self._header))

    def rows(self, room: int) -> list[list[Buffer]]:
        """Return the packets of the next rows frames that begin before `room`; the source has come to `row`.

        They are those of a turn, at least one. What goes wrong behind the first one shows when it is asked for again.
        """
        packets: list[list[Buffer]] = []
        try:
            for rows in self.source.frames(self.row, self._end_of_turn(room)):
                packets.append(packet(*(encode_rows(rows) if rows.encoded is None else [rows.encoded])))
                self.row, self._finished = rows.block.stop, rows.last
        except EllerStreamError:
            if not packets:
                raise
        if not packets:
            raise StreamError(f"row {self.row} was expected and is not there")
        return packets

    def _end_of_turn(self, room: int) -> int:
        """Return the row behind the frames of a turn that begin before `room`."""
        turn = self.row - self.row % self._header.rows_per_frame + self.source.rows_a_turn
        last = min(room, self._stop, turn) - 1
        return min(last + self._header.rows_due(last), self._stop)

    def end(self) -> list[Buffer]:
        """Return the end's packet."""
        return packet(*encode_end(End(self.row - self._header.first_row, self._finished)))
