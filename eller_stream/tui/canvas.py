"""The rows in view as characters, and which of them lie on the way: what a terminal shows, without a terminal.

A maze may be a million times wider than the screen. So only the bytes of the planes that hold the columns on the screen
are drawn, with a column more on either side, and the text is cut to fit: four characters a cell, two lines a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..block import Block, row_bytes, unpack_bits
from ..render import Picture, Text, draw
from ..render.text import BOX_CHARACTERS, CELL_COLUMNS, UNICODE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..block import Bools
    from ..solve import Path

DOTS = {UNICODE: "•"}
PLAIN_DOT = "*"


@dataclass(frozen=True)
class Canvas:
    """Lines of characters.

    characters   str of one character, shape (lines, columns)
    on_way       bool of the same shape: the character belongs to the way
    """

    characters: NDArray[np.str_]
    on_way: Bools

    def __len__(self) -> int:
        return len(self.characters)

    def pieces(self, line: int) -> Iterator[tuple[str, bool]]:
        """Yield a line's characters in pieces that lie on the way or beside it."""
        on_way = self.on_way[line]
        edges = [0, *(np.flatnonzero(on_way[1:] != on_way[:-1]) + 1).tolist(), len(on_way)]
        for first, behind in pairwise(edges):
            if first < behind:
                yield "".join(self.characters[line, first:behind].tolist()), bool(on_way[first])


def canvas_of(block: Block, way: Path | None, left: int, columns: int, charset: str) -> Canvas:
    """Return a block's rows, 2 * rows + 1 lines, from cell `left` on, `columns` characters wide or fewer at the edge.

    block    one row or more
    way      drawn over them, None: nothing
    charset  "ascii" or "unicode"
    """
    first_byte = max(0, left - 1) // 8
    last_byte = min(row_bytes(block.width), row_bytes(left + columns // CELL_COLUMNS + 2))
    part = _bytes_of(block, first_byte, last_byte)
    first = CELL_COLUMNS * (left - 8 * first_byte)
    shown = np.s_[:, first : first + columns]
    characters = _characters(part, charset)
    on_way = np.zeros(characters.shape, np.bool_)
    if way is not None:
        on_way = _on_way(_bytes_of(way.overlay(block.start, len(block)), first_byte, last_byte))
        characters[on_way] = DOTS.get(charset, PLAIN_DOT)
    return Canvas(characters[shown], on_way[shown])


def shows_boxes(encoding: str | None) -> bool:
    """Return whether an encoding has the characters that boxes are drawn with."""
    try:
        (BOX_CHARACTERS + DOTS[UNICODE]).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _bytes_of(block: Block, first: int, stop: int) -> Block:
    """Return the columns that some bytes of a block's rows hold, as a block of the same memory."""
    width = min(block.width, 8 * stop) - 8 * first
    east, south = block.east[:, first:stop], block.south[:, first:stop]
    floor = None if block.floor is None else block.floor[:, first:stop]
    return Block(block.start, width, east, south, block.north[first:stop], floor)


def _characters(block: Block, charset: str) -> NDArray[np.str_]:
    """Return a block's text, as characters of shape (lines, columns)."""
    picture = Picture(block.width, block.start, len(block))
    text = b"".join(draw(Text(charset, "utf-32-le"), picture, [block]))
    if charset != UNICODE:
        text = text.decode("ascii").encode("utf-32-le")
    columns = CELL_COLUMNS * block.width + 2  # with the newline
    return np.frombuffer(text, "<U1").reshape(-1, columns)[:, :-1].copy()


def _on_way(overlay: Block) -> Bools:
    """Return which characters a way goes through: the middle of its cells and of its passages."""
    on_way = np.zeros((2 * len(overlay) + 1, CELL_COLUMNS * overlay.width + 1), np.bool_)
    assert overlay.floor is not None
    for lines, middle, plane in (
        (np.s_[1::2], 2, overlay.floor),
        (np.s_[1::2], CELL_COLUMNS, overlay.east),
        (np.s_[2::2], 2, overlay.south),
        (np.s_[:1], 2, overlay.north[np.newaxis]),
    ):
        on_way[lines, middle::CELL_COLUMNS] = unpack_bits(plane, overlay.width)
    return on_way
