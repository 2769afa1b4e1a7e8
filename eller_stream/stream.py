"""`EllerStream`: an endless maze, row by row, from Eller's algorithm; `RowStream`: what every stream can do.

A stream holds the state of one row, the row to come. Rows come from the kernel in blocks; iteration
carves a block ahead and hands its rows out one by one. Who looks at the state between two rows (`sets`,
`snapshot`, `finalize`, `seek`) makes the stream go back to the row it had come to; the rows ahead are then
carved again, and fewer of them at first.

Key rows (every `key_interval`-th row, docs/STREAM.md "Key rows") unite all cells. What follows one depends on
nothing but its own passages south, and these on its coins alone; so the state below a key row is found from
nothing, and any row is at most `key_interval` rows away.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import msgpack  # type: ignore[import-untyped]
import numpy as np

from . import coins, kernel
from .block import Block, Row, pack_bits, row_bytes, unpack_bits
from .errors import CapacityError, FormatError, SpecError, StreamError, VersionError
from .partition import is_row, set_numbers
from .sealed import bin_head, check_seal, seal, uint64
from .spec import MAX_ROW, MazeSpec, Number, Probability, Schedule, ScheduleLike, integer, shown

if TYPE_CHECKING:
    from .block import Plane
    from .partition import SetNumbers

MAX_ROWS_AHEAD = 256
MAX_CELLS_AHEAD = 2**18
MAX_SEEK_CELLS = 2**34
_CELLS_AT_ONCE = 2**26
_CELLS_A_CALL = 2**28  # of the kernel: room for bands side by side, and signals wait no longer than a second or so

SNAPSHOT_KIND = "eller-snapshot"
SNAPSHOT_VERSION = 1
_SNAPSHOT_FIELDS = 9
_SNAPSHOT_BEGINNING = b"\x99" + msgpack.packb(SNAPSHOT_KIND) + msgpack.packb(SNAPSHOT_VERSION)


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

    def finalize(self) -> None:
        """Make the row to come the last one."""


@dataclass(frozen=True)
class _State:
    """What determines the rows from `row` on: has_next, has_prev, and the passages south of the row above.

    `planes` holds the three packed planes one after another. `above` is as carved and braided, loops aside.
    """

    row: int
    planes: bytes

    @classmethod
    def at_top(cls, width: int) -> _State:
        return cls(0, bytes(3 * row_bytes(width)))

    def plane(self, k: int) -> Plane:
        """Return plane k: 0 has_next, 1 has_prev, 2 above."""
        size = len(self.planes) // 3
        return np.frombuffer(self.planes, np.uint8, size, k * size)


class EllerStream:
    """An infinite maze from Eller's algorithm, one row at a time.

    The keywords are those of `MazeSpec`. Iteration yields `Row`s, `read` gives many rows as a `Block`; a
    stream with a height, or a finalized one, ends by itself. Threads may share a stream: each row goes to one
    of them. Streams can be pickled and copied; a copy goes on from the same row by itself.

    Raises SpecError for values that no maze can have, CapacityError where a row finds no room in memory.

    Source: M. Eller's algorithm (1982) as described by W. Pullen and J. Buck; a whole row at a time as
    docs/STREAM.md tells.
    """

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
        self._spec = spec
        self._p_east, self._p_south, self._key_interval = _eller_options(spec)
        self._end = spec.height
        self._lock = threading.Lock()
        try:
            self._stand_at(_State.at_top(spec.width))
        except MemoryError:
            raise CapacityError(f"a row of {spec.width} cells finds no room in memory") from None

    def _stand_at(self, state: _State) -> None:
        """Make the state's row the row to come, with none carved ahead."""
        self._base = self._front = state
        self._ahead = Block.empty(state.row, self._spec.width, self._north(state))
        self._taken = 0
        self._rows_ahead = 1

    @classmethod
    def from_spec(cls, spec: MazeSpec) -> EllerStream:
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
        return f"<EllerStream at row {self.position} of {self._spec}>"

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

    def read(self, rows: int, /) -> Block:
        """Return the next `rows` rows as a Block; fewer at the end of the maze, then none.

        Raises StreamError if `rows` is not an integer >= 0, CapacityError if they find no room in memory.
        """
        count = row_number("the number of rows to read", rows, MAX_ROW)
        with self._lock:
            state = self._settled()
            block, after = self._carve(state, min(count, self._rows_left(state.row)))
            self._stand_at(after)
            return block

    def _rows_left(self, row: int) -> int:
        if row == MAX_ROW and self._end is None:
            raise StreamError(f"row {MAX_ROW - 1} is the last that a stream can have")
        return (MAX_ROW if self._end is None else self._end) - row

    def _settled(self) -> _State:
        """Return the state of the row to come, going back from the rows carved ahead."""
        if self._taken < len(self._ahead):
            self._stand_at(self._skip(self._base, self._taken))
        return self._front

    def _carve(self, state: _State, rows: int) -> tuple[Block, _State]:
        """Return the `rows` rows from the state on, and the state after them."""
        shape = (rows, row_bytes(self._spec.width))
        try:
            planes = bytearray(state.planes)
            east, south = np.empty(shape, np.uint8), np.empty(shape, np.uint8)
            self._carve_into(planes, state.row, east, south)
            after = _State(state.row + rows, bytes(planes))
        except (MemoryError, ValueError):  # numpy says ValueError where a size passes the address space
            raise CapacityError(
                f"{rows} rows of {self._spec.width} cells find no room in memory; read fewer at a time"
            ) from None
        return Block(state.row, self._spec.width, east, south, self._north(state)), after

    def _skip(self, state: _State, rows: int) -> _State:
        """Return the state `rows` rows further on, carving them in bounded memory and forgetting them."""
        end = state.row + rows
        at_once = max(1, _CELLS_AT_ONCE // self._spec.width)
        while state.row < end:
            _, state = self._carve(state, min(at_once, end - state.row))
        return state

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

    def _north(self, state: _State) -> Plane:
        """Return the packed passages south of the row above, as they were yielded: with its loops."""
        above = state.plane(2)
        loops = self._spec.loops.at(state.row - 1) if state.row else 0
        if not loops or state.row == self._end:
            return above
        return above | self._coins_of(state.row - 1, coins.LOOPS_SOUTH, loops)

    def _coins_of(self, row: int, base: int, n: int) -> Plane:
        """Return one row's coins, packed."""
        return coins.row_coins(self._spec.seed, base, n, self._spec.width, row, 1).reshape(-1)

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

    def _nearest(self, row: int) -> _State:
        """Return the last state at or before `row` that is known or found from nothing."""
        if row == self._end:
            return _State(row, _State.at_top(self._spec.width).planes)
        known = [_State.at_top(self._spec.width), self._base, self._front]
        nearest = max((state for state in known if state.row <= row), key=lambda state: state.row)
        interval = self._key_interval
        if interval and row - row % interval > nearest.row:
            return self._below_key_row(row - row % interval - 1)
        return nearest

    def _below_key_row(self, key_row: int) -> _State:
        """Return the state below a key row: one set, of the cells that keep their passage south.

        The row is an odd one, scanned from right to left; if all cells drop, the last of the scan, column 0, is kept.
        """
        kept = self._coins_of(key_row, coins.SOUTH, self._p_south.at(key_row))
        south = int.from_bytes(kept.tobytes(), "little") or 1
        lowest, highest = south & -south, 1 << south.bit_length() - 1
        planes = (south ^ highest, south ^ lowest, south)
        return _State(key_row + 1, b"".join(plane.to_bytes(len(kept), "little") for plane in planes))

    def finalize(self) -> None:
        """Make the row to come the maze's last one: it unites all sets and opens nothing south.

        Counts from the rows that the caller has taken, whatever was carved ahead.
        Raises StreamError if it was finalized before or has ended.
        """
        with self._lock:
            if self._end != self._spec.height:
                raise StreamError(f"finalize was called already: row {self._last_row()} is the last one")
            state = self._settled()
            if not self._rows_left(state.row):
                raise StreamError(f"the maze has ended with row {self._last_row()}")
            self._end = state.row + 1

    def _last_row(self) -> int:
        return (self._end or 0) - 1

    # ---- snapshots --------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Return the state at the row to come as bytes: docs/FORMAT.md, "Snapshot". `restore` goes on from there."""
        with self._lock:
            return _pack_snapshot(self._spec, self._end, self._settled())

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return type(self).restore, (self.snapshot(),)

    @classmethod
    def restore(cls, snapshot: bytes | bytearray | memoryview) -> Self:
        """Return the stream that a snapshot was taken of; what it yields is the same as if it had gone on.

        Raises FormatError for bytes that are no snapshot, damaged or forged; VersionError for a newer one.
        """
        spec, end, state = _unpack_snapshot(memoryview(snapshot).tobytes())
        stream = cls.__new__(cls)
        stream._begin(spec)
        stream._end = end
        stream._stand_at(state)
        return stream


def _eller_options(spec: MazeSpec) -> tuple[Schedule, Schedule, int]:
    """Return p_east, p_south and the key interval; SpecError for a spec of another algorithm, which has none."""
    if spec.p_east is None or spec.p_south is None or spec.key_interval is None:
        raise SpecError(f"an EllerStream has algorithm eller, not {spec.algorithm}")
    return spec.p_east, spec.p_south, spec.key_interval


def row_number(name: str, value: object, most: int) -> int:
    """Return a number of rows as int; StreamError if it is no integer from 0 to `most`."""
    try:
        number = integer(name, value)
    except SpecError as error:
        raise StreamError(str(error)) from None
    if not 0 <= number <= most:
        raise StreamError(f"{name} is from 0 to {most}, not {shown(number)}")
    return number


def _pack_snapshot(spec: MazeSpec, end: int | None, state: _State) -> bytes:
    """Return the bytes of a snapshot: integers behind the spec and lengths have fixed widths."""
    pieces = [_SNAPSHOT_BEGINNING, msgpack.packb(spec.to_data())]
    pieces += [b"\xc0" if end is None else uint64(end), uint64(state.row)]
    for k in range(3):
        plane = state.plane(k).tobytes()
        pieces += [bin_head(len(plane)), plane]
    return b"".join([*pieces, seal(pieces)])


def _unpack_snapshot(data: bytes) -> tuple[MazeSpec, int | None, _State]:
    """Return what a snapshot says; FormatError unless it is, byte for byte, one that could have been packed."""
    spec_data, end, row, *planes, _ = _snapshot_fields(data)
    try:
        spec = MazeSpec.from_data(spec_data)
        _eller_options(spec)
    except SpecError as error:
        raise FormatError(f"the snapshot's spec: {error}") from None
    if not (end is None or type(end) is int) or type(row) is not int or not all(type(p) is bytes for p in planes):
        raise FormatError("a snapshot holds its end, its row and three planes")
    state = _State(row, b"".join(planes))
    check_seal(data, "the snapshot")
    _check_state(spec, end, state, planes)
    if _pack_snapshot(spec, end, state) != data:
        raise FormatError("the snapshot's numbers are not written in their fixed widths")
    return spec, end, state


def _snapshot_fields(data: bytes) -> list[Any]:
    """Return the fields of a snapshot behind its version."""
    limits = {"max_array_len": 512, "max_map_len": 64, "max_str_len": 256, "max_ext_len": 0}
    try:
        fields = msgpack.unpackb(data, max_bin_len=len(data), **limits)
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        raise FormatError(f"the bytes are no snapshot: {shown(str(error) or type(error).__name__)}") from None
    if not isinstance(fields, list) or len(fields) < 2 or fields[0] != SNAPSHOT_KIND:
        raise FormatError(f"the bytes are no snapshot: an array that begins with {SNAPSHOT_KIND} was expected")
    if fields[1] != SNAPSHOT_VERSION:
        raise VersionError(f"the snapshot is of version {shown(fields[1])}, and this program reads {SNAPSHOT_VERSION}")
    if len(fields) != _SNAPSHOT_FIELDS:
        raise FormatError(f"a snapshot has {_SNAPSHOT_FIELDS} fields, not {len(fields)}")
    return fields[2:]


def _check_state(spec: MazeSpec, end: int | None, state: _State, planes: list[bytes]) -> None:
    """Raise FormatError unless the state is one of a row that a maze of this spec can have."""
    most = MAX_ROW if spec.height is None else spec.height
    fits = spec.height is None if end is None else 1 <= end <= most
    if not fits or not 0 <= state.row <= (most if end is None else end):
        raise FormatError(f"the snapshot's row {state.row} and end {end} are not of a maze of height {spec.height}")
    if any(len(plane) != row_bytes(spec.width) for plane in planes):
        raise FormatError(f"a plane of {spec.width} cells has {row_bytes(spec.width)} bytes")
    packed = [np.frombuffer(plane, np.uint8) for plane in planes]
    has_next, has_prev, above = (unpack_bits(plane, spec.width) for plane in packed)
    if any(pack_bits(unpack_bits(plane, spec.width)).tobytes() != plane.tobytes() for plane in packed):
        raise FormatError(f"the snapshot has bits beyond column {spec.width - 1}")
    at_edge = state.row in (0, end)
    if not is_row(has_next, has_prev) or np.any((has_next | has_prev) & ~above) or above.any() == at_edge:
        raise FormatError("the snapshot's state is not the sets of a row")
