"""The row step on whole-row Python integers: Eller's row without a loop over its cells.

Bit c of an integer speaks of column c, or of the boundary between columns c and c + 1.

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

*The first of its kind, by one addition.* A token starts at the head of each ring (or set) and runs to
the right through all that does not stop it. With `free` = the bits that do not stop it, the tokens' own among
them, `(free + tokens) & ~free` is where the tokens stop: the carry does the running. Tokens of one depth
never share a run of free bits, so one addition a depth serves them all. "The last" is "the first" of the
mirrored row, and a scan from right to left is one from left to right of the mirrored row.

Natural rows hardly nest deeper than 5. A row that nests deeper than PLANES bit planes can count goes the
textbook's way, cell by cell with linked lists, so that no state, however forged, costs more than O(width).

*Braid and loops* open more walls in the output only: the sets never see them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import coins

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .kernel import Buffer

PLANES = 5

_REVERSED_BITS = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_BATCH_WORDS = 4096


class RowStep:
    """The step of rows `width` cells wide; the state is `has_next` and `has_prev` of the row to come."""

    def __init__(self, width: int, has_next: int = 0, has_prev: int = 0) -> None:
        self.width = width
        self.num_bytes = (width + 7) // 8
        self.spare_bits = self.num_bytes * 8 - width
        self.cells = (1 << width) - 1
        self.boundaries = self.cells >> 1
        self.shifts = [1 << k for k in range(width.bit_length())]
        self.has_next = has_next
        self.has_prev = has_prev

    def step(self, joins: int, drops: int, *, backwards: bool, merging: bool) -> tuple[int, int]:
        """Return (east, south) of the row and move the state on to the next one.

        backwards: the scan runs from right to left. merging: what the coins left apart is united.
        """
        try:
            east, south, n, p = self._parallel_step(joins, drops, backwards, merging)
        except _TooDeepError:
            east, south, n, p = _LinkedLists(self.width, self.has_next, self.has_prev).step(
                joins, drops, backwards, merging
            )
        self.has_next, self.has_prev = n, p
        return east, south

    def _parallel_step(self, joins: int, drops: int, backwards: bool, merging: bool) -> tuple[int, int, int, int]:
        """Return (east, south, has_next, has_prev) after the row."""
        n, q, joins = self.has_next, self.has_prev >> 1, joins & self.boundaries
        if backwards:
            n, q, joins = (self.mirrored_boundaries(x) for x in (q, n, joins))
            drops = self.mirrored(drops)
        east, n, q = self._east(n, q, joins, merging)
        south, n, p = self._south(n, q, drops)
        if backwards:
            east, south = self.mirrored_boundaries(east), self.mirrored(south)
            n, p = self.mirrored(p), self.mirrored(n)
        return east, south, n, p

    def _east(self, n: int, q: int, joins: int, merging: bool) -> tuple[int, int, int]:
        """Return the passages east and the boundaries' new n and q."""
        same, opens, closes = n & q, n & ~q, q & ~n
        rings = _Depths(self, opens, closes).rings()
        stops = (self.boundaries & ~(n | joins)) | closes
        first = (opens & ~joins) | self._ripples(rings, opens & joins, stops)
        east = joins & ~same & ~(first & closes)
        stops = (self.boundaries & ~(q | east)) | opens
        last = (closes & ~east) | self._mirrored_ripples(rings, closes & east, stops)
        if merging:
            east, first = self.boundaries & ~(same | last), last
        joined = east | same
        return east, joined | first, joined | last

    def _south(self, n: int, q: int, drops: int) -> tuple[int, int, int]:
        """Return the passages south and the cells' new has_next and has_prev."""
        set_first, set_last, keeps = self.cells & ~(q << 1), self.cells & ~n, self.cells & ~drops
        levels = _Depths(self, n & ~q, q & ~n).levels()
        stops = keeps | set_last
        first = (set_first & stops) | self._ripples(levels, set_first & ~stops, stops)
        south = keeps | first
        stops = south | set_first
        last = (set_last & stops) | self._mirrored_ripples(levels, set_last & ~stops, stops)
        return south, south & ~last, south & ~first

    def _ripples(self, parts: list[int], tokens: int, stops: int) -> int:
        """Return where the tokens of each part meet the first stop of their own part."""
        found = 0
        for part in parts:
            running = tokens & part
            if running:
                free = self.cells & ~(stops & part)
                found |= (free + running) & ~free
        return found & self.cells

    def _mirrored_ripples(self, parts: list[int], tokens: int, stops: int) -> int:
        """Return the same for tokens that run to the left."""
        parts = [self.mirrored(part) for part in parts if part & tokens]
        if not parts:
            return 0
        return self.mirrored(self._ripples(parts, self.mirrored(tokens), self.mirrored(stops)))

    def mirrored(self, x: int) -> int:
        """Return the cells' bits of x from right to left."""
        raw = x.to_bytes(self.num_bytes, "little").translate(_REVERSED_BITS)
        return int.from_bytes(raw, "big") >> self.spare_bits

    def mirrored_boundaries(self, x: int) -> int:
        """Return the boundaries' bits of x from right to left."""
        return self.mirrored(x) >> 1

    def prefix_xor(self, x: int) -> int:
        """Return, for each bit, the parity of x up to and with that bit."""
        for shift in self.shifts:
            x ^= x << shift
        return x & self.cells


class _TooDeepError(Exception):
    """The row nests deeper than PLANES bit planes can count."""


class _Depths:
    """The nesting depth along a row, as bit planes of an up/down counter: opens count up, closes down."""

    def __init__(self, step: RowStep, opens: int, closes: int) -> None:
        self.step = step
        self.opens = opens
        self.before: list[int] = []
        self.toggled: list[int] = []
        toggles = opens | closes
        while toggles:
            if len(self.before) == PLANES:
                raise _TooDeepError
            before = step.prefix_xor(toggles) ^ toggles
            self.before.append(before)
            self.toggled.append(toggles)
            toggles &= ~(before ^ opens)  # ups carry from 1, downs borrow from 0

    def levels(self) -> list[int]:
        """The cells at depth 0, 1, and so on."""
        return _split(self.step.cells, self.before)

    def rings(self) -> list[int]:
        """The boundaries of the gaps at depth 0, 1, and so on; those outside all gaps are left out.

        A separator and a close are met at their ring's depth, an open one above it.
        """
        planes = [before ^ (toggled & self.opens) for before, toggled in zip(self.before, self.toggled, strict=True)]
        return _split(self.step.boundaries, planes)[1:]


def _split(mask: int, planes: list[int]) -> list[int]:
    """Return the bits of `mask` by the number that the planes hold there, from 0 on."""
    parts = [mask]
    for plane in planes:
        parts = [part & ~plane for part in parts] + [part & plane for part in parts]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


class _LinkedLists:
    """The textbook's row: every set is a circular list of its columns, in their order."""

    def __init__(self, width: int, has_next: int, has_prev: int) -> None:
        self.width = width
        self.after = list(range(width))
        self.before = list(range(width))
        waiting: list[tuple[int, int]] = []  # (first, latest) column of each set that goes on further right
        for c in range(width):
            first = c
            if has_prev >> c & 1:
                first, latest = waiting.pop()
                self._link(latest, c)
            if has_next >> c & 1:
                waiting.append((first, c))
            else:
                self._link(c, first)

    def _link(self, c: int, after: int) -> None:
        self.after[c], self.before[after] = after, c

    def step(self, joins: int, drops: int, backwards: bool, merging: bool) -> tuple[int, int, int, int]:
        """Return (east, south, has_next, has_prev) after the row."""
        columns = range(self.width - 1, -1, -1) if backwards else range(self.width)
        boundaries = [c for c in columns if c < self.width - 1]
        east = self._join(c for c in boundaries if joins >> c & 1)
        if merging:
            east |= self._join(boundaries)
        south = self._keep(columns, drops)
        has_next = sum(1 << c for c in columns if self.after[c] > c)
        has_prev = sum(1 << c for c in columns if self.before[c] < c)
        return east, south, has_next, has_prev

    def _join(self, boundaries: Iterable[int]) -> int:
        """Open each boundary between two sets; return those that were opened."""
        east = 0
        for c in boundaries:
            after, before = self.after[c], self.before[c + 1]
            if after != c + 1:
                self._link(c, c + 1)
                self._link(before, after)
                east |= 1 << c
        return east

    def _keep(self, columns: Iterable[int], drops: int) -> int:
        """Take each dropped cell out of its set unless it is the set's only one; return the passages south."""
        south = 0
        for c in columns:
            if drops >> c & 1 and self.after[c] != c:
                self._link(self.before[c], self.after[c])
                self._link(c, c)
            else:
                south |= 1 << c
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
    num_bytes = (width + 7) // 8
    planes, out_east, out_south = (memoryview(buffer).cast("B") for buffer in (state, east, south))
    rows, rest = divmod(len(out_south), num_bytes)
    if len(planes) != 3 * num_bytes or len(out_east) != len(out_south) or rest:
        raise ValueError("the buffers are not of the sizes that the width says")
    has_next, has_prev, above = (
        int.from_bytes(planes[k * num_bytes : (k + 1) * num_bytes], "little") for k in range(3)
    )
    carving = _Carving(RowStep(width, has_next, has_prev), above)
    all_coins = _Coins(width, seed, p_east, p_south, loops, braid)
    for i in range(rows):
        last = row + i == last_row
        merging = last or (key_interval > 0 and (row + i + 1) % key_interval == 0)
        cells = carving.row(all_coins.of(row + i, rows - i), (row + i) % 2 == 1, merging, last)
        for plane, bits in zip((out_east, out_south), cells, strict=True):
            plane[i * num_bytes : (i + 1) * num_bytes] = bits.to_bytes(num_bytes, "little")
    state_after = (carving.step.has_next, carving.step.has_prev, carving.above)
    planes[:] = b"".join(bits.to_bytes(num_bytes, "little") for bits in state_after)


@dataclass(slots=True)
class _RowCoins:
    """The coins of one row: bit c falls for column c, or for the boundary right of it."""

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
        self.words = (width + 63) // 64
        self.cells = (1 << width) - 1
        always = [(coins.EAST, p_east), (coins.SOUTH, p_south), (coins.LOOPS_EAST, loops), (coins.LOOPS_SOUTH, loops)]
        picks = [(coins.BRAID_THIRD, coins.THIRD if braid else 0), (coins.BRAID_EVEN, coins.EVEN if braid else 0)]
        self.kinds = [*always, (coins.BRAID, braid), *picks]
        self.batch: Iterator[_RowCoins] = iter(())

    def of(self, row: int, rows_to_come: int) -> _RowCoins:
        """Return the coins of `row`; rows are asked for one after another."""
        drawn = next(self.batch, None)
        if drawn is None:
            self.batch = self._draw(row, min(rows_to_come, max(1, _BATCH_WORDS // self.words)))
            drawn = next(self.batch)
        return drawn

    def _draw(self, row: int, rows: int) -> Iterator[_RowCoins]:
        columns = [self._draw_kind(base, n, row, rows) for base, n in self.kinds]
        return (_RowCoins(*bits) for bits in zip(*columns, strict=True))

    def _draw_kind(self, base: int, n: int, row: int, rows: int) -> list[int]:
        if n in (0, coins.ALWAYS):
            return [self.cells if n else 0] * rows
        words = coins.coin_words(self.seed, base, n, row * self.words, rows * self.words)
        raw, size = words.astype("<u8").tobytes(), 8 * self.words
        return [int.from_bytes(raw[i * size : (i + 1) * size], "little") & self.cells for i in range(rows)]


class _Carving:
    """The rows as they are yielded: the step's passages, then braid, then loops.

    `above` holds the passages south of the row above as carved and braided.
    """

    def __init__(self, step: RowStep, above: int) -> None:
        self.step = step
        self.above = above

    def row(self, drawn: _RowCoins, backwards: bool, merging: bool, last: bool) -> tuple[int, int]:
        """Return (east, south) of the next row as yielded."""
        step = self.step
        east, south = step.step(drawn.joins, step.cells & ~drawn.keeps, backwards=backwards, merging=merging)
        if last:
            south = step.has_next = step.has_prev = 0
        if drawn.braid:
            east, south = self._braided(east, south, drawn, may_open_south=not merging)
        self.above = south
        return east | (drawn.loops_east & step.boundaries), south if last else south | drawn.loops_south

    def _braided(self, east: int, south: int, drawn: _RowCoins, may_open_south: bool) -> tuple[int, int]:
        """Return the row with one more passage for the dead ends whose coin falls.

        The choice among the closed inner walls west, east and south: south where it is the only one, or
        beside both others and the third coin falls, or beside one of them and the even coin does not; else
        west where east is none or the even coin falls; else east.
        """
        north, west = self.above, east << 1
        dead_ends = (north ^ west ^ east ^ south) & ~(north & west) & ~(east & south) & drawn.braid
        can_west = dead_ends & ~west & ~1
        can_east = dead_ends & ~east & self.step.boundaries
        can_south = dead_ends & ~south if may_open_south else 0
        both, one = can_west & can_east, can_west ^ can_east
        to_south = can_south & (~(both | one) | (both & drawn.third) | (one & ~drawn.even))
        to_west = can_west & ~to_south & (drawn.even | ~can_east)
        to_east = can_east & ~to_south & ~to_west
        return east | to_east | to_west >> 1, south | to_south
