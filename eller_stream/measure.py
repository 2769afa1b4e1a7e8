"""What a maze is like, measured as its rows pass by: dead ends, junctions, corridors; and how long its way is.

A cell's passages are counted for all cells of a block at once, on the packed planes: with n, s, e, w the planes of
the four sides, n ^ s says "one of the two", n & s "both", and so on. A *corridor* is a chain of passages through
cells that have exactly two; it runs from a dead end or a junction to another one, and its length is counted in
passages. So every passage is part of one corridor. Its cells are a connected set of cells with two passages each,
which is followed through the rows as sets always are; the corridors that have no such cell are single passages, and
are counted on the planes again.

The *quality* of a maze with V cells is L / sqrt(V) for a way of L steps between its ends: the ways of mazes of one kind
but different sizes can be compared by it, roughly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from .block import row_bytes, unpack_bits
from .errors import BlockError, SolveError
from .solve import MazeRows, farthest_pair, steps
from .spec import MAX_SEED

if TYPE_CHECKING:
    from .block import Block, Cell, Plane

_CELLS_AT_ONCE = 2**18


@dataclass(frozen=True)
class Measures:
    """What some rows of a maze hold.

    rows, cells   how many; cells that are no floor do not count
    passages      east and south of these cells
    dead_ends     cells with one passage
    junctions     cells with three or four
    corridors     pairs (length in passages, how many corridors of that length), the lengths rising

    Corridors that lead out of the rows upwards are counted from there on (a fragment), those that lead out of
    them downwards are not counted (an unfinished maze). A cycle without any junction counts as a corridor.
    """

    rows: int
    cells: int
    passages: int
    dead_ends: int
    junctions: int
    corridors: tuple[tuple[int, int], ...]

    @property
    def longest_corridor(self) -> int:
        """Passages of the longest corridor, 0 if there is none."""
        return self.corridors[-1][0] if self.corridors else 0

    @property
    def mean_corridor(self) -> float:
        """Passages of a corridor on the average, 0 if there is none."""
        count = sum(count for _, count in self.corridors)
        return sum(length * count for length, count in self.corridors) / count if count else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the measures as plain data; the corridors are a map of counts by length."""
        return {
            "cells": self.cells,
            "passages": self.passages,
            "dead_ends": self.dead_ends,
            "junctions": self.junctions,
            "longest_corridor": self.longest_corridor,
            "mean_corridor": round(self.mean_corridor, 6),
            "corridors": {str(length): count for length, count in self.corridors},
        }


class Measurer:
    """Measures the rows of one maze, block by block, in O(width) memory.

    width   cells in a row
    start   index of the first row
    """

    def __init__(self, width: int, start: int = 0) -> None:
        self._width, self._next = width, start
        self._rows = self._cells = self._passages = self._dead_ends = self._junctions = 0
        self._lengths: Counter[int] = Counter()
        self._labels, self._sizes = np.full(width, -1, np.int32), np.zeros(width, np.int64)
        self._scratch = np.empty(width * steps.CORRIDOR_SCRATCH, np.int64)
        # Of the row above, the cells with two passages. What is above a fragment is not known: no single passages.
        self._two_above: Plane = np.full(row_bytes(width), 255, np.uint8)

    def feed(self, block: Block) -> None:
        """Measure the next rows; BlockError when the width differs or they are not the ones that follow."""
        if (block.width, block.start) != (self._width, self._next):
            came = f"rows of {block.width} cells from row {block.start} on"
            raise BlockError(f"rows of {self._width} cells from row {self._next} on follow here, not {came}")
        step = max(1, _CELLS_AT_ONCE // self._width)
        for first in range(0, len(block), step):
            self._measure(block[first : first + step])
        self._next = block.stop

    def measures(self) -> Measures:
        """Return the measures of the rows so far."""
        counts = (self._rows, self._cells, self._passages, self._dead_ends, self._junctions)
        return Measures(*counts, tuple(sorted(self._lengths.items())))

    def _measure(self, block: Block) -> None:
        east, south = np.ascontiguousarray(block.east), np.ascontiguousarray(block.south)
        north = np.concatenate([block.north[np.newaxis], south])[:-1]
        one, two, more = _by_passages(north, south, east, _shifted_east(east))
        self._rows += len(block)
        self._cells += _cells(block)
        self._passages += _count(east, self._width) + _count(south, self._width)
        self._dead_ends += _count(one, self._width)
        self._junctions += _count(more, self._width)
        self._count_single_passages(north, east, two)
        self._count_corridors(two, east, south)

    def _count_single_passages(self, north: Plane, east: Plane, two: Plane) -> None:
        """Count the corridors of one passage, between cells that both have not two."""
        two_above = np.concatenate([self._two_above[np.newaxis], two])[:-1]
        self._two_above = two[-1].copy()
        down, across = north & ~two & ~two_above, _shifted_east(east & ~two) & ~two
        single = _count(down, self._width) + _count(across, self._width)
        if single:
            self._lengths[1] += single

    def _count_corridors(self, two: Plane, east: Plane, south: Plane) -> None:
        lengths = np.empty((len(two) + 1) * self._width, np.int64)
        state = (self._labels, self._sizes, lengths, self._scratch)
        ended = lengths[: steps.chosen.corridors(self._width, two, east, south, *state)]
        for length, count in zip(*(array.tolist() for array in np.unique(ended, return_counts=True)), strict=True):
            self._lengths[length] += count


def measure(blocks: Iterable[Block]) -> Measures:
    """Measure consecutive blocks, the first of which tells width and start.

    Raises BlockError when there are no blocks, or when one has another width or rows that do not follow.
    """
    measurer: Measurer | None = None
    for block in blocks:
        measurer = measurer or Measurer(block.width, block.start)
        measurer.feed(block)
    if measurer is None:
        raise BlockError("at least one block is needed to measure a maze, none came")
    return measurer.measures()


@dataclass(frozen=True)
class Way:
    """The way between a maze's suggested ends.

    start, end   cells (row, column)
    steps        L, the passages of a shortest path between them
    cells        V, the cells of the maze
    """

    start: Cell
    end: Cell
    steps: int
    cells: int

    @property
    def quality(self) -> float:
        """L / sqrt(V)."""
        return self.steps / sqrt(self.cells)


def longest_way(maze: MazeRows) -> Way:
    """Return the way between the farthest pair; in memory, raising what `farthest_pair` does."""
    start, end, length = farthest_pair(maze)
    blocks = maze.blocks(maze.start, maze.stop, _CELLS_AT_ONCE)
    cells = sum(
        len(block) * block.width if block.floor is None else _count(block.floor, block.width) for block in blocks
    )
    return Way(start, end, length, cells)


@dataclass(frozen=True)
class Drawn:
    """What drawing came to: the seed of the first maze that is good enough, or else of the best one.

    seed, way   of that maze
    tries       mazes that were drawn
    enough      whether its quality is what was asked for
    """

    seed: int
    way: Way
    tries: int
    enough: bool


def draw(make: Callable[[int], Block], seed: int, *, min_quality: float, tries: int) -> Drawn:
    """Draw mazes from `seed`, `seed + 1` and so on (2**64 is 0 again) until the longest way of one is good enough.

    make         the maze of a seed, whole, as a Block
    min_quality  the L / sqrt(V) that is good enough
    tries        how many mazes to draw at most, 1 or more
    """
    best: Drawn | None = None
    for i in range(tries):
        drawn = (seed + i) % (MAX_SEED + 1)
        way = longest_way(MazeRows.of(make(drawn)))
        if best is None or way.quality > best.way.quality:
            best = Drawn(drawn, way, i + 1, way.quality >= min_quality)
        if best.enough:
            return best
    if best is None:
        raise SolveError(f"the number of mazes to draw is 1 or more, not {tries}")
    return replace(best, tries=tries)


def _by_passages(north: Plane, south: Plane, east: Plane, west: Plane) -> tuple[Plane, Plane, Plane]:
    """Return the packed planes of the cells with one passage, with two, and with more."""
    none_down: Plane = ~(north | south)
    none_across: Plane = ~(east | west)
    one_down: Plane = north ^ south
    one_across: Plane = east ^ west
    both_down, both_across = north & south, east & west
    one = one_down & none_across | one_across & none_down
    two = both_down & none_across | both_across & none_down | one_down & one_across
    return one, two, ~(one | two | none_down & none_across)


def _shifted_east(plane: Plane) -> Plane:
    """Return a packed plane with each column's bit at the next column; the last one's may become a spare bit."""
    shifted = np.left_shift(plane, 1, dtype=np.uint8)
    shifted[:, 1:] |= plane[:, :-1] >> 7
    return shifted


def _cells(block: Block) -> int:
    return len(block) * block.width if block.floor is None else _count(block.floor, block.width)


def _count(plane: Plane, width: int) -> int:
    """Return how many bits are set, spare ones aside."""
    return int(np.count_nonzero(unpack_bits(plane, width)))
