"""The choice between the two row kernels: the C extension, or the same rows in plain Python.

ELLER_STREAM_KERNEL = c or python chooses; unset, the extension is used where it was built.
`BACKEND` says which one runs. Nothing here needs numpy until rows are carved in Python.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from .errors import KernelError

if TYPE_CHECKING:
    Buffer: TypeAlias = bytearray | memoryview

NO_LAST_ROW = 2**64 - 1


class Carver(Protocol):
    """A row kernel: carves the rows from `row` on, one after another, and moves the state on."""

    def __call__(
        self,
        state: Buffer,
        east: Buffer,
        south: Buffer,
        width: int,
        row: int,
        seed: int,
        p_east: int,
        p_south: int,
        loops: int,
        braid: int,
        key_interval: int,
        last_row: int,
        /,
    ) -> None:
        """Fill the planes `east` and `south` with rows.

        state         writable, 3 * ceil(width / 8) bytes: the planes has_next, has_prev and above of `row`
        east, south   writable, of one size: as many rows of ceil(width / 8) bytes as are to be carved
        p_east, p_south, loops, braid   65,536ths, the same for all these rows
        key_interval  0 for no key rows
        last_row      index of the row that merges and opens nothing south; NO_LAST_ROW for none

        Raises ValueError for buffers of other sizes and MemoryError where the scratch of a row finds no room.
        """


def carver(backend: str) -> Carver:
    """Return the row kernel "c" or "python"; KernelError if it is not there."""
    if backend == "python":
        return _carve_in_python
    if backend != "c":
        raise KernelError(f"ELLER_STREAM_KERNEL is c or python, not {backend!r}")
    try:
        from . import _kernel
    except ImportError as error:
        raise KernelError(f"the C kernel is not there: {error}") from error
    return _kernel.carve


def _carve_in_python(*arguments: Any) -> None:
    from . import _step

    _step.carve(*arguments)


def _choose() -> tuple[str, Carver]:
    asked = os.environ.get("ELLER_STREAM_KERNEL", "")
    if asked:
        return asked, carver(asked)
    try:
        return "c", carver("c")
    except KernelError:
        return "python", carver("python")


BACKEND, carve = _choose()
