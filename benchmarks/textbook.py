"""The yardsticks: the textbook row of Eller's algorithm, in C and in plain Python.

Both keep each set as a circular list of its columns, which is the fastest way that textbooks know, and
both give, bit for bit, the rows that `EllerStream` gives at even coins without key rows; `prove` checks
that before anything is timed. The one in C (textbook.c, which the system's C compiler turns into a library in a
temporary folder) draws the same coins as it goes. The one in Python gets them for free, drawn ahead.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from eller_stream import coins
from eller_stream.block import pack_bits, row_bytes, unpack_bits
from eller_stream.stream import EllerStream

from .measure import NotHereError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eller_stream.block import Plane

Bits: TypeAlias = list[bool]

SOURCE = Path(__file__).with_name("textbook.c")
FLAGS = ["-O3", "-std=c11", "-Wall", "-Wextra", "-shared", "-fPIC"]


class PythonTextbook:
    """The textbook row in plain Python, from row 0 on; coins and passages are lists of bools."""

    def __init__(self, width: int) -> None:
        self.after = list(range(width))
        self.before = list(range(width))

    def row(self, joins: Bits, keeps: Bits, *, backwards: bool) -> tuple[Bits, Bits]:
        """Return the passages (east, south) of the next row; backwards: scanned from right to left."""
        columns = range(len(keeps))[::-1] if backwards else range(len(keeps))
        boundaries = columns[1:] if backwards else columns[:-1]
        return self._east(joins, boundaries), self._south(keeps, columns)

    def _east(self, joins: Bits, boundaries: range) -> Bits:
        """Open the boundaries whose coin falls, between cells of different sets."""
        after, before = self.after, self.before
        east = [False] * len(after)
        for c in boundaries:
            if joins[c] and after[c] != c + 1:
                left, right = before[c + 1], after[c]
                after[c], before[c + 1] = c + 1, c
                after[left], before[right] = right, left
                east[c] = True
        return east

    def _south(self, keeps: Bits, columns: range) -> Bits:
        """Close the passages whose coin does not fall, but for the last cell left in a set."""
        after, before = self.after, self.before
        south = [True] * len(after)
        for c in columns:
            if not keeps[c] and after[c] != c:
                left, right = before[c], after[c]
                after[left], before[right] = right, left
                after[c] = before[c] = c
                south[c] = False
        return south


def coins_ahead(width: int, seed: int, rows: int) -> list[tuple[Bits, Bits]]:
    """Return the even coins (joins, keeps) of the first `rows` rows."""
    return list(
        zip(_even_coins(width, seed, coins.EAST, rows), _even_coins(width, seed, coins.SOUTH, rows), strict=True)
    )


def _even_coins(width: int, seed: int, base: int, rows: int) -> list[Bits]:
    words = (width + 63) // 64
    drawn = coins.coin_words(seed, base, coins.EVEN, 0, rows * words).astype("<u8")
    bits: list[Bits] = unpack_bits(drawn.view(np.uint8).reshape(rows, 8 * words), width).tolist()
    return bits


class CTextbook:
    """The textbook row in C with its coins, from row 0 on; each call goes on where the last one ended."""

    def __init__(self, width: int, seed: int) -> None:
        self.width, self.seed, self.next_row = width, seed, 0
        self._lists = np.tile(np.arange(width, dtype=np.uint32), 2)
        self._scratch = np.zeros(4 * ((width + 63) // 64), np.uint64)
        self._rows = _library().textbook_rows

    def carve(self, east: Plane, south: Plane) -> None:
        """Fill two planes of shape (rows, ceil(width / 8)) with the next rows."""
        arrays = [_address(array) for array in (self._lists, self._scratch, east, south)]
        self._rows(self.width, self.seed, self.next_row, len(east), *arrays)
        self.next_row += len(east)


def _address(array: NDArray[np.generic]) -> int:
    return array.ctypes.data


def compiled(source: Path) -> ctypes.CDLL:
    """Compile a file in C and load it; NotHereError without a C compiler."""
    compiler = os.environ.get("CC", "cc")
    if not shutil.which(compiler.split()[0]):
        raise NotHereError(f"there is no C compiler {compiler!r} for the yardstick")
    with TemporaryDirectory() as folder:
        file = Path(folder, "yardstick.so")
        subprocess.run([*compiler.split(), *FLAGS, "-o", str(file), str(source)], check=True)
        return ctypes.CDLL(str(file))


@cache
def _library() -> ctypes.CDLL:
    library = compiled(SOURCE)
    number, address = ctypes.c_uint32, ctypes.c_void_p
    library.textbook_rows.argtypes = [number, ctypes.c_uint64, ctypes.c_uint64, number, *[address] * 4]
    library.textbook_rows.restype = None
    return library


def c_rows(width: int, seed: int, rows: int) -> tuple[Plane, Plane]:
    """Return the planes (east, south) of the first rows, from the yardstick in C."""
    east, south = (np.empty((rows, row_bytes(width)), np.uint8) for _ in range(2))
    CTextbook(width, seed).carve(east, south)
    return east, south


def python_rows(width: int, seed: int, rows: int) -> tuple[Plane, Plane]:
    """Return the planes (east, south) of the first rows, from the yardstick in Python."""
    textbook = PythonTextbook(width)
    drawn = coins_ahead(width, seed, rows)
    carved = [textbook.row(*row_coins, backwards=r % 2 == 1) for r, row_coins in enumerate(drawn)]
    east, south = (pack_bits(np.array(plane, np.bool_)) for plane in zip(*carved, strict=True))
    return east, south


def prove(*, with_c: bool = True) -> None:
    """Raise RuntimeError unless the yardsticks give the rows of EllerStream."""
    for width, rows in ((1, 9), (64, 300), (65, 300), (1000, 300)):
        block = EllerStream(width, seed=width, key_interval=0).read(rows)
        for give in (python_rows, c_rows) if with_c else (python_rows,):
            east, south = give(width, width, rows)
            if not (np.array_equal(east, block.east) and np.array_equal(south, block.south)):
                raise RuntimeError(f"{give.__name__} and EllerStream differ at width {width}")
