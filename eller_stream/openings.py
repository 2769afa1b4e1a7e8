"""Braid and loops of rows that other means than the kernel carve: what they open beside the carved passages.

docs/STREAM.md, "Braid" and "Loops". The kernel does the same to its own rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from . import coins
from ._step import BraidCoins, as_integers, braided
from .block import row_bytes

if TYPE_CHECKING:
    from .block import Plane
    from .spec import MazeSpec, Schedule


def braid(spec: MazeSpec, start: int, north: Plane, east: Plane, south: Plane, *, sealed: bool) -> None:
    """Braid the dead ends of the rows from `start` on, from above to below, as each sees what the one above it opened.

    north    the passages south of the row above, with its braid but without its loops
    sealed   whether the final row never braids southward
    """
    if not spec.braid.n:
        return
    boundaries = (1 << spec.width - 1) - 1
    above = int.from_bytes(north.tobytes(), "little")
    opens_east, opens_south = list[int](), list[int]()
    passages = zip(as_integers(east), as_integers(south), braid_coins(spec, start, len(east)), strict=True)
    for i, (e, s, drawn) in enumerate(passages):
        may_open_south = not sealed or i < len(east) - 1
        e, above = braided(above, e, s, boundaries, drawn, may_open_south=may_open_south)
        opens_east.append(e)
        opens_south.append(above)
    east[:] = as_plane(opens_east, spec.width)
    south[:] = as_plane(opens_south, spec.width)


def braid_coins(spec: MazeSpec, start: int, rows: int) -> Iterator[BraidCoins]:
    """Yield each row's coins for its braid."""
    kinds = ((coins.BRAID, spec.braid.n), (coins.BRAID_THIRD, coins.THIRD), (coins.BRAID_EVEN, coins.EVEN))
    drawn = [as_integers(coins.row_coins(spec.seed, base, n, spec.width, start, rows)) for base, n in kinds]
    return map(BraidCoins._make, zip(*drawn, strict=True))


def open_loops(spec: MazeSpec, start: int, east: Plane, south: Plane, *, last: bool) -> None:
    """Open the walls whose loop coins fall; `last`: the final row is the maze's last one."""
    boundaries = as_plane([(1 << spec.width - 1) - 1], spec.width)
    for first, stop, n in stretches(spec.loops, start, len(east)):
        east[first:stop] |= loop_coins(spec, coins.LOOPS_EAST, n, start + first, stop - first) & boundaries
        south[first:stop] |= loop_coins(spec, coins.LOOPS_SOUTH, n, start + first, stop - first)
    if last:
        south[-1] = 0


def with_loops(spec: MazeSpec, row: int, north: Plane) -> Plane:
    """Return the passages north of a row with those that the loops of the row above open."""
    n = spec.loops.at(row - 1) if row else 0
    return north | loop_coins(spec, coins.LOOPS_SOUTH, n, row - 1, 1)[0] if n else north


def loop_coins(spec: MazeSpec, base: int, n: int, row: int, rows: int) -> Plane:
    """Return the loop coins, east or south by `base`, of `rows` rows: uint8 of shape (rows, ceil(width / 8))."""
    return coins.row_coins(spec.seed, base, n, spec.width, row, rows)


def stretches(schedule: Schedule, start: int, rows: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first, stop, n) for each stretch of the rows from `start` on in which a schedule has one value, not 0."""
    first = 0
    while first < rows:
        change = schedule.changes_after(start + first)
        stop = rows if change is None else min(rows, change - start)
        n = schedule.at(start + first)
        if n:
            yield first, stop, n
        first = stop


def as_plane(rows: list[int], width: int) -> Plane:
    """Return rows as a packed plane: bit c of each is column c."""
    size = row_bytes(width)
    data = b"".join(row.to_bytes(size, "little") for row in rows)
    return np.frombuffer(data, np.uint8).reshape(len(rows), size)
