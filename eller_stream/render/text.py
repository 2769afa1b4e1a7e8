"""A maze as plain ASCII text: `+---+` for a wall south, `|` for a wall east, two lines a row.

A cell is four characters on each line, its western or northern corner and what follows it, and these are one 32-bit
word: a line is looked up word by word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..block import Block, unpack_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..block import Bools, Plane

CELL_COLUMNS = 4
_SOLID = 2
_CELLS = np.frombuffer(b"|       |### ###", np.uint32)  # by the passage west, + _SOLID where the cell is no floor
_WALLS = np.frombuffer(b"+---+   ", np.uint32)  # by the passage through the wall
_CELLS_END = np.frombuffer(b"|\n   \n  ", np.uint32)  # by the passage east of the last cell
_WALLS_END = np.frombuffer(b"+\n  ", np.uint32)


def lines(block: Block, *, top: bool) -> bytes:
    """Return the lines of a block's rows, 4 * width + 1 characters each and a newline.

    Two lines a row: the cells, and the walls south of them. `top` puts the walls north of the first row before them.
    Cells that are no floor are filled with `###`.
    """
    words = np.empty((2 * len(block) + 1, block.width + 1), np.uint32)
    _put_walls(words[:1], unpack_bits(block.north[np.newaxis], block.width))
    _put_walls(words[2::2], unpack_bits(block.south, block.width))
    _put_cells(words[1::2], block)
    characters: Plane = words.view(np.uint8)[:, : CELL_COLUMNS * block.width + 2]
    return characters[0 if top else 1 :].tobytes()


def _put_cells(words: NDArray[np.uint32], block: Block) -> None:
    """Put the lines of cells into words, of shape (rows, width + 1)."""
    east = unpack_bits(block.east, block.width).view(np.uint8)
    kinds = np.zeros_like(east)
    kinds[:, 1:] = east[:, :-1]
    if block.floor is not None:
        kinds += np.uint8(_SOLID) * ~unpack_bits(block.floor, block.width)
    words[:, :-1] = _CELLS[kinds]
    words[:, -1] = _CELLS_END[east[:, -1]]


def _put_walls(words: NDArray[np.uint32], passages: Bools) -> None:
    """Put the lines of walls with the given openings into words, of shape (lines, width + 1)."""
    words[:, :-1] = _WALLS[passages.view(np.uint8)]
    words[:, -1] = _WALLS_END
