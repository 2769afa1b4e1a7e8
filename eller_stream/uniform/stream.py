"""`UniformStream`: an endless maze of which every spanning tree is equally likely, from the state of one row.

The state is that of an Eller stream, and so is all that a stream does with it. What is other: a row's chances
depend on how many rows are still to come, while there are few. So what is carved ahead of a `finalize` is carved
again; and there are no key rows, since a row that unites all its cells is no row of a uniform maze, and hence
nothing from which a row could be found without those above it.

*How far from uniform* a maze is that was begun without an end and finalized with r rows to come: the rows before
were drawn as if no end came. In total variation that is at most tanh(B / 4), where B is the sum of ln(L_k /
lambda_k(r)) over the waves (`table.py`): 0.13 at r = width / 4, 0.001 at r = width, 3e-9 at r = 3 * width. With r =
1 it can be seen. A maze with a planned height is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..block import row_bytes
from ..coins import lane_key
from ..errors import StreamError
from ..openings import braid, open_loops
from ..spec import MAX_ROW, MazeSpec, Number, Probability, ScheduleLike
from ..stream import StateStream, row_number
from .carve import carve
from .table import ENDLESS

if TYPE_CHECKING:
    from ..block import Plane

LANE = 133
MAX_SEEK_CELLS = 2**30
_CELLS_AT_ONCE = 2**22


class UniformStream(StateStream):
    """An infinite maze of which every spanning tree is equally likely, one row at a time.

    The keywords are those of `MazeSpec`. With a `height` the law is exact to the last row. Without one it is that of
    the endless strip, and `finalize(rows=r)` ends it: the more rows are still to come, the less the whole is off
    uniform, by at most 0.001 in total variation for r = width. Iteration yields `Row`s, `read` gives many rows as a
    `Block`. Threads may share a stream: each row goes to one of them. Streams can be pickled and copied; a copy goes
    on from the same row by itself.

    Raises SpecError for values that no maze can have, CapacityError where a row finds no room in memory.

    Sources: D. B. Wilson's algorithm (1996) on the sets of a row and the cells below it; the rows further down by
    their electrical response (G. Kirchhoff 1847; R. Burton and R. Pemantle's transfer-current theorem, 1993).
    docs/UNIFORM.md tells how.
    """

    ALGORITHM = "uniform"

    def __init__(
        self,
        width: int,
        *,
        seed: int | None = None,
        height: int | None = None,
        loops: ScheduleLike = 0.0,
        braid: Number | Probability = 0.0,
    ) -> None:
        self._begin(MazeSpec(width, algorithm=self.ALGORITHM, seed=seed, height=height, loops=loops, braid=braid))

    def _carve_into(self, planes: bytearray, row: int, east: Plane, south: Plane) -> None:
        at_once = max(1, _CELLS_AT_ONCE // self._spec.width)
        for first in range(0, len(east), at_once):
            part = slice(first, first + at_once)
            self._carve_part(planes, row + first, east[part], south[part])

    def _carve_part(self, planes: bytearray, row: int, east: Plane, south: Plane) -> None:
        """Fill the planes with the rows from `row` on, then braid them, then open their loops."""
        spec, last = self._spec, self._end == row + len(east)
        above = slice(2 * row_bytes(spec.width), None)
        north = np.frombuffer(bytes(planes[above]), np.uint8)
        last_row = ENDLESS if self._end is None else self._end - 1
        flat_east, flat_south = (plane.reshape(-1).data for plane in (east, south))
        carve(planes, flat_east, flat_south, spec.width, lane_key(spec.seed, LANE), row, last_row)
        braid(spec, row, north, east, south, sealed=last)
        planes[above] = south[-1].tobytes()
        open_loops(spec, row, east, south, last=last)

    def seek(self, row: int, /) -> None:
        """Make `row` the row to come, no row before the position, at the price of all rows from here to there.

        Raises StreamError for a row outside the maze, for one further back, and for one more than 2**30 cells away.
        """
        target = row_number("the row to seek", row, MAX_ROW if self._end is None else self._end)
        with self._lock:
            state = self._settled()
            if target < state.row:
                raise StreamError(
                    f"row {target} is behind: row {state.row} is to come, and a uniform maze has no key rows to find "
                    "a row from nothing; restore a snapshot from there, or begin again"
                )
            if (target - state.row) * self._spec.width > MAX_SEEK_CELLS:
                raise StreamError(
                    f"row {target} is {target - state.row} rows away, and a uniform maze has no key rows to find a row "
                    f"from nothing; at most {MAX_SEEK_CELLS // self._spec.width} are drawn to get there"
                )
            self._stand_at(self._skip(state, target - state.row))
