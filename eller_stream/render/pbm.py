"""A maze as a portable bitmap (P4, netpbm): one pixel a tile, black walls, 2 * width + 1 by 2 * rows + 1.

The picture begins with its height, so it has to be known. It is written in a fixed number of bytes, blanks
before it, so that a run that ends early can mend it.
"""

from __future__ import annotations

import numpy as np

from ..block import Block

_HEIGHT_DIGITS = 16


def header(width: int, rows: int) -> bytes:
    """Return the bitmap's header, of one length for all numbers of rows."""
    return f"P4\n{2 * width + 1} {2 * rows + 1:>{_HEIGHT_DIGITS}}\n".encode()


def lines(block: Block, *, top: bool) -> bytes:
    """Return the lines of pixels of a block's rows, ceil((2 * width + 1) / 8) bytes each, leftmost bit first.

    Two lines a row: the cells, and the walls south of them. `top` puts the walls north of the first row before them.
    """
    tiles = block.tiles()
    packed: bytes = np.packbits(tiles if top else tiles[1:], axis=1).tobytes()
    return packed
