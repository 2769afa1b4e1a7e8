"""The yardstick of uniform mazes: textbook Wilson in C (wilson.c), on a whole grid in memory."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np
from .textbook import compiled

from eller_stream.block import Block

SOURCE = Path(__file__).with_name("wilson.c")
NORTH, EAST, SOUTH, WEST = range(4)
_WAY = 3


class CWilson:
    """Whole mazes of one size, each in the same memory."""

    def __init__(self, width: int, rows: int) -> None:
        self.width, self.rows = width, rows
        self._root = rows // 2 * width + width // 2
        self._cells = np.empty((rows + 2, width + 2), np.uint8)
        self._make = _library().textbook_wilson

    def make(self, seed: int) -> int:
        """Make a maze with its root in the middle, from where walks are shortest; return their steps."""
        steps: int = self._make(self.width, self.rows, seed, self._root, self._cells.ctypes.data)
        return steps

    def block(self) -> Block:
        """Return the maze that was made last."""
        ways = (self._cells[1:-1, 1:-1] & _WAY).astype(int)
        ways.reshape(-1)[self._root] = -1
        east, south = ways == EAST, ways == SOUTH
        east[:, :-1] |= ways[:, 1:] == WEST
        south[:-1] |= ways[1:] == NORTH
        return Block.from_bools(east, south)


@cache
def _library() -> ctypes.CDLL:
    library = compiled(SOURCE)
    library.textbook_wilson.restype = ctypes.c_uint64
    library.textbook_wilson.argtypes = [ctypes.c_uint32, ctypes.c_uint32, *[ctypes.c_uint64] * 2, ctypes.c_void_p]
    return library
