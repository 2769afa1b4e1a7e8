"""Blocks and rows: hand-worked examples, shared memory, and planes that are refused."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eller_stream.block import Block, Row, pack_bits, row_bytes, unpack_bits
from eller_stream.errors import BlockError

# Two rows of three cells below a row 6 that opens south at column 1:
#
#     +---+   +---+
#     | 0   1 | 2 |       row 7: east 0; south 0, 2
#     +   +---+   +
#     | 3   4   5 |       row 8: east 0, 1; south 1
#     +---+   +---+
EAST = [[1, 0, 0], [1, 1, 0]]
SOUTH = [[1, 0, 1], [0, 1, 0]]
NORTH = [0, 1, 0]


@pytest.fixture
def block():
    return Block.from_bools(EAST, SOUTH, start=7, north=NORTH)


def planes(width, rows=2):
    return [np.zeros((rows, row_bytes(width)), np.uint8) for _ in range(2)] + [np.zeros(row_bytes(width), np.uint8)]


def many_rows(rows=6, width=19, seed=1):
    rng = np.random.default_rng(seed)
    return Block.from_bools(*rng.integers(0, 2, (2, rows, width)), start=10, north=rng.integers(0, 2, width))


def test_planes_are_packed_little_endian(block):
    assert block.east.tolist() == [[0b001], [0b011]]
    assert block.south.tolist() == [[0b101], [0b010]]
    assert block.north.tolist() == [0b010]
    wide = Block.from_bools([[0] * 8 + [1, 0]], [[1] + [0] * 9])
    assert wide.east.tolist() == [[0, 1]]
    assert wide.south.tolist() == [[1, 0]]


def test_counts_and_place(block):
    assert (len(block), block.start, block.stop, block.width, block.nbytes) == (2, 7, 9, 3, 4)


def test_cells_by_hand(block):
    n, s, e, w = 1, 2, 4, 8
    assert block.cells().tolist() == [[s + e, n + w, s], [n + e, s + e + w, n + w]]
    assert block.cells().dtype == np.uint8


def test_tiles_by_hand(block):
    assert ["".join("#."[1 - tile] for tile in line) for line in block.tiles().tolist()] == [
        "###.###",
        "#...#.#",
        "#.###.#",
        "#.....#",
        "###.###",
    ]
    assert block.tiles().dtype == np.uint8


def test_passages_by_hand(block):
    assert block.passages() == [
        ((7, 0), (7, 1)),
        ((7, 0), (8, 0)),
        ((7, 2), (8, 2)),
        ((8, 0), (8, 1)),
        ((8, 1), (8, 2)),
        ((8, 1), (9, 1)),
    ]
    assert all(type(number) is int for passage in block.passages() for cell in passage for number in cell)


def test_floor_tiles_by_hand():
    east, south, north = planes(3)
    floor = pack_bits(np.array([[1, 0, 1], [0, 1, 1]], bool))
    assert Block(0, 3, east, south, north, floor).floor_tiles().tolist() == [[0, 1, 0], [1, 0, 0]]
    assert Block(0, 3, east, south, north).floor_tiles().tolist() == [[0, 0, 0], [0, 0, 0]]


def test_tiles_of_a_floor_plane():
    floor = pack_bits(np.array([[1, 1, 0]], bool))
    block = Block(0, 3, *planes(3, 1)[:2], np.zeros(1, np.uint8), floor)
    assert block.tiles().tolist() == [[1] * 7, [1, 0, 1, 0, 1, 1, 1], [1] * 7]
    assert block.nbytes == 3


def test_an_empty_block():
    empty = Block.empty(5, 9, np.array([3, 1], np.uint8))
    assert (len(empty), empty.start, empty.stop, empty.nbytes) == (0, 5, 5, 0)
    assert list(empty) == empty.passages() == []
    assert empty.cells().shape == (0, 9)
    assert empty.tiles().shape == (1, 19)
    assert not empty.ends


def test_the_row_above_the_first_row_has_no_passages():
    assert Block.from_bools([[0]], [[1]]).north.tolist() == [0]


def test_ends_is_said_of_a_row_that_opens_nothing_south(block):
    assert not block.ends
    assert Block.from_bools([[1, 0], [1, 0]], [[0, 1], [0, 0]]).ends
    assert not Block.from_bools([[1, 0], [1, 0]], [[0, 0], [0, 1]]).ends


# ---- slices ----------------------------------------------------------------------------------


@given(start=st.none() | st.integers(-9, 9), stop=st.none() | st.integers(-9, 9))
def test_slices_are_the_rows_asked_for(start, stop):
    block = many_rows()
    part = block[start:stop]
    rows = range(6)[start:stop]
    assert [row.index for row in part] == [10 + i for i in rows]
    assert part.east.tolist() == block.east[start:stop].tolist()
    assert part.south.tolist() == block.south[start:stop].tolist()
    assert part.start == 10 + rows.start
    assert part.north.tolist() == (block.north if rows.start == 0 else block.south[rows.start - 1]).tolist()


def test_slices_share_memory():
    block = many_rows()
    part = block[2:5]
    assert np.shares_memory(part.east, block.east)
    assert np.shares_memory(part.south, block.south)
    assert np.shares_memory(part.north, block.south)
    assert np.shares_memory(part[1:].east, block.east)
    assert np.shares_memory(block[0].block().east, block.east)


def test_a_slice_of_a_floor_plane_keeps_it():
    floor = np.arange(4, dtype=np.uint8).reshape(4, 1)
    block = Block(0, 8, *planes(8, 4), floor)
    assert block[1:3].floor.tolist() == [[1], [2]]
    assert np.shares_memory(block[1:3].floor, floor)


def test_a_slice_with_another_step_is_refused():
    for step in (2, -1):
        with pytest.raises(BlockError, match="step 1"):
            many_rows()[::step]


def test_pieces_draw_the_same_cells_as_the_whole():
    block = many_rows()
    assert np.array_equal(np.concatenate([part.cells() for part in (block[:1], block[1:4], block[4:])]), block.cells())
    assert np.array_equal(block[2:].tiles(), block.tiles()[4:])


def test_indices():
    block = many_rows()
    assert [block[i].index for i in (0, 5, -1, -6)] == [10, 15, 15, 10]
    assert block[np.int64(2)].index == 12
    for i in (6, -7):
        with pytest.raises(IndexError):
            block[i]
    with pytest.raises(TypeError):
        block["0"]


# ---- read-only -------------------------------------------------------------------------------


def test_planes_are_read_only(block):
    for plane in (
        block.east,
        block.south,
        block.north,
        block[1:].east,
        block.bools("east"),
        block[0].east,
        block[0].south,
    ):
        with pytest.raises(ValueError, match="read-only"):
            plane[...] = 0


def test_attributes_are_frozen(block):
    with pytest.raises(AttributeError):
        block.start = 3
    with pytest.raises(AttributeError):
        block[0].index = 3


def test_the_givers_array_stays_writable():
    east, south, north = planes(5)
    Block(0, 5, east, south, north)
    assert east.flags.writeable
    assert north.flags.writeable


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda block: pickle.loads(pickle.dumps(block))])
def test_a_copy_is_equal_and_read_only_too(block, made):
    same = made(block)
    assert same == block
    assert same.cells().tolist() == block.cells().tolist()
    assert not same.east.flags.writeable
    assert not same.north.flags.writeable
    row = made(block[1])
    assert row == block[1]
    assert not row.east.flags.writeable


# ---- refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "position"), [("east", 0), ("south", 1), ("north", 2)])
@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((3, 2), np.uint8),
        np.zeros((2, 3), np.uint8),
        np.zeros(3, np.uint8),
        np.zeros((2, 2, 1), np.uint8),
        np.zeros((2, 2), np.int8),
        np.zeros((2, 2), bool),
        np.zeros((2, 2), np.float64),
        np.zeros((), np.uint8),
        [[0, 0], [0, 0]],
        b"\0\0",
        bytearray(4),
        None,
        7,
    ],
    ids=lambda bad: f"{type(bad).__name__}{getattr(bad, 'shape', '')}{getattr(bad, 'dtype', '')}",
)
def test_planes_of_another_type_or_shape_are_refused(name, position, bad):
    given_planes = planes(10)
    given_planes[position] = bad
    with pytest.raises(BlockError):
        Block(0, 10, *given_planes)


def test_a_floor_plane_is_checked_too():
    for floor in (np.zeros((1, 2), np.uint8), np.full((2, 2), 255, np.uint8), [[0, 0]]):
        with pytest.raises(BlockError, match="floor"):
            Block(0, 10, *planes(10), floor)


@pytest.mark.parametrize("name", ["east", "south", "north"])
@pytest.mark.parametrize("width", [1, 7, 9, 15])
def test_spare_bits_are_refused(name, width):
    given_planes = dict(zip(("east", "south", "north"), planes(width), strict=True))
    given_planes[name][..., -1] = 1 << width % 8
    with pytest.raises(BlockError, match=f"{name} has bits set beyond column {width - 1}"):
        Block(0, width, **given_planes)
    given_planes[name][..., -1] = 1 << (width - 1) % 8
    Block(0, width, **given_planes)


def test_widths_of_whole_bytes_have_no_spare_bits():
    east, south, north = (np.full_like(plane, 255) for plane in planes(16))
    assert Block(0, 16, east, south, north).bools("east").all()


@pytest.mark.parametrize(("start", "width"), [(-1, 3), (0, 0), (0, -3)])
def test_places_that_no_block_has_are_refused(start, width):
    with pytest.raises(BlockError, match="width >= 1 and start >= 0"):
        Block(start, width, *planes(3))


@pytest.mark.parametrize(
    ("east", "south", "north"),
    [
        ([1, 0], [1, 0], None),
        ([[1, 0]], [[1, 0, 0]], None),
        ([[]], [[]], None),
        ([[[1]]], [[[1]]], None),
        ([[1, 0]], [[1, 0]], [[1, 0]]),
        ([[1, 0]], [[1, 0]], [1]),
        ([[1] * 10], [[1] * 10], [1] * 9),
        ([[1] * 10], [[1] * 10], [0] * 16),
        ([[1] * 10], [[1] * 10], [0] * 17),
    ],
)
def test_from_bools_refuses_other_shapes(east, south, north):
    with pytest.raises(BlockError):
        Block.from_bools(east, south, north=north)


# ---- equality, rows, packing -----------------------------------------------------------------


def test_equality(block):
    assert block == Block.from_bools(EAST, SOUTH, start=7, north=NORTH)
    others = [
        Block.from_bools(EAST, SOUTH, start=8, north=NORTH),
        Block.from_bools(EAST, SOUTH, start=7),
        Block.from_bools(SOUTH, SOUTH, start=7, north=NORTH),
        Block.from_bools(EAST, EAST, start=7, north=NORTH),
        Block(7, 4, block.east, block.south, block.north),
        Block(7, 3, block.east, block.south, block.north, block.south),
        block[:1],
        block[2:],
    ]
    assert all(block != other for other in others)
    assert block.__eq__("a block") is NotImplemented
    assert block != "a block"
    floored = others[5]
    assert floored == Block(7, 3, block.east, block.south, block.north, block.south.copy())
    assert floored != Block(7, 3, block.east, block.south, block.north, block.east)
    with pytest.raises(TypeError):
        hash(block)


def test_rows(block):
    first, second = block
    assert isinstance(first, Row)
    assert (first.index, second.index, first.width) == (7, 8, 3)
    assert first.east.dtype == np.bool_
    assert (first.east.tolist(), first.south.tolist()) == ([True, False, False], [True, False, True])
    assert (first.north.tolist(), second.north.tolist()) == ([False, True, False], [True, False, True])
    assert second.cells().tolist() == block.cells()[1].tolist()
    assert second.block() == block[1:]
    assert repr(second) == "<Row 8, 3 cells>"


def test_equality_of_rows(block):
    assert block[1] == block[1:][0]
    assert block[0] != block[1]
    assert block[0] != "a row"
    with pytest.raises(TypeError):
        hash(block[0])


@given(bools=st.lists(st.booleans(), min_size=1, max_size=40))
def test_packing_there_and_back(bools):
    plane = pack_bits(np.array(bools))
    assert plane.tolist() == [sum(b << i for i, b in enumerate(bools[k : k + 8])) for k in range(0, len(bools), 8)]
    assert len(plane) == row_bytes(len(bools))
    assert unpack_bits(plane, len(bools)).tolist() == bools


@given(data=st.data(), rows=st.integers(1, 5), width=st.integers(1, 20))
def test_cells_passages_and_tiles_tell_the_same(data, rows, width):
    bits = st.lists(st.booleans(), min_size=width, max_size=width)
    east, south = ([data.draw(bits) for _ in range(rows)] for _ in range(2))
    block = Block.from_bools(east, south, start=3)
    cells, tiles = block.cells(), block.tiles()
    open_ = set()
    for i in range(rows):
        for c in range(width):
            assert bool(cells[i, c] & 4) == east[i][c] == (tiles[2 * i + 1, 2 * c + 2] == 0)
            assert bool(cells[i, c] & 2) == south[i][c] == (tiles[2 * i + 2, 2 * c + 1] == 0)
            assert bool(cells[i, c] & 8) == (c > 0 and east[i][c - 1])
            assert bool(cells[i, c] & 1) == (i > 0 and south[i - 1][c])
            assert tiles[2 * i + 1, 2 * c + 1] == 0
            assert tiles[2 * i, 2 * c] == 1
            open_ |= {((3 + i, c), (3 + i, c + 1))} if east[i][c] else set()
            open_ |= {((3 + i, c), (4 + i, c))} if south[i][c] else set()
    passages = block.passages()
    assert set(passages) == open_
    assert len(passages) == len(open_)
