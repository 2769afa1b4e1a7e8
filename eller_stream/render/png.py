"""A maze as a PNG: 1 bit a pixel, white floor and black walls; with marks 4 bits, five colours.

The format is PNG's (ISO/IEC 15948): chunks of length, kind, data and CRC-32, one zlib stream for all lines. A line of
tiles gives as many lines of pixels as a cell or a wall is high. The first of them is written as it is (filter 0), and
the others as the difference from the line above (filter 2), which is zeros. The height stands in the first chunk, whose
size is fixed, so that a run that ends early can mend it.

Walls of a maze are nearly as good as random bits, so zlib's first level takes a fraction of the time of the others and
gives files that are hardly larger. The compressed bytes are the machine's zlib's; the pixels are the same everywhere.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..block import FLOOR, WALL
from ..errors import PictureError
from .marks import END, PATH, START
from .picture import portions

if TYPE_CHECKING:
    from ..block import Block, Plane
    from .picture import Picture

MAX_SIDE = 2**31 - 1
PIXELS_AT_ONCE = 2**22
COLOURS = {  # each has a contrast of 3:1 and more with the floor and with the walls, or is one of them
    FLOOR: (255, 255, 255),
    WALL: (0, 0, 0),
    PATH: (213, 94, 0),
    START: (0, 114, 178),
    END: (0, 150, 110),
}
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _PALETTE = 0, 3
_AS_IT_IS, _FROM_ABOVE = b"\0", b"\2"  # filters
_LEVEL = 1


@dataclass(frozen=True)
class Png:
    """A PNG; cells and walls have the given sizes in pixels."""

    cell: int = 8
    wall: int = 2

    needs_rows: ClassVar[bool] = True
    shows_marks: ClassVar[bool] = True

    def check(self, picture: Picture) -> None:
        """Raise PictureError for sizes below a pixel, and for more than 2**31 - 1 pixels a side."""
        if self.cell < 1 or self.wall < 1:
            raise PictureError(f"cells and walls have a pixel and more, not {self.cell} and {self.wall}")
        assert picture.rows is not None
        width, height = self._pixels(picture.width), self._pixels(picture.rows)
        if max(width, height) > MAX_SIDE:
            raise PictureError(f"a PNG has at most {MAX_SIDE} pixels a side, not {width} by {height}")

    def _pixels(self, cells: int) -> int:
        return cells * (self.cell + self.wall) + self.wall

    def beginning(self, picture: Picture) -> bytes:
        """Return the signature and the first chunk."""
        assert picture.rows is not None
        return _header(self._pixels(picture.width), self._pixels(picture.rows), picture.marks is not None)

    def draw(self, picture: Picture, blocks: Iterable[Block]) -> Iterator[bytes]:
        """Yield the chunks."""
        yield self.beginning(picture)
        if picture.marks is not None:
            yield _chunk(b"PLTE", bytes(part for kind in sorted(COLOURS) for part in COLOURS[kind]))
        compressor = zlib.compressobj(_LEVEL)
        for block in portions(blocks, PIXELS_AT_ONCE // (2 * (self.cell + self.wall))):
            tiles = picture.tiles(block)
            lines = self._lines(tiles if block.start == picture.start else tiles[1:], picture.marks is not None)
            if data := b"".join(map(compressor.compress, lines)):
                yield _chunk(b"IDAT", data)
        yield _chunk(b"IDAT", compressor.flush())
        yield _chunk(b"IEND", b"")

    def _lines(self, tiles: Plane, marked: bool) -> Iterator[bytes]:
        """Yield the lines of pixels, each behind its filter: tiles from a line of walls on, or up to one."""
        packed = _packed(np.repeat(tiles, self._sizes(tiles.shape[1]), axis=1), marked)
        heights = self._sizes(len(tiles)) if len(tiles) % 2 else self._sizes(len(tiles) + 1)[1:]
        same = _FROM_ABOVE + bytes(packed.shape[1])
        for line, height in zip(packed, heights, strict=True):
            yield _AS_IT_IS + line.tobytes()
            yield from repeat(same, height - 1)

    def _sizes(self, tiles: int) -> list[int]:
        """Return the pixels of tiles in a row, from a wall on."""
        return [self.wall, self.cell] * (tiles // 2) + [self.wall] * (tiles % 2)


def colour(kind: int) -> str:
    """Return a tile's colour as CSS has it."""
    return "#{:02x}{:02x}{:02x}".format(*COLOURS[kind])


def image(pixels: Plane) -> bytes:
    """Return a small PNG of pixels that are FLOOR or WALL."""
    lines = b"".join(_AS_IT_IS + line.tobytes() for line in _packed(pixels, marked=False))
    header = _header(pixels.shape[1], pixels.shape[0], marked=False)
    return header + _chunk(b"IDAT", zlib.compress(lines)) + _chunk(b"IEND", b"")


def _header(width: int, height: int, marked: bool) -> bytes:
    kind = (4, _PALETTE) if marked else (1, _GREY)
    sides = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return _SIGNATURE + _chunk(b"IHDR", sides + bytes([*kind, 0, 0, 0]))


def _packed(pixels: Plane, marked: bool) -> Plane:
    """Return lines of pixels as bytes, the leftmost pixel in the highest bits."""
    if not marked:
        return np.packbits(pixels == FLOOR, axis=1)
    pairs = np.pad(pixels, ((0, 0), (0, pixels.shape[1] % 2)))
    return pairs[:, ::2] << np.uint8(4) | pairs[:, 1::2]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
