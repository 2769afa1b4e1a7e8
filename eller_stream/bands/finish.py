"""From bands as they are carved to rows as they are given out: the seams, the cut, braid and loops.

A band's passages through the seam below it belong to the band below; so the last row is finished when that band is
known, or when the maze ends with it.

*The cut.* A maze that is finalized within a band ends where its rows were carved to go on, and what hangs together
only below falls apart. The sets of the cut row are those that its rows above connect, the row above the band being
one cell. Each of them has a cell in the cut row, for whatever leads to another one leads through it; so joining
neighbours of different sets in that row unites them all. In a map the walls between two such neighbours are dug
away.

*Braid and loops* of the other algorithms are those of Eller's rows, and the last row of a band never braids
southward. In a random-walk map they dig walls that have floor on both sides, within the band, before the passages
are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .. import coins
from .._step import BraidCoins, as_integers, braid_sides, braided
from ..block import Block, row_bytes, unpack_bits
from .grid import Carved
from .places import band_rows

if TYPE_CHECKING:
    from ..block import Plane
    from ..spec import MazeSpec, Schedule


def finished(
    spec: MazeSpec, band: int, carved: Carved, around: tuple[Carved | None, Carved | None], end: int | None
) -> Block:
    """Return the rows of a band, up to `end` if the maze ends there, as they are given out.

    around   the bands above (it is asked for in a map alone) and below, None where there is none
    """
    start, (above, below) = band * band_rows(spec), around
    rows = len(carved.east) if end is None else min(len(carved.east), end - start)
    east, south = carved.east[:rows].copy(), carved.south[:rows].copy()
    floor = None if carved.floor is None else carved.floor[:rows].copy()
    north = carved.seam if above is None or above.floor is None else carved.seam & above.floor[-1]
    last = end == start + rows
    if last:
        south[-1] = 0
    elif below is not None:
        south[-1] = below.seam if carved.floor is None else below.seam & carved.floor[-1]
    if rows < len(carved.east):
        _join_cut(start, north, east, south, floor, spec.width)
    if floor is None:
        _braid(spec, start, north, east, south, whole=rows == len(carved.east), last=last)
        north = _open_loops(spec, start, north, east, south, last=last)
    return Block(start, spec.width, east, south, north, floor)


# ---- the cut ---------------------------------------------------------------------------------


class _Sets:
    """Sets of cells, united by passages."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def root(self, item: int) -> int:
        while (parent := self._parents.get(item, item)) != item:
            self._parents[item] = item = self._parents.get(parent, parent)
        return item

    def unite(self, a: int, b: int) -> bool:
        """Return whether they were apart."""
        a, b = self.root(a), self.root(b)
        self._parents[a] = b
        return a != b


def _join_cut(start: int, north: Plane, east: Plane, south: Plane, floor: Plane | None, width: int) -> None:
    """Unite the sets of the last row, in its scan's order."""
    sets, labels = _cut_sets(north, east, south, width)
    cells = range(width) if floor is None else np.flatnonzero(unpack_bits(floor[-1], width)).tolist()
    neighbours = list(pairwise(cells))
    backwards = (start + len(east)) % 2 == 0
    if backwards:
        neighbours.reverse()
    for left, right in neighbours:
        if sets.unite(labels[left], labels[right]):
            _open(east[-1], range(left, right))
            if floor is not None:
                _open(floor[-1], range(left, right))
    if floor is not None and not floor.any():
        first = width - 1 if backwards else 0
        _open(floor[-1], range(first, first + 1))


def _cut_sets(north: Plane, east: Plane, south: Plane, width: int) -> tuple[_Sets, list[int]]:
    """Return the sets of all rows, and for each cell of the last row one of its set."""
    sets, labels = _Sets(), [0] * width  # 0: the row above the band
    for i in range(len(east)):
        from_above = unpack_bits(north if i == 0 else south[i - 1], width).tolist()
        new = range(1 + i * width, 1 + (i + 1) * width)
        labels = [above if opens else n for above, opens, n in zip(labels, from_above, new, strict=True)]
        for c in np.flatnonzero(unpack_bits(east[i], width)).tolist():
            sets.unite(labels[c], labels[c + 1])
    return sets, labels


def _open(row: Plane, columns: range) -> None:
    for c in columns:
        row[c // 8] |= 1 << c % 8


# ---- braid and loops ---------------------------------------------------------------------------


def _braid(spec: MazeSpec, start: int, north: Plane, east: Plane, south: Plane, *, whole: bool, last: bool) -> None:
    """Braid the dead ends of the rows, from above to below, since each sees what the one above it opened."""
    if not spec.braid.n:
        return
    boundaries = (1 << spec.width - 1) - 1
    above = int.from_bytes(north.tobytes(), "little")
    opens_east, opens_south = list[int](), list[int]()
    passages = zip(as_integers(east), as_integers(south), _braid_coins(spec, start, len(east)), strict=True)
    for i, (e, s, drawn) in enumerate(passages):
        may_open_south = i < len(east) - 1 or not (whole or last)
        e, above = braided(above, e, s, boundaries, drawn, may_open_south=may_open_south)
        opens_east.append(e)
        opens_south.append(above)
    east[:] = as_plane(opens_east, spec.width)
    south[:] = as_plane(opens_south, spec.width)


def _braid_coins(spec: MazeSpec, start: int, rows: int) -> Iterator[BraidCoins]:
    kinds = ((coins.BRAID, spec.braid.n), (coins.BRAID_THIRD, coins.THIRD), (coins.BRAID_EVEN, coins.EVEN))
    drawn = [as_integers(coins.row_coins(spec.seed, base, n, spec.width, start, rows)) for base, n in kinds]
    return map(BraidCoins._make, zip(*drawn, strict=True))


def _open_loops(spec: MazeSpec, start: int, north: Plane, east: Plane, south: Plane, *, last: bool) -> Plane:
    """Open the walls whose loop coins fall, and return the passages north with those of the row above."""
    boundaries = as_plane([(1 << spec.width - 1) - 1], spec.width)
    for first, stop, n in _stretches(spec.loops, start, len(east)):
        east[first:stop] |= _coins(spec, coins.LOOPS_EAST, n, start + first, stop - first) & boundaries
        south[first:stop] |= _coins(spec, coins.LOOPS_SOUTH, n, start + first, stop - first)
    if last:
        south[-1] = 0
    if start == 0:
        return north
    from_loops: Plane = _coins(spec, coins.LOOPS_SOUTH, spec.loops.at(start - 1), start - 1, 1)[0]
    return north | from_loops


def _coins(spec: MazeSpec, base: int, n: int, row: int, rows: int) -> Plane:
    return coins.row_coins(spec.seed, base, n, spec.width, row, rows)


def _stretches(schedule: Schedule, start: int, rows: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first, stop, n) for each stretch of the rows from `start` on in which a schedule has one value, not 0."""
    first = 0
    while first < rows:
        change = schedule.changes_after(start + first)
        stop = rows if change is None else min(rows, change - start)
        n = schedule.at(start + first)
        if n:
            yield first, stop, n
        first = stop


# ---- maps --------------------------------------------------------------------------------------


def map_of(spec: MazeSpec, band: int, dug: Plane) -> Carved:
    """Return the band of a map of which `dug` is the floor before braid and loops."""
    floor = dug
    if spec.braid.n or any(n for _, n in spec.loops.pairs):
        floor = as_plane(_dug_on(spec, band * band_rows(spec), as_integers(dug)), spec.width)
    from_right = floor >> np.uint8(1)
    from_right[:, :-1] |= floor[:, 1:] << np.uint8(7)
    south = np.zeros_like(floor)
    south[:-1] = floor[:-1] & floor[1:]
    return Carved(floor[0] if band else np.zeros_like(floor[0]), floor & from_right, south, floor)


def _dug_on(spec: MazeSpec, start: int, dug: list[int]) -> list[int]:
    """Return the floor with what braid and loops dig; both see what was dug before either."""
    floor = dug[:]
    for i, drawn in enumerate(_braid_coins(spec, start, len(dug)) if spec.braid.n else ()):
        if 0 < i < len(dug) - 1:
            _braid_map_row(dug, floor, i, drawn)
    for first, stop, n in _stretches(spec.loops, start, len(dug)):
        across, along = (
            as_integers(_coins(spec, base, n, start + first, stop - first))
            for base in (coins.LOOPS_EAST, coins.LOOPS_SOUTH)
        )
        for i in range(first, stop):
            floor[i] |= dug[i] << 1 & dug[i] >> 1 & across[i - first]
            if 0 < i < len(dug) - 1:
                floor[i] |= dug[i - 1] & dug[i + 1] & along[i - first]
    return floor


def _braid_map_row(dug: list[int], floor: list[int], i: int, drawn: BraidCoins) -> None:
    """Dig through one wall beside each dead end of a row whose coin falls."""
    here, below = dug[i], dug[i + 1]
    west, east, north, south = here << 1, here >> 1, dug[i - 1], below
    dead_ends = here & (north ^ west ^ east ^ south) & ~(north & west) & ~(east & south) & drawn.falls
    behind = dug[i + 2] if i + 2 < len(dug) else 0
    can = (dead_ends & ~west & here << 2, dead_ends & ~east & here >> 2, dead_ends & ~south & behind)
    to_west, to_east, to_south = braid_sides(*can, drawn)
    floor[i] |= to_west >> 1 | to_east << 1
    floor[i + 1] |= to_south


def as_plane(rows: list[int], width: int) -> Plane:
    """Return rows as a packed plane: bit c of each is column c."""
    size = row_bytes(width)
    data = b"".join(row.to_bytes(size, "little") for row in rows)
    return np.frombuffer(data, np.uint8).reshape(len(rows), size)
