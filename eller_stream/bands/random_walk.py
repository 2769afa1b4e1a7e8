"""Random-walk tunnels: a map of walls, and a walker who digs one straight tunnel after another.

Each tunnel has a random length from 1 to `max_length` and stops at the edge. The next one turns: it goes neither on
nor back. One of length 0, which had no room at all, doesn't count. The cell that the walker starts from and the last
cell of each tunnel are dug too, so all floor is one piece.

In a stream, bands meet at gates: the gate of a band is a column drawn for it alone, so the band above knows it too.
The walker of the first band starts anywhere, all others at the gate in their first row; `max_tunnels` tunnels later
each goes on, under the same rules, to the cell above the next band's gate. Along each axis by turns it digs toward
it, and one cell aside where this axis is right already but the rules ask for a turn. That ends: every tunnel but
those of one cell brings it nearer, and each step aside is undone by the next tunnel on its axis. A last band of one
row, where nobody can turn, is its gate alone.

Two floor cells beside each other always have a passage, across the seams as well. What braid and loops dig, and what
is drawn, and when, stands in docs/STREAM.md, "Random walk".

Source: A. Abdolsaheb, *How to code your own procedural dungeon map generator using the Random Walk Algorithm* (2018).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from . import draws
from .draws import Draws, band_key
from .grid import EAST, IN, NORTH, SOUTH, WEST, Grid
from .places import is_last, rows_of

if TYPE_CHECKING:
    from ..block import Cell
    from ..spec import MazeSpec

    Tunnel: TypeAlias = tuple[Cell, int, int]  # the cell it begins beside, its side, its length

_TURNS = {NORTH: (EAST, WEST), SOUTH: (EAST, WEST), EAST: (NORTH, SOUTH), WEST: (NORTH, SOUTH)}


def gate(spec: MazeSpec, band: int) -> int:
    """Return the column in which a band, and the last row of the band above it, have their gate."""
    return Draws(band_key(spec.seed, draws.GATES, band)).below(spec.width)


def dig(spec: MazeSpec, band: int) -> Grid:
    """Return a band with the cells that are dug marked as in the maze, before braid and loops."""
    grid = Grid(spec.width, rows_of(spec, band))
    for _ in tunnels(spec, band, grid):
        pass
    return grid


def tunnels(spec: MazeSpec, band: int, grid: Grid) -> Iterator[Tunnel]:
    """Dig a band and yield each tunnel: the cell (row, column) that it began beside, its side, its length."""
    assert spec.max_tunnels is not None
    drawn = Draws(band_key(spec.seed, draws.RANDOM_WALK, band))
    walker = _Walker(spec, grid, drawn)
    walker.start(grid.cell(0, gate(spec, band)) if band else grid.nth(drawn.below(grid.rows * grid.width)))
    if grid.rows == 1:
        return
    for _ in range(spec.max_tunnels):
        yield walker.tunnel()
    if not is_last(spec, band):
        yield from walker.go_to(grid.rows - 1, gate(spec, band + 1))


class _Walker:
    """Who digs: stands in a cell, and knows on which side of the one before it that tunnel went."""

    def __init__(self, spec: MazeSpec, grid: Grid, drawn: Draws) -> None:
        assert spec.max_length is not None
        self._grid = grid
        self._drawn = drawn
        self._most = spec.max_length
        self._side: int | None = None

    def start(self, cell: int) -> None:
        """Begin in a cell, which is dug."""
        self._cell = cell
        self._grid.cells[cell] |= IN

    def tunnel(self) -> Tunnel:
        """Dig the next tunnel that counts."""
        while True:
            sides = (NORTH, EAST, SOUTH, WEST) if self._side is None else _TURNS[self._side]
            side = sides[self._drawn.below(len(sides))]
            length = min(1 + self._drawn.below(self._most), self._room(side))
            if length:
                return self._dug(side, length)

    def go_to(self, row: int, column: int) -> Iterator[Tunnel]:
        """Dig tunnels to a cell, each as long as drawn; yield them."""
        while True:
            here = self._grid.place(self._cell)
            ways = {EAST: column - here[1], SOUTH: row - here[0]}
            if not any(ways.values()):
                return
            axis = SOUTH if self._side in (EAST, WEST) else EAST
            way = ways[axis]
            if way:
                yield self._dug(axis if way > 0 else axis ^ 2, 1 + self._drawn.below(min(abs(way), self._most)))
            else:
                yield self._dug(axis if self._room(axis) else axis ^ 2, 1)

    def _room(self, side: int) -> int:
        """Return how many cells there are on a side, up to the edge."""
        row, column = self._grid.place(self._cell)
        return (row, self._grid.width - 1 - column, self._grid.rows - 1 - row, column)[side]

    def _dug(self, side: int, length: int) -> Tunnel:
        began = self._grid.place(self._cell)
        for _ in range(length):
            self.start(self._cell + self._grid.steps[side])
        self._side = side
        return began, side, length
