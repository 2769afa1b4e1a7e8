"""`Marks`: a start, an end and the path between them, to be drawn over a maze.

Among the tiles (`Block.tiles`) cell (r, c) is tile (2r + 1, 2c + 1). So the passage between two neighbours (r, c) and
(s, d) is tile (r + s + 1, c + d + 1), and a path is a list of tiles. Sorted by their lines, those of any rows are
found at once, however long the path is: it takes 32 bytes a cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..block import Cell, Plane
    from ..solve import Path

    Places: TypeAlias = NDArray[np.int64]

PATH, START, END = 2, 3, 4  # tiles, next to FLOOR and WALL


class Marks:
    """The start and end of a maze, and a path between them.

    start, end  cells (row, column), the row as in the maze
    path        None: only the two are marked
    """

    def __init__(self, start: Cell, end: Cell, path: Path | None = None) -> None:
        self._ends = ((START, start), (END, end))
        self._path = path
        self._lines, self._columns = np.empty((2, 0), np.int64)
        if path is not None:
            lines, columns = _tiles_of(path.rows), _tiles_of(path.columns)
            order = np.argsort(lines, kind="stable")
            self._lines, self._columns = lines[order], columns[order]

    def put_on(self, tiles: Plane, start: int) -> None:
        """Put the marks on the tiles of rows from `start` on."""
        top = 2 * start
        first, behind = np.searchsorted(self._lines, [top, top + len(tiles)])
        tiles[self._lines[first:behind] - top, self._columns[first:behind]] = PATH
        for kind, (row, column) in self.ends(start, start + len(tiles) // 2):
            tiles[2 * (row - start) + 1, 2 * column + 1] = kind

    def ends(self, start: int, stop: int) -> Iterator[tuple[int, Cell]]:
        """Yield START and END with their cells, if they are in rows `start` to `stop - 1`."""
        return ((kind, cell) for kind, cell in self._ends if start <= cell[0] < stop)

    def lines(self, start: int, stop: int) -> Iterator[list[Cell]]:
        """Yield the path within rows `start` to `stop - 1` as lines: the cells where each begins, turns and ends.

        A path that leaves the rows and comes back is several lines.
        """
        if self._path is None:
            return
        rows, columns = self._path.rows, self._path.columns
        inside = np.flatnonzero((rows >= start) & (rows < stop))
        for piece in np.split(inside, np.flatnonzero(np.diff(inside) > 1) + 1):
            if len(piece):
                yield _corners(rows[piece], columns[piece])


def _tiles_of(places: Places) -> Places:
    return np.concatenate([2 * places + 1, places[:-1] + places[1:] + 1])


def _corners(rows: Places, columns: Places) -> list[Cell]:
    level = np.diff(rows) == 0
    kept = np.concatenate([[True], level[:-1] != level[1:], [True]]) if len(rows) > 1 else np.array([True])
    return list(zip(rows[kept].tolist(), columns[kept].tolist(), strict=True))
