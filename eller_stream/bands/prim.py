"""Randomized Prim: of all walls between the maze and the rest, one is chosen and opened, and the cell behind it
joins.

The walls are a list. One of its items is chosen in proportion to the weights, the last item takes its place, and the
walls of the new cell are appended. A wall whose cell has joined by another one stays in the list until it is chosen,
and is then passed over; so the wall that is opened is chosen among all that count, in proportion to their weights.

Even weights make the choice one draw. Others, which depend on how far the cell behind the wall is from the goal,
need the first item up to which the weights sum to more than what was drawn: a Fenwick tree over the list finds it,
and takes changes, in O(log length). What is drawn, and when, stands in docs/STREAM.md, "Prim".

Source: R. C. Prim's algorithm (1957) with weights drawn at random, as in J. Buck, *Mazes for Programmers* (2015).
P. M. Fenwick, *A new data structure for cumulative frequency tables*, 1994.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from ..spec import EVEN, TOWARD
from . import draws
from .draws import Draws, band_key
from .grid import IN, NORTH, Carved, Grid
from .places import band_rows, rows_of

if TYPE_CHECKING:
    from ..spec import MazeSpec

UNIT = 65_536
MOST = 2**28
MOST_DISTANCE = 2**32


class _Walls(Protocol):
    """The list of walls: 4 * the number of the cell behind it + the side of that cell."""

    def push(self, wall: int, /) -> None: ...
    def take(self, drawn: Draws, /) -> int: ...


class _EvenWalls:
    """Each wall is as likely as any other."""

    def __init__(self) -> None:
        self._walls: list[int] = []

    def push(self, wall: int) -> None:
        self._walls.append(wall)

    def take(self, drawn: Draws) -> int:
        """Choose a wall and take it out; the last one takes its place."""
        return _taken(self._walls, drawn.below(len(self._walls)))


class _WeightedWalls:
    """A wall is the likelier the greater its weight is."""

    def __init__(self, weight: _Weight) -> None:
        self._walls: list[int] = []
        self._weight = weight
        self._total = 0
        self._sums = [0]  # item i > 0: the weights of the last (lowest bit of i) walls up to the i-th

    def push(self, wall: int) -> None:
        weight = self._weight(wall >> 2)
        self._walls.append(wall)
        self._total += weight
        i = len(self._walls)
        below, k = i - (i & -i), i - 1
        while k > below:
            weight += self._sums[k]
            k -= k & -k
        self._sums[i:] = [weight]

    def take(self, drawn: Draws) -> int:
        """Choose a wall and take it out; the last one takes its place."""
        i = self._find(drawn.below(self._total))
        last = self._weight(self._walls[-1] >> 2)
        wall = _taken(self._walls, i)
        weight = self._weight(wall >> 2)
        self._total -= weight
        i += 1
        while i <= len(self._walls):
            self._sums[i] += last - weight
            i += i & -i
        return wall

    def _find(self, left: int) -> int:
        """Return the first place up to which the weights sum to more than `left`."""
        i = 0
        for bit in range(len(self._walls).bit_length() - 1, -1, -1):
            k = i | 1 << bit
            if k <= len(self._walls) and self._sums[k] <= left:
                left -= self._sums[k]
                i = k
        return i


class _Weight:
    """The weight of a cell, by its distance from the goal."""

    def __init__(self, spec: MazeSpec, band: int, grid: Grid) -> None:
        assert spec.goal is not None
        way, self._a = pull_of(spec)
        self._toward = way == TOWARD
        self._row, self._column = spec.goal[0] - band * band_rows(spec), spec.goal[1]
        self._grid = grid

    def __call__(self, cell: int) -> int:
        row, column = self._grid.place(cell)
        distance = min(abs(row - self._row) + abs(column - self._column), MOST_DISTANCE)
        grown = min(UNIT + self._a * distance, MOST)
        return UNIT * MOST // grown if self._toward else grown


def pull_of(spec: MazeSpec) -> tuple[str, int]:
    """Return which way the weights pull, and their a in 65,536ths."""
    if not isinstance(spec.weights, tuple):
        return EVEN, 0
    way, a = spec.weights
    return str(way), int(Fraction(a) * UNIT)


def carve(spec: MazeSpec, band: int) -> Carved:
    """Return a band as Prim's algorithm carves it."""
    grid, drawn = Grid(spec.width, rows_of(spec, band)), Draws(band_key(spec.seed, draws.PRIM, band))
    walls: _Walls = _EvenWalls() if spec.goal is None else _WeightedWalls(_Weight(spec, band, grid))
    missing = grid.rows * grid.width
    if band:
        for column in range(grid.width):
            walls.push(4 * grid.cell(0, column) + NORTH)
    else:
        start = grid.nth(drawn.below(missing)) if spec.start is None else grid.cell(*spec.start)
        grid.cells[start] |= IN
        missing -= 1
        _push_walls(walls, grid, start)
    while missing:
        cell, side = divmod(walls.take(drawn), 4)
        if not grid.cells[cell] & IN:
            grid.enter(cell, side)
            missing -= 1
            _push_walls(walls, grid, cell)
    return grid.carved()


def _push_walls(walls: _Walls, grid: Grid, cell: int) -> None:
    """Append the walls between a cell of the maze and its neighbours outside of it."""
    for side in range(4):
        neighbour = cell + grid.steps[side]
        if not grid.cells[neighbour] & IN:
            walls.push(4 * neighbour + (side ^ 2))


def _taken(walls: list[int], i: int) -> int:
    """Return the i-th wall, and put the last one in its place."""
    last = walls.pop()
    if i == len(walls):
        return last
    walls[i], wall = last, walls[i]
    return wall
