"""A maze as text, four characters a cell, two lines a row: in ASCII, or with Unicode's box-drawing characters.

*ASCII.* `+---+` for a wall south, `|` for a wall east. A cell is four characters on each line, its western or northern
corner and what follows it, and these are one 32-bit word: a line is looked up word by word.

*Boxes.* A corner's character depends on the walls that meet in it, of the rows above and below. So a portion of rows
is drawn without the line of walls under it, which comes with the next portion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..block import Block, unpack_bits
from ..errors import PictureError
from .picture import portions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..block import Bools, Plane
    from .picture import Picture

ASCII, UNICODE = "ascii", "unicode"
CELL_COLUMNS = 4
CELLS_AT_ONCE = 2**18
_INSIDES = ("   ", "###", " * ", " S ", " E ")  # by the cell's tile: floor, wall, path, start, end


def _words(*texts: str) -> NDArray[np.uint32]:
    return np.frombuffer("".join(texts).encode("ascii"), np.uint32)


_CELLS = _words(*(west + inside for inside in _INSIDES for west in "| "))  # by the passage west, + 2 * the cell's tile
_WALLS = _words("+---", "+   ")  # by the passage through the wall
_CELLS_END = _words("|\n  ", " \n  ")  # by the passage east of the last cell
_WALLS_END = _words("+\n  ")

_CORNERS = " ╵╷│╶└┌├╴┘┐┤─┴┬┼"  # by the walls that meet there: 1 above, 2 below, 4 right, 8 left
_BOX_INSIDES = ("   ", "███", " • ", " S ", " E ")
BOX_CHARACTERS = "".join(sorted({*_CORNERS, *"".join(_BOX_INSIDES)}))
_CODE = "utf-32-le"


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode(_CODE), "<u4")


_CORNER_CODES = _codes(_CORNERS)
_INSIDE_CODES = _codes("".join(_BOX_INSIDES)).reshape(-1, 3)
_SPACE, _LEVEL, _UPRIGHT, _NEWLINE = _codes(" ─│\n")


@dataclass(frozen=True)
class Text:
    """Text, `+---+` and `|` or boxes.

    charset   "ascii" or "unicode"
    encoding  of the boxes
    """

    charset: str = ASCII
    encoding: str = "utf-8"

    needs_rows: ClassVar[bool] = False
    shows_marks: ClassVar[bool] = True

    def check(self, picture: Picture) -> None:
        """Raise PictureError for an unknown charset; text has any size."""
        del picture
        if self.charset not in (ASCII, UNICODE):
            raise PictureError(f"the charset is {ASCII} or {UNICODE}, not {self.charset!a}")

    def beginning(self, picture: Picture) -> bytes:
        """Return nothing: text does not tell its height."""
        del picture
        return b""

    def draw(self, picture: Picture, blocks: Iterable[Block]) -> Iterator[bytes]:
        """Yield the lines, 4 * width + 1 characters each and a newline."""
        if self.charset == UNICODE:
            return (lines.decode(_CODE).encode(self.encoding) for lines in _box_lines(picture, blocks))
        return (
            lines(block, top=block.start == picture.start, contents=picture.contents(block) if picture.marks else None)
            for block in portions(blocks, CELLS_AT_ONCE)
        )


# ---- ASCII -----------------------------------------------------------------------------------


def lines(block: Block, *, top: bool, contents: Plane | None = None) -> bytes:
    """Return the lines of a block's rows in ASCII, 4 * width + 1 characters each and a newline.

    Two lines a row: the cells, and the walls south of them. `top` puts the walls north of the first row before them.
    `contents` are the cells' tiles (None: the block's own); cells that are no floor are filled with `###`.
    """
    words = np.empty((2 * len(block) + 1, block.width + 1), np.uint32)
    _put_walls(words[:1], unpack_bits(block.north[np.newaxis], block.width))
    _put_walls(words[2::2], unpack_bits(block.south, block.width))
    if contents is None and block.floor is not None:
        contents = block.floor_tiles()
    _put_cells(words[1::2], block, contents)
    characters: Plane = words.view(np.uint8)[:, : CELL_COLUMNS * block.width + 2]
    return characters[0 if top else 1 :].tobytes()


def _put_cells(words: NDArray[np.uint32], block: Block, contents: Plane | None) -> None:
    """Put the lines of cells into words, of shape (rows, width + 1)."""
    east = unpack_bits(block.east, block.width).view(np.uint8)
    kinds = np.zeros_like(east)
    kinds[:, 1:] = east[:, :-1]
    if contents is not None:
        kinds += np.uint8(2) * contents
    words[:, :-1] = _CELLS[kinds]
    words[:, -1] = _CELLS_END[east[:, -1]]


def _put_walls(words: NDArray[np.uint32], passages: Bools) -> None:
    """Put the lines of walls with the given openings into words, of shape (lines, width + 1)."""
    words[:, :-1] = _WALLS[passages.view(np.uint8)]
    words[:, -1] = _WALLS_END


# ---- boxes -----------------------------------------------------------------------------------


def _box_lines(picture: Picture, blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield the lines in UTF-32."""
    above = np.zeros((1, picture.width + 1), np.bool_)
    south = None
    for block in portions(blocks, CELLS_AT_ONCE):
        north = np.concatenate([block.north[np.newaxis], block.south[:-1]])
        upright, level = _upright_walls(block), ~unpack_bits(north, block.width)
        codes = np.empty((2 * len(block), CELL_COLUMNS * block.width + 2), "<u4")
        _put_level_lines(codes[::2], level, np.concatenate([above, upright[:-1]]), upright)
        _put_cell_lines(codes[1::2], upright, picture.contents(block))
        yield codes.tobytes()
        above, south = upright[-1:], block.south[-1:]
    if south is not None:
        codes = np.empty((1, CELL_COLUMNS * picture.width + 2), "<u4")
        _put_level_lines(codes, ~unpack_bits(south, picture.width), above, np.zeros_like(above))
        yield codes.tobytes()


def _upright_walls(block: Block) -> Bools:
    """Return where walls stand west of each cell and east of the last: bools of shape (rows, width + 1)."""
    walls = np.ones((len(block), block.width + 1), np.bool_)
    walls[:, 1:] = ~unpack_bits(block.east, block.width)
    return walls


def _put_level_lines(codes: NDArray[np.uint32], level: Bools, above: Bools, below: Bools) -> None:
    """Put lines of walls; given are the level walls in them and the upright ones that come from above and below."""
    corners = above + np.uint8(2) * below
    corners[:, :-1] += np.uint8(4) * level
    corners[:, 1:] += np.uint8(8) * level
    codes[:, :-1:CELL_COLUMNS] = _CORNER_CODES[corners]
    for k in (1, 2, 3):
        codes[:, k:-1:CELL_COLUMNS] = np.where(level, _LEVEL, _SPACE)
    codes[:, -1] = _NEWLINE


def _put_cell_lines(codes: NDArray[np.uint32], upright: Bools, contents: Plane) -> None:
    """Put lines of cells between upright walls."""
    codes[:, :-1:CELL_COLUMNS] = np.where(upright, _UPRIGHT, _SPACE)
    for k in (1, 2, 3):
        codes[:, k:-1:CELL_COLUMNS] = _INSIDE_CODES[contents, k - 1]
    codes[:, -1] = _NEWLINE
