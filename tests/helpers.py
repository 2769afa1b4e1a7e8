"""What the tests of the generator share: the stream once more, written plainly, and hypothesis strategies.

Nothing of the package's row code is used here: the coins are SplitMix64 as its authors wrote it, the row is
the textbook's scan with a label for each cell, braid and loops are loops over the cells.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module

import numpy as np
from hypothesis import strategies as st

from eller_stream.block import Block
from eller_stream.spec import MazeSpec, Probability, Schedule

M64 = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
NO_END = 2**64 - 1
LANE_BASES = {"east": 0, "south": 16, "loops_east": 32, "loops_south": 48, "braid": 64, "third": 80, "even": 96}

# ---- coins -----------------------------------------------------------------------------------


class SplitMix64:
    """The generator as published: a state that grows by a constant, and an output function."""

    def __init__(self, state):
        self.state = state

    def next(self):
        self.state = (self.state + GOLDEN) % 2**64
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        return z ^ (z >> 31)


def output(z):
    """Return the output function of z alone: the generator's next word if the state were just below z."""
    return SplitMix64((z - GOLDEN) % 2**64).next()


@cache
def plain_lane_key(seed, lane):
    return output(seed ^ output(lane + 1))


def plain_words(seed, lane, first, count):
    """Return words of a lane: SplitMix64 seeded with the lane's key, `first` steps on."""
    generator = SplitMix64((plain_lane_key(seed, lane) + first * GOLDEN) % 2**64)
    return [generator.next() for _ in range(count)]


def plain_coins(seed, base, n, row, width):
    """Return a row's coins that fall with n of 65,536, one bool a column."""
    count = (width + 63) // 64
    words = [0] * count
    if n == 65_536:
        words = [M64] * count
    elif n:
        lowest = next(b for b in range(16) if n >> b & 1)
        for b in range(lowest, 16):
            drawn = plain_words(seed, base + b, row * count, count)
            words = [w | x if n >> b & 1 else w & x for w, x in zip(drawn, words, strict=True)]
    return [bool(words[c // 64] >> c % 64 & 1) for c in range(width)]


# ---- the row ---------------------------------------------------------------------------------


def textbook_row(labels, joins, drops, *, backwards, merging):
    """Return (east, south, labels of the row below), lists with one entry a column.

    `labels[c]` names the set of column c. The scan is the one of the textbook: united sets are relabelled.
    """
    width = len(labels)
    labels, cells = list(labels), {}
    for c, label in enumerate(labels):
        cells.setdefault(label, []).append(c)
    columns = range(width - 1, -1, -1) if backwards else range(width)
    east = [False] * width
    for coins in [joins, [True] * width] if merging else [joins]:
        for c in columns:
            if c < width - 1 and coins[c] and labels[c] != labels[c + 1]:
                east[c] = True
                moved = cells.pop(labels[c + 1])
                cells[labels[c]] += moved
                for cell in moved:
                    labels[cell] = labels[c]
    left = {label: len(members) for label, members in cells.items()}
    south = [True] * width
    for c in columns:
        if drops[c] and left[labels[c]] > 1:
            south[c] = False
            left[labels[c]] -= 1
    return east, south, row_below(labels, south)


def row_below(labels, south):
    """Return the labels below: a cell below a passage stays in its set, every other one begins its own."""
    return smallest(
        [label if open_ else ("new", c) for c, (label, open_) in enumerate(zip(labels, south, strict=True))]
    )


def smallest(labels):
    """Return the labels as set numbers: the smallest column of each set."""
    numbers = {}
    return [numbers.setdefault(label, c) for c, label in enumerate(labels)]


def braided(north, east, south, coins, *, may_open_south):
    """Return (east, south) with one more passage for each dead end whose coin falls, as docs/STREAM.md defines it."""
    width = len(east)
    more_east, more_south = list(east), list(south)
    for c in range(width):
        west = c > 0 and east[c - 1]
        if north[c] + west + east[c] + south[c] != 1 or not coins["braid"][c]:
            continue
        closed = []
        if c > 0 and not west:
            closed.append("west")
        if c < width - 1 and not east[c]:
            closed.append("east")
        if may_open_south and not south[c]:
            closed.append("south")
        picked = pick(closed, coins["third"][c], coins["even"][c])
        if picked == "west":
            more_east[c - 1] = True
        elif picked == "east":
            more_east[c] = True
        elif picked == "south":
            more_south[c] = True
    return more_east, more_south


def pick(closed, third, even):
    """Return the wall that a dead end opens, or None: one out of those closed and inner."""
    if not closed:
        return None
    if closed == ["west", "east", "south"]:
        return "south" if third else "west" if even else "east"
    if len(closed) == 2:
        return closed[0] if even else closed[1]
    return closed[0]


@dataclass
class PlainRow:
    """A row as yielded, and the state before it."""

    index: int
    labels: list
    above: list
    east: list
    south: list


class PlainStream:
    """The stream as docs/STREAM.md tells it, a cell at a time."""

    def __init__(self, spec, *, row=0, labels=None, above=None, end=None):
        self.spec = spec
        self.row = row
        self.labels = list(range(spec.width)) if labels is None else smallest(labels)
        self.above = [False] * spec.width if above is None else list(above)
        self.end = spec.height if end is None else end

    def coins(self, name, n):
        return plain_coins(self.spec.seed, LANE_BASES[name], n, self.row, self.spec.width)

    def next(self):
        spec, row = self.spec, self.row
        last = row + 1 == self.end
        merging = last or (spec.key_interval > 0 and (row + 1) % spec.key_interval == 0)
        before = self.labels, self.above
        joins, keeps = self.coins("east", value_at(spec.p_east, row)), self.coins("south", value_at(spec.p_south, row))
        drops = [not keep for keep in keeps]
        east, south, self.labels = textbook_row(self.labels, joins, drops, backwards=row % 2 == 1, merging=merging)
        if last:
            south, self.labels = [False] * spec.width, list(range(spec.width))
        if spec.braid.n:
            coins = {"braid": spec.braid.n, "third": 21_845, "even": 32_768}
            coins = {name: self.coins(name, n) for name, n in coins.items()}
            east, south = braided(self.above, east, south, coins, may_open_south=not merging)
        self.above = south
        loops = value_at(spec.loops, row)
        if loops:
            inner = [*[True] * (spec.width - 1), False]
            east = [e or (i and x) for e, i, x in zip(east, inner, self.coins("loops_east", loops), strict=True)]
            if not last:
                south = [s or x for s, x in zip(south, self.coins("loops_south", loops), strict=True)]
        self.row += 1
        return PlainRow(row, *before, east, south)

    def rows(self, count):
        return [self.next() for _ in range(count)]


def value_at(schedule, row):
    """Return the 65,536ths that a schedule has at a row."""
    return [n for first, n in schedule.pairs if first <= row][-1]


def plain_block(rows, north=None):
    """Return plain rows as a Block."""
    east, south = (np.array([getattr(row, name) for row in rows]) for name in ("east", "south"))
    return Block.from_bools(east, south, start=rows[0].index, north=rows[0].above if north is None else north)


# ---- states ----------------------------------------------------------------------------------


def bits_of_labels(labels):
    """Return has_next and has_prev, lists of bools: whether a cell of the same set stands further right, or left."""
    last = {label: c for c, label in enumerate(labels)}
    first = smallest(labels)
    return [last[label] > c for c, label in enumerate(labels)], [first[c] < c for c in range(len(labels))]


def packed(bools):
    return np.packbits(np.array(bools, dtype=bool), bitorder="little").tobytes()


def as_int(bools):
    return sum(1 << c for c, bit in enumerate(bools) if bit)


def as_bools(number, width):
    return [bool(number >> c & 1) for c in range(width)]


def state_bytes(labels, above=None):
    """Return the kernels' state: has_next, has_prev and above, packed."""
    above = [False] * len(labels) if above is None else above
    return b"".join(packed(bits) for bits in (*bits_of_labels(labels), above))


def carved(carve, spec, *, row=0, rows=1, state=None, last_row=NO_END, more=()):
    """Return (east, south, state after) of a kernel's rows, as bytes; probabilities are those at `row`."""
    num_bytes = (spec.width + 7) // 8
    state = bytearray(3 * num_bytes if state is None else state)
    east, south = bytearray(rows * num_bytes), bytearray(rows * num_bytes)
    schedules = [value_at(schedule, row) for schedule in (spec.p_east, spec.p_south, spec.loops)]
    chances = [*schedules, spec.braid.n]
    carve(state, east, south, spec.width, row, spec.seed, *chances, spec.key_interval, last_row, *more)
    return bytes(east), bytes(south), bytes(state)


def lanes_of_this_machine():
    """The kinds of big words that the C kernel can be asked for here."""
    most = import_module("eller_stream._kernel").LANES
    return [lanes for lanes in (1, 4, 8) if lanes <= most]


def nested(width):
    """Return labels that nest as deep as they can: the outer cells of each half are one set."""
    return [min(c, width - 1 - c) for c in range(width)]


def shallow(width, depth):
    """Return labels that nest `depth` deep and spread over the row, each set with its neighbours in between."""
    labels = []
    while len(labels) < width:
        labels += [(len(labels), label) for label in nested(2 * depth + 1)]
    return smallest(labels[:width])


def labels_of_choices(choices):
    """Return non-crossing labels: each cell joins the k-th open set from the inside, or begins one.

    Joining an outer set ends those inside it. Every non-crossing partition is some list of choices.
    """
    open_sets, labels = [], []
    for c, choice in enumerate(choices):
        k = choice % (len(open_sets) + 1)
        if k < len(open_sets):
            del open_sets[len(open_sets) - k :]
        else:
            open_sets.append(c)
        labels.append(open_sets[-1])
    return labels


def dead_ends(block):
    """Return how many cells of a block have one passage."""
    return (
        int(np.count_nonzero(np.bitwise_count(block.cells()) == 1))
        if hasattr(np, "bitwise_count")
        else sum(int(cell).bit_count() == 1 for cell in block.cells().flat)
    )


class Graph:
    """Cells united by passages: a plain union-find over (row, column)."""

    def __init__(self):
        self.parent = {}

    def root(self, cell):
        self.parent.setdefault(cell, cell)
        while self.parent[cell] != cell:
            self.parent[cell] = self.parent[self.parent[cell]]
            cell = self.parent[cell]
        return cell

    def unite(self, a, b):
        """Return whether the two were apart."""
        a, b = self.root(a), self.root(b)
        self.parent[a] = b
        return a != b


def faults(blocks, *, finished=True, cycles=False):
    """Return what is wrong with rows from row 0 on, as a list of sentences; by brute force over all cells."""
    rows = [(row.index, row.east.tolist(), row.south.tolist()) for block in blocks for row in block]
    width, graph, found = len(rows[0][1]), Graph(), []
    for r, east, south in rows:
        if east[-1]:
            found.append(f"row {r} leads east out of the maze")
        for c in range(width):
            for open_, other in ((east[c], (r, c + 1)), (south[c], (r + 1, c))):
                if open_ and not graph.unite((r, c), other) and not cycles:
                    found.append(f"a cycle closes at {r, c}")
    below = {graph.root((rows[-1][0] + 1, c)) for c in range(width) if rows[-1][2][c]}
    parts = {graph.root((r, c)) for r, _, _ in rows for c in range(width)}
    if finished and (below or len(parts) != 1):
        found.append(f"{len(parts)} parts, {len(below)} of them open below")
    if not finished and parts - below:
        found.append(f"{len(parts - below)} parts have no passage south")
    return found


# ---- strategies ------------------------------------------------------------------------------

EDGE_WIDTHS = (1, 2, 3, 63, 64, 65, 127, 128, 129, 511, 512, 513)

seeds = st.integers(0, M64)
probabilities = st.one_of(st.sampled_from([0, 1, 2**14, 2**15, 65_535, 65_536]), st.integers(0, 65_536)).map(
    Probability
)
rare = st.one_of(st.just(Probability(0)), probabilities)


def choices(min_size=1, max_size=130):
    return st.lists(st.integers(0, 40), min_size=min_size, max_size=max_size)


def partitions(min_size=1, max_size=130):
    """Non-crossing labels of a row."""
    return choices(min_size, max_size).map(labels_of_choices)


def schedules(values=probabilities, last=40):
    """Schedules that change within the first `last` rows."""
    later = st.dictionaries(st.integers(1, last), values, max_size=3)
    return st.builds(lambda first, more: Schedule.of([(0, first), *sorted(more.items())]), values, later)


@st.composite
def specs(draw, max_width=70, key_intervals=(0, 2, 4, 6, 16, 64), heights=(None,), scheduled=True, plain=False):
    """Specs of small mazes; plain ones have neither loops nor braid."""
    number = schedules if scheduled else (lambda values=probabilities: values.map(Schedule.of))
    return MazeSpec(
        draw(st.integers(1, max_width)),
        seed=draw(seeds),
        height=draw(st.sampled_from(heights)),
        p_east=draw(number()),
        p_south=draw(number()),
        key_interval=draw(st.sampled_from(key_intervals)),
        loops=Probability(0) if plain else draw(number(rare)),
        braid=Probability(0) if plain else draw(rare),
    )
