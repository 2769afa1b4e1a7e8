"""The path in a perfect maze of any size, in memory for a few rows of it: one backward pass over its bands.

*The path as parities.* In a tree exactly one set of passages meets the two ends an odd number of times and every other
cell an even number of times: those of the path (none, if the ends are one cell). It can be found from the bottom
upwards. Say it is known where the path comes up into a row from below. Those cells, and an end that lies in the row,
must be met an odd number of times from inside the row or from above. All that counts of what is above is which
passages north are connected up there: the sets above, and which of them hold ends. So the row is a small forest: its
nodes are the sets above and the runs of cells that passages east connect, its edges are the passages north. Taking
its leaves away one after another tells for each edge whether the path uses it: a leaf that must be met an odd number
of times uses its only edge, which then counts for the node at the other side. In a run, the path goes east from a cell
exactly if an odd number of all these places is at the cell or west of it: a prefix exclusive or. What is used
northwards is where the path comes into the row above from below.

*The sets above* need a pass from the top. They are kept for the rows of one piece only, at four bytes a cell and
at most MOST_LABELS of them. A range of rows that is longer is cut into pieces: one pass forward keeps the
sets where each piece begins, and then the pieces are gone through from the last to the first, each in the same way.
So 16 pieces and 2**22 labels are enough to go through 2**26 cells with two passes forward and 2**30 with three, and
what is kept besides is 16 rows of labels for each pass.

*Key rows* save the passes from the top: above every row q * one_set all cells are one set, which holds all the ends
that are above. A path whose ends are above such a row lies above it wholly, so what is below need not be looked at.
And once both ends are passed and the path leads no further up, neither need what is above. The sets of each such range
follow from its own rows, so several threads find those of the next ranges while the path is followed through one.

A row that is no forest, or in which a node is left that must be met an odd number of times, shows that the rows are not
a tree, or that they do not connect the two ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..block import Block, pack_bits, row_bytes, unpack_bits
from ..errors import CapacityError, SolveError
from ..parallel import in_order, worker_count
from . import steps
from .path import Path, path_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..block import Cell, Plane
    from .rows import MazeRows
    from .steps import Ends, Labels

MOST_LABELS = 2**22
PIECES = 16


def tree_path(maze: MazeRows, start: Cell, end: Cell, *, workers: int = 1) -> Path:
    """Return the only path between two cells (row, column) of a perfect maze; they may be the same.

    workers   threads, which `maze.read` must bear; several need a maze with `one_set` to have their share

    Takes memory for a few rows, 16 MB of labels, and the path itself. Raises SolveError for a cell outside the rows,
    for rows that do not connect the two cells, and where a cycle shows; CapacityError for rows that find no room;
    StreamError for a wrong number of workers.
    A maze with loops is for `shortest_path`: here a cycle that is not met while the path is followed is not seen.
    """
    return path_of(tree_overlays(maze, start, end, workers=workers), start)


def tree_overlays(maze: MazeRows, start: Cell, end: Cell, *, workers: int = 1) -> Iterator[Block]:
    """Yield the path as blocks to draw over the maze's (`Path.overlay`), from its lowest rows to its uppermost.

    Takes memory for a few rows and 16 MB of labels, however long the path is; with several workers twice as much
    for each of them. Raises as `tree_path` does;
    what is wrong above shows only when the path has come there.
    """
    ends = (maze.cell(start), maze.cell(end))
    return _Tracing(maze, ends).overlays(worker_count(workers))


@dataclass(frozen=True)
class _Above:
    """What is known of the rows above `row`: the sets' labels and the marks of the ends, as in steps.Sweeper."""

    row: int
    labels: Labels
    marks: Labels

    @property
    def connects(self) -> bool:
        """Whether both ends are above and in one set, so that the path between them is above too."""
        return bool(self.marks[0] == self.marks[1] >= 0)


@dataclass(frozen=True)
class _Swept:
    """Rows, and labels and marks above each of them and above the row that follows, as in steps.Sweeper."""

    block: Block
    labels: Labels
    marks: Labels


class _Tracing:
    """A path on its way up."""

    def __init__(self, maze: MazeRows, ends: tuple[Cell, Cell]) -> None:
        self._maze, self._ends = maze, ends
        self._demand: Plane = np.zeros(row_bytes(maze.width), np.uint8)
        self._trace_scratch = self._scratch(steps.TRACE_SCRATCH)
        self._most_rows = max(1, MOST_LABELS // maze.width)

    def _scratch(self, numbers: int) -> NDArray[np.int32]:
        """Return room for so many numbers a column."""
        try:
            return np.empty(self._maze.width * numbers, np.int32)
        except MemoryError:
            raise CapacityError(f"the scratch for rows of {self._maze.width} cells finds no room in memory") from None

    def overlays(self, workers: int) -> Iterator[Block]:
        """Yield the path, upwards."""
        first_end = min(row for row, _ in self._ends)
        jobs = (partial(self._prepared, *band) for band in self._bands())
        for above, stop, swept in in_order(jobs, workers) if workers > 1 else (job() for job in jobs):
            for overlay in self._range(above, stop) if swept is None else [self._traced(swept)]:
                yield overlay
                if overlay.start <= first_end and not self._demand.any():
                    return

    def _bands(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of rows, upwards, above which all is known: the first row of each, and the row behind it."""
        maze, size = self._maze, self._maze.one_set
        if not size:
            yield maze.start, maze.stop
            return
        last_end = max(row for row, _ in self._ends)
        stop = min(maze.stop, last_end - last_end % size + size)
        while stop > maze.start:
            first = max(maze.start, stop - 1 - (stop - 1) % size)
            yield first, stop
            stop = first

    def _prepared(self, first: int, stop: int) -> tuple[_Above, int, _Swept | None]:
        """Return what is above a range of rows, the row behind it, and the sets in it unless it is to be cut."""
        above = self._nothing_above() if first == self._maze.start else self._one_set_above(first)
        return above, stop, self._swept_to(above, stop) if stop - first <= self._most_rows else None

    def _nothing_above(self) -> _Above:
        """The first row; in a fragment, what is above it is not there to lead a path."""
        return _Above(self._maze.start, np.full(self._maze.width, -1, np.int32), np.full(2, -1, np.int32))

    def _one_set_above(self, row: int) -> _Above:
        north = unpack_bits(self._maze.block(row, row + 1).north, self._maze.width)
        label = int(north.argmax()) if north.any() else -1
        labels = np.where(north, label, -1).astype(np.int32)
        marks = np.array([label if end < row else -1 for end, _ in self._ends], np.int32)
        return _Above(row, labels, marks)

    def _range(self, above: _Above, stop: int) -> Iterator[Block]:
        """Yield the overlays of the rows from `above` on, upwards."""
        if stop - above.row <= self._most_rows:
            yield self._traced(self._swept_to(above, stop))
            return
        pieces = [above]
        step = max(self._most_rows, -(-(stop - above.row) // PIECES))
        while not pieces[-1].connects and pieces[-1].row + step < stop:
            pieces.append(self._further(pieces[-1], pieces[-1].row + step))
        if pieces[-1].connects:
            stop = pieces.pop().row
        for piece in reversed(pieces):
            yield from self._range(piece, stop)
            stop = piece.row

    def _further(self, above: _Above, row: int) -> _Above:
        """Return what is above a later row."""
        for block in self._maze.blocks(above.row, row, MOST_LABELS):
            swept = self._swept(above, block)
            above = _Above(block.stop, swept.labels[-1].copy(), swept.marks[-1].copy())
        return above

    def _swept_to(self, above: _Above, stop: int) -> _Swept:
        return self._swept(above, self._maze.block(above.row, stop))

    def _swept(self, above: _Above, block: Block) -> _Swept:
        labels = np.empty((len(block) + 1, block.width), np.int32)
        marks = np.empty((len(block) + 1, 2), np.int32)
        labels[0], marks[0] = above.labels, above.marks
        east, south = np.ascontiguousarray(block.east), np.ascontiguousarray(block.south)
        steps.chosen.sweep(
            block.width, east, south, labels, marks, self._ends_in(block), self._scratch(steps.SWEEP_SCRATCH)
        )
        return _Swept(block, labels, marks)

    def _traced(self, swept: _Swept) -> Block:
        """Return the overlay of some rows."""
        block, labels, marks = swept.block, swept.labels, swept.marks
        east, ends = np.ascontiguousarray(block.east), self._ends_in(block)
        path_east, path_south = np.empty_like(east), np.empty_like(east)
        planes = (self._demand, path_east, path_south)
        scratch = self._trace_scratch
        row, found = steps.chosen.trace(block.width, east, labels[:-1], marks[:-1], ends, *planes, scratch)
        if found:
            raise SolveError(self._why(found, block.start + row))
        return self._overlay(block, path_east, path_south)

    def _ends_in(self, block: Block) -> Ends:
        return np.array([(row - block.start, column) for row, column in self._ends], np.int64)

    def _overlay(self, block: Block, east: Plane, south: Plane) -> Block:
        north = self._demand.copy()
        above = np.concatenate([north[np.newaxis], south])[:-1]
        floor = unpack_bits(east | south | above, block.width)
        floor[:, 1:] |= unpack_bits(east, block.width)[:, :-1]
        for row, column in self._ends:
            if block.start <= row < block.stop:
                floor[row - block.start, column] = True
        return Block(block.start, block.width, east, south, north, pack_bits(floor))

    def _why(self, found: str, row: int) -> str:
        start, end = self._ends
        if found == "cycle":
            return f"the maze is not perfect: a cycle shows in row {row}; with loops a path is searched, in memory"
        rows = f"rows {self._maze.start} to {self._maze.stop - 1}"
        return f"there is no path from {start} to {end} within {rows}: they do not connect the two cells"
