"""The checkers of rows in plain Python: what _verify.c and _spans.c do, with the same state, steps and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .block import unpack_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .block import Plane


class _Checker:
    """_verify.c once more in plain Python: the same state, the same steps, the same findings."""

    def __init__(self, width: int, sets: list[int], top: list[int], loops: bool) -> None:
        self.width, self.sets, self.top, self.loops = width, sets, top, loops
        self.first: list[int | None] = []
        self.column = self.second = -1

    def check_row(self, east: Plane, south: Plane, above: Plane, floor: Plane | None) -> tuple[str, list[int]]:
        """Return what the row has come to (a Step's kind) and its cells, passages and loops."""
        opens_east, opens_south = _columns(east, self.width), _columns(south, self.width)
        tally = [self.width, len(opens_east) + len(opens_south), 0]
        if opens_east and opens_east[-1] == self.width - 1:
            self.column = self.width - 1
            return "outer", tally
        walls: list[int] = []
        if floor is not None:
            walls = _columns(~floor, self.width)
            tally[0] -= len(walls)
            touched = {*opens_east, *(c + 1 for c in opens_east), *opens_south, *_columns(above, self.width)}
            if not touched.isdisjoint(walls):
                self.column = min(touched.intersection(walls))
                return "floor", tally
        for c in opens_east:
            if not self.unite(c):
                tally[2] += 1
                if not self.loops:
                    self.column = c
                    return "cycle", tally
        return self.close_row(opens_south, walls), tally

    def unite(self, c: int) -> bool:
        """Unite the sets of columns c and c + 1; False if they are one set already."""
        low, high = _join(self.sets, c, c + 1)
        if low == high:
            return False
        if self.top:
            self.top[low] |= self.top[high]
        return True

    def close_row(self, opens_south: list[int], walls: list[int]) -> str:
        sets = self.sets
        for c in range(self.width):
            sets[c] = sets[sets[c]]
        below = self.go_south(opens_south)
        for c in walls:
            self.first[c] = c
        kind = self.kind_of(bool(opens_south))
        if kind != "cut-off":
            self.step_down(below)
        return kind

    def go_south(self, opens_south: list[int]) -> list[int]:
        """Find each set's first passage south, and return the sets of the row below."""
        self.first = [None] * self.width
        below = list(range(self.width))
        for c in opens_south:
            root = self.sets[c]
            first = self.first[root]
            self.first[root] = below[c] = c if first is None else first
        return below

    def kind_of(self, goes_on: bool) -> str:
        ending = [c for c in range(self.width) if self.sets[c] == c and self.first[c] is None]
        if not ending:
            return ""
        if not goes_on:
            return self.end(ending)
        if any(top and first is not None for top, first in zip(self.top, self.first, strict=False)):
            ending = [c for c in ending if not self.top[c]]
        if not ending:
            return ""
        self.column = ending[0]
        return "cut-off"

    def end(self, ending: list[int]) -> str:
        self.column = ending[0]
        main = [c for c in ending if self.top and self.top[c]] or ending[:1]
        self.second = min(set(ending).difference(main), default=-1)
        return "end"

    def step_down(self, below: list[int]) -> None:
        if self.top:
            top = [0] * self.width
            for root, first in enumerate(self.first):
                if first is not None:
                    top[first] = self.top[root]
            self.top = top
        self.sets = below


def check_rows(
    width: int,
    east: Plane,
    south: Plane,
    north: Plane,
    floor: Plane | None,
    sets: NDArray[np.int32],
    top: Plane,
    _scratch: NDArray[np.int32],
    loops: bool,
    /,
) -> tuple[int, str, int, int, int, int, int]:
    """Be the RowChecker in plain Python."""
    checker = _Checker(width, sets.tolist(), top.tolist(), loops)
    rows, kind, above = 0, "", north
    total = [0, 0, 0]
    for i in range(len(east)):
        kind, tally = checker.check_row(east[i], south[i], above, None if floor is None else floor[i])
        if kind in ("", "end"):
            rows += 1
            total = [a + b for a, b in zip(total, tally, strict=True)]
        if kind:
            break
        above = south[i]
    sets[:], top[:] = checker.sets, checker.top
    cells, passages, cycles = total
    return rows, kind, checker.column, checker.second, cells, passages, cycles


class _Sweeper:
    """_spans.c once more in plain Python. Marks of no column are -1."""

    def __init__(self, width: int, sets: list[int], tops: list[int], united: list[int]) -> None:
        self.width, self.sets, self.tops, self.united = width, sets, tops, united
        self.cells = self.passages = self.loops = self.closed = 0

    def sweep_row(self, east: Plane, south: Plane, above: Plane, floor: Plane | None) -> bool:
        """Sweep a row and return True; or False, where a passage leads out of the maze or into a wall."""
        opens_east, opens_south = _columns(east, self.width), _columns(south, self.width)
        walls = [] if floor is None else _columns(~floor, self.width)
        touched = {*opens_east, *(c + 1 for c in opens_east), *opens_south, *_columns(above, self.width)}
        if self.width in touched or (floor is not None and not touched.isdisjoint(walls)):
            return False
        for c in opens_east:
            self.loops += not self.unite(c)
        self.cells += self.width - len(walls)
        self.passages += len(opens_east) + len(opens_south)
        self.step_down(opens_south, set(walls))
        return True

    def unite(self, c: int) -> bool:
        """Unite the sets of columns c and c + 1; False if they are one set already."""
        low, high = _join(self.sets, c, c + 1)
        if low == high:
            return False
        self.tops[low] = self.united_top(self.tops[low], self.tops[high])
        return True

    def united_top(self, a: int, b: int) -> int:
        if a < 0 or b < 0:
            return max(a, b)
        return _join(self.united, a, b)[0]

    def step_down(self, opens_south: list[int], walls: set[int]) -> None:
        first: dict[int, int] = {}
        roots = [_root(self.sets, c) for c in range(self.width)]
        below, tops = list(range(self.width)), [-1] * self.width
        for c in opens_south:
            below[c] = first.setdefault(roots[c], c)
            tops[below[c]] = self.tops[roots[c]]
        ending = set(roots) - first.keys() - walls
        self.closed += sum(self.tops[c] < 0 for c in ending)
        self.sets, self.tops = below, tops


def sweep_rows(
    width: int,
    east: Plane,
    south: Plane,
    north: Plane,
    floor: Plane | None,
    sets: NDArray[np.int32],
    tops: NDArray[np.int32],
    united: NDArray[np.int32],
    _scratch: NDArray[np.int32],
    /,
) -> tuple[int, int, int, int, int]:
    """Be the RowSweeper in plain Python."""
    sweeper = _Sweeper(width, sets.tolist(), tops.tolist(), united.tolist())
    rows, above = 0, north
    while rows < len(east) and sweeper.sweep_row(
        east[rows], south[rows], above, None if floor is None else floor[rows]
    ):
        above = south[rows]
        rows += 1
    sets[:], tops[:], united[:] = sweeper.sets, sweeper.tops, sweeper.united
    return rows, sweeper.cells, sweeper.passages, sweeper.loops, sweeper.closed


def _root(sets: list[int], c: int) -> int:
    while sets[c] != c:
        sets[c] = c = sets[sets[c]]
    return c


def _join(sets: list[int], a: int, b: int) -> tuple[int, int]:
    """Unite the sets of two columns; return the root that stays and the one that goes, equal if they are one set."""
    low, high = sorted((_root(sets, a), _root(sets, b)))
    sets[high] = low
    return low, high


def _columns(packed: Plane, width: int) -> list[int]:
    columns: list[int] = np.flatnonzero(unpack_bits(packed, width)).tolist()
    return columns
