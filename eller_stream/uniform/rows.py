"""The rows in plain Python: each is a spanning tree of a small graph, by Wilson's algorithm. docs/STREAM.md, "Uniform".

The graph stands for the whole maze that is still to come. Its nodes are the sets of the row, since of the rows
above nothing matters but what they connect, and the cells of the row below, between which the rows further down act
as the resistors that the table of jumps tells. A walk at a set leaves by one of its exits: east or west to another
set, or south. A walk at a cell below goes up, or jumps along its row as it would come back from further down. Walks
without their loops make the tree; its edges in this row and south of it are the row, and those that stand for the
rows below are forgotten, to be drawn with these rows. That the order of the starts and the place of the root make
no difference is Wilson's theorem.

In the graph, node c < width is cell c of the row below, and node width + a is set a; sets are numbered from the
left. A passage is 2 * c east of cell c, 2 * c + 1 south of it, and HIDDEN along the row below.

Source: D. B. Wilson, *Generating random spanning trees more quickly than the cover time*, STOC 1996.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..block import pack_bits, row_bytes, unpack_bits
from ..coins import endless_words, mix
from ..partition import set_numbers
from .table import ENDLESS, endless_table, is_endless, strip, table

if TYPE_CHECKING:
    from ..kernel import Buffer

    Edge: TypeAlias = tuple[int, int]
    Labels: TypeAlias = list[int]

HIDDEN = -1


def carve(planes: Buffer, east: Buffer, south: Buffer, width: int, key: int, row: int, last_row: int) -> None:
    """Fill the planes `east` and `south` with rows, and move the state on; `kernel.Carver` tells of both.

    key        of the seed's lane; each row has a key of its own
    row        index of the first of these rows
    last_row   index of the maze's last row, ENDLESS for none
    """
    size = row_bytes(width)
    labels = _labels(planes, width)
    for i in range(len(east) // size):
        below = ENDLESS if last_row == ENDLESS else last_row - (row + i)
        tree = _Tree(width, labels, _entries(width, below), endless_words(mix(key ^ mix(row + i + 1))))
        opens_east, opens_south = tree.passages[0::2], tree.passages[1::2]
        east[i * size : (i + 1) * size] = _packed(opens_east)
        south[i * size : (i + 1) * size] = _packed(opens_south)
        labels = labels_below(labels, opens_east, opens_south)
        planes[:] = b"".join(map(_packed, (*_neighbours(labels), opens_south)))


def _labels(planes: Buffer, width: int) -> Labels:
    """Return the number of each cell's set, counted from the left, from the planes has_next and has_prev."""
    packed = np.frombuffer(planes, np.uint8).reshape(3, -1)
    numbers = set_numbers(*(unpack_bits(plane, width) for plane in packed[:2]))
    labels: Labels = np.unique(numbers, return_inverse=True)[1].tolist()
    return labels


def _neighbours(labels: Labels) -> tuple[list[bool], list[bool]]:
    """Return has_next and has_prev of each cell."""
    lasts = {label: c for c, label in enumerate(labels)}
    firsts = {label: c for c, label in reversed(list(enumerate(labels)))}
    return [lasts[a] != c for c, a in enumerate(labels)], [firsts[a] != c for c, a in enumerate(labels)]


def _packed(bools: list[bool]) -> bytes:
    return pack_bits(np.array(bools, np.bool_)).tobytes()


def _entries(width: int, below: int) -> list[int]:
    """Return the table of jumps for a row with `below` rows below it, none if it is the last."""
    if not below:
        return []
    parts = strip(width)
    entries: list[int] = (endless_table(width) if is_endless(parts, below) else table(parts, below)).tolist()
    return entries


def labels_below(labels: Labels, opens_east: list[bool], opens_south: list[bool]) -> Labels:
    """Return the set of each cell of the row below, numbered from the left."""
    joined = list(range(max(labels) + 1))

    def root(a: int) -> int:
        while joined[a] != a:
            a = joined[a]
        return a

    for c, opens in enumerate(opens_east):
        if opens:
            joined[root(labels[c])] = root(labels[c + 1])
    numbers: dict[int, int] = {}
    alone = range(len(joined), len(joined) + len(labels))
    sets = (root(a) if opens else n for a, opens, n in zip(labels, opens_south, alone, strict=True))
    return [numbers.setdefault(a, len(numbers)) for a in sets]


class _Tree:
    """The spanning tree of one row's graph.

    labels    number of each cell's set
    entries   the table of jumps; none in the last row, which has no row below
    words     the row's words: one a step
    """

    def __init__(self, width: int, labels: Labels, entries: list[int], words: Iterator[int]) -> None:
        self.passages = [False] * (2 * width)
        self._width, self._labels, self._entries, self._words = width, labels, entries, words
        sets = max(labels) + 1
        self._exits = self._all_exits(sets)
        root = max(range(sets), key=lambda a: len(self._exits[a]))
        self._inside = [False] * (width + sets)
        self._inside[width + root] = True
        self._ways: list[Edge] = [(0, HIDDEN)] * (width + sets)
        for start in (*range(width, width + sets), *range(width if entries else 0)):
            self._wander(start)
            self._follow(start)

    def _all_exits(self, sets: int) -> list[list[Edge]]:
        """Return where each set's exits lead, and through what, in the order of its cells: west, east, south."""
        width, labels = self._width, self._labels
        exits: list[list[Edge]] = [[] for _ in range(sets)]
        for c, a in enumerate(labels):
            if c and labels[c - 1] != a:
                exits[a].append((width + labels[c - 1], 2 * (c - 1)))
            if c + 1 < width and labels[c + 1] != a:
                exits[a].append((width + labels[c + 1], 2 * c))
            if self._entries:
                exits[a].append((c, 2 * c + 1))
        return exits

    def _wander(self, node: int) -> None:
        """Walk from a node to the tree, and note the last way out of each node."""
        inside, ways, exits, width, words = self._inside, self._ways, self._exits, self._width, self._words
        while not inside[node]:
            word = next(words)
            if node < width:
                way = self._jump(node, word)
            else:
                choices = exits[node - width]
                way = choices[word * len(choices) >> 64]
            ways[node] = way
            node = way[0]

    def _jump(self, cell: int, word: int) -> Edge:
        """Return the way out of a cell of the row below."""
        mask = len(self._entries) - 1
        entry = self._entries[word & mask]
        jump = (word if word | mask < entry else entry) & mask
        if not jump:
            return self._width + self._labels[cell], 2 * cell + 1
        place = (cell + jump) % (2 * self._width)
        return min(place, 2 * self._width - 1 - place), HIDDEN

    def _follow(self, node: int) -> None:
        """Take the way that the walk took, without its loops, into the tree."""
        while not self._inside[node]:
            self._inside[node] = True
            node, passage = self._ways[node]
            if passage != HIDDEN:
                self.passages[passage] = True
