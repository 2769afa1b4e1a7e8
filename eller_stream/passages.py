"""Checks of a plain list of passages, from any program: is it a perfect maze?

Five questions are answered one by one, each in the plainest way there is, so that a wrong list shows what is wrong
with it and not only that something is:

1. As many passages as cells - 1, as every spanning tree has.
2. Every passage joins side neighbours inside the grid.
3. A search along the passages reaches all cells.
4. No passage closes a cycle, by union-find.
5. The generator gives the same list again (where one is given).

Passages that are no passages (question 2) lead nowhere: the search leaves them out, and so does the union-find. The
cost is that of the list, not that of the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .block import Block
from .errors import BlockError, CapacityError, SpecError
from .spec import MAX_ROW, MAX_WIDTH, integer, shown

if TYPE_CHECKING:
    from .block import Cell

    Passage: TypeAlias = tuple[Cell, Cell]

MAX_CELLS = 2**28


@dataclass(frozen=True)
class PassageReport:
    """The five answers. True is good; `same_again` is None where no generator was given.

    rows, columns     the grid
    passages          how many came; `right_count` tells whether they are rows * columns - 1
    misfit            the first passage that does not join side neighbours inside the grid; `all_fit`: there is none
    reached           cells of the largest part that hangs together; `all_reached`: it is the whole grid
    cut_off           the first cell outside that part, row by row; None if there is none
    cycle             the first passage that joins two cells which those before it connect already; `acyclic`: none does
    same_again        whether the generator gave the same list, in the same order
    """

    rows: int
    columns: int
    passages: int
    misfit: Passage | None
    reached: int
    cut_off: Cell | None
    cycle: Passage | None
    same_again: bool | None

    @property
    def right_count(self) -> bool:
        """Whether there are as many passages as cells - 1."""
        return self.passages == self.rows * self.columns - 1

    @property
    def all_fit(self) -> bool:
        """Whether every passage joins side neighbours inside the grid."""
        return self.misfit is None

    @property
    def all_reached(self) -> bool:
        """Whether a search reaches all cells."""
        return self.cut_off is None

    @property
    def acyclic(self) -> bool:
        """Whether no passage closes a cycle."""
        return self.cycle is None

    @property
    def ok(self) -> bool:
        """Whether all the answers are good: a perfect maze, and the same one again where that was asked."""
        return self.right_count and self.all_fit and self.all_reached and self.acyclic and self.same_again is not False

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data: the fields and the answers."""
        answers = ("right_count", "all_fit", "all_reached", "acyclic", "ok")
        return asdict(self) | {name: getattr(self, name) for name in answers}

    def __str__(self) -> str:
        cells = self.rows * self.columns
        again = {None: "not asked, no generator was given", True: "yes", False: "no"}[self.same_again]
        return "\n".join(
            [
                f"as many passages as cells - 1: {_answer(self.right_count)}, {self.passages} for {cells} cells",
                f"side neighbours inside the grid: {_answer(self.all_fit)}{_place(', not', self.misfit)}",
                f"all cells reached: {_answer(self.all_reached)}, {self.reached} of {cells}"
                + _place(", cut off from", self.cut_off),
                f"no cycle: {_answer(self.acyclic)}{_place(', closed by', self.cycle)}",
                f"the same list again: {again}",
            ]
        )


def check_passages(
    passages: Iterable[object], rows: int, columns: int, *, again: Callable[[], Iterable[object]] | None = None
) -> PassageReport:
    """Answer the five questions about a list of passages.

    passages       pairs of cells (row, column), counted from 0, in any order and direction
    rows, columns  the grid's size
    again          the generator: makes the list once more, from the same seed

    Raises BlockError for what is no pair of cells or no grid.
    """
    _check_grid(rows, columns)
    given = [_passage(item) for item in passages]
    fitting = [passage for passage in given if _fits(passage, rows, columns)]
    part = _largest_part(fitting)
    return PassageReport(
        rows,
        columns,
        len(given),
        next((passage for passage in given if not _fits(passage, rows, columns)), None),
        len(part),
        next(((r, c) for r in range(rows) for c in range(columns) if (r, c) not in part), None),
        _first_cycle(fitting),
        None if again is None else [_passage(item) for item in again()] == given,
    )


def block_of_passages(passages: Iterable[object], rows: int, columns: int) -> Block:
    """Return the maze of a list of passages as a block from row 0 on, to verify, solve, measure and draw.

    Raises BlockError for what is no grid, no pair of cells, a cell outside the grid, or a passage between cells that
    are not side neighbours; CapacityError for more than 2**28 cells.
    """
    _check_grid(rows, columns)
    if rows * columns > MAX_CELLS:
        raise CapacityError(f"a grid of {rows} rows and {columns} columns is more than the {MAX_CELLS} cells allowed")
    east, south = np.zeros((2, rows, columns), np.bool_)
    for item in passages:
        passage = _passage(item)
        _check_fits(passage, rows, columns)
        (row, column), (below, _) = sorted(passage)
        (east if row == below else south)[row, column] = True
    return Block.from_bools(east, south)


def _check_grid(rows: int, columns: int) -> None:
    if not (type(rows) is int and type(columns) is int and 1 <= rows <= MAX_ROW and 1 <= columns <= MAX_WIDTH):
        came = f"{shown(rows)} and {shown(columns)}"
        raise BlockError(f"a grid has 1 to 2**48 rows and 1 to {MAX_WIDTH} columns, not {came}")


def _passage(item: Any) -> Passage:
    """Return a passage as two pairs of integers; BlockError if it is none."""
    try:
        first, second = item
        return _cell(first), _cell(second)
    except (TypeError, ValueError, SpecError):
        raise BlockError(f"a passage is a pair of cells (row, column), not {shown(item)}") from None


def _cell(pair: Any) -> Cell:
    row, column = pair
    return integer("a row", row), integer("a column", column)


def _fits(passage: Passage, rows: int, columns: int) -> bool:
    (a, b), (c, d) = passage
    return _stray_cell(passage, rows, columns) is None and abs(a - c) + abs(b - d) == 1


def _stray_cell(passage: Passage, rows: int, columns: int) -> Cell | None:
    """Return the first of a passage's cells that is outside the grid."""
    return next(((r, c) for r, c in passage if not (0 <= r < rows and 0 <= c < columns)), None)


def _check_fits(passage: Passage, rows: int, columns: int) -> None:
    stray = _stray_cell(passage, rows, columns)
    if stray is not None:
        raise BlockError(f"the cell {shown(stray)} is outside the grid of {rows} rows and {columns} columns")
    if not _fits(passage, rows, columns):
        raise BlockError(f"a passage joins side neighbours, and {passage[0]} and {passage[1]} do not touch")


def _largest_part(passages: list[Passage]) -> set[Cell]:
    """Return the cells of the largest part that hangs together, of equals the first; one cell without passages."""
    sides: dict[Cell, list[Cell]] = {}
    for a, b in sorted(passages):
        sides.setdefault(a, []).append(b)
        sides.setdefault(b, []).append(a)
    largest: set[Cell] = {(0, 0)}
    seen: set[Cell] = set()
    for cell in sorted(sides):
        if cell not in seen:
            part = _reached_from(cell, sides)
            seen |= part
            largest = max(largest, part, key=len)
    return largest


def _reached_from(cell: Cell, sides: dict[Cell, list[Cell]]) -> set[Cell]:
    reached, waiting = {cell}, [cell]
    while waiting:
        for neighbour in sides[waiting.pop()]:
            if neighbour not in reached:
                reached.add(neighbour)
                waiting.append(neighbour)
    return reached


def _first_cycle(passages: list[Passage]) -> Passage | None:
    """Return the first passage whose two cells are connected already."""
    parent: dict[Cell, Cell] = {}

    def root(cell: Cell) -> Cell:
        while (above := parent.setdefault(cell, cell)) != cell:
            parent[cell] = cell = parent[above]
        return cell

    for passage in passages:
        a, b = map(root, passage)
        if a == b:
            return passage
        parent[a] = b
    return None


def _answer(good: bool) -> str:
    return "yes" if good else "no"


def _place(text: str, place: Passage | Cell | None) -> str:
    return "" if place is None else f"{text} {place}"
