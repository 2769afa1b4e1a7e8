"""The cells of a band while it is carved, one byte each, and the packed planes that come out of it.

A border one cell wide stands around the band, so that every cell has four neighbours: the cell with number i has
i - stride in the north, i + 1 in the east, i + stride in the south and i - 1 in the west. A byte says whether its
cell is in the maze and whether its passages east and north are open; the border counts as in the maze, since nothing
is carved there. The carvers agree with their twins in C on what is drawn, not on these bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..block import pack_bits

if TYPE_CHECKING:
    from ..block import Cell, Plane

NORTH, EAST, SOUTH, WEST = range(4)
OPEN_EAST, OPEN_NORTH, IN, OUTSIDE = 1, 2, 4, 8


@dataclass(frozen=True)
class Carved:
    """A band as it was carved, in packed planes.

    seam    shape (bytes of a row,): the passages that lead into the band from the row above it
    east    shape (rows, bytes of a row)
    south   likewise; none in the last row, where they belong to the band below
    floor   likewise, in a random-walk map; None where every cell is floor
    """

    seam: Plane
    east: Plane
    south: Plane
    floor: Plane | None = None


class Grid:
    """The cells of a band of `rows` rows, `width` cells wide, with a border around them."""

    def __init__(self, width: int, rows: int) -> None:
        self.width = width
        self.rows = rows
        self.stride = width + 2
        self.steps = (-self.stride, 1, self.stride, -1)
        border = bytes([IN | OUTSIDE])
        row = border + bytes(width) + border
        self.cells = bytearray(border * self.stride + row * rows + border * self.stride)

    def cell(self, row: int, column: int) -> int:
        """Return the number of a cell."""
        return (row + 1) * self.stride + column + 1

    def nth(self, i: int) -> int:
        """Return the number of the i-th cell, row by row."""
        return self.cell(*divmod(i, self.width))

    def place(self, cell: int) -> Cell:
        """Return the row and the column of a cell."""
        row, column = divmod(cell, self.stride)
        return row - 1, column - 1

    def enter(self, cell: int, side: int) -> None:
        """Take a cell into the maze, through the passage on this side of it."""
        self.cells[cell] |= IN
        if side == NORTH:
            self.cells[cell] |= OPEN_NORTH
        elif side == EAST:
            self.cells[cell] |= OPEN_EAST
        elif side == SOUTH:
            self.cells[cell + self.stride] |= OPEN_NORTH
        else:
            self.cells[cell - 1] |= OPEN_EAST

    def inside(self) -> Plane:
        """Return the cells that are in the maze, as a plane."""
        return pack_bits(self._bytes()[1:-1, 1:-1] & IN != 0)

    def carved(self) -> Carved:
        """Return the passages as planes."""
        cells = self._bytes()
        north = pack_bits(cells[1:, 1:-1] & OPEN_NORTH != 0)
        return Carved(north[0], pack_bits(cells[1:-1, 1:-1] & OPEN_EAST != 0), north[1:])

    def _bytes(self) -> Plane:
        return np.frombuffer(self.cells, np.uint8).reshape(self.rows + 2, self.stride)
