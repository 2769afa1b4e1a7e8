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

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .. import coins
from .._step import BraidCoins, as_integers, braid_sides
from ..block import Block, unpack_bits
from ..openings import as_plane, braid, braid_coins, loop_coins, open_loops, stretches, with_loops
from .grid import Carved
from .places import band_rows

if TYPE_CHECKING:
    from ..block import Plane
    from ..spec import MazeSpec


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
        braid(spec, start, north, east, south, sealed=last or rows == len(carved.east))
        open_loops(spec, start, east, south, last=last)
        north = with_loops(spec, start, north)
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
    for i, drawn in enumerate(braid_coins(spec, start, len(dug)) if spec.braid.n else ()):
        if 0 < i < len(dug) - 1:
            _braid_map_row(dug, floor, i, drawn)
    for first, stop, n in stretches(spec.loops, start, len(dug)):
        across, along = (
            as_integers(loop_coins(spec, base, n, start + first, stop - first))
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
