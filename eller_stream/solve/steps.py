"""The inner steps of solving and measuring, and the choice between C and plain Python, which goes with the kernel's.

`chosen` is the one that runs. Arrays are contiguous; planes are packed as a Block's are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from .. import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..block import Plane

    Labels: TypeAlias = NDArray[np.int32]
    Ends: TypeAlias = NDArray[np.int64]
    Counts: TypeAlias = NDArray[np.int64]

SWEEP_SCRATCH, TRACE_SCRATCH = 2, 8  # int32 a column
CORRIDOR_SCRATCH = 4  # int64 a column


class Sweeper(Protocol):
    """Finds the sets of each row, from the top."""

    def __call__(
        self, width: int, east: Plane, south: Plane, labels: Labels, marks: Labels, ends: Ends, scratch: Labels, /
    ) -> None:
        """Fill labels[1:] and marks[1:].

        east, south  planes of some rows
        labels       int32, shape (rows + 1, width): at row i, for each cell with a passage north, the smallest column
                     of those that the rows above connect with it; -1 for a cell without one. labels[0] is given
        marks        int32, shape (rows + 1, 2): the label of the set above that holds each end; -1 for an end that is
                     not above, or whose set has no passage down to this row. marks[0] is given
        ends         int64, shape (2, 2): the ends' rows, counted from the first of these, and columns
        scratch      int32, shape (2 * width,)

        A passage east out of the last column is not taken. The one in C raises ValueError for buffers that do not fit.
        """


class Tracer(Protocol):
    """Finds the path through each row, from the bottom."""

    def __call__(
        self,
        width: int,
        east: Plane,
        labels: Labels,
        marks: Labels,
        ends: Ends,
        demand: Plane,
        path_east: Plane,
        path_south: Plane,
        scratch: Labels,
        /,
    ) -> tuple[int, str]:
        """Fill the path's planes, and return the row that was come to and what was found there.

        labels, marks  as the Sweeper filled them, of these rows only
        demand         packed, one row: where the path comes up from the row below; becomes where it leaves the
                       first row northwards
        scratch        int32, shape (8 * width,)

        Found is "" (row 0 was passed), "cycle" (the rows above and this one hold one) or "apart" (they do not connect
        what they should).
        """


class Searcher(Protocol):
    """Measures distances in a maze that is in memory."""

    def __call__(self, width: int, sides: Plane, distance: Labels, queue: Labels, start: int, /) -> int:
        """Fill distance and queue, and return how many cells were reached.

        sides     uint8, shape (rows, width): open sides as N=1, S=2, E=4, W=8; none leads out
        distance  int32, shape (rows, width): steps from the start, -1 for cells that were not reached
        queue     int32, shape (rows * width,): begins with the cells that were reached, in their order
        start     row * width + column
        """


class CorridorMeter(Protocol):
    """Measures corridors: chains of cells with two passages each, and the passages at both ends."""

    def __call__(
        self,
        width: int,
        two: Plane,
        east: Plane,
        south: Plane,
        labels: Labels,
        sizes: Counts,
        lengths: Counts,
        scratch: Counts,
        /,
    ) -> int:
        """Fill lengths with those of the corridors that end in these rows, in any order, and return how many there are.

        two      packed: the cells with exactly two passages
        labels   int32, shape (width,), changed: for each passage from above by which a corridor comes down, the first
                 column of those by which the same corridor does; -1 elsewhere
        sizes    int64, shape (width,), changed: at each label the corridor's cells so far, 0 elsewhere
        lengths  int64, shape ((rows + 1) * width,): in passages, one more than the cells
        scratch  int64, shape (4 * width,)
        """


class Steps(NamedTuple):
    """Those of one backend."""

    sweep: Sweeper
    trace: Tracer
    search: Searcher
    corridors: CorridorMeter


def steps(backend: str) -> Steps:
    """Return the steps "c" or "python"; KernelError if they are not there."""
    return kernel.of_backend("solver", backend, _steps_in_c, _steps_in_python)


def _steps_in_c() -> Steps:
    from .. import _solve

    return Steps(_solve.sweep, _solve.trace, _solve.search, _solve.corridors)


def _steps_in_python() -> Steps:
    from . import _twin

    return Steps(_twin.sweep, _twin.trace, _twin.search, _twin.corridors)


chosen = kernel.with_the_kernel(steps)
