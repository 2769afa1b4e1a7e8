"""What several jobs let run: the yardstick in C, the C kernel alone, a stream, and the Python backend.

The yardstick and the kernel fill the same planes again and again, `ROWS_AT_ONCE` rows at a time, so that neither
waits for memory that the other does not touch. A stream's `read` makes new ones, as it does for everyone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from eller_stream import coins, kernel
from eller_stream.block import row_bytes

from .measure import MEGABYTES_A_SECOND, Contestant, NotHereError, millions_a_second
from .textbook import CTextbook

if TYPE_CHECKING:
    from eller_stream.block import Plane
    from eller_stream.stream import EllerStream

WIDTH, SEED, ROWS_AT_ONCE = 1000, 20_261_130, 1000
K, EIGHT_BANDS = 1024, 8 * 1024
TEXTBOOK_C = "textbook row in C"


class Kernel:
    """The C kernel with nothing around it, from row 0 on, at even coins; 0 lanes or bands mean the machine's best."""

    def __init__(self, *, key_interval: int = 0, lanes: int = 0, bands: int = 0) -> None:
        self.state = bytearray(3 * row_bytes(WIDTH))
        self.next_row = 0
        self._carve = c_kernel().carve
        self._rest = (SEED, coins.EVEN, coins.EVEN, 0, 0, key_interval, kernel.NO_LAST_ROW, lanes, bands)

    def carve(self, east: Plane, south: Plane) -> None:
        """Fill two planes with the next rows."""
        self._carve(self.state, east.data, south.data, WIDTH, self.next_row, *self._rest)
        self.next_row += len(east)


def c_kernel() -> ModuleType:
    """Return the extension module; NotHereError where streams do not run on it."""
    if kernel.BACKEND != "c":
        raise NotHereError(f"streams run on the {kernel.BACKEND} kernel, not on the one in C")
    from eller_stream import _kernel

    return _kernel


def textbook_c(rows: int) -> Contestant:
    """Return the yardstick in C, which carves `rows` rows a sample."""
    return Contestant(TEXTBOOK_C, cells_by(filling(CTextbook(WIDTH, SEED), rows), rows))


def filling(source: CTextbook | Kernel, rows: int, at_once: int = ROWS_AT_ONCE) -> Callable[[], None]:
    """Return the work of carving `rows` rows into the same planes, `at_once` at a time."""
    east, south = (np.empty((at_once, row_bytes(WIDTH)), np.uint8) for _ in range(2))

    def work() -> None:
        for _ in range(rows // at_once):
            source.carve(east, south)

    return work


def band_kernel(name: str, rows: int) -> Contestant:
    """Return the C kernel with key rows at its best, all bands that it can at a time, in bytes of packed rows."""
    size = rows * 2 * row_bytes(WIDTH)
    work = filling(Kernel(key_interval=K), rows, EIGHT_BANDS)
    return Contestant(name, millions_a_second(size, work), MEGABYTES_A_SECOND)


def reading(stream: EllerStream, rows: int, at_once: int = ROWS_AT_ONCE) -> Callable[[], None]:
    """Return the work of reading `rows` rows from a stream, `at_once` at a time."""

    def work() -> None:
        for _ in range(rows // at_once):
            stream.read(at_once)

    return work


def cells_by(work: Callable[[], None], rows: int) -> Callable[[], float]:
    """Return the sampler of work on `rows` rows: million cells a second."""
    return millions_a_second(rows * WIDTH, work)


@contextmanager
def python_backend() -> Iterator[None]:
    """Let streams run on the Python kernel meanwhile."""
    before = kernel.carve
    kernel.carve = kernel.carver("python")
    try:
        yield
    finally:
        kernel.carve = before
