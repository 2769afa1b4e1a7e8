"""`EllerStream`: an endless maze, row by row, from Eller's algorithm; `RowStream`: what every stream can do.

`StateStream` is what the streams share that go on from row to row: Eller's, and the uniform one. Such a stream holds
the state of one row, the row to come. Rows come from the kernel in blocks; iteration carves a block ahead and hands
its rows out one by one. Who looks at the state between two rows (`sets`, `snapshot`, `finalize`, `seek`) makes the
stream go back to the row it had come to; the rows ahead are then carved again, and fewer of them at first.

Key rows (every `key_interval`-th row, docs/STREAM.md "Key rows") unite all cells. What follows one depends on
nothing but its own passages south, and these on its coins alone; so the state below a key row is found from
nothing, and any row is at most `key_interval` rows away. So `read` can have several threads carve its rows, each from
below a key row on, into one pair of planes.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from . import coins, kernel
from .block import Block, Row, row_bytes, unpack_bits
from .errors import CapacityError, SpecError, StreamError
from .openings import with_loops
from .parallel import shares, side_by_side, worker_count
from .partition import set_numbers
from .spec import MAX_ROW, MazeSpec, Number, Probability, ScheduleLike, integer, shown
from .state import State, pack_snapshot, unpack_snapshot

if TYPE_CHECKING:
    from .block import Plane
    from .partition import SetNumbers

MAX_ROWS_AHEAD = 256
MAX_CELLS_AHEAD = 2**18
MAX_SEEK_CELLS = 2**34
_CELLS_AT_ONCE = 2**26
_CELLS_A_CALL = 2**28  # of the kernel: room for bands side by side, and signals wait no longer than a second or so


class RowStream(Protocol):
    """A maze that comes row by row, from row 0 on; every algorithm's stream is one."""

    @property
    def spec(self) -> MazeSpec:
        """Everything that determines the maze."""

    @property
    def position(self) -> int:
        """Index of the row to come."""

    @property
    def height(self) -> int | None:
        """Rows of the whole maze; None while it is endless."""

    def __iter__(self) -> Self: ...

    def __next__(self) -> Row: ...

    def read(self, rows: int, /) -> Block:
        """Return the next `rows` rows; fewer at the end of the maze, then none."""

    def seek(self, row: int, /) -> None:
        """Make `row` the row to come."""

    def snapshot(self) -> bytes:
        """Return the state as bytes, for `restore`."""

    def finalize(self, rows: int = 1) -> None:
        """End the maze after `rows` more rows; by default the row to come is the last one."""


class StateStream(ABC):
    """A stream that goes on from the state of one row: what Eller's rows and uniform ones have in common.

    A subclass names its algorithm, carves rows from a state, and finds the states that it can. All else is here.
    """

    ALGORITHM: ClassVar[str]

    def _begin(self, spec: MazeSpec) -> None:
        if spec.algorithm != self.ALGORITHM:
            raise SpecError(f"{type(self).__name__} has algorithm {self.ALGORITHM}, not {spec.algorithm}")
        self._spec = spec
        self._end = spec.height
        self._lock = threading.Lock()
        try:
            self._stand_at(State.at_top(spec.width))
        except MemoryError:
            raise CapacityError(f"a row of {spec.width} cells finds no room in memory") from None

    def _stand_at(self, state: State) -> None:
        """Make the state's row the row to come, with none carved ahead."""
        self._base = self._front = state
        self._ahead = Block.empty(state.row, self._spec.width, self._north(state))
        self._taken = 0
        self._rows_ahead = 1

    @classmethod
    def from_spec(cls, spec: MazeSpec) -> Self:
        """Return the stream of a spec, at row 0; SpecError if the spec is of another algorithm."""
        stream = cls.__new__(cls)
        stream._begin(spec)
        return stream

    @property
    def spec(self) -> MazeSpec:
        """Everything that determines the maze, the seed among it."""
        return self._spec

    @property
    def position(self) -> int:
        """Index of the row to come."""
        return self._ahead.start + self._taken

    @property
    def height(self) -> int | None:
        """Rows of the whole maze: as planned or as finalized; None while it is endless."""
        return self._end

    @property
    def sets(self) -> SetNumbers:
        """Set number of each cell of the row to come: int32 of shape (width,), read-only.

        Cells with one number are connected by the rows above. A set's number is the smallest column in it.
        """
        with self._lock:
            state = self._settled()
        has_next, has_prev = (unpack_bits(state.plane(k), self._spec.width) for k in range(2))
        numbers = set_numbers(has_next, has_prev)
        numbers.flags.writeable = False
        return numbers

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at row {self.position} of {self._spec}>"

    # ---- rows -------------------------------------------------------------------------------

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        with self._lock:
            if self._taken == len(self._ahead):
                self._look_ahead()
            row = Row(self._ahead, self._taken)
            self._taken += 1
            return row

    def _look_ahead(self) -> None:
        """Carve the rows to be handed out next: twice as many each time, up to a bound."""
        rows = min(self._rows_ahead, self._rows_left(self._front.row))
        if not rows:
            raise StopIteration
        ahead, front = self._carve(self._front, rows)
        self._base, self._ahead, self._front, self._taken = self._front, ahead, front, 0
        most = max(1, min(MAX_ROWS_AHEAD, MAX_CELLS_AHEAD // self._spec.width))
        self._rows_ahead = min(2 * self._rows_ahead, most)

    def read(self, rows: int, /, *, workers: int = 1) -> Block:
        """Return the next `rows` rows as a Block; fewer at the end of the maze, then none.

        workers   threads that carve, 1 by default: each takes whole key intervals, and the rows are the same

        Raises StreamError if `rows` is not an integer >= 0, and for several workers where there are no key rows;
        CapacityError if the rows find no room in memory.
        """
        count, threads = row_number("the number of rows to read", rows, MAX_ROW), worker_count(workers)
        if threads > 1:
            check_divisible(self._spec)
        with self._lock:
            state = self._settled()
            block, after = self._carve(state, min(count, self._rows_left(state.row)), threads)
            self._stand_at(after)
            return block

    def _rows_left(self, row: int) -> int:
        if row == MAX_ROW and self._end is None:
            raise StreamError(f"row {MAX_ROW - 1} is the last that a stream can have")
        return (MAX_ROW if self._end is None else self._end) - row

    def _settled(self) -> State:
        """Return the state of the row to come, going back from the rows carved ahead."""
        if self._taken < len(self._ahead):
            self._stand_at(self._skip(self._base, self._taken))
        return self._front

    def _carve(self, state: State, rows: int, workers: int = 1) -> tuple[Block, State]:
        """Return the `rows` rows from the state on, and the state after them."""
        shape = (2, rows, row_bytes(self._spec.width))
        parts = [(state.row, state.row + rows)]
        if workers > 1:
            assert self._spec.key_interval, "check_divisible was called"
            parts = shares(*parts[0], self._spec.key_interval, workers)
        try:
            east, south = np.empty(shape, np.uint8)  # one piece: C libraries keep it for the next block
            after = side_by_side([partial(self._carve_rows, state, east, south, *part) for part in parts])[-1]
        except (MemoryError, ValueError):  # numpy says ValueError where a size passes the address space
            raise CapacityError(
                f"{rows} rows of {self._spec.width} cells find no room in memory; read fewer at a time"
            ) from None
        return Block(state.row, self._spec.width, east, south, self._north(state)), after

    def _carve_rows(self, state: State, east: Plane, south: Plane, first: int, stop: int) -> State:
        """Carve rows `first` to `stop - 1` into planes that begin with the state's row; return the state after them.

        `first` is the state's row or stands below a key row.
        """
        begin = state if first == state.row else self._found(first)
        planes = bytearray(begin.planes)
        rows = slice(first - state.row, stop - state.row)
        self._carve_into(planes, first, east[rows], south[rows])
        return State(stop, bytes(planes))

    def _found(self, row: int) -> State:
        """Return the state of a row that is found from nothing; StreamError where there are none."""
        raise StreamError(f"row {row} is not found without the rows above it")

    def _skip(self, state: State, rows: int) -> State:
        """Return the state `rows` rows further on, carving them in bounded memory and forgetting them."""
        end = state.row + rows
        at_once = max(1, _CELLS_AT_ONCE // self._spec.width)
        while state.row < end:
            _, state = self._carve(state, min(at_once, end - state.row))
        return state

    @abstractmethod
    def _carve_into(self, planes: bytearray, row: int, east: Plane, south: Plane) -> None:
        """Fill the planes with the rows from `row` on, and move the state, three planes, on."""

    def _north(self, state: State) -> Plane:
        """Return the packed passages south of the row above, as they were yielded: with its loops."""
        above = state.plane(2)
        return above if state.row == self._end else with_loops(self._spec, state.row, above)

    # ---- moving about -----------------------------------------------------------------------

    @abstractmethod
    def seek(self, row: int, /) -> None:
        """Make `row` the row to come; StreamError where that cannot be done."""

    def finalize(self, rows: int = 1) -> None:
        """End the maze after `rows` more rows: the last of them unites all sets and opens nothing south.

        Counts from the rows that the caller has taken, whatever was carved ahead.
        Raises StreamError if it was finalized before, has ended, or would not have so many rows.
        """
        with self._lock:
            if self._end != self._spec.height:
                raise StreamError(f"finalize was called already: row {self._last_row()} is the last one")
            state = self._settled()
            self._end = state.row + rows_to_end(rows, self._rows_left(state.row), self._end)

    def _last_row(self) -> int:
        return (self._end or 0) - 1

    # ---- snapshots --------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Return the state at the row to come as bytes: docs/FORMAT.md, "Snapshot". `restore` goes on from there."""
        with self._lock:
            return pack_snapshot(self._spec, self._end, self._settled())

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return type(self).restore, (self.snapshot(),)

    @classmethod
    def restore(cls, snapshot: bytes | bytearray | memoryview) -> Self:
        """Return the stream that a snapshot was taken of; what it yields is the same as if it had gone on.

        Raises FormatError for bytes that are no snapshot, damaged or forged; VersionError for a newer one.
        """
        spec, end, state = unpack_snapshot(cls.ALGORITHM, memoryview(snapshot).tobytes())
        stream = cls.from_spec(spec)
        stream._end = end
        stream._stand_at(state)
        return stream


class EllerStream(StateStream):
    """An infinite maze from Eller's algorithm, one row at a time.

    The keywords are those of `MazeSpec`. Iteration yields `Row`s, `read` gives many rows as a `Block`; a
    stream with a height, or a finalized one, ends by itself. Threads may share a stream: each row goes to one
    of them. Streams can be pickled and copied; a copy goes on from the same row by itself.

    Raises SpecError for values that no maze can have, CapacityError where a row finds no room in memory.

    Source: M. Eller's algorithm (1982) as described by W. Pullen and J. Buck; a whole row at a time as
    docs/STREAM.md tells.
    """

    ALGORITHM = "eller"

    def __init__(
        self,
        width: int,
        *,
        seed: int | None = None,
        height: int | None = None,
        p_east: ScheduleLike = 0.5,
        p_south: ScheduleLike = 0.5,
        key_interval: int | None = None,
        loops: ScheduleLike = 0.0,
        braid: Number | Probability = 0.0,
    ) -> None:
        self._begin(
            MazeSpec(
                width,
                seed=seed,
                height=height,
                p_east=p_east,
                p_south=p_south,
                key_interval=key_interval,
                loops=loops,
                braid=braid,
            )
        )

    def _begin(self, spec: MazeSpec) -> None:
        super()._begin(spec)
        assert spec.p_east is not None
        assert spec.p_south is not None
        assert spec.key_interval is not None
        self._p_east, self._p_south, self._key_interval = spec.p_east, spec.p_south, spec.key_interval

    def _carve_into(self, planes: bytearray, row: int, east: Plane, south: Plane) -> None:
        """Fill the planes with the rows from `row` on, in stretches of constant probabilities."""
        spec, done = self._spec, 0
        last_row = kernel.NO_LAST_ROW if self._end is None else self._end - 1
        while done < len(east):
            first = row + done
            stop = min(len(east), done + max(1, _CELLS_A_CALL // spec.width))
            changes = (schedule.changes_after(first) for schedule in (self._p_east, self._p_south, spec.loops))
            stop = min([stop, *(change - row for change in changes if change is not None)])
            kernel.carve(
                planes,
                east[done:stop].data,
                south[done:stop].data,
                spec.width,
                first,
                spec.seed,
                self._p_east.at(first),
                self._p_south.at(first),
                spec.loops.at(first),
                spec.braid.n,
                self._key_interval,
                last_row,
            )
            done = stop

    # ---- moving about -----------------------------------------------------------------------

    def seek(self, row: int, /) -> None:
        """Make `row` the row to come, from 0 to the height (2**48 for an endless stream).

        With key rows this costs at most `key_interval` rows, forwards and back. Without them it costs all the
        rows from here (or, going back, from row 0) to there.

        Raises StreamError for a row outside the maze, and for a distance of more than 2**34 cells.
        """
        target = row_number("the row to seek", row, MAX_ROW if self._end is None else self._end)
        with self._lock:
            state = self._nearest(target)
            if (target - state.row) * self._spec.width > MAX_SEEK_CELLS:
                raise StreamError(
                    f"row {target} is {target - state.row} rows away and there are no key rows between; at most "
                    f"{MAX_SEEK_CELLS // self._spec.width} are carved to get there (a key_interval makes it cheap)"
                )
            self._stand_at(self._skip(state, target - state.row))

    def _nearest(self, row: int) -> State:
        """Return the last state at or before `row` that is known or found from nothing."""
        if row == self._end:
            return State(row, State.at_top(self._spec.width).planes)
        known = [State.at_top(self._spec.width), self._base, self._front]
        nearest = max((state for state in known if state.row <= row), key=lambda state: state.row)
        interval = self._key_interval
        if interval and row - row % interval > nearest.row:
            return self._below_key_row(row - row % interval - 1)
        return nearest

    def _found(self, row: int) -> State:
        return self._below_key_row(row - 1)

    def _below_key_row(self, key_row: int) -> State:
        """Return the state below a key row: one set, of the cells that keep their passage south.

        The row is an odd one, scanned from right to left; if all cells drop, the last of the scan, column 0, is kept.
        """
        kept = self._coins_of(key_row, coins.SOUTH, self._p_south.at(key_row))
        south = int.from_bytes(kept.tobytes(), "little") or 1
        lowest, highest = south & -south, 1 << south.bit_length() - 1
        planes = (south ^ highest, south ^ lowest, south)
        return State(key_row + 1, b"".join(plane.to_bytes(len(kept), "little") for plane in planes))

    def _coins_of(self, row: int, base: int, n: int) -> Plane:
        """Return one row's coins, packed."""
        return coins.row_coins(self._spec.seed, base, n, self._spec.width, row, 1).reshape(-1)


def check_divisible(spec: MazeSpec) -> None:
    """Raise StreamError unless rows can be made without those above, as several workers do."""
    if not spec.seekable:
        raise StreamError("several workers need key rows or bands to share the rows, and key_interval is 0")


def row_number(name: str, value: object, most: int, least: int = 0) -> int:
    """Return a number of rows as int; StreamError if it is no integer from `least` to `most`."""
    try:
        number = integer(name, value)
    except SpecError as error:
        raise StreamError(str(error)) from None
    if not least <= number <= most:
        raise StreamError(f"{name} is from {least} to {most}, not {shown(number)}")
    return number


def rows_to_end(rows: object, left: int, end: int | None) -> int:
    """Return after how many rows a maze of which `left` rows are left is to end; StreamError if it cannot."""
    if not left:
        raise StreamError(f"the maze has ended with row {(end or 0) - 1}")
    return row_number("the number of rows to finalize after", rows, left, least=1)
