"""`Span`: what some consecutive rows of a maze are to the rows around them, so that rows are checked side by side.

A span of rows is checked alone and summed up in O(width) memory; sums of neighbours are merged. So `verify` uses all
cores, and a cluster.

*What a span keeps.* Take the cells and passages of rows a to b - 1 as a graph, without the passages through its two
seams. Other rows touch it only at its *ports*: the cells of row a, and those passages south that row b - 1 has. A span
keeps which ports are connected with each other inside (a number for each port), how many components have no
port (*closed*: they are cut off from all other rows for good), and the numbers of cells, of passages (those south
out of row b - 1 among them), and of *loops*: passages that closed a cycle when they were taken one by one. That is the
number of passages inside, less the cells, plus the components, in whatever order they are taken.

*Merging.* Let B's rows follow A's. The graph of both is that of A, that of B, and an edge for each passage south of
A's last row. Such an edge joins two ports; so which ports of the whole are connected follows from the ports of A and
of B alone, by union-find on at most four numbers a column. A component whose ports are all gone becomes closed. An edge
that joined nothing new is one more loop. So the merge of the sums is the sum of the merged rows,

    span(A) + span(B) = span(A B),

and it is associative because putting rows behind one another is: both (X + Y) + Z and X + (Y + Z) are
span(X Y Z). Port numbers are canonical (each is the first place of its component, the first row's cells first, then
the passages south), so equal rows have equal sums, in every field. Rows that are faulty in themselves (a passage out of
the maze or into a wall, a seam whose two sides differ) have one sum, `broken`; a merge with it is broken as well,
in any order.

*From a span to the answer.* What is not yet a fault in a span alone may become one below other rows: a first cell
whose component ends inside, where nothing leads to it from above. `is_clean` says, where the row above is known,
whether a `Verifier` passes all these rows, with more to follow. If it says no, the verifier looks for itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from . import _verify_twin, kernel
from .block import Block, unpack_bits
from .errors import BlockError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .block import Plane

_NO_PORT = -1


class RowSweeper(Protocol):
    """Sweeps rows and keeps what their sets have to do with the first row; there is one in C and one in Python."""

    def __call__(
        self,
        width: int,
        east: Plane,
        south: Plane,
        north: Plane,
        floor: Plane | None,
        sets: NDArray[np.int32],
        tops: NDArray[np.int32],
        united: NDArray[np.int32],
        scratch: NDArray[np.int32],
        /,
    ) -> tuple[int, int, int, int, int]:
        """Sweep rows until a passage leads out of the maze or into a wall.

        east, south, floor   planes of the same rows, contiguous; floor is None where every cell is floor
        north     the packed passages south of the row above, zeros where that one is of another span
        sets      int32, shape (width,), changed: the sets of the first row before its passages east
        tops      likewise: at a set's root a column of the span's first row that it is connected with, -1 for none
        united    likewise: the sets of the columns of the span's first row
        scratch   int32, shape (3 * width,): room to work in

        Returns the rows swept, their cells, passages and loops, and the sets that ended without the first row.
        The one in C raises ValueError for buffers that do not fit each other.
        """


@dataclass(frozen=True, eq=False)
class Span:
    """Rows `start` to `stop - 1` of a maze, summed up.

    width     cells in a row
    broken    the rows are faulty, whatever stands around them; the fields below are 0 or None then
    north     packed: the passages that the rows claim to have north; None: not known
    south     packed: the passages south of the last row
    floor     there is a floor plane
    ports     int64, shape (2 * width,): the component of each cell of the first row, and of each passage south
              of the last one; -1 for no cell, no passage
    cells, passages, loops, closed   numbers, as the head of this module tells
    """

    width: int
    start: int
    stop: int
    broken: bool = False
    north: bytes | None = None
    south: bytes | None = None
    floor: bool = False
    ports: NDArray[np.int64] | None = None
    cells: int = 0
    passages: int = 0
    loops: int = 0
    closed: int = 0

    def __add__(self, below: Span) -> Span:
        """Return the span of these rows and those below them; BlockError if others came."""
        check_follows(below, self.width, self.stop)
        if self._differs(below):
            return Span(self.width, self.start, below.stop, broken=True)
        return _merged(self, below)

    def _differs(self, below: Span) -> bool:
        """Return whether the seam is faulty: its two sides differ, or it leads into a wall."""
        if self.broken or below.broken or self.floor != below.floor or below.north not in (None, self.south):
            return True
        return bool((below.tops[self.bottoms != _NO_PORT] == _NO_PORT).any())

    def is_clean(self, *, loops: bool) -> bool:
        """Return whether the rows have no fault, whatever follows, and rows do have to follow.

        loops   cycles are allowed

        In doubt it says no: where nothing is known of the row above, and where only walls came so far.
        """
        if self.broken or self.closed or (self.loops and not (loops or self.floor)):
            return False
        reached, below = set(self.reached.tolist()), set(_known(self.bottoms).tolist())
        if not below or not set(_known(self.tops).tolist()) <= below | reached or _NO_PORT in reached:
            return False
        if self.start == 0:
            return not reached
        return self.north is not None and (bool(reached & below) or (self.floor and not reached))

    @property
    def reached(self) -> NDArray[np.int64]:
        """The components of the cells that the row above leads to, as far as that is known."""
        north = np.zeros(self.width, np.bool_)
        if self.north is not None:
            north = unpack_bits(np.frombuffer(self.north, np.uint8), self.width)
        return self.tops[north]

    @property
    def tops(self) -> NDArray[np.int64]:
        """The components of the first row's cells."""
        return self._ports()[: self.width]

    @property
    def bottoms(self) -> NDArray[np.int64]:
        """The components of the last row's passages south."""
        return self._ports()[self.width :]

    def _ports(self) -> NDArray[np.int64]:
        if self.ports is None:
            raise BlockError(f"rows {self.start} to {self.stop - 1} are broken, and have no ports")
        return self.ports

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return self._key() == other._key()

    __hash__ = None  # type: ignore[assignment]

    def _key(self) -> tuple[object, ...]:
        place = (self.width, self.start, self.stop, self.broken, self.north, self.south, self.floor)
        numbers = (self.cells, self.passages, self.loops, self.closed)
        return (*place, *numbers, None if self.ports is None else self.ports.tobytes())


def check_follows(rows: Block | Span, width: int, row: int) -> None:
    """Raise BlockError unless the rows have this width and begin with this row."""
    if (rows.width, rows.start) != (width, row):
        came = f"rows of {rows.width} cells from row {rows.start} on"
        raise BlockError(f"rows of {width} cells from row {row} on follow here, not {came}")


def span_of(blocks: Iterable[Block], *, north_known: bool = True) -> Span:
    """Return the span of consecutive blocks, at least one row; BlockError if there are none, or others follow.

    north_known   the first block's plane `north` tells what the row above has; else nothing is known of it
    """
    sweep: _Sweep | None = None
    for block in blocks:
        if not len(block):
            continue
        if sweep is None:
            sweep = _Sweep(block, north_known)
        sweep.feed(block)
    if sweep is None:
        raise BlockError("a span has at least one row, none came")
    return sweep.span()


class _Sweep:
    """The state of a sweep: the sets of one row, and what they have to do with the first row."""

    def __init__(self, first: Block, north_known: bool) -> None:
        self.width, self.start, self.stop = first.width, first.start, first.start
        self.floor, self.broken = first.floor is not None, False
        self.north = first.north.tobytes() if north_known else None
        self.above = np.zeros_like(first.north)
        self.sets, self.tops, self.united = (np.arange(self.width, dtype=np.int32) for _ in range(3))
        if first.floor is not None:
            self.tops[~unpack_bits(first.floor[0], self.width)] = _NO_PORT
        self.first = self.tops.copy()
        self.scratch = np.empty(3 * self.width, np.int32)
        self.tally = np.zeros(4, np.int64)

    def feed(self, block: Block) -> None:
        check_follows(block, self.width, self.stop)
        differs = self.stop > self.start and not np.array_equal(block.north, self.above)
        if differs or (block.floor is not None) != self.floor:
            self.broken = True
        if not self.broken:
            self._sweep(block)
        self.stop = block.stop

    def _sweep(self, block: Block) -> None:
        east, south, above = (np.ascontiguousarray(plane) for plane in (block.east, block.south, self.above))
        floor = None if block.floor is None else np.ascontiguousarray(block.floor)
        state = (self.sets, self.tops, self.united, self.scratch)
        rows, *tally = sweep_rows(self.width, east, south, above, floor, *state)
        self.tally += tally
        self.broken = rows < len(block)
        self.above = block.south[-1].copy()

    def span(self) -> Span:
        if self.broken:
            return Span(self.width, self.start, self.stop, broken=True)
        rows = (self.width, self.start, self.stop, False, self.north, self.above.tobytes(), self.floor)
        return Span(*rows, self._ports(), *map(int, self.tally))

    def _ports(self) -> NDArray[np.int64]:
        """Number the ports: a component by its first cell in the first row, or else by its first passage south."""
        united = _roots(self.united.astype(np.int64))
        tops = np.where(self.first == _NO_PORT, _NO_PORT, united)
        sets = self.sets.astype(np.int64)
        marks = self.tops[sets]
        below = np.where(marks == _NO_PORT, self.width + sets, united[marks])
        return np.concatenate([tops, np.where(unpack_bits(self.above, self.width), below, _NO_PORT)])


def _merged(above: Span, below: Span) -> Span:
    """Return the span of the rows of both, which have a seam without a fault."""
    width = above.width
    a, b = above._ports(), np.where(below._ports() == _NO_PORT, _NO_PORT, below._ports() + 2 * width)
    open_ = above.bottoms != _NO_PORT
    roots = _united(4 * width, a[width:][open_], b[:width][open_])
    components = np.unique(roots[_known(a, b)])
    joined = len(np.unique(_known(a, b))) - len(components)
    tops, bottoms = _followed(roots, a[:width]), _followed(roots, b[width:])
    closed = len(np.setdiff1d(components, _known(tops, bottoms)))
    return Span(
        width,
        above.start,
        below.stop,
        north=above.north,
        south=below.south,
        floor=above.floor,
        ports=np.concatenate([tops, _renumbered(bottoms, width)]),
        cells=above.cells + below.cells,
        passages=above.passages + below.passages,
        loops=above.loops + below.loops + int(np.count_nonzero(open_)) - joined,
        closed=above.closed + below.closed + closed,
    )


def _known(*ports: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the components of ports, those of no port left out."""
    together = np.concatenate(ports)
    known: NDArray[np.int64] = together[together != _NO_PORT]
    return known


def _followed(roots: NDArray[np.int64], ports: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(ports == _NO_PORT, _NO_PORT, roots[ports])


def _renumbered(bottoms: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Number the components that do not reach the first row by their first passage south."""
    numbered = bottoms.copy()
    lower = np.flatnonzero(bottoms >= width)
    _, first, which = np.unique(bottoms[lower], return_index=True, return_inverse=True)
    numbered[lower] = width + lower[first][which]
    return numbered


def _united(count: int, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the least number connected with each number below `count`, where each a[i] is joined with b[i].

    In each round every root that an edge joins with a smaller one points at the least such one, and all paths are
    made flat; so the roots that are left fall round by round, until no edge joins two.
    """
    roots = np.arange(count, dtype=np.int64)
    while True:
        left, right = roots[a], roots[b]
        apart = left != right
        if not apart.any():
            return roots
        np.minimum.at(roots, np.maximum(left, right)[apart], np.minimum(left, right)[apart])
        roots = _roots(roots)


def _roots(sets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the root of each number, which points at smaller ones on the way there."""
    while not np.array_equal(up := sets[sets], sets):
        sets = up
    return sets


def row_sweeper(backend: str) -> RowSweeper:
    """Return the row sweeper "c" or "python"; KernelError if it is not there."""
    return kernel.of_backend("validator", backend, _sweeper_in_c, lambda: _verify_twin.sweep_rows)


def _sweeper_in_c() -> RowSweeper:
    from ._verify import sweep_rows

    return sweep_rows


sweep_rows = kernel.with_the_kernel(row_sweeper)
