"""Rows to pictures: each renderer yields bytes, in memory for a few rows (an SVG: for all), and opens nothing.

`FORMATS` has the renderers by the names of their formats; `draw` gives the bytes of any rows, `PictureWriter` hands on
those of a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from .marks import Marks as Marks
from .npy import CellArray as CellArray
from .pbm import Bitmap as Bitmap
from .picture import Picture as Picture
from .picture import Renderer as Renderer
from .picture import check as check
from .png import Png as Png
from .svg import Svg as Svg
from .text import Text as Text
from .tiled import TiledMap as TiledMap

if TYPE_CHECKING:
    from ..block import Block
    from ..stream import RowStream

FORMATS: dict[str, Callable[..., Renderer]] = {
    "txt": Text,
    "svg": Svg,
    "pbm": Bitmap,
    "png": Png,
    "tmj": TiledMap,
    "npy": CellArray,
}
CELLS_AT_ONCE = 2**18


def draw(renderer: Renderer, picture: Picture, blocks: Iterable[Block]) -> Iterator[bytes]:
    """Return the bytes of a picture, piece by piece; the blocks are its rows, from `picture.start` on.

    Raises PictureError, at once, for a picture that the format cannot hold.
    """
    check(renderer, picture)
    return renderer.draw(picture, blocks)


def picture_of(stream: RowStream) -> Picture:
    """Return the rows that are left of a stream as a picture to be drawn."""
    left = None if stream.height is None else stream.height - stream.position
    return Picture(stream.spec.width, stream.position, left)


class PictureWriter:
    """Draws a stream's rows, from where it stands, in bounded memory.

    write     takes the picture's bytes
    stream    gives the rows
    renderer  the picture's format

    `finish` writes what is left when no row is to come. Raises PictureError for a picture that the format cannot
    hold, an endless one where it begins with the height.
    """

    def __init__(self, write: Callable[[bytes], object], stream: RowStream, renderer: Renderer) -> None:
        self.rows = self.bytes_written = 0
        self._write, self.stream, self._renderer = write, stream, renderer
        self._picture = picture_of(stream)
        self._pieces = draw(renderer, self._picture, self._blocks())

    def write(self, rows: int) -> int:
        """Draw `rows` rows or some more, fewer at the end of the maze, and return how many."""
        before = self.rows
        while self.rows < before + rows and self._put_next():
            pass
        return self.rows - before

    def finish(self) -> None:
        """Draw the rows that are left, and the picture's end."""
        while self._put_next():
            pass

    def mended_beginning(self) -> bytes | None:
        """Return what the picture should begin with, where the rows came to others than it says; else None."""
        return mended_beginning(self._renderer, self._picture, self.rows)

    def _blocks(self) -> Iterator[Block]:
        at_once = max(1, CELLS_AT_ONCE // self._picture.width)
        while len(block := self.stream.read(at_once)):
            self.rows += len(block)
            yield block

    def _put_next(self) -> bool:
        """Write the next piece; return whether there was one."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        self._write(piece)
        self.bytes_written += len(piece)
        return True


def mended_beginning(renderer: Renderer, picture: Picture, rows: int) -> bytes | None:
    """Return what a picture should begin with if so many rows came; None if it begins so."""
    beginning = renderer.beginning(replace(picture, rows=rows))
    return None if rows == picture.rows or not beginning else beginning
