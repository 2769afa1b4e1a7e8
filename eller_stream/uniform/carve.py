"""The choice between the rows in C and those in Python, which are the same; it follows `kernel.BACKEND`."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from .. import kernel
from . import rows
from .table import endless_table, strip

if TYPE_CHECKING:
    from ..kernel import Buffer


def carve(planes: Buffer, east: Buffer, south: Buffer, width: int, key: int, row: int, last_row: int) -> None:
    """Fill the planes `east` and `south` with rows, as `rows.carve` tells."""
    in_c = _in_c()
    if in_c is None:
        rows.carve(planes, east, south, width, key, row, last_row)
    else:
        parts = strip(width)
        floats = (parts.cosine, parts.tops, parts.sums)
        in_c.carve(planes, east, south, width, key, row, last_row, *floats, endless_table(width))


def _in_c() -> ModuleType | None:
    return kernel.module_in_c("uniform._uniform")
