"""A maze as a NumPy array file: uint8 of shape (rows, width), each cell's open sides as N=1, S=2, E=4, W=8.

`numpy.load(file, mmap_mode="r")` maps it without reading it. The header (format 1.0, as NumPy's documentation gives
it) is written here, in 128 bytes whatever the height, so that it is the same with every NumPy and can be mended. A
map's walls have no open sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from .picture import portions

if TYPE_CHECKING:
    from ..block import Block
    from .picture import Picture

CELLS_AT_ONCE = 2**18
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER_BYTES = 128


@dataclass(frozen=True)
class CellArray:
    """An array file of cell masks."""

    needs_rows: ClassVar[bool] = True
    shows_marks: ClassVar[bool] = False

    def check(self, picture: Picture) -> None:
        """An array has any size."""

    def beginning(self, picture: Picture) -> bytes:
        """Return the header."""
        size = _HEADER_BYTES - len(_MAGIC) - 2
        text = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({picture.rows}, {picture.width}), }}"
        return _MAGIC + size.to_bytes(2, "little") + f"{text:<{size - 1}}\n".encode("ascii")

    def draw(self, picture: Picture, blocks: Iterable[Block]) -> Iterator[bytes]:
        """Yield the header and the rows."""
        yield self.beginning(picture)
        for block in portions(blocks, CELLS_AT_ONCE):
            yield block.cells().tobytes()
