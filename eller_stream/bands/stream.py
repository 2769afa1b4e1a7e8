"""`BandStream`: an endless maze whose rows are carved in bands, as a forest that is rooted in the row above.

To a band, the row above is one cell that is in the maze already; the first band starts from a cell of its own
instead. So every band is attached without a cycle, whatever the bands above and below it are: the maze is perfect,
any band can be carved alone, and any row costs two bands, its own and the one below, whose passages through the seam
the last row has (in a random-walk map also the one above). The bands that a row needs are kept, and so going on
costs one new band for each.

The state of a stream is the spec, the row to come, and where the maze ends if that is known; all else is found again.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .. import snapshot
from ..block import Block, Row, row_bytes
from ..errors import CapacityError, FormatError, SpecError, StreamError
from ..parallel import shares, side_by_side, worker_count
from ..spec import MAX_ROW, MazeSpec
from ..stream import row_number, rows_to_end
from .carve import carve
from .finish import finished
from .places import band_rows, is_last

if TYPE_CHECKING:
    from ..block import Plane
    from .grid import Carved

SNAPSHOT_KIND = "band-snapshot"


class BandStream:
    """An infinite maze carved band by band: "dfs", "prim", "wilson" or "random_walk".

    The keywords are those of `MazeSpec`. Iteration yields `Row`s, `read` gives many rows as a `Block`; a
    stream with a height, or a finalized one, ends by itself. Any row can be sought at the price of its band.
    Threads may share a stream: each row goes to one of them. Streams can be pickled and copied.

    Raises SpecError for values that no maze can have and for options that the algorithm has not.
    """

    def __init__(self, algorithm: str, width: int, **options: Any) -> None:
        self._begin(MazeSpec(width, algorithm=algorithm, **options))

    def _begin(self, spec: MazeSpec) -> None:
        self._band_rows = band_rows(spec)
        self._spec = spec
        self._end = spec.height
        self._position = 0
        self._lock = threading.Lock()
        self._carved: dict[int, Carved] = {}
        self._finished: Block | None = None

    @classmethod
    def from_spec(cls, spec: MazeSpec) -> Self:
        """Return the stream of a spec, at row 0; SpecError if its algorithm carves no bands."""
        stream = cls.__new__(cls)
        stream._begin(spec)
        return stream

    @property
    def spec(self) -> MazeSpec:
        """Everything that determines the maze, the seed among it."""
        return self._spec

    @property
    def position(self) -> int:
        """Index of the row to come."""
        return self._position

    @property
    def height(self) -> int | None:
        """Rows of the whole maze: as planned or as finalized; None while it is endless."""
        return self._end

    def __repr__(self) -> str:
        return f"<BandStream at row {self.position} of {self._spec}>"

    # ---- rows ---------------------------------------------------------------------------------

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        with self._lock:
            if not self._rows_left():
                raise StopIteration
            block = self._band_at(self._position)
            row = block[self._position - block.start]
            self._position += 1
            return row

    def read(self, rows: int, /, *, workers: int = 1) -> Block:
        """Return the next `rows` rows as a Block; fewer at the end of the maze, then none.

        workers   threads that carve, 1 by default: each takes whole bands, and the rows are the same

        Raises StreamError if `rows` is not an integer >= 0, CapacityError if they find no room in memory.
        """
        count, threads = row_number("the number of rows to read", rows, MAX_ROW), worker_count(workers)
        with self._lock:
            count = min(count, self._rows_left())
            block = self._rows(count, threads)
            self._position += count
            return block

    def _rows_left(self) -> int:
        if self._position == MAX_ROW and self._end is None:
            raise StreamError(f"row {MAX_ROW - 1} is the last that a stream can have")
        return (MAX_ROW if self._end is None else self._end) - self._position

    def _rows(self, count: int, workers: int) -> Block:
        """Return the next `count` rows: a view of one band, or a copy of several."""
        behind = self._position == self._end
        first = self._band_at(self._position - behind)
        offset = self._position - first.start
        if count <= len(first) - offset:
            return first[offset : offset + count]
        return self._joined(first[offset:], count, workers)

    def _joined(self, head: Block, count: int, workers: int) -> Block:
        """Return the `count` rows that begin with `head`, which are of several bands."""
        kinds = ("east", "south") if head.floor is None else ("east", "south", "floor")
        try:
            planes = {kind: np.empty((count, row_bytes(self._spec.width)), np.uint8) for kind in kinds}
        except (MemoryError, ValueError):  # numpy says ValueError where a size passes the address space
            raise CapacityError(
                f"{count} rows of {self._spec.width} cells find no room in memory; read fewer at a time"
            ) from None
        parts = shares(head.start, head.start + count, self._band_rows, workers)
        side_by_side(
            [partial(self._carver_of(n)._copy_rows, planes, head.start, *part) for n, part in enumerate(parts)]
        )
        return Block(head.start, head.width, planes["east"], planes["south"], head.north, planes.get("floor"))

    def _carver_of(self, part: int) -> Self:
        """Return what carves a part of the rows: this stream the first one, streams of their own the others."""
        if part == 0:
            return self
        stream = self.from_spec(self._spec)
        stream._end = self._end
        return stream

    def _copy_rows(self, planes: dict[str, Plane], top: int, first: int, stop: int) -> None:
        """Copy rows `first` to `stop - 1` into planes that begin with row `top`, carving band by band."""
        while first < stop:
            band = self._band_at(first)
            part = band[first - band.start : stop - band.start]
            for kind, plane in planes.items():
                plane[first - top : part.stop - top] = getattr(part, kind)
            first = part.stop

    def _band_at(self, row: int) -> Block:
        """Return the finished band that a row is in."""
        block = self._finished
        if block is None or not block.start <= row < block.stop:
            try:
                block = self._finished = self._finish(row // self._band_rows)
            except (MemoryError, OverflowError):
                raise CapacityError(
                    f"a band of {self._band_rows} rows of {self._spec.width} cells finds no room in memory"
                ) from None
        return block

    def _finish(self, band: int) -> Block:
        ends = is_last(self._spec, band) or (self._end is not None and self._end <= (band + 1) * self._band_rows)
        is_map = self._spec.algorithm == "random_walk"
        needed = [band, *([] if ends else [band + 1]), *([band - 1] if is_map and band else [])]
        self._carved = {n: self._carved[n] if n in self._carved else carve(self._spec, n) for n in needed}
        around = self._carved.get(band - 1), self._carved.get(band + 1)
        return finished(self._spec, band, self._carved[band], around, self._end)

    # ---- moving about -------------------------------------------------------------------------

    def seek(self, row: int, /) -> None:
        """Make `row` the row to come, from 0 to the height (2**48 for an endless stream), at once.

        The next row costs at most the bands that it needs, two or three. Raises StreamError for a row outside the maze.
        """
        target = row_number("the row to seek", row, MAX_ROW if self._end is None else self._end)
        with self._lock:
            self._position = target

    def finalize(self, rows: int = 1) -> None:
        """End the maze after `rows` more rows: the last one unites what the cut leaves apart, and opens nothing south.

        Raises StreamError if it was finalized before, has ended, or would not have so many rows.
        """
        with self._lock:
            if self._end != self._spec.height:
                raise StreamError(f"finalize was called already: row {self._last_row()} is the last one")
            self._end = self._position + rows_to_end(rows, self._rows_left(), self._end)
            self._finished = None

    def _last_row(self) -> int:
        return (self._end or 0) - 1

    # ---- snapshots ------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Return the state at the row to come as bytes: docs/FORMAT.md, "Snapshot". `restore` goes on from there."""
        with self._lock:
            return _pack_snapshot(self._spec, self._end, self._position)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return type(self).restore, (self.snapshot(),)

    @classmethod
    def restore(cls, snapshot: bytes | bytearray | memoryview) -> Self:
        """Return the stream that a snapshot was taken of; what it yields is the same as if it had gone on.

        Raises FormatError for bytes that are no snapshot, damaged or forged; VersionError for a newer one.
        """
        spec, end, position = _unpack_snapshot(memoryview(snapshot).tobytes())
        stream = cls.from_spec(spec)
        stream._end, stream._position = end, position
        return stream


def random_walk_map(
    dimensions: int, *, seed: int | None = None, max_tunnels: int | None = None, max_length: int | None = None
) -> Block:
    """Return a square map of random-walk tunnels: `dimensions` rows and columns, one random start, no gates.

    `block.floor` is its plane, `block.floor_tiles().tolist()` its lists of 1 for a wall and 0 for floor. The options
    are those of `MazeSpec`; SpecError for fewer than 2 rows, no tunnels, or a length of 0.
    """
    options = {"seed": seed, "max_tunnels": max_tunnels, "max_length": max_length}
    return BandStream("random_walk", dimensions, height=dimensions, band=dimensions, **options).read(dimensions)


def _pack_snapshot(spec: MazeSpec, end: int | None, row: int) -> bytes:
    return snapshot.pack(SNAPSHOT_KIND, spec, end, row)


def _unpack_snapshot(data: bytes) -> tuple[MazeSpec, int | None, int]:
    """Return what a snapshot says; FormatError unless it is, byte for byte, one that could have been packed."""
    spec, end, row, _ = snapshot.unpack(SNAPSHOT_KIND, data)
    try:
        band_rows(spec)
    except SpecError as error:
        raise FormatError(f"the snapshot's spec: {error}") from None
    snapshot.check_canonical(_pack_snapshot(spec, end, row), data)
    return spec, end, row
