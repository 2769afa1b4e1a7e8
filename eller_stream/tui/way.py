"""A way through the rows in view, from the first to the last: what the terminal shows as the solution.

An endless maze has no end to lead to, but any rows of a connected maze have a way down: if there were none, a wall
would reach from the left edge to the right one within them and part the maze. Of the many, it is a shortest one from
a given column *above* the view to a given one *below* it, where rows without walls are thought. So where the view
moves a little and the columns are those where the last way came in and went out, the way stays much as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..block import Block, pack_bits
from ..errors import SolveError
from ..solve import MazeRows, Path, shortest_path

if TYPE_CHECKING:
    from ..block import Plane


def way_through(block: Block, enters: int, leaves: int) -> Path | None:
    """Return a shortest way through a block's rows, from above column `enters` to below column `leaves`.

    It begins where it leaves the first row for good, and ends where it comes to the last one.
    None where there is none: a map may have rows without floor. Raises CapacityError for more than 2**26 cells.
    """
    rows = len(block)
    if not rows:
        return None
    try:
        path = shortest_path(MazeRows.of(_with_open_rows(block)), (0, enters), (rows + 1, leaves))
    except SolveError:
        return None
    first = np.flatnonzero(path.rows <= 1)[-1]
    last = first + np.flatnonzero(path.rows[first:] >= rows)[0]
    shown = np.s_[first : last + 1]
    return Path(block.width, path.rows[shown] + (block.start - 1), path.columns[shown])


def _with_open_rows(block: Block) -> Block:
    """Return the block's rows as rows 1 to n, with a row without walls above and one below."""
    every = pack_bits(np.ones((1, block.width), np.bool_))
    floor = np.repeat(every, len(block), axis=0) if block.floor is None else block.floor
    none = np.zeros_like(every)
    return Block(
        0,
        block.width,
        _stacked(every, block.east, every),
        _stacked(floor[:1], block.south[:-1], floor[-1:], none),
        none[0],
        None if block.floor is None else _stacked(every, floor, every),
    )


def _stacked(*planes: Plane) -> Plane:
    return np.concatenate(planes)


def ends_within(way: Path, block: Block) -> tuple[int, int]:
    """Return the columns where a way comes into a block's rows for good and where it first leaves them again.

    Where it does neither, they are those of the way's own ends.
    """
    above = np.flatnonzero(way.rows < block.start)
    below = np.flatnonzero(way.rows >= block.stop)
    if len(above) == len(way) or len(below) == len(way):
        return int(way.columns[0]), int(way.columns[-1])
    enters = way.columns[above[-1] if len(above) else 0]
    leaves = way.columns[below[0] if len(below) else -1]
    return int(enters), int(leaves)
