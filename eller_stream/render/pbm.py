"""A maze as a portable bitmap (P4, netpbm): one pixel a tile, black walls, 2 * width + 1 by 2 * rows + 1.

The picture begins with its height, so it has to be known. It is written in a fixed number of bytes, blanks
before it, so that a run that ends early can mend it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .picture import portions

if TYPE_CHECKING:
    from ..block import Block
    from .picture import Picture

CELLS_AT_ONCE = 2**18
_HEIGHT_DIGITS = 16


@dataclass(frozen=True)
class Bitmap:
    """A portable bitmap."""

    needs_rows: ClassVar[bool] = True
    shows_marks: ClassVar[bool] = False

    def check(self, picture: Picture) -> None:
        """A bitmap has any size."""

    def beginning(self, picture: Picture) -> bytes:
        """Return the header."""
        assert picture.rows is not None
        return f"P4\n{2 * picture.width + 1} {2 * picture.rows + 1:>{_HEIGHT_DIGITS}}\n".encode()

    def draw(self, picture: Picture, blocks: Iterable[Block]) -> Iterator[bytes]:
        """Yield the header and the lines."""
        yield self.beginning(picture)
        for block in portions(blocks, CELLS_AT_ONCE):
            yield lines(block, top=block.start == picture.start)


def lines(block: Block, *, top: bool) -> bytes:
    """Return the lines of pixels of a block's rows, ceil((2 * width + 1) / 8) bytes each, leftmost bit first.

    Two lines a row: the cells, and the walls south of them. `top` puts the walls north of the first row before them.
    """
    tiles = block.tiles()
    packed: bytes = np.packbits(tiles if top else tiles[1:], axis=1).tobytes()
    return packed
