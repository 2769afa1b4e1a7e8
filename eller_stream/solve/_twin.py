"""`_solve.c` once more in plain Python: the same steps, the same findings."""

from __future__ import annotations

from itertools import accumulate
from operator import xor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..block import E, N, S, W, pack_bits, unpack_bits

if TYPE_CHECKING:
    from ..block import Bools, Plane
    from .steps import Counts, Ends, Labels


def sweep(
    width: int, east: Plane, south: Plane, labels: Labels, marks: Labels, ends: Ends, _scratch: Labels, /
) -> None:
    """Be the Sweeper."""
    for i in range(len(east)):
        sets = _sets_of_row(_columns(east[i], width - 1), labels[i].tolist())
        first: dict[int, int] = {}
        below = [-1] * width
        for c in _columns(south[i], width):
            below[c] = first.setdefault(sets[c], c)
        labels[i + 1] = below
        for k, (row, column) in enumerate(ends.tolist()):
            c = column if row == i else int(marks[i, k])
            marks[i + 1, k] = -1 if c < 0 else first.get(sets[c], -1)


def _sets_of_row(east: list[int], labels: list[int]) -> list[int]:
    sets = [c if label < 0 else label for c, label in enumerate(labels)]
    for c in east:
        _unite(sets, c, c + 1)
    return [_root(sets, c) for c in range(len(sets))]


def _root(sets: list[int], v: int) -> int:
    while sets[v] != v:
        sets[v] = v = sets[sets[v]]
    return v


def _unite(sets: list[int], a: int, b: int) -> None:
    low, high = sorted((_root(sets, a), _root(sets, b)))
    sets[high] = low


def trace(
    width: int,
    east: Plane,
    labels: Labels,
    marks: Labels,
    ends: Ends,
    demand: Plane,
    path_east: Plane,
    path_south: Plane,
    _scratch: Labels,
    /,
) -> tuple[int, str]:
    """Be the Tracer."""
    for i in reversed(range(len(east))):
        path_south[i] = demand
        turns = unpack_bits(demand, width)
        for row, column in ends.tolist():
            turns[column] ^= row == i
        forest = _Forest.of(unpack_bits(east[i], width), labels[i].tolist(), turns)
        for label in marks[i].tolist():
            if label >= 0:
                forest.odd[label] ^= 1
        north = np.zeros(width, np.bool_)
        north[forest.peel()] = True
        demand[:] = pack_bits(north)
        path_east[i] = pack_bits(np.array(list(accumulate((turns ^ north).tolist(), xor)), np.bool_))
        if any(forest.degree) or any(forest.odd):
            return i, "cycle" if any(forest.degree) else "apart"
    return 0, ""


class _Forest(NamedTuple):
    """A row as a forest: node c is the set above of label c, node width + s the run that begins at column s."""

    labels: list[int]
    runs: list[int]
    degree: list[int]
    link: list[int]
    odd: list[int]

    @classmethod
    def of(cls, east: Bools, labels: list[int], turns: Bools) -> _Forest:
        width = len(labels)
        forest = cls(labels, [], *([0] * (2 * width) for _ in range(3)))
        for c in range(width):
            forest.runs.append(forest.runs[c - 1] if c and east[c - 1] else width + c)
            forest.odd[forest.runs[c]] ^= int(turns[c])
            if labels[c] >= 0:
                for node in (labels[c], forest.runs[c]):
                    forest.degree[node] += 1
                    forest.link[node] ^= c
        return forest

    def peel(self) -> list[int]:
        """Take leaves away, one after another, and return the columns of the edges that the path takes."""
        used = []
        for leaf in range(len(self.degree)):
            node = leaf
            while self.degree[node] == 1:
                c = self.link[node]
                other = self.runs[c] if node < len(self.labels) else self.labels[c]
                self.degree[node] = 0
                self.degree[other] -= 1
                self.link[other] ^= c
                if self.odd[node]:
                    used.append(c)
                self.odd[other] ^= self.odd[node]
                self.odd[node] = 0
                node = other
        return used


def search(width: int, sides: Plane, distance: Labels, queue: Labels, start: int, /) -> int:
    """Be the Searcher."""
    steps = ((N, -width), (W, -1), (E, 1), (S, width))
    masks, found = sides.tobytes(), [-1] * sides.size
    found[start] = 0
    reached = [start]
    for at in reached:
        for side, step in steps:
            if masks[at] & side and 0 <= at + step < len(found) and found[at + step] < 0:
                found[at + step] = found[at] + 1
                reached.append(at + step)
    distance.reshape(-1)[:] = found
    queue.reshape(-1)[: len(reached)] = reached
    return len(reached)


def corridors(
    width: int,
    two: Plane,
    east: Plane,
    south: Plane,
    labels: Labels,
    sizes: Counts,
    lengths: Counts,
    _scratch: Counts,
    /,
) -> int:
    """Be the CorridorMeter."""
    label_of, size_of, found = labels.tolist(), sizes.tolist(), []
    for i in range(len(two)):
        cells = dict.fromkeys(_columns(two[i], width))
        sets = list(range(2 * width))  # as in C: the cells, and behind them the corridors from above by their labels
        for c in cells:
            if label_of[c] >= 0:
                _unite(sets, c, width + label_of[c])
        for c in _columns(two[i] & east[i], width - 1):
            if c + 1 in cells:
                _unite(sets, c, c + 1)
        totals: dict[int, int] = {}
        for node, size in [*((c, 1) for c in cells), *((width + c, size) for c, size in enumerate(size_of) if size)]:
            totals[_root(sets, node)] = totals.get(_root(sets, node), 0) + size
        label_of, size_of = [-1] * width, [0] * width
        first: dict[int, int] = {}
        for c in _columns(two[i] & south[i], width):
            label_of[c] = first.setdefault(_root(sets, c), c)
        for node, size in totals.items():
            if node in first:
                size_of[first[node]] = size
            else:
                found.append(size + 1)
    labels[:], sizes[:], lengths[: len(found)] = label_of, size_of, found
    return len(found)


def _columns(packed: Plane, width: int) -> list[int]:
    columns: list[int] = np.flatnonzero(unpack_bits(packed, width)).tolist()
    return columns
