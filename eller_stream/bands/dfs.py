"""Depth-first search: a tree goes on from the cell that it visited last, and steps back where there is nothing new.

Into a band lead several doors, one in each of as many equal stretches of the seam, and behind each grows a tree of
its own; with one door alone, every `band` rows would be shut off by a wall with a single gap. The trees take turns,
and a turn is one new cell, with all the steps back that it takes to get there; so none of them starves. A tree that
finds nothing new is done. The first band has one tree, from the start cell.

Trees never meet: each takes cells that no other has. When all are done there is no cell left, since a tree is not
done while a cell beside it is new. What is drawn, and when, stands in docs/STREAM.md, "Depth-first search".

Source: J. Buck, *Mazes for Programmers* (2015), "Recursive Backtracker"; here with a stack instead of recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING, TypeAlias

from ..errors import SpecError
from . import draws
from .draws import Draws, band_key
from .grid import EAST, IN, NORTH, SOUTH, WEST, Carved, Grid
from .places import band_rows, is_last, rows_of

if TYPE_CHECKING:
    from ..block import Cell
    from ..spec import MazeSpec, Ratio

    Weigh: TypeAlias = Callable[[int], Ratio]
    Move: TypeAlias = tuple[int, int, int]  # tree, cell, and the side it was entered on, or one of the two below

VISIT, BACK = "visit", "back"
_STARTED, _LEFT = -1, -2


@dataclass(frozen=True)
class Step:
    """One event of the search.

    kind      "visit": the cell is new; "back": nothing new beside the cell, so it is left for good
    tree      number of the tree, from the left, counted from 0 in each band
    cell      row and column, in the maze
    depth     cells on the tree's stack after the event
    passages  passages carved so far
    """

    kind: str
    tree: int
    cell: Cell
    depth: int
    passages: int

    def __str__(self) -> str:
        row, column = self.cell
        return f"{self.kind} {row},{column} tree {self.tree} depth {self.depth} passages {self.passages}"


def carve(spec: MazeSpec, band: int) -> Carved:
    """Return a band as depth-first search carves it."""
    grid = Grid(spec.width, rows_of(spec, band))
    for _ in _moves(spec, band, grid):
        pass
    return grid.carved()


def steps(spec: MazeSpec) -> Iterator[Step]:
    """Yield the events of the search, band by band, as long as the maze has bands."""
    passages = 0
    for first, grid, moves in _bands(spec):
        depths: dict[int, int] = {}
        for tree, cell, side in moves:
            passages += side >= 0
            depths[tree] = depths.get(tree, 0) + (-1 if side == _LEFT else 1)
            row, column = grid.place(cell)
            yield Step(BACK if side == _LEFT else VISIT, tree, (first + row, column), depths[tree], passages)


def passages(spec: MazeSpec) -> Iterator[tuple[Cell, Cell]]:
    """Yield the passages in the order in which they are carved: from a cell (row, column) to the new one."""
    for first, grid, moves in _bands(spec):
        for _, cell, side in moves:
            if side >= 0:
                ends = (grid.place(cell + grid.steps[side]), grid.place(cell))
                before, new = ((first + row, column) for row, column in ends)
                yield before, new


def _bands(spec: MazeSpec) -> Iterator[tuple[int, Grid, Iterator[Move]]]:
    """Yield the first row, the grid and the moves of each band."""
    if spec.algorithm != "dfs":
        raise SpecError(f"the steps of a search are those of dfs, not of {spec.algorithm}")
    for band in count():
        grid = Grid(spec.width, rows_of(spec, band))
        yield band * band_rows(spec), grid, _moves(spec, band, grid)
        if is_last(spec, band):
            return


def _moves(spec: MazeSpec, band: int, grid: Grid) -> Iterator[Move]:
    """Carve a band and yield each move."""
    drawn = Draws(band_key(spec.seed, draws.DFS, band))
    weigh = _weigher(spec, band, grid)
    trees = list(enumerate(_roots(spec, band, grid, drawn)))
    entered = NORTH if band else _STARTED
    for tree, root in trees:
        grid.cells[root] |= IN
        if band:
            grid.enter(root, NORTH)
        yield tree, root, entered
    growing = [(tree, [root]) for tree, root in trees]
    while growing:
        for tree, stack in growing:
            yield from _turn(grid, drawn, weigh, tree, stack)
        growing = [(tree, stack) for tree, stack in growing if stack]


def _roots(spec: MazeSpec, band: int, grid: Grid, drawn: Draws) -> list[int]:
    """Return the cells that the trees grow from: the start, or the cells behind the doors."""
    if band == 0:
        return [grid.nth(drawn.below(grid.rows * grid.width)) if spec.start is None else grid.cell(*spec.start)]
    assert spec.doors is not None
    edges = [i * spec.width // spec.doors for i in range(spec.doors + 1)]
    return [grid.cell(0, left + drawn.below(right - left)) for left, right in pairwise(edges)]


def _turn(grid: Grid, drawn: Draws, weigh: Weigh, tree: int, stack: list[int]) -> Iterator[Move]:
    """Step back until there is a new cell, and visit it."""
    cells, around = grid.cells, grid.steps
    while stack:
        cell = stack[-1]
        new = [side for side in range(4) if not cells[cell + around[side]] & IN]
        if new:
            side = _chosen(new, weigh(cell), drawn)
            stack.append(cell + around[side])
            grid.enter(stack[-1], side ^ 2)
            yield tree, stack[-1], side ^ 2
            return
        yield tree, stack.pop(), _LEFT


def _chosen(sides: list[int], weights: Ratio, drawn: Draws) -> int:
    """Return one of the sides, in proportion to the weights; each as likely where all of them weigh nothing."""
    total = sum(weights[side] for side in sides)
    if not total:
        return sides[drawn.below(len(sides))]
    left = drawn.below(total)
    for side in sides:
        if left < weights[side]:
            break
        left -= weights[side]
    return side


def ratio_of(spec: MazeSpec) -> Ratio:
    """Return the weights of a search: four of the sides, or two of the neighbours nearer to the goal and farther."""
    assert isinstance(spec.weights, tuple)
    return tuple(int(weight) for weight in spec.weights)


def _weigher(spec: MazeSpec, band: int, grid: Grid) -> Weigh:
    """Return what tells the weights of the four sides of a cell."""
    weights = ratio_of(spec)
    if spec.goal is None:
        return lambda _: weights
    goal_row, goal_column = spec.goal[0] - band * band_rows(spec), spec.goal[1]
    nearer, farther = weights

    def weigh(cell: int) -> Ratio:
        row, column = grid.place(cell)
        near = {NORTH: goal_row < row, EAST: goal_column > column, SOUTH: goal_row > row, WEST: goal_column < column}
        return tuple(nearer if near[side] else farther for side in range(4))

    return weigh
