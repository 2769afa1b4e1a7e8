"""Wilson's algorithm: loop-erased random walks, which make every spanning tree of a band equally likely.

From each cell that is not in the maze, in their order, a walk wanders to any neighbour until it meets the maze,
which is the start cell in the first band, and the row above, taken as one cell, in all others. Each cell of the walk
remembers only the side on which it was left last; following these from the beginning gives the walk without its
loops, and that is carved. That the order of the cells and the place of the root make no difference to the chance of
a tree is Wilson's theorem.

A walk may be long, but it ends with probability 1; that bands are at most 64 times as tall as wide bounds how long
it takes to find the row above. What is drawn, and when, stands in docs/STREAM.md, "Wilson".

Source: D. B. Wilson, *Generating random spanning trees more quickly than the cover time*, STOC 1996.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import draws
from .draws import Draws, band_key
from .grid import IN, OUTSIDE, Carved, Grid
from .places import rows_of

if TYPE_CHECKING:
    from ..spec import MazeSpec

_WAY = 4  # the bits of a cell's byte from here on: the side on which a walk left it last


def carve(spec: MazeSpec, band: int) -> Carved:
    """Return a band as Wilson's algorithm carves it."""
    grid, drawn = Grid(spec.width, rows_of(spec, band)), Draws(band_key(spec.seed, draws.WILSON, band))
    if band:
        grid.cells[1 : 1 + spec.width] = bytes([IN]) * spec.width
    else:
        grid.cells[grid.nth(drawn.below(grid.rows * grid.width))] |= IN
    for row in range(grid.rows):
        for cell in range(grid.cell(row, 0), grid.cell(row, grid.width)):
            _wander(grid, drawn, cell)
            _follow(grid, cell)
    return grid.carved()


def _wander(grid: Grid, drawn: Draws, cell: int) -> None:
    """Walk from a cell to the maze, and note the way out of each cell."""
    cells, around = grid.cells, grid.steps
    while not cells[cell] & IN:
        sides = [side for side in range(4) if not cells[cell + around[side]] & OUTSIDE]
        side = sides[drawn.below(len(sides))]
        cells[cell] = side << _WAY
        cell += around[side]


def _follow(grid: Grid, cell: int) -> None:
    """Carve the way that the walk took, without its loops."""
    while not grid.cells[cell] & IN:
        side = grid.cells[cell] >> _WAY
        grid.enter(cell, side)
        cell += grid.steps[side]
