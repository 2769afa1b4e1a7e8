"""`Block`: consecutive rows of a maze as packed bit planes; `Row`: one of them.

A plane is a uint8 array of shape (rows, ceil(width / 8)), packed little-endian: column c is bit
c % 8 of byte c // 8, and the spare bits of a row's last byte are 0. A set bit in `east` is an open
passage from the cell to its eastern neighbour, one in `south` an open passage to the cell below.
`north` is the south plane's row just above the block (zeros at row 0), so that a block can be drawn
and checked without the rows above it.

Blocks are frozen: their arrays are read-only views, slices and rows copy nothing, and a row that
was yielded never changes afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from .errors import BlockError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Plane: TypeAlias = NDArray[np.uint8]
    Bools: TypeAlias = NDArray[np.bool_]
    Cell: TypeAlias = tuple[int, int]

N, S, E, W = 1, 2, 4, 8
WALL, FLOOR = 1, 0


@dataclass(frozen=True, eq=False)
class Block:
    """Rows `start` to `start + len(block) - 1` of a maze `width` cells wide.

    east, south   uint8, shape (rows, ceil(width / 8)): open passages, packed little-endian
    north         uint8, shape (ceil(width / 8),): the south passages of the row above
    floor         uint8 like `east`, or None: every cell is floor

    Raises BlockError for planes of another type or shape, or with spare bits set. `len(block)` counts
    the rows, `block[i]` is a Row, `block[a:b]` a Block of the same memory, iteration yields Rows.
    Two blocks are equal when all of this is.
    """

    start: int
    width: int
    east: Plane
    south: Plane
    north: Plane
    floor: Plane | None = None
    _bools: dict[str, Bools] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.width < 1 or self.start < 0:
            raise BlockError(f"a block has width >= 1 and start >= 0, not {self.width} and {self.start}")
        for name in ("east", "south", "north", "floor"):
            plane = getattr(self, name)
            if name != "floor" or plane is not None:
                object.__setattr__(self, name, self._checked(name, plane))

    def _checked(self, name: str, plane: Plane) -> Plane:
        """Return a read-only view of a plane that has the right type, shape and spare bits."""
        packed = row_bytes(self.width)
        rows = len(self.east) if isinstance(self.east, np.ndarray) and self.east.ndim else 0
        shape = (packed,) if name == "north" else (rows, packed)
        if not isinstance(plane, np.ndarray) or plane.dtype != np.uint8 or plane.shape != shape:
            came = f"{plane.dtype} {plane.shape}" if isinstance(plane, np.ndarray) else type(plane).__name__
            raise BlockError(f"the plane {name} is a uint8 array of shape {shape}, not {came}")
        if self.width % 8 and np.any(plane[..., -1] >> self.width % 8):
            raise BlockError(f"the plane {name} has bits set beyond column {self.width - 1}")
        view = plane.view()
        view.flags.writeable = False
        return view

    @classmethod
    def from_bools(cls, east: ArrayLike, south: ArrayLike, *, start: int = 0, north: ArrayLike | None = None) -> Block:
        """Return a block of two arrays of shape (rows, width), true where a passage is open.

        `north` is an array of shape (width,), None for no passage. Raises BlockError for other shapes.
        """
        bools = [np.asarray(plane, dtype=np.bool_) for plane in (east, south)]
        if bools[0].ndim != 2 or bools[0].shape != bools[1].shape or not bools[0].shape[1]:
            raise BlockError(f"east and south have one shape (rows, width), not {bools[0].shape} and {bools[1].shape}")
        width = bools[0].shape[1]
        above = np.zeros(width, np.bool_) if north is None else np.asarray(north, dtype=np.bool_)
        if above.shape != (width,):
            raise BlockError(f"north has the shape ({width},), not {above.shape}")
        return cls(start, width, *(pack_bits(plane) for plane in (*bools, above)))

    @classmethod
    def empty(cls, start: int, width: int, north: Plane) -> Block:
        """Return a block of no rows, standing before row `start`."""
        none = np.empty((0, row_bytes(width)), np.uint8)
        return cls(start, width, none, none, north)

    @property
    def stop(self) -> int:
        """Index of the first row behind the block."""
        return self.start + len(self.east)

    @property
    def nbytes(self) -> int:
        """Bytes of the planes `east`, `south` and `floor` together."""
        return self.east.nbytes + self.south.nbytes + (0 if self.floor is None else self.floor.nbytes)

    @property
    def ends(self) -> bool:
        """Whether the block's final row opens nothing south, as only a maze's last row does."""
        return len(self) > 0 and not self.south[-1].any()

    def ends_at(self, height: int | None) -> bool:
        """Return whether the block ends its maze, whose height is known by then.

        In a map rows of walls open nothing south either, so there the height alone tells.
        """
        return self.ends and (self.floor is None or self.stop == height)

    def __len__(self) -> int:
        return len(self.east)

    def __iter__(self) -> Iterator[Row]:
        return (Row(self, i) for i in range(len(self)))

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> Block: ...
    def __getitem__(self, key: int | slice) -> Row | Block:
        if not isinstance(key, slice):
            return Row(self, range(len(self))[index(key)])
        first, stop, step = key.indices(len(self))
        if step != 1:
            raise BlockError(f"a block is sliced with step 1, not {step}")
        rows = slice(first, max(first, stop))
        floor = None if self.floor is None else self.floor[rows]
        return Block(self.start + first, self.width, self.east[rows], self.south[rows], self.north_of(first), floor)

    def north_of(self, i: int) -> Plane:
        """Return the packed south passages of the row above row i of the block."""
        return self.north if i == 0 else self.south[i - 1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Block):
            return NotImplemented
        same_place = (self.start, self.width, len(self)) == (other.start, other.width, len(other))
        return (
            same_place
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("east", "south", "north"))
            and (self.floor is None) == (other.floor is None)
            and (self.floor is None or other.floor is None or np.array_equal(self.floor, other.floor))
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Block], tuple[Any, ...]]:
        return Block, (self.start, self.width, self.east, self.south, self.north, self.floor)

    def bools(self, name: str) -> Bools:
        """Return the plane `name` unpacked: read-only bools of shape (rows, width); kept for the next call."""
        if name not in self._bools:
            unpacked = unpack_bits(getattr(self, name), self.width)
            unpacked.flags.writeable = False
            self._bools[name] = unpacked
        return self._bools[name]

    def cells(self) -> Plane:
        """Return uint8 of shape (rows, width): each cell's open sides as N=1, S=2, E=4, W=8."""
        north = np.concatenate([self.north[np.newaxis], self.south])[: len(self)]
        masks: Plane = unpack_bits(north, self.width) * np.uint8(N)
        masks |= unpack_bits(self.south, self.width) * np.uint8(S)
        east = unpack_bits(self.east, self.width)
        masks |= east * np.uint8(E)
        masks[:, 1:] |= east[:, :-1] * np.uint8(W)
        return masks

    def tiles(self) -> Plane:
        """Return uint8 of shape (2 * rows + 1, 2 * width + 1): the maze as tiles, 1 = wall, 0 = floor.

        Cell (i, c) is tile (2i + 1, 2c + 1); the top line shows the passages from the row above.
        """
        tiles = np.full((2 * len(self) + 1, 2 * self.width + 1), WALL, np.uint8)
        if self.floor is None:
            tiles[1::2, 1::2] = FLOOR
        else:
            tiles[1::2, 1::2] = 1 - unpack_bits(self.floor, self.width)
        tiles[1::2, 2::2] -= unpack_bits(self.east, self.width)
        tiles[2::2, 1::2] -= unpack_bits(self.south, self.width)
        tiles[0, 1::2] -= unpack_bits(self.north, self.width)
        return tiles

    def floor_tiles(self) -> Plane:
        """Return uint8 of shape (rows, width): 0 for a floor cell, 1 for a wall (a random-walk map's grid)."""
        if self.floor is None:
            return np.full((len(self), self.width), FLOOR, np.uint8)
        return np.asarray(1 - unpack_bits(self.floor, self.width).view(np.uint8))

    def passages(self) -> list[tuple[Cell, Cell]]:
        """Return the open passages as pairs of cells (row, column), row by row, east before south."""
        found: list[tuple[Cell, Cell]] = []
        for row in self:
            r = row.index
            found += (((r, c), (r, c + 1)) for c in np.flatnonzero(row.east).tolist())
            found += (((r, c), (r + 1, c)) for c in np.flatnonzero(row.south).tolist())
        return found


class Row:
    """One row of a maze: `index`, `width`, and its passages as read-only bool arrays of shape (width,)."""

    __slots__ = ("_block", "_i")

    def __init__(self, block: Block, i: int) -> None:
        self._block = block
        self._i = i

    @property
    def index(self) -> int:
        """Number of the row in the maze, from 0."""
        return self._block.start + self._i

    @property
    def width(self) -> int:
        """Cells in the row."""
        return self._block.width

    @property
    def east(self) -> Bools:
        """True where the passage to the eastern neighbour is open; False for the last column."""
        east: Bools = self._block.bools("east")[self._i]
        return east

    @property
    def south(self) -> Bools:
        """True where the passage to the cell below is open."""
        south: Bools = self._block.bools("south")[self._i]
        return south

    @property
    def north(self) -> Bools:
        """True where the passage to the cell above is open."""
        north: Bools = unpack_bits(self._block.north_of(self._i), self.width)
        return north

    def block(self) -> Block:
        """Return the row as a block of one row, of the same memory."""
        return self._block[self._i : self._i + 1]

    def cells(self) -> Plane:
        """Return uint8 of shape (width,): each cell's open sides as N=1, S=2, E=4, W=8."""
        cells: Plane = self.block().cells()[0]
        return cells

    def __eq__(self, other: object) -> bool:
        return self.block() == other.block() if isinstance(other, Row) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Row], tuple[Block, int]]:
        return Row, (self.block(), 0)

    def __repr__(self) -> str:
        return f"<Row {self.index}, {self.width} cells>"


def joined(blocks: Sequence[Block]) -> Block:
    """Return blocks that follow one another, at least one, as one block; a single one is returned as it is."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    east, south = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("east", "south"))
    floors = [block.floor for block in blocks if block.floor is not None]
    return Block(first.start, first.width, east, south, first.north, np.concatenate(floors) if floors else None)


def row_bytes(width: int) -> int:
    """Return the bytes of one packed row."""
    return (width + 7) // 8


def pack_bits(bools: Bools) -> Plane:
    """Pack bools along the last axis, little-endian: column c is bit c % 8 of byte c // 8."""
    packed: Plane = np.packbits(bools, axis=-1, bitorder="little")
    return packed


def unpack_bits(plane: Plane, width: int) -> Bools:
    """Return the bools of a packed plane or of one packed row, `width` along the last axis."""
    bools: Bools = np.unpackbits(plane, axis=-1, count=width, bitorder="little").view(np.bool_)
    return bools
