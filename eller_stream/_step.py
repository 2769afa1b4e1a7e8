"""The row step on whole-row Python integers: Eller's row without a loop over its cells.

*The state is two bits a cell.* A maze is planar, so the sets of a row never cross, and `has_next` (a
cell of the same set stands further right) and `has_prev` (one stands further left) tell them fully. With
n = has_next of the cell left of a boundary and q = has_prev of the cell right of it, the boundary is

    n q = 1 1   same        both cells are in one set
          1 0   open        the left cell's set goes on further right: a gap opens
          0 1   close       the right cell continues that set: the gap closes
          0 0   separator   two neighbours, neither nested in the other

so a row is a word of balanced brackets. Each gap holds one *ring* of boundaries at its own depth: its
open, the separators between the sets right inside it, its close. Opening a whole ring would close a
cycle, opening all but one of it never does.

*East.* Every boundary whose coin says so opens, except the `same` ones and except the close of a gap
whose other boundaries all open. Afterwards, in each ring, the first boundary still closed becomes the open and
the last one the close; if they are one, or if it was opened, it becomes `same`.

*South.* The same question asked of the cells of a set: which kept cell is the first, which the last?

*The first of its kind, by one subtraction.* A token starts at the head of each ring (or set) and runs to
the right up to the next stop. In `stops - tokens` the borrow does the running: it clears the stops that are
reached. Tokens of one depth never share a stretch between two of their stops, so one subtraction a depth
serves them all.

*Both ways at once.* "The last" is "the first" of the mirrored row, and a scan from right to left is one from
left to right of the mirrored row. So an integer holds the row twice, in T = 16 * ceil(width / 8) bits: cell c is
bit c and, in the mirror image, bit T - 1 - c. A boundary has the bit of its lower cell: the one between c and c + 1 has
bit c and, in the image, T - 2 - c. In the image first and last change places, has_next and has_prev, opens and
closes; so one run finds the firsts in one half and the lasts in the other, and its mirror image the other two. Where
the coins join a ring whole (or drop a set whole), the tokens of both halves run to its end; there the half that the
scan runs through rightwards tells which boundary stays closed (which cell is kept).

*The depth is carried on.* `levels[d]` are the cells inside d gaps or more, so levels[0] are all cells. East each
gap narrows within its ring, or goes. South a set's new gaps lie inside all the gaps that the set lies in, and
around none of those. So the gaps of each depth are told from their new opens and closes, again by one subtraction;
those that lost a gap around them move up.

Natural rows hardly nest deeper than 5. A row that nests 2**PLANES deep or deeper goes the textbook's way,
cell by cell with linked lists, so that no state, however forged, costs more than O(width).

*Braid and loops* open more walls in the output only: the sets never see them.
"""

from __future__ import annotations

from operator import xor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import coins
from .block import row_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .block import Plane
    from .kernel import Buffer

PLANES = 5

_REVERSED_BITS = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_BATCH_WORDS = 4096


class RowStep:
    """The step of rows `width` cells wide; the state is `has_next` and `has_prev` of the row to come."""

    def __init__(self, width: int, has_next: int = 0, has_prev: int = 0) -> None:
        self.width = width
        self.num_bytes = row_bytes(width)
        self.row_cells = (1 << width) - 1
        self.row_boundaries = self.row_cells >> 1
        self.cells = self.both_ways(self.row_cells)
        self.boundaries = self.boundaries_both_ways(self.row_boundaries)
        self.stand_at(has_next, has_prev)

    def stand_at(self, has_next: int, has_prev: int) -> None:
        """Make these sets those of the row to come."""
        self._n = has_next | self.mirrored(has_prev)
        self._p = self.mirrored(self._n)
        self._levels = self._levels_of(self._n, self._p)

    @property
    def has_next(self) -> int:
        """The cells with a cell of the same set further right."""
        return self._n & self.row_cells

    @property
    def has_prev(self) -> int:
        """The cells with a cell of the same set further left."""
        return self._p & self.row_cells

    def step(self, joins: int, keeps: int, *, backwards: bool, merging: bool) -> tuple[int, int]:
        """Return (east, south) of the row, and move the state on to the next one; all integers are both ways.

        backwards: the scan runs from right to left. merging: what the coins left apart is united.
        """
        if len(self._levels) > 1 << PLANES:
            return self._plain_step(joins, keeps, backwards, merging)
        ahead, back = self.row_cells, self.cells ^ self.row_cells
        if backwards:
            ahead, back = back, ahead
        east, n, q, levels = self._east(joins, ahead, back)
        if merging:
            east, n, q, levels = self._merged(east, n, q, ahead, back)
        return east, self._south(keeps, n, q, levels, ahead, back)

    def _east(self, joins: int, ahead: int, back: int) -> tuple[int, int, int, list[int]]:
        """Return the passages east, the boundaries' new n and q, and the new levels."""
        n, q = self._n, self._p >> 1
        same = n & q
        opens, closes = n ^ same, q ^ same
        rings = _parts([level | level >> 1 for level in self._levels[1:]])
        running = opens & joins
        first = opens ^ running | _stopped(rings, running, (n | joins) ^ self.boundaries | closes)
        last = self.mirrored(first) >> 1
        whole = first & closes & joins & ahead | last & running & back
        joined = joins | same
        n, q = joined | first, joined | last
        met = n & q
        opens, closes = n ^ met, q ^ met
        gaps = [(closes & ring) - (opens & ring) << 1 for ring in rings]
        return joined ^ same ^ whole, n, q, self._stacked(gaps)

    def _merged(self, east: int, n: int, q: int, ahead: int, back: int) -> tuple[int, int, int, list[int]]:
        """Return the same for a merging row: of each ring, only the last boundary that the coins left stays closed."""
        same = self._n & self._p >> 1
        closed = self.boundaries ^ (same | east)
        last = closed & (q & ahead | n & back)
        return self.boundaries ^ same ^ last, self.boundaries, self.boundaries, self._levels[:1]

    def _south(self, keeps: int, n: int, q: int, levels: list[int], ahead: int, back: int) -> int:
        """Return the passages south, and make the sets that they leave those of the row to come."""
        set_first, set_last = self.cells ^ q << 1, self.cells ^ n
        stops = keeps | set_last
        sets = _parts(levels)
        halted = set_first & stops
        first = halted | _stopped(sets, set_first ^ halted, stops)
        last = self.mirrored(first)
        whole = (first & set_last & ahead | last & set_first & back) & (self.cells ^ keeps)
        self._n, self._p = n, p = keeps ^ keeps & last, keeps ^ keeps & first
        q = p >> 1
        same = n & q
        opens, closes = n ^ same, (q ^ same) << 1
        self._levels = self._stacked([(closes & part) - ((opens & part) << 1) for part in sets])
        return keeps | whole

    def _plain_step(self, joins: int, keeps: int, backwards: bool, merging: bool) -> tuple[int, int]:
        """Return the same as `step`, by linked lists."""
        cells = self.row_cells
        lists = _LinkedLists(self.width, self.has_next, self.has_prev)
        east, south, n, p = lists.step(joins & cells, cells & ~keeps, backwards, merging)
        self.stand_at(n, p)
        return self.boundaries_both_ways(east), self.both_ways(south)

    def _levels_of(self, n: int, p: int) -> list[int]:
        """Return the levels of a state; where they pass the limit, some that pass it too.

        In each round the gaps without a gap inside are found, where the bracket next to an open is a close.
        """
        q, gaps = p >> 1, list[int]()
        opens, closes = n & ~q, q & ~n
        while opens and len(gaps) < 1 << PLANES:
            brackets = opens | closes
            inner_closes = closes & ~(brackets - (opens << 1))
            inner_opens = self.mirrored(inner_closes) >> 1
            gaps.append(inner_closes - inner_opens << 1)
            opens, closes = opens & ~inner_opens, closes & ~inner_closes
        return self._stacked(gaps[::-1])

    def _stacked(self, gaps: list[int]) -> list[int]:
        """Return the levels of the cells inside gaps; no gap may contain one of an earlier item of the list."""
        levels = [self.cells]
        for rest in gaps:
            depth = len(levels)
            while rest:
                depth -= 1
                inside = rest & levels[depth]
                if inside and depth + 1 == len(levels):
                    levels.append(inside)
                elif inside:
                    levels[depth + 1] |= inside
                rest ^= inside
        return levels

    def mirrored(self, x: int) -> int:
        """Return the bits of x from right to left: the row in place of its image, the image in place of the row."""
        return int.from_bytes(x.to_bytes(2 * self.num_bytes, "little").translate(_REVERSED_BITS), "big")

    def both_ways(self, cells: int) -> int:
        """Return cells of a row and their mirror image."""
        return cells | self.mirrored(cells)

    def boundaries_both_ways(self, boundaries: int) -> int:
        """Return boundaries of a row and their mirror image."""
        return boundaries | self.mirrored(boundaries) >> 1


def _parts(levels: list[int]) -> list[int]:
    """Return what lies in each level and in none of those inside it."""
    return [*map(xor, levels, levels[1:]), *levels[-1:]]


def _stopped(parts: list[int], tokens: int, stops: int) -> int:
    """Return where the tokens of each part meet the next stop of their own part."""
    found = 0
    for part in parts:
        running = tokens & part
        if running:
            own_stops = stops & part
            found |= own_stops ^ own_stops & own_stops - running
    return found


class _LinkedLists:
    """The textbook's row: every set is a circular list of its columns, in their order."""

    def __init__(self, width: int, has_next: int, has_prev: int) -> None:
        self.width = width
        self.after = list(range(width))
        self.before = list(range(width))
        nexts, prevs = self._bits(has_next), self._bits(has_prev)
        waiting: list[tuple[int, int]] = []  # (first, latest) column of each set that goes on further right
        for c in range(width):
            first = c
            if prevs[c]:
                first, latest = waiting.pop()
                self._link(latest, c)
            if nexts[c]:
                waiting.append((first, c))
            else:
                self._link(c, first)

    def _link(self, c: int, after: int) -> None:
        self.after[c], self.before[after] = after, c

    def _bits(self, x: int) -> list[bool]:
        """Return the bits of x, column by column: all at once, since a shift for each would cost O(width) each."""
        return [digit == "1" for digit in f"{x:0{self.width}b}"[::-1]]

    def _number(self, columns: set[int]) -> int:
        """Return the integer with the bits of these columns set."""
        return int("".join("01"[c in columns] for c in range(self.width - 1, -1, -1)), 2)

    def step(self, joins: int, drops: int, backwards: bool, merging: bool) -> tuple[int, int, int, int]:
        """Return (east, south, has_next, has_prev) after the row."""
        columns = range(self.width - 1, -1, -1) if backwards else range(self.width)
        boundaries = [c for c in columns if c < self.width - 1]
        wanted = self._bits(joins)
        east = self._join([c for c in boundaries if wanted[c]])
        if merging:
            east |= self._join(boundaries)
        south = self._keep(columns, self._bits(drops))
        has_next = {c for c in columns if self.after[c] > c}
        has_prev = {c for c in columns if self.before[c] < c}
        return self._number(east), self._number(south), self._number(has_next), self._number(has_prev)

    def _join(self, boundaries: Iterable[int]) -> set[int]:
        """Open each boundary between two sets; return those that were opened."""
        east = set()
        for c in boundaries:
            after, before = self.after[c], self.before[c + 1]
            if after != c + 1:
                self._link(c, c + 1)
                self._link(before, after)
                east.add(c)
        return east

    def _keep(self, columns: Iterable[int], dropped: list[bool]) -> set[int]:
        """Take each dropped cell out of its set unless it is the set's only one; return the passages south."""
        south = set()
        for c in columns:
            if dropped[c] and self.after[c] != c:
                self._link(self.before[c], self.after[c])
                self._link(c, c)
            else:
                south.add(c)
        return south


def carve(
    state: Buffer,
    east: Buffer,
    south: Buffer,
    width: int,
    row: int,
    seed: int,
    p_east: int,
    p_south: int,
    loops: int,
    braid: int,
    key_interval: int,
    last_row: int,
    /,
) -> None:
    """Carve rows into the planes `east` and `south`: see `kernel.Carver`."""
    num_bytes = row_bytes(width)
    planes, out_east, out_south = (memoryview(buffer).cast("B") for buffer in (state, east, south))
    rows, rest = divmod(len(out_south), num_bytes)
    if len(planes) != 3 * num_bytes or len(out_east) != len(out_south) or rest:
        raise ValueError("the buffers are not of the sizes that the width says")
    has_next, has_prev, above = (
        int.from_bytes(planes[k * num_bytes : (k + 1) * num_bytes], "little") for k in range(3)
    )
    carving = _Carving(RowStep(width, has_next, has_prev), above, row, key_interval, last_row)
    all_coins = _Coins(width, seed, p_east, p_south, loops, braid)
    batch = max(1, _BATCH_WORDS // ((width + 63) // 64))
    for first in range(0, rows, batch):
        stop = min(rows, first + batch)
        made = carving.rows(all_coins.of(row + first, stop - first))
        out_east[first * num_bytes : stop * num_bytes], out_south[first * num_bytes : stop * num_bytes] = made
    state_after = (carving.step.has_next, carving.step.has_prev, carving.above)
    planes[:] = b"".join(bits.to_bytes(num_bytes, "little") for bits in state_after)


class _RowCoins(NamedTuple):
    """The coins of one row: bit c falls for column c, or for the boundary right of it; the first two both ways."""

    joins: int
    keeps: int
    loops_east: int
    loops_south: int
    braid: int
    third: int
    even: int


class _Coins:
    """Draws the coins of a batch of rows at a time, since drawing many words costs little more than one."""

    def __init__(self, width: int, seed: int, p_east: int, p_south: int, loops: int, braid: int) -> None:
        self.seed = seed
        self.width = width
        boundaries = (1 << width - 1) - 1
        self.boundaries = np.frombuffer(boundaries.to_bytes(row_bytes(width), "little"), np.uint8)
        self.joins, self.keeps = (coins.EAST, p_east), (coins.SOUTH, p_south)
        always = [(coins.LOOPS_EAST, loops), (coins.LOOPS_SOUTH, loops), (coins.BRAID, braid)]
        picks = [(coins.BRAID_THIRD, coins.THIRD if braid else 0), (coins.BRAID_EVEN, coins.EVEN if braid else 0)]
        self.more = [*always, *picks]

    def of(self, row: int, rows: int) -> Iterator[_RowCoins]:
        """Return the coins of the rows from `row` on."""
        joins = self._drawn(*self.joins, row, rows) & self.boundaries
        keeps = self._drawn(*self.keeps, row, rows)
        shifted = joins << np.uint8(1)  # a boundary's bit in the image is one lower than its mirrored bit
        shifted[:, 1:] |= joins[:, :-1] >> np.uint8(7)
        both = [as_integers(np.hstack((bits, _mirrored(image)))) for bits, image in ((joins, shifted), (keeps, keeps))]
        more = [as_integers(self._drawn(base, n, row, rows)) if n else [0] * rows for base, n in self.more]
        return map(_RowCoins._make, zip(*both, *more, strict=True))

    def _drawn(self, base: int, n: int, row: int, rows: int) -> Plane:
        """Return the rows' coins of one kind, packed: uint8 of shape (rows, bytes of a row)."""
        return coins.row_coins(self.seed, base, n, self.width, row, rows)


def _mirrored(rows: Plane) -> Plane:
    """Return packed rows with the bits of each from right to left."""
    return np.frombuffer(rows[:, ::-1].tobytes().translate(_REVERSED_BITS), np.uint8).reshape(rows.shape)


def as_integers(rows: Plane) -> list[int]:
    """Return the packed rows of a plane, each as an integer: column c is bit c."""
    raw, size = rows.tobytes(), rows.shape[1]
    return [int.from_bytes(raw[i : i + size], "little") for i in range(0, len(raw), size)]


class _Carving:
    """The rows as they are yielded: the step's passages, then braid, then loops.

    `above` holds the passages south of the row above as carved and braided; `index` is that of the row to come.
    """

    def __init__(self, step: RowStep, above: int, index: int = 0, key_interval: int = 0, last_row: int = -1) -> None:
        self.step = step
        self.above = above
        self.index = index
        self.key_interval = key_interval
        self.last_row = last_row

    def rows(self, drawn: Iterable[_RowCoins]) -> tuple[bytes, bytes]:
        """Return the planes east and south of the next rows as yielded, one row for each of the coins."""
        size, east, south = self.step.num_bytes, list[bytes](), list[bytes]()
        for row_coins in drawn:
            opens_east, opens_south = self._row(row_coins)
            east.append(opens_east.to_bytes(size, "little"))
            south.append(opens_south.to_bytes(size, "little"))
        return b"".join(east), b"".join(south)

    def _row(self, drawn: _RowCoins) -> tuple[int, int]:
        """Return (east, south) of the next row as yielded."""
        step, last = self.step, self.index == self.last_row
        merging = last or (self.key_interval > 0 and (self.index + 1) % self.key_interval == 0)
        east, south = step.step(drawn.joins, drawn.keeps, backwards=self.index % 2 == 1, merging=merging)
        east, south = east & step.row_cells, south & step.row_cells
        self.index += 1
        if last:
            south = 0
            step.stand_at(0, 0)
        if drawn.braid:
            braid_coins = BraidCoins(drawn.braid, drawn.third, drawn.even)
            passages = self.above, east, south
            east, south = braided(*passages, step.row_boundaries, braid_coins, may_open_south=not merging)
        self.above = south
        return east | (drawn.loops_east & step.row_boundaries), south if last else south | drawn.loops_south


class BraidCoins(NamedTuple):
    """The coins of a row for its braid: whether a dead end is braided, and which way."""

    falls: int
    third: int
    even: int


def braided(
    north: int, east: int, south: int, boundaries: int, drawn: BraidCoins, *, may_open_south: bool
) -> tuple[int, int]:
    """Return (east, south) of a row with one more passage for the dead ends whose coin falls.

    `boundaries` has a bit for each column but the last one.
    """
    west = east << 1
    dead_ends = (north ^ west ^ east ^ south) & ~(north & west) & ~(east & south) & drawn.falls
    can_west = dead_ends & ~west & ~1
    can_east = dead_ends & ~east & boundaries
    can_south = dead_ends & ~south if may_open_south else 0
    to_west, to_east, to_south = braid_sides(can_west, can_east, can_south, drawn)
    return east | to_east | to_west >> 1, south | to_south


def braid_sides(can_west: int, can_east: int, can_south: int, drawn: BraidCoins) -> tuple[int, int, int]:
    """Return the dead ends that open west, east and south, of those that can.

    South where it is the only one, or beside both others and the third coin falls, or beside one of them and the
    even coin does not; else west where east is none or the even coin falls; else east.
    """
    both, one = can_west & can_east, can_west ^ can_east
    to_south = can_south & (~(both | one) | (both & drawn.third) | (one & ~drawn.even))
    to_west = can_west & ~to_south & (drawn.even | ~can_east)
    return to_west, can_east & ~to_south & ~to_west, to_south
