"""Which cells of a row are connected by the rows above it: the sets of the row to come.

The state of a row is two bits a cell, `has_next` and `has_prev` (the theory stands in `_step.py`). Here they
are read: whether they are a row at all, and which set number each cell has.

Going from left to right, an open (a cell with has_next whose neighbour has no has_prev) leads one level
deeper and a close one level up. Two bit strings are a row exactly if the level never falls below 0, ends
at 0, and neither end of the row asks for a cell beyond it. And between two neighbours of one set all
cells lie deeper; so among the cells of one level, in the order of their columns, a cell with has_prev
belongs to the set of the cell before it, and one without begins a set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .block import Bools

    SetNumbers: TypeAlias = NDArray[np.int32]


def levels(has_next: Bools, has_prev: Bools) -> NDArray[np.int32]:
    """Return each cell's nesting level, int32 of shape (width,); negative somewhere if the bits are no row."""
    n, q = has_next[:-1], has_prev[1:]
    steps = np.zeros(len(has_next), np.int8)
    steps[1:] += n & ~q
    steps[1:] -= q & ~n
    level: NDArray[np.int32] = np.cumsum(steps, dtype=np.int32)
    return level


def is_row(has_next: Bools, has_prev: Bools) -> bool:
    """Return whether the bits, of shape (width,), are the balanced word of a row's sets."""
    level = levels(has_next, has_prev)
    return not has_prev[0] and not has_next[-1] and level.min() >= 0 and level[-1] == 0


def set_numbers(has_next: Bools, has_prev: Bools) -> SetNumbers:
    """Return each cell's set number, the smallest column of its set: int32 of shape (width,)."""
    by_level = np.argsort(levels(has_next, has_prev), kind="stable")
    begins = np.where(has_prev[by_level], 0, np.arange(len(by_level)))
    numbers = np.empty(len(by_level), np.int32)
    numbers[by_level] = by_level[np.maximum.accumulate(begins)]
    return numbers
