"""Mazes as lazy Dask arrays and as Zarr stores: from threads to a cluster. It needs the extra `dask`.

Key rows and bands make groups of rows independent, so a maze is an array that has one task for each group, and no task
needs another one. Whatever Dask can do with arrays it can do with a maze: slice it, write it to any store
that fsspec reaches, on threads, processes or a cluster, and make again what a lost worker had made. The rows are those
of `next()` on one stream.

*Verifying* an array is a reduction (spans.py proves that merging is associative): each chunk is summed up as a span,
and neighbours are merged pairwise until one span is left. A `Verifier` that takes over below the span of all chunks but
the last judges that one row by row, and so gives the report that it gives anyway. If the span is not clean,
the longest clean one is sought by bisection, which sums up each chunk about once more.

*The store* is a Zarr group with the arrays `east` and `south` (in a random-walk map `floor` too) of shape
(rows, ceil(width / 8)), uint8, packed as in a `Block`, one chunk for each task. Its attributes tell the spec, and
whether the store is complete: that is written last. A store that was broken off is gone on with: a chunk stays if it is
there with all its bytes, and any other one is made as it would have been.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from json import JSONDecodeError
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import dask.array as da
import numpy as np
import zarr
from dask.delayed import delayed

from .block import Block, row_bytes
from .errors import BlockError, FormatError, SpecError, StoreError
from .spans import Span, span_of
from .spec import MazeSpec, shown
from .store.resume import check_same
from .stream import check_divisible
from .streams import open_stream
from .verify import Report, Verifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .block import Plane

PLANES, CELLS, TILES = "planes", "cells", "tiles"
KIND, VERSION = "eller-stream", 1

_CHUNK_BYTES = 2**25


def maze_array(spec: MazeSpec, height: int | None = None, *, what: str = PLANES, rows: int | None = None) -> Any:
    """Return a maze as a lazy `dask.array`, uint8, of which nothing is made before it is computed.

    spec     the maze, of any algorithm that has key rows or bands
    height   rows of the maze, where the spec tells none
    what     "planes"  shape (2, height, ceil(width / 8)): east and south, packed as in a `Block`; (3, ...) in a
                       random-walk map, with its floor
             "cells"   shape (height, width): the open sides of each cell, N=1, S=2, E=4, W=8
             "tiles"   shape (2 * height + 1, 2 * width + 1): 1 for a wall, 0 for floor
    rows     rows of a task, rounded up to whole key intervals or bands; None: about 32 MiB a task

    Raises SpecError for a maze without a height and for another height than the spec's, StreamError where there are
    neither key rows nor bands.
    """
    whole = _with_height(spec, height)
    check_divisible(whole)
    if what not in _MAKERS:
        raise SpecError(f"what is one of {', '.join(_MAKERS)}, not {shown(what)}")
    return _MAKERS[what](whole, _rows_of_task(whole, what, rows))


def _with_height(spec: MazeSpec, height: int | None) -> MazeSpec:
    """Return the spec of a maze with a height."""
    if spec.height is None and height is None:
        raise SpecError("an array has a height: give it, in the spec or beside it")
    if None not in (spec.height, height) and spec.height != height:
        raise SpecError(f"the spec has the height {spec.height}, so the array cannot have {height}")
    return MazeSpec.from_data(spec.to_data() | {"height": spec.height if height is None else height})


def _rows_of_task(spec: MazeSpec, what: str, rows: int | None) -> int:
    """Return whole key intervals or bands, at least one."""
    step = spec.key_interval or spec.band or 1
    row_size = {PLANES: 2 * row_bytes(spec.width), CELLS: spec.width, TILES: 4 * spec.width}[what]
    if rows is None:
        return step * max(_CHUNK_BYTES // (row_size * step), 1)
    if rows < 1:
        raise SpecError(f"a task has at least one row, not {rows}")
    return step * -(-rows // step)


def _groups(height: int, rows: int) -> list[int]:
    """Return the rows of each task."""
    return [min(rows, height - first) for first in range(0, height, rows)]


# ---- arrays --------------------------------------------------------------------------------------


def _planes(spec: MazeSpec, rows: int) -> Any:
    count = 3 if spec.algorithm == "random_walk" else 2
    chunks = ((count,), tuple(_groups(_height(spec), rows)), (row_bytes(spec.width),))
    return _array(partial(_planes_of, spec, rows), chunks)


def _cells(spec: MazeSpec, rows: int) -> Any:
    return _array(partial(_cells_of, spec, rows), (tuple(_groups(_height(spec), rows)), (spec.width,)))


def _tiles(spec: MazeSpec, rows: int) -> Any:
    lines = [2 * count for count in _groups(_height(spec), rows)]
    lines[0] += 1
    return _array(partial(_tiles_of, spec, rows), (tuple(lines), (2 * spec.width + 1,)))


_MAKERS = {PLANES: _planes, CELLS: _cells, TILES: _tiles}


def _array(make: partial[Plane], chunks: tuple[tuple[int, ...], ...]) -> Any:
    meta = np.empty((0,) * len(chunks), np.uint8)
    return da.map_blocks(make, chunks=chunks, dtype=np.uint8, meta=meta)  # type: ignore[no-untyped-call]


def _height(spec: MazeSpec) -> int:
    assert spec.height is not None
    return spec.height


def _group(spec: MazeSpec, first: int, rows: int) -> Block:
    stream = open_stream(spec)
    stream.seek(first)
    return stream.read(rows)


def _planes_of(spec: MazeSpec, rows: int, *, block_id: tuple[int, ...]) -> Plane:
    block = _group(spec, block_id[1] * rows, rows)
    planes: Plane = np.stack([plane for plane in (block.east, block.south, block.floor) if plane is not None])
    return planes


def _cells_of(spec: MazeSpec, rows: int, *, block_id: tuple[int, ...]) -> Plane:
    return _group(spec, block_id[0] * rows, rows).cells()


def _tiles_of(spec: MazeSpec, rows: int, *, block_id: tuple[int, ...]) -> Plane:
    tiles = _group(spec, block_id[0] * rows, rows).tiles()
    return tiles if block_id[0] == 0 else tiles[1:]


# ---- verifying -------------------------------------------------------------------------------------


def verify_array(planes: Any, width: int, *, loops: bool = False) -> Report:
    """Verify the whole maze that an array of packed planes holds, chunk by chunk, on whatever Dask runs.

    planes   a dask.array of shape (2 or 3, rows, ceil(width / 8)), as `maze_array` gives it, chunked in any way
    loops    cycles are allowed and counted

    The report is that of a `Verifier` which is fed all rows. Raises BlockError for another shape.
    """
    if planes.ndim != 3 or planes.shape[0] not in (2, 3) or planes.shape[2] != row_bytes(width) or not planes.shape[1]:
        raise BlockError(f"planes have the shape (2 or 3, rows, {row_bytes(width)}), not {planes.shape}")
    return _ChunkedMaze(planes.rechunk({0: -1, 2: -1}), width, loops).report()


class _ChunkedMaze:
    """An array of planes, as rows in chunks."""

    def __init__(self, planes: Any, width: int, loops: bool) -> None:
        self.planes, self.width, self.loops = planes, width, loops
        self.starts = [0, *accumulate(planes.chunks[1][:-1])]

    def report(self) -> Report:
        above, chunk = self._clean_above(len(self.starts) - 1)
        verifier = Verifier(self.width, loops=self.loops) if above is None else Verifier.below(above, loops=self.loops)
        north = np.zeros(row_bytes(self.width), np.uint8)
        if above is not None:
            north = np.frombuffer(above.south or b"", np.uint8)
        while chunk < len(self.starts) and not verifier.faulty:
            block = _block(self.planes.blocks[:, chunk].compute(), self.width, self.starts[chunk], north)
            verifier.feed(block)
            chunk, north = chunk + 1, block.south[-1]
        return verifier.report()

    def _clean_above(self, last: int) -> tuple[Span | None, int]:
        """Return the span of the first chunks, as many as are found to be clean, up to `last`; and their number.

        All of them are tried at first, then by bisection half of those of which it is not known.
        """
        above: Span | None = None
        clean, most, tried = 0, last, last
        while clean < most:
            span = self._span(clean, tried)
            together = span if above is None else above + span
            if together.is_clean(loops=self.loops):
                above, clean = together, tried
            else:
                most = tried - 1
            tried = (clean + most + 1) // 2
        return above, clean

    def _span(self, first: int, stop: int) -> Span:
        """Return the span of some chunks: each summed up, neighbours merged pairwise."""
        chunks = self.planes.to_delayed()[0, first:stop, 0]
        sum_up, merge = delayed(_span_of_planes, pure=True), delayed(_both, pure=True)
        spans = [sum_up(chunk, self.width, start) for chunk, start in zip(chunks, self.starts[first:stop], strict=True)]
        while len(spans) > 1:
            pairs = [merge(*spans[i : i + 2]) for i in range(0, len(spans) - 1, 2)]
            spans = pairs + spans[2 * len(pairs) :]
        span: Span = spans[0].compute()
        return span


def _span_of_planes(planes: Plane, width: int, start: int) -> Span:
    north = np.zeros(planes.shape[2], np.uint8)
    return span_of([_block(planes, width, start, north)], north_known=start == 0)


def _both(above: Span, below: Span) -> Span:
    return above + below


def _block(planes: Plane, width: int, start: int, north: Plane) -> Block:
    return Block(start, width, planes[0], planes[1], north, *planes[2:])


# ---- Zarr stores -----------------------------------------------------------------------------------


def write_zarr(
    store: Any,
    spec: MazeSpec,
    height: int | None = None,
    *,
    rows: int | None = None,
    overwrite: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> int:
    """Write a maze as a Zarr store, one chunk for each task, on whatever Dask runs; return its packed bytes.

    store             a path, a URL that fsspec knows (s3://...), or a Zarr store
    spec, height, rows   as in `maze_array`
    overwrite         replace what stands there
    storage_options   what fsspec wants to know of the URL

    Raises StoreError for a store that exists (without `overwrite`), and what `maze_array` and the store raise.
    """
    whole = _divisible(spec, height)
    try:
        group = _new_group(store, whole, "w" if overwrite else "w-", storage_options)
    except FileExistsError:
        raise StoreError(f"{store}: it exists already; force replaces it") from None
    _fill(group, whole, _rows_of_task(whole, PLANES, rows), anew=True)
    return packed_size(whole)


def resume_zarr(
    store: Any,
    spec: MazeSpec,
    height: int | None = None,
    *,
    rows: int | None = None,
    storage_options: dict[str, Any] | None = None,
) -> int:
    """Go on with a Zarr store that was broken off, to the very bytes of an undisturbed run; return the rows made.

    Chunks that are there and whole stay, the others are made, each with as many rows as the store was begun with. Where
    there is no store, one is begun. The parameters are those of `write_zarr`; of a complete store nothing is made.

    Raises StoreError if it holds another maze, naming the difference, FormatError if it holds none, and what
    `write_zarr` raises otherwise.
    """
    whole = _divisible(spec, height)
    try:
        group = _maze_group(store, "r+", storage_options)
    except FileNotFoundError:
        group = _new_group(store, whole, "w-", storage_options)
    check_same(_spec_of(group), whole, store)
    if _is_complete(group):
        return 0
    _sweep(store)
    return _fill(group, whole, _rows_of_task(whole, PLANES, rows), anew=False)


def packed_size(spec: MazeSpec) -> int:
    """Return the bytes of all planes of a maze with a height, packed, as a store holds them."""
    return _height(spec) * row_bytes(spec.width) * len(_names(spec))


def _divisible(spec: MazeSpec, height: int | None) -> MazeSpec:
    """Return the spec of a maze with a height whose groups of rows are made by themselves."""
    whole = _with_height(spec, height)
    check_divisible(whole)
    return whole


def _names(spec: MazeSpec) -> Sequence[str]:
    return ("east", "south", "floor") if spec.algorithm == "random_walk" else ("east", "south")


def _new_group(store: Any, spec: MazeSpec, mode: Literal["w", "w-"], options: dict[str, Any] | None) -> zarr.Group:
    attributes: dict[str, Any] = {"kind": KIND, "version": VERSION, "spec": spec.to_json(), "complete": False}
    return zarr.open_group(store, mode=mode, attributes=attributes, storage_options=options)


def _fill(group: zarr.Group, spec: MazeSpec, rows: int, *, anew: bool) -> int:
    """Make the chunks of a group that are not there (`anew`: all), and return how many rows that were."""
    shape = (_height(spec), row_bytes(spec.width))
    arrays: list[Any] = []
    for name in _names(spec):
        if name not in group:
            chunks = (arrays[0].chunks[0] if arrays else rows, shape[1])
            group.create_array(name, shape=shape, chunks=chunks, dtype="uint8", compressors=None)
        arrays.append(group[name])
    rows = arrays[0].chunks[0]
    groups = ((1,) * len(_groups(shape[0], rows)),)
    write, meta = partial(_write_rows, arrays, spec, rows, anew), np.empty(0, np.int64)
    made = da.map_blocks(write, chunks=groups, dtype=meta.dtype, meta=meta)  # type: ignore[no-untyped-call]
    count = int(made.sum().compute())
    group.attrs["complete"] = True
    return count


def _write_rows(
    arrays: list[Any], spec: MazeSpec, rows: int, anew: bool, *, block_id: tuple[int, ...]
) -> NDArray[np.int64]:
    """Write one chunk of each array, unless all are there; return the number of rows made."""
    number = block_id[0]
    if not anew and all(_is_there(array, number) for array in arrays):
        return np.zeros(1, np.int64)
    planes = _planes_of(spec, rows, block_id=(0, number))
    for array, plane in zip(arrays, planes, strict=True):
        array[number * rows : number * rows + len(plane)] = plane
    return np.full(1, planes.shape[1])


def _is_there(array: Any, number: int) -> bool:
    """Return whether a chunk is there with all its bytes; one of zeros alone is never written, and so always made."""
    try:
        return bool(array.blocks[number, 0].any())
    except ValueError:  # so zarr says of a chunk with fewer bytes, or more
        return False


def _sweep(store: Any) -> None:
    """Remove what a killed run had begun to write: zarr gives a file its name when it is whole."""
    if isinstance(store, str | os.PathLike) and Path(store).is_dir():
        for unfinished in Path(store).rglob("*.partial"):
            unfinished.unlink(missing_ok=True)


def open_zarr(store: Any, *, storage_options: dict[str, Any] | None = None) -> tuple[MazeSpec, Any]:
    """Return the spec of a Zarr store that `write_zarr` wrote, and its packed planes as a lazy dask.array.

    Raises FormatError for a store of something else, or one that is not complete; what the store raises.
    """
    group = _maze_group(store, "r", storage_options)
    if not _is_complete(group):
        raise FormatError(f"{store}: it is not complete; whoever wrote it was interrupted, or is still writing")
    spec = _spec_of(group)
    arrays = [da.from_array(group[name], chunks=group[name].chunks) for name in _names(spec)]  # type: ignore
    return spec, da.stack(arrays)  # type: ignore[no-untyped-call]


def spec_of_zarr(store: Any, *, storage_options: dict[str, Any] | None = None) -> MazeSpec:
    """Return the spec of a Zarr store, complete or not; FormatError for a store of something else."""
    return _spec_of(_maze_group(store, "r", storage_options))


def _maze_group(store: Any, mode: Literal["r", "r+"], options: dict[str, Any] | None) -> zarr.Group:
    try:
        group = zarr.open_group(store, mode=mode, storage_options=options)
    except JSONDecodeError as error:
        raise FormatError(f"{store}: its metadata is no JSON: {error}") from None
    if group.attrs.get("kind") != KIND or group.attrs.get("version") != VERSION:
        raise FormatError(f"{store}: it is no maze: its attribute kind would be {KIND}, its version {VERSION}")
    return group


def _spec_of(group: zarr.Group) -> MazeSpec:
    return MazeSpec.from_data(group.attrs.get("spec"))


def _is_complete(group: zarr.Group) -> bool:
    return group.attrs.get("complete") is True


def verify_zarr(store: Any, *, storage_options: dict[str, Any] | None = None) -> Report:
    """Verify the maze of a Zarr store as a reduction; raises what `open_zarr` raises."""
    spec, planes = open_zarr(store, storage_options=storage_options)
    return verify_array(planes, spec.width, loops=spec.promises_loops)
