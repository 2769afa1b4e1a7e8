"""`Path`: a path's cells in their order, and as passages to draw over the maze.

A path is kept as one number a cell, row and column, not as planes: a path is thin, and the maze may be larger than
memory. Its cells come from blocks in any order; a thread through them is found from links, each of
which is the exclusive or of the places of a cell's two neighbours on the path. So who comes from one of them
finds the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..block import Block, pack_bits, unpack_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..block import Bools, Cell


@dataclass(frozen=True, eq=False)
class Path:
    """A path through a maze of rows of `width` cells.

    rows, columns   int64, shape (steps + 1,): the cells, from the start to the end
    """

    width: int
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @property
    def steps(self) -> int:
        """Passages on the path, one fewer than its cells."""
        return len(self.rows) - 1

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Cell]:
        return zip(self.rows.data, self.columns.data, strict=True)

    def cells(self) -> list[Cell]:
        """Return the cells (row, column) from the start to the end; iteration yields them one by one."""
        return list(self)

    def overlay(self, start: int, rows: int) -> Block:
        """Return what of the path lies in `rows` rows from `start` on, as a Block to draw over the maze's.

        Its passages are the path's, its floor the path's cells. The rows may reach beyond the maze's.
        """
        east, south, floor = np.zeros((3, rows + 1, self.width), np.bool_)
        row, column = self.rows - (start - 1), self.columns  # row 0 is the one above
        self._fill(floor, row, column)
        level = np.diff(row) == 0
        upper, left = np.minimum(row[:-1], row[1:]), np.minimum(column[:-1], column[1:])
        self._fill(east, upper[level], left[level])
        self._fill(south, upper[~level], left[~level])
        planes = (pack_bits(plane) for plane in (east[1:], south[1:], south[0], floor[1:]))
        return Block(start, self.width, *planes)

    @staticmethod
    def _fill(plane: Bools, row: NDArray[np.int64], column: NDArray[np.int64]) -> None:
        inside = (row >= 0) & (row < len(plane))
        plane[row[inside], column[inside]] = True


def path_of(overlays: Iterable[Block], start: Cell) -> Path:
    """Return the path that some overlays, from the lowest rows to the uppermost, show; it begins at `start`.

    Takes some 50 bytes a cell of the path for a while.
    """
    pieces = [(block.width, *_cells_on(block)) for block in overlays][::-1]
    width = pieces[0][0]
    rows, columns, east, south = (np.concatenate(arrays) for arrays in list(zip(*pieces, strict=True))[1:])
    places = (rows - rows[0]) * width + columns
    order = _threaded(_links(places, width, east, south), int(np.searchsorted(places, _place(start, rows[0], width))))
    return Path(width, rows[order], columns[order])


def _place(cell: Cell, first_row: int, width: int) -> int:
    return (cell[0] - int(first_row)) * width + cell[1]


def _cells_on(overlay: Block) -> tuple[NDArray[np.int64], NDArray[np.int64], Bools, Bools]:
    """Return the cells on a path, row by row: their rows and columns, and whether it goes on east and south."""
    assert overlay.floor is not None
    row, column = np.nonzero(unpack_bits(overlay.floor, overlay.width))
    east, south = (unpack_bits(plane, overlay.width)[row, column] for plane in (overlay.east, overlay.south))
    return row + overlay.start, column, east, south


def _links(places: NDArray[np.int64], width: int, east: Bools, south: Bools) -> NDArray[np.int64]:
    """Return for each cell the exclusive or of the indices of its neighbours on the path."""
    links = np.zeros(len(places), np.int64)
    for open_, step in ((east, 1), (south, width)):
        here = np.flatnonzero(open_)
        there = np.searchsorted(places, places[here] + step)
        links[here] ^= there
        links[there] ^= here
    return links


def _threaded(links: NDArray[np.int64], start: int) -> NDArray[np.int64]:
    """Return the indices in the order of the path that begins at `start`."""
    order = np.empty(len(links), np.int64)
    before, at = 0, start
    link_of, into = links.data, order.data
    for i in range(len(links)):
        into[i] = at
        before, at = at, link_of[at] ^ before
    return order
