"""`Window`: whatever order blocks come in, a view is a slice of the maze; its room, its memory, and what it refuses."""

import random
from itertools import pairwise

import numpy as np
import pytest
from helpers import specs
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream.block import Block, row_bytes
from eller_stream.errors import BlockError
from eller_stream.frames import FrameDecoder, Rows
from eller_stream.spec import MAX_ROW, MazeSpec
from eller_stream.store import FrameWriter
from eller_stream.stream import EllerStream
from eller_stream.window import Window

ROWS = 40


def maze(width=20, rows=ROWS, start=0, seed=5):
    stream = EllerStream(width, seed=seed, key_interval=16)
    stream.seek(start)
    return stream.read(rows)


def with_floor(block, floor=None):
    floor = block.south.copy() if floor is None else floor
    return Block(block.start, block.width, block.east, block.south, block.north, floor)


def changed(block, name, row=0, column=0):
    """Return a copy of a block with one other bit."""
    planes = {plane: getattr(block, plane) for plane in ("east", "south", "north", "floor")}
    plane = planes[name].copy()
    plane.reshape(-1, row_bytes(block.width))[row, column // 8] ^= 1 << column % 8
    return Block(block.start, block.width, **planes | {name: plane})


def memory(block):
    """Return the bytes that the plane `east` of a block keeps alive."""
    return block.east.nbytes if block.east.base is None else block.east.base.nbytes


# ---- a view is a slice -----------------------------------------------------------------------------


class Written(list):
    """Takes a maze's bytes."""

    def write(self, data):
        self.append(bytes(data))


def bytes_of(spec, rows, rows_per_frame):
    out = Written()
    writer = FrameWriter(out, EllerStream.from_spec(spec), rows_per_frame=rows_per_frame)
    writer.write(rows)
    writer.finish()
    return b"".join(out)


def blocks_of(data, cuts):
    """Return the blocks of a maze's bytes, which come cut at some places."""
    decoder, blocks = FrameDecoder(), []
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    for a, b in pairwise(places):
        decoder.feed(data[a:b])
        blocks += [event.block for event in decoder.events() if isinstance(event, Rows)]
    decoder.close()
    return blocks


@given(
    spec=specs(max_width=70),
    rows_per_frame=st.integers(1, 9),
    cuts=st.lists(st.integers(0, 3000), max_size=12),
    order=st.randoms(use_true_random=False),
    views=st.lists(st.tuples(st.integers(0, ROWS - 1), st.integers(1, ROWS)), min_size=1, max_size=5),
)
@settings(max_examples=80)
def test_however_bytes_are_cut_and_chunks_are_ordered_a_view_is_a_slice(spec, rows_per_frame, cuts, order, views):
    whole = EllerStream.from_spec(spec).read(ROWS)
    blocks = blocks_of(bytes_of(spec, ROWS, rows_per_frame), cuts)
    blocks += [whole[a : a + n] for a, n in views]  # overlaps, and rows that came before
    order.shuffle(blocks)
    window = Window(ROWS)
    for block in blocks:
        window.add(block)
    for top, height in views:
        rows = min(height, ROWS - top)
        assert window.view(top, rows) == whole[top : top + rows]
    assert window.held == [range(ROWS)]
    assert len(window) == ROWS


class Model:
    """What a window holds, row by row."""

    def __init__(self, capacity):
        self.capacity, self.rows = capacity, set()

    def add(self, start, stop, near):
        self.rows |= set(range(start, stop))
        if len(self.rows) <= self.capacity:
            return
        rows = sorted(self.rows, key=lambda row: distance(row, near))
        by_distance = [{row for row in rows if distance(row, near) <= d} for d in range(2 * ROWS)]
        fitting = [rows for rows in by_distance if len(rows) <= self.capacity]
        self.rows = fitting[-1] if fitting else set(sorted(by_distance[0])[: self.capacity])


def distance(row, near):
    return max(near.start - row, row - (near.stop - 1), 0)


spans = st.tuples(st.integers(0, ROWS - 1), st.integers(1, 15)).map(lambda span: range(span[0], min(ROWS, sum(span))))


@given(
    capacity=st.integers(1, ROWS),
    floor=st.booleans(),
    steps=st.lists(st.tuples(st.sampled_from(["add", "near", "discard"]), spans, spans), max_size=15),
)
@settings(max_examples=200)
def test_what_is_held_is_what_the_rules_say(capacity, floor, steps):
    whole = with_floor(maze()) if floor else maze()
    window, model = Window(capacity), Model(capacity)
    for step, rows, other in steps:
        if step == "discard":
            window.discard(rows.start, rows.stop)
            model.rows -= set(rows)
        else:
            near = other if step == "near" else None
            window.add(whole[rows.start : rows.stop], near=near)
            model.add(rows.start, rows.stop, near or rows)
        assert {row for held in window.held for row in held} == model.rows
        assert len(window) == len(model.rows)
        assert [row for row in range(ROWS) if row in window] == sorted(model.rows)
        assert {row for gap in window.missing(0, ROWS) for row in gap} == set(range(ROWS)) - model.rows
        for held in window.held:
            assert window.view(held.start, len(held)) == whole[held.start : held.stop]
            assert memory(window.view(held.start, 1)) <= 2 * ROWS * row_bytes(whole.width)


@pytest.mark.parametrize("width", [1, 2, 63, 64, 65])
@pytest.mark.parametrize("start", [0, 2**32 - 3, MAX_ROW - 8])
def test_widths_and_rows_at_the_edges(width, start):
    whole = maze(width, 8, start)
    window = Window(8, width)
    for i in random.Random(width).sample(range(8), 8):
        window.add(whole[i].block())
    assert window.view(start, 8) == whole
    assert window.view(start + 7, 1) == whole[7:]
    window.discard(start + 4)
    assert window.held == [range(start, start + 4)]


def test_rows_far_apart():
    window = Window(30)
    for start in (0, MAX_ROW - 10, 2**40):
        window.add(maze(rows=10, start=start))
    assert window.held == [range(10), range(2**40, 2**40 + 10), range(MAX_ROW - 10, MAX_ROW)]
    window.add(maze(rows=4, start=2**33))
    last = range(MAX_ROW - 10, MAX_ROW - 4)
    assert window.held == [range(10), range(2**33, 2**33 + 4), range(2**40, 2**40 + 10), last]


# ---- room and memory -------------------------------------------------------------------------------


def test_room_for_one_row():
    whole, window = maze(), Window(1)
    for row in range(ROWS):
        window.add(whole[row : row + 1])
        assert window.held == [range(row, row + 1)]
    window.add(whole)
    assert window.held == [range(1)]
    assert window.view(0, 1) == whole[:1]


def test_a_block_larger_than_the_window_leaves_its_first_rows_or_those_near_a_place():
    whole, window = maze(), Window(10)
    window.add(whole)
    assert window.held == [range(10)]
    window.add(whole, near=range(20, 24))
    assert window.held == [range(17, 27)]


def test_a_view_of_one_block_is_no_copy():
    window = Window(ROWS)
    window.add(maze())
    for name in ("east", "south", "north"):
        one, other = (getattr(window.view(top, 10), name) for top in (5, 5))
        assert np.shares_memory(one, other)
    assert np.shares_memory(window.view(0, ROWS).east, window.view(ROWS - 1, 1).east)


def test_a_view_stays_good_whatever_happens_to_the_window():
    whole, window = maze(), Window(10)
    window.add(whole[:10])
    view = window.view(0, 10)
    window.discard(3, 6)
    window.add(maze(seed=5)[:8])
    window.add(maze(rows=10, start=1000))
    assert view == whole[:10]
    with pytest.raises(ValueError, match="read-only"):
        view.east[0] = 0


def test_rows_keep_no_others_alive():
    whole, window = maze(rows=10_000), Window(10_000)
    window.add(whole[5000:5002])
    assert memory(window.view(5000, 2)) == 2 * row_bytes(20)
    window.add(whole)
    window.discard(0, 9000)
    assert memory(window.view(9000, 1000)) == 1000 * row_bytes(20)
    assert not np.shares_memory(window.view(9999, 1).north, whole.south)


# ---- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("row", [10, 15, 19])
def test_a_row_with_other_bits(floor, row):
    whole = with_floor(maze()) if floor else maze()
    window = Window(ROWS)
    window.add(whole[10:20])
    for name in ("east", "south", "floor")[: 3 if floor else 2]:
        with pytest.raises(BlockError, match=f"row {row} is held with other bits"):
            window.add(changed(whole, name, row, 7))
    assert window.held == [range(10, 20)]
    assert window.view(10, 10) == whole[10:20]


def test_a_north_that_is_not_the_row_above():
    whole, window = maze(), Window(ROWS)
    window.add(whole[10:20])
    above, below, same = (
        changed(whole[5:10], "south", 4),
        changed(whole[20:30], "north"),
        changed(whole[10:12], "north"),
    )
    for block, row in [(above, 9), (below, 19), (same, 9), (below[:0], 19)]:
        with pytest.raises(BlockError, match=f"row {row} is held with other passages south"):
            window.add(block)
    assert window.held == [range(10, 20)]
    window.add(whole[20:20])
    window.add(whole[20:30])
    window.add(whole[5:10])
    assert window.view(5, 25) == whole[5:30]


def test_a_floor_plane_against_none_and_another_width():
    whole, window = maze(), Window(ROWS)
    window.add(whole[:5])
    with pytest.raises(BlockError, match="have no floor plane, and the block has one"):
        window.add(with_floor(whole[20:25]))
    with pytest.raises(BlockError, match="rows have 20 cells, the block's have 21"):
        window.add(maze(21))
    window.discard(0)
    window.add(with_floor(whole[20:25]))
    with pytest.raises(BlockError, match="have a floor plane, and the block has none"):
        window.add(whole[:5])
    with pytest.raises(BlockError, match="rows have 7 cells, the block's have 20"):
        Window(3, 7).add(whole)


def test_rows_that_are_missing_are_named():
    whole, window = maze(), Window(ROWS)
    assert window.missing(3, 4) == [range(3, 7)]
    window.add(whole[5:8])
    window.add(whole[10:12])
    assert window.missing(3, 10) == [range(3, 5), range(8, 10), range(12, 13)]
    with pytest.raises(BlockError, match="rows 3 to 12 were asked for, and 3 to 4, 8 to 9, 12 to 12 are not held"):
        window.view(3, 10)


@pytest.mark.parametrize("value", [0, -1, 1.5, None, "3", True])
def test_numbers_that_are_none(value):
    with pytest.raises(BlockError, match="the capacity of a window is"):
        Window(value)
    window = Window(3)
    window.add(maze()[:3])
    with pytest.raises(BlockError, match="the height of a view is"):
        window.view(0, value)
    if value != 0:
        with pytest.raises(BlockError, match="the top row is"):
            window.view(value, 1)


def test_more_room_is_made_and_never_less():
    window = Window(3)
    window.make_room(5)
    window.make_room(2)
    window.add(maze()[:9])
    assert (window.capacity, len(window)) == (5, 5)
    with pytest.raises(BlockError, match="the capacity of a window is"):
        window.make_room(0)


def test_what_a_window_says_of_itself():
    window = Window(9)
    assert (window.capacity, window.width, len(window)) == (9, None, 0)
    window.add(EllerStream.from_spec(MazeSpec(4, seed=1)).read(3))
    assert (window.capacity, window.width, len(window)) == (9, 4, 3)
    assert repr(window) == "<Window of 9 rows, holds [0:3]>"
