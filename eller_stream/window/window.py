"""`Window`: rows that came as blocks, in any order, held as long as there is room.

The rows held are *pieces*: blocks that share no row, in the order of their rows. A block that is added is compared
with every piece that it shares rows with or stands against, and the rows that are new become pieces of their own.

Invariants. Nothing is ever written into a piece, so what `view` gave stays good. A piece is a copy, in memory that
nothing else holds: a row of a block that was added keeps no other row of it alive. Cutting a piece copies nothing
until less than half of its memory is in use. So the memory is at most twice that of the rows held, and a row is copied
about once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import attrgetter

import numpy as np

from ..block import Block, joined
from ..errors import BlockError, EllerStreamError, SpecError
from ..spec import integer, shown

_START, _STOP = attrgetter("start"), attrgetter("stop")


class Window:
    """Holds at most `capacity` rows of a maze, and gives any rows that follow one another as a `Block`.

    capacity   the most rows that are held, 1 or more
    width      cells in a row; None: that of the first block

    `len(window)` counts the rows held, and `row in window` tells whether one of them is that row.
    Raises BlockError for a capacity that is no integer >= 1. One thread at a time may use it.
    """

    def __init__(self, capacity: int, width: int | None = None) -> None:
        self._capacity = number("the capacity of a window", capacity, BlockError, 1)
        self._width = None if width is None else number("the width of a window", width, BlockError, 1)
        self._pieces: list[Block] = []

    @property
    def capacity(self) -> int:
        """The most rows that are held."""
        return self._capacity

    @property
    def width(self) -> int | None:
        """Cells in a row; None until the first block tells."""
        return self._width

    @property
    def held(self) -> list[range]:
        """The rows held, as ranges from top to bottom with gaps between them."""
        ranges: list[range] = []
        for piece in self._pieces:
            if ranges and ranges[-1].stop == piece.start:
                ranges[-1] = range(ranges[-1].start, piece.stop)
            else:
                ranges.append(range(piece.start, piece.stop))
        return ranges

    def __len__(self) -> int:
        return sum(map(len, self._pieces))

    def __contains__(self, row: int) -> bool:
        return not self.missing(row, 1)

    def __repr__(self) -> str:
        ranges = ", ".join(f"{rows.start}:{rows.stop}" for rows in self.held)
        return f"<Window of {self._capacity} rows, holds [{ranges}]>"

    def add(self, block: Block, *, near: range | None = None) -> None:
        """Hold the rows of a block too; those held already have to be the same.

        When that is more rows than the capacity, those farthest from `near` go (None: from the block itself), as many
        above as below; when `near` alone is too long, its last rows go as well.

        Raises BlockError, and changes nothing, for another width, a floor plane where the others have none (or the
        other way round), and for rows that contradict those held: the same row with other bits, or a `north` that
        is not the row above.
        """
        self._check_fits(block)
        self._width = block.width
        for gap in self.missing(block.start, len(block)):
            piece = _copied(block[gap.start - block.start : gap.stop - block.start])
            self._pieces.insert(bisect_left(self._pieces, gap.start, key=_START), piece)
        if len(self) > self._capacity:
            self._keep_near(range(block.start, block.stop) if near is None else near)

    def make_room(self, capacity: int) -> None:
        """Let the capacity be at least `capacity`."""
        self._capacity = max(self._capacity, number("the capacity of a window", capacity, BlockError, 1))

    def view(self, top: int, height: int) -> Block:
        """Return the rows `top` to `top + height - 1`, a copy only where they came in several blocks.

        Raises BlockError if `height` is not an integer >= 1 or a row is missing, and tells which ones are.
        """
        first = number("the top row", top, BlockError, 0)
        stop = first + number("the height of a view", height, BlockError, 1)
        if gaps := self.missing(first, stop - first):
            names = ", ".join(f"{gap.start} to {gap.stop - 1}" for gap in gaps)
            raise BlockError(f"rows {first} to {stop - 1} were asked for, and {names} are not held")
        pieces = self._pieces[self._between(first + 1, stop - 1)]
        return joined([_part(piece, first, stop) for piece in pieces])

    def missing(self, top: int, height: int) -> list[range]:
        """Return which of the rows `top` to `top + height - 1` are not held, as ranges from top to bottom."""
        gaps, row, stop = [], top, top + height
        for piece in self._pieces[self._between(top, stop)]:
            if piece.start > row:
                gaps.append(range(row, piece.start))
            row = max(row, piece.stop)
        if row < stop:
            gaps.append(range(row, stop))
        return gaps

    def discard(self, start: int, stop: int | None = None) -> None:
        """Hold the rows `start` to `stop - 1` no longer (None: all from `start` on)."""
        if not self._pieces:
            return
        end = self._pieces[-1].stop if stop is None else stop
        if end <= start:
            return
        where = self._between(start + 1, end - 1)
        parts = [part for piece in self._pieces[where] for part in (_part(piece, 0, start), _part(piece, end))]
        self._pieces[where] = [_unburdened(part) for part in parts if len(part)]

    def _between(self, first: int, last: int) -> slice:
        """Return where the pieces are that begin at `last` or before and end at `first` or behind.

        Of the rows from `first` to `last`, these are the pieces that hold one or stand against one.
        """
        return slice(
            bisect_left(self._pieces, first, key=_STOP),
            bisect_right(self._pieces, last, key=_START),
        )

    def _check_fits(self, block: Block) -> None:
        if self._width not in (None, block.width):
            raise BlockError(f"the window's rows have {self._width} cells, the block's have {block.width}")
        if self._pieces and (self._pieces[0].floor is None) != (block.floor is None):
            had, came = ("no floor plane", "one") if block.floor is not None else ("a floor plane", "none")
            raise BlockError(f"the window's rows have {had}, and the block has {came}")
        for piece in self._pieces[self._between(block.start, block.stop)]:
            first, stop = max(piece.start, block.start), min(piece.stop, block.stop)
            held, came_part = _part(piece, first, stop), _part(block, first, stop)
            if held != came_part:
                raise BlockError(_difference(held, came_part))

    def _keep_near(self, near: range) -> None:
        """Let go of the rows farthest from `near`, down to the capacity."""
        far = max(near.start - self._pieces[0].start, self._pieces[-1].stop - near.stop, 0)
        low, high = -len(near), far
        while low < high:  # a range this long has no bisect where sizes have 32 bits
            reach = (low + high + 1) // 2
            low, high = (reach, high) if self._count(_around(near, reach)) <= self._capacity else (low, reach - 1)
        kept = _around(near, low)
        self.discard(0, kept.start)
        self.discard(kept.stop)

    def _count(self, rows: range) -> int:
        """Return how many of some rows are held."""
        pieces = self._pieces[self._between(rows.start, rows.stop)]
        return sum(min(piece.stop, rows.stop) - max(piece.start, rows.start) for piece in pieces)


def _around(near: range, reach: int) -> range:
    """Return the rows up to `reach` rows away from `near`; below 0, `near` without its last -reach rows."""
    return range(max(0, near.start - max(reach, 0)), near.stop + reach)


def _part(block: Block, start: int, stop: int | None = None) -> Block:
    """Return the rows of a block from row `start` of the maze to row `stop - 1` (None: to its end)."""
    last = block.stop if stop is None else stop
    return block[max(0, start - block.start) : max(0, last - block.start)]


def _copied(block: Block) -> Block:
    """Return a block in memory of its own."""
    floor = None if block.floor is None else block.floor.copy()
    return Block(block.start, block.width, block.east.copy(), block.south.copy(), block.north.copy(), floor)


def _unburdened(piece: Block) -> Block:
    """Return a piece, as a copy if it keeps more than twice its memory alive."""
    owner = piece.east.base
    assert owner is not None, "a block's planes are views"
    return _copied(piece) if 2 * piece.east.nbytes < owner.nbytes else piece


def _difference(held: Block, came: Block) -> str:
    """Return in words where two blocks of the same rows first differ."""
    if not np.array_equal(held.north, came.north):
        return f"row {held.start - 1} is held with other passages south than the block says"
    row = next(i for i in range(len(held)) if held[i] != came[i])
    return f"row {held.start + row} is held with other bits than the block's"


def number(name: str, value: object, error: type[EllerStreamError], least: int | None = None) -> int:
    """Return an integer of any kind, not below `least`, as int; raise `error` for anything else."""
    try:
        whole = integer(name, value)
    except SpecError as wrong:
        raise error(str(wrong)) from None
    if least is not None and whole < least:
        raise error(f"{name} is {least} or more, not {shown(whole)}")
    return whole
