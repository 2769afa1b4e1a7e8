"""A maze as plain ASCII text: `+---+` for a wall south, `|` for a wall east, two lines a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..block import Block, unpack_bits

if TYPE_CHECKING:
    from ..block import Bools, Plane

CELL_COLUMNS = 4
_CORNER, _BAR, _DASH, _SPACE, _HASH, _NEWLINE = b"+|- #\n"


def lines(block: Block, *, top: bool) -> bytes:
    """Return the lines of a block's rows, 4 * width + 1 characters each and a newline.

    Two lines a row: the cells, and the walls south of them. `top` puts the walls north of the first row before them.
    Cells that are no floor are filled with `###`.
    """
    north = _wall_lines(unpack_bits(block.north[np.newaxis], block.width)).tobytes() if top else b""
    return north + _row_lines(block).tobytes()


def _row_lines(block: Block) -> Plane:
    """Return uint8 of shape (rows, 2, 4 * width + 2): the line of cells and the walls south of it."""
    lines = np.empty((len(block), 2, CELL_COLUMNS * block.width + 2), np.uint8)
    lines[:, 1] = _wall_lines(unpack_bits(block.south, block.width))
    cells = lines[:, 0]
    cells[:] = _SPACE
    cells[:, 0], cells[:, -1] = _BAR, _NEWLINE
    cells[:, CELL_COLUMNS:-1:CELL_COLUMNS] = np.where(unpack_bits(block.east, block.width), _SPACE, _BAR)
    if block.floor is not None:
        solid = np.where(unpack_bits(block.floor, block.width), _SPACE, _HASH)
        for k in (1, 2, 3):
            cells[:, k:-1:CELL_COLUMNS] = solid
    return lines


def _wall_lines(passages: Bools) -> Plane:
    """Return the lines of walls with the given openings: uint8 of shape (rows, 4 * width + 2)."""
    rows, width = passages.shape
    lines = np.full((rows, CELL_COLUMNS * width + 2), _CORNER, np.uint8)
    walls = np.where(passages, _SPACE, _DASH)
    for k in (1, 2, 3):
        lines[:, k:-1:CELL_COLUMNS] = walls
    lines[:, -1] = _NEWLINE
    return lines
