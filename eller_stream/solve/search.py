"""Shortest paths by breadth-first search, in memory: for mazes with loops, for maps, and for the farthest pair.

The search takes up to 13 bytes a cell, for all cells there are, so it has a bound. Perfect mazes of any size are for
`tree_path`. In a tree, the cell farthest from any cell is one end of a farthest pair, and the cell farthest from that
one is the other: two searches. With loops those two give a pair that is far apart, not always the farthest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..block import E, N, S, W, unpack_bits
from ..errors import CapacityError, SolveError
from . import steps
from .path import Path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..block import Bools, Cell, Plane
    from .rows import MazeRows

MOST_CELLS = 2**26
_CELLS_AT_ONCE, _FLOOR_AT_ONCE = 2**22, 2**16


def shortest_path(maze: MazeRows, start: Cell, end: Cell) -> Path:
    """Return a shortest path between two cells (row, column), which may be the same.

    Of several, it is the one that, going back from the end, takes the first of north, west, east, south at each cell.
    Raises SolveError for a cell that is outside or a wall, and where no path connects the two; CapacityError for more
    than 2**26 cells.
    """
    start, end = maze.cell(start), maze.cell(end)
    search = _Search(maze)
    search.check_floor(start)
    search.check_floor(end)
    search.run(start)
    if search.steps_to(end) < 0:
        raise SolveError(f"there is no path from {start} to {end} within rows {maze.start} to {maze.stop - 1}")
    return search.path_to(end)


def farthest_pair(maze: MazeRows) -> tuple[Cell, Cell, int]:
    """Return two cells with the longest shortest path between them, and its steps; of several, always the same ones.

    In a maze with loops they are far apart, but others may be farther. What is not connected with the first cell is
    not looked at. Raises SolveError for a maze without cells, CapacityError for more than 2**26 cells.
    """
    search = _Search(maze)
    search.run(search.first_cell())
    start, _ = search.farthest()
    search.run(start)
    return start, *search.farthest()


def top_and_bottom(maze: MazeRows) -> tuple[Cell, Cell]:
    """Return the first cell of the first row that has one, and the last cell of the last row that has one.

    Where every cell is floor, the corners; a map's walls are no cells. Raises SolveError for a maze without cells.
    """
    first = _first_floor(maze)
    for stop in range(maze.stop, first[0], -_rows_at_once(maze)):
        begin = max(first[0], stop - _rows_at_once(maze))
        rows, columns = np.nonzero(_floor(maze, begin, stop))
        if rows.size:
            return first, (begin + int(rows[-1]), int(columns[-1]))
    raise AssertionError("the first row that has a cell is the last one that may")  # pragma: no cover


def _first_floor(maze: MazeRows) -> Cell:
    for begin in range(maze.start, maze.stop, _rows_at_once(maze)):
        rows, columns = np.nonzero(_floor(maze, begin, min(maze.stop, begin + _rows_at_once(maze))))
        if rows.size:
            return begin + int(rows[0]), int(columns[0])
    raise SolveError("the maze has no cells, so there are no two ends in it")


def _rows_at_once(maze: MazeRows) -> int:
    return max(1, _FLOOR_AT_ONCE // maze.width)


def _floor(maze: MazeRows, first: int, stop: int) -> Bools:
    block = maze.block(first, stop)
    if block.floor is None:
        return np.ones((len(block), block.width), np.bool_)
    return unpack_bits(block.floor, block.width)


class _Search:
    """A maze in memory and the distances from one cell."""

    def __init__(self, maze: MazeRows) -> None:
        rows = maze.stop - maze.start
        if rows * maze.width > MOST_CELLS:
            raise CapacityError(
                f"{rows} rows of {maze.width} cells are too many to search: at most {MOST_CELLS} cells; "
                "a perfect maze's path needs no search, and its ends may be given or be top and bottom"
            )
        self._maze = maze
        self._sides: Plane = np.empty((rows, maze.width), np.uint8)
        self._distance = np.empty((rows, maze.width), np.int32)
        self._queue = np.empty(rows * maze.width, np.int32)
        self._reached = 0
        for block in maze.blocks(maze.start, maze.stop, _CELLS_AT_ONCE):
            self._sides[block.start - maze.start : block.stop - maze.start] = block.cells()
        self._close_outwards()

    def _close_outwards(self) -> None:
        """Leave out what leads out of the rows there are: above a fragment, below an unfinished maze."""
        self._sides[:1] &= ~N & 15
        self._sides[-1:] &= ~S & 15
        self._sides[:, -1] &= ~E & 15

    def check_floor(self, cell: Cell) -> None:
        """Raise SolveError for a wall."""
        row, column = cell
        if not _floor(self._maze, row, row + 1)[0, column]:
            raise SolveError(f"the cell {cell} is a wall, and a path leads over floor")

    def first_cell(self) -> Cell:
        return _first_floor(self._maze)

    def run(self, start: Cell) -> None:
        """Measure the distances from `start`."""
        place = self._row(start) * self._maze.width + start[1]
        self._reached = steps.chosen.search(self._maze.width, self._sides, self._distance, self._queue, place)

    def _row(self, cell: Cell) -> int:
        return cell[0] - self._maze.start

    def steps_to(self, cell: Cell) -> int:
        """Return the steps from the start, -1 if there is no path."""
        return int(self._distance[self._row(cell), cell[1]])

    def farthest(self) -> tuple[Cell, int]:
        """Return the cell farthest from the start, of equals the one that was reached first, and the steps to it."""
        reached = self._queue[: self._reached]
        distances = self._distance.reshape(-1)
        last = int(distances[reached[-1]])
        first_of_last = int(np.searchsorted(distances[reached], last))
        row, column = divmod(int(reached[first_of_last]), self._maze.width)
        return (row + self._maze.start, column), last

    def path_to(self, end: Cell) -> Path:
        """Return the path from the start, found by going back from the end."""
        steps_left = self.steps_to(end)
        places = np.empty(steps_left + 1, np.int64)
        at = self._row(end) * self._maze.width + end[1]
        distance, sides, into = self._distance.reshape(-1).data, self._sides.reshape(-1).data, places.data
        for left in range(steps_left, 0, -1):
            into[left] = at
            at = next(there for there in self._beside(at, sides[at]) if distance[there] == left - 1)
        into[0] = at
        return self._as_path(places)

    def _beside(self, at: int, sides: int) -> list[int]:
        width = self._maze.width
        return [at + step for side, step in ((N, -width), (W, -1), (E, 1), (S, width)) if sides & side]

    def _as_path(self, places: NDArray[np.int64]) -> Path:
        rows, columns = np.divmod(places, self._maze.width)
        return Path(self._maze.width, rows + self._maze.start, columns)
