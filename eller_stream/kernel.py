"""The choice between the two row kernels: the C extension, or the same rows in plain Python.

ELLER_STREAM_KERNEL = c or python chooses; unset, the extension is used where it was built.
`BACKEND` says which one runs. Nothing here needs numpy until rows are carved in Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from .errors import KernelError

if TYPE_CHECKING:
    Buffer: TypeAlias = bytearray | memoryview

NO_LAST_ROW = 2**64 - 1

_T = TypeVar("_T")


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


def of_backend(what: str, backend: str, in_c: Callable[[], _T], in_python: Callable[[], _T]) -> _T:
    """Return the one of two that a backend, "c" or "python", asks for; KernelError if it is not there.

    what   its name, for the error
    """
    if backend == "python":
        return in_python()
    if backend != "c":
        raise KernelError(f"ELLER_STREAM_KERNEL is c or python, not {backend!r}")
    try:
        return in_c()
    except ImportError as error:
        raise KernelError(f"the C {what} is not there: {error}") from error


def with_the_kernel(choice: Callable[[str], _T]) -> _T:
    """Return what goes with the kernel that runs: the plain one, which does the same, if C's was not built."""
    try:
        return choice(BACKEND)
    except KernelError:
        return choice("python")


def module_in_c(name: str) -> ModuleType | None:
    """Return one of the package's modules in C; None where the kernel is Python's, or where it was not built."""
    if BACKEND != "c":
        return None
    try:
        return import_module(f"{__package__}.{name}")
    except ImportError:
        return None


def carver(backend: str) -> Carver:
    """Return the row kernel "c" or "python"; KernelError if it is not there."""
    return of_backend("kernel", backend, _carver_in_c, lambda: _carve_in_python)


def _carver_in_c() -> Carver:
    from . import _kernel

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
