"""`MazeRows`: a maze to be solved, whose rows can be read again and again, in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING

from ..errors import BlockError, SolveError
from ..spec import shown

if TYPE_CHECKING:
    from ..block import Block, Cell


@dataclass(frozen=True)
class MazeRows:
    """Rows `start` to `stop - 1` of a maze.

    width        cells in a row
    start, stop  index of the first row, and of the first row behind the last
    read         read(row, count): those rows as a Block; what `MazeFile.read` does
    one_set      above row q * one_set, for each q > 0, all cells are connected by the rows above: the key interval, or
                 the height of an algorithm's bands; 0: there are no such rows
    """

    width: int
    start: int
    stop: int
    read: Callable[[int, int], Block]
    one_set: int = 0

    @classmethod
    def of(cls, block: Block, one_set: int = 0) -> MazeRows:
        """Return the rows of a block in memory."""

        def read(row: int, count: int) -> Block:
            return block[row - block.start : row - block.start + count]

        return cls(block.width, block.start, block.stop, read, one_set)

    def blocks(self, first: int, stop: int, most_cells: int) -> Iterator[Block]:
        """Yield rows `first` to `stop - 1`, at most so many cells at a time, and one row at least."""
        step = max(1, most_cells // self.width)
        for row in range(first, stop, step):
            yield self.block(row, min(row + step, stop))

    def block(self, first: int, stop: int) -> Block:
        """Return rows `first` to `stop - 1`; BlockError if `read` gives others."""
        block = self.read(first, stop - first)
        if (block.start, block.stop, block.width) != (first, stop, self.width):
            came = f"rows {block.start} to {block.stop - 1} of {block.width} cells"
            raise BlockError(f"rows {first} to {stop - 1} of {self.width} cells were asked for, {came} came")
        return block

    def cell(self, cell: Cell) -> Cell:
        """Return a cell (row, column) as plain integers; SolveError if it is outside."""
        row, column = index(cell[0]), index(cell[1])
        if not (self.start <= row < self.stop and 0 <= column < self.width):
            rows = f"rows {self.start} to {self.stop - 1}" if self.stop > self.start else "no rows"
            raise SolveError(f"the cell {shown((row, column))} is outside: there are {rows}, {self.width} cells each")
        return row, column
