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
_WORD = np.dtype("V16")  # four characters


def _box_words(*texts: str) -> NDArray[np.void]:
    return np.frombuffer("".join(texts).encode(_CODE), _WORD)


_BOX_WALLS = _box_words(*(c + ("───" if k & 4 else "   ") for k, c in enumerate(_CORNERS)))
_BOX_WALLS_END = _box_words(*(c + "\n  " for c in _CORNERS))
_BOX_CELLS = _box_words(*(west + inside for inside in _BOX_INSIDES for west in " │"))  # by the wall west, + 2 * tile
_BOX_CELLS_END = _box_words(" \n  ", "│\n  ")


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
    above = np.zeros((1, picture.width + 1), np.uint8)
    south = np.empty((0, 0), np.uint8)
    for block in portions(blocks, CELLS_AT_ONCE):
        north = np.concatenate([block.north[np.newaxis], block.south[:-1]])
        upright = _upright_walls(block)
        words = np.empty((2 * len(block), block.width + 1), _WORD)
        _put_box_walls(words[::2], north, np.concatenate([above, upright[:-1]]), upright)
        _put_box_cells(words[1::2], upright, picture.contents(block))
        yield _box_bytes(words)
        above, south = upright[-1:], block.south[-1:]
    words = np.empty((len(south), picture.width + 1), _WORD)
    _put_box_walls(words, south, above, np.zeros_like(above))
    yield _box_bytes(words)


def _upright_walls(block: Block) -> Plane:
    """Return 1 where a wall stands west of a cell, or east of the last: uint8 of shape (rows, width + 1)."""
    walls = np.ones((len(block), block.width + 1), np.uint8)
    walls[:, 1:] -= unpack_bits(block.east, block.width)
    return walls


def _put_box_walls(words: NDArray[np.void], passages: Plane, above: Plane, below: Plane) -> None:
    """Put lines of walls with the given openings, packed; from above and below upright walls come."""
    level = 1 - unpack_bits(passages, words.shape[1] - 1).view(np.uint8)
    corners = above + np.uint8(2) * below
    corners[:, :-1] += np.uint8(4) * level
    corners[:, 1:] += np.uint8(8) * level
    words[:, :-1] = _BOX_WALLS[corners[:, :-1]]
    words[:, -1] = _BOX_WALLS_END[corners[:, -1]]


def _put_box_cells(words: NDArray[np.void], upright: Plane, contents: Plane) -> None:
    """Put lines of cells between upright walls."""
    words[:, :-1] = _BOX_CELLS[upright[:, :-1] + np.uint8(2) * contents]
    words[:, -1] = _BOX_CELLS_END[upright[:, -1]]


def _box_bytes(words: NDArray[np.void]) -> bytes:
    """Return lines of words without what follows the newlines."""
    codes = words.view("<u4").reshape(len(words), CELL_COLUMNS * words.shape[1])
    return codes[:, :-2].tobytes()
