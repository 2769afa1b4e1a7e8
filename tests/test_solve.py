"""Paths: a plain search over passages agrees with both ways to find them, wherever the ends are."""

import itertools
import random
from collections import deque

import numpy as np
import pytest
from helpers import specs
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from test_passages import ADDED, PUBLISHED

from eller_stream.block import Block, pack_bits
from eller_stream.errors import BlockError, CapacityError, KernelError, SolveError, StreamError
from eller_stream.passages import block_of_passages, check_passages
from eller_stream.solve import (
    MazeRows,
    farthest_pair,
    search,
    shortest_path,
    steps,
    top_and_bottom,
    tree,
    tree_overlays,
    tree_path,
)
from eller_stream.spec import MazeSpec
from eller_stream.stream import EllerStream
from eller_stream.verify import verify

few = settings(max_examples=25)


def plain_distances(block, start):
    """Return the steps from a cell to each cell that can be reached, over the block's own passages."""
    sides = {}
    for a, b in block.passages():
        if b[0] < block.stop:
            sides.setdefault(a, []).append(b)
            sides.setdefault(b, []).append(a)
    distances, waiting = {start: 0}, deque([start])
    while waiting:
        cell = waiting.popleft()
        for neighbour in sides.get(cell, []):
            if neighbour not in distances:
                distances[neighbour] = distances[cell] + 1
                waiting.append(neighbour)
    return distances


def check_path(path, block, start, end):
    """Check that a path leads over open passages and is a shortest one."""
    cells = path.cells()
    assert (cells[0], cells[-1], len(cells)) == (start, end, path.steps + 1)
    open_ = set(block.passages())
    assert all(pair in open_ or pair[::-1] in open_ for pair in itertools.pairwise(cells))
    assert path.steps == plain_distances(block, start)[end]


def cell_in(data, block):
    return data.draw(st.tuples(st.integers(block.start, block.stop - 1), st.integers(0, block.width - 1)))


def cut(block, cuts):
    """The block in pieces; equal cuts make pieces without rows."""
    return [block[a:b] for a, b in itertools.pairwise([0, *sorted(cuts), len(block)])]


def maze(width, height, seed=1, **options):
    return EllerStream(width, seed=seed, height=height, **options).read(height)


# ---- perfect mazes ---------------------------------------------------------------------------


def test_the_only_path_of_the_published_example(backend):
    rows = MazeRows.of(block_of_passages(PUBLISHED, 5, 6))
    path = tree_path(rows, (0, 0), (4, 5))
    assert (path.steps, len(path)) == (13, 14)
    assert path.cells() == shortest_path(rows, (0, 0), (4, 5)).cells()
    check_path(path, block_of_passages(PUBLISHED, 5, 6), (0, 0), (4, 5))


@few
@given(
    specs(max_width=30, heights=(1, 2, 3, 4, 5, 8, 17, 33), plain=True),
    st.sampled_from([1, 40, 100, 2**22]),
    st.integers(2, 4),
    st.data(),
)
def test_the_path_of_a_perfect_maze(backend, spec, most_labels, pieces, data):
    block = EllerStream.from_spec(spec).read(spec.height)
    start, end = cell_in(data, block), cell_in(data, block)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "MOST_LABELS", most_labels)
        patch.setattr(tree, "PIECES", pieces)
        path = tree_path(MazeRows.of(block, spec.key_interval), start, end)
        foreign = tree_path(MazeRows.of(block), start, end)
    check_path(path, block, start, end)
    assert path.cells() == foreign.cells() == shortest_path(MazeRows.of(block), start, end).cells()


@pytest.mark.parametrize("width", [1, 2, 63, 64, 65])
@pytest.mark.parametrize("height", [1, 2, 12])
def test_edges(backend, width, height):
    block = maze(width, height, key_interval=4)
    corners = [(r, c) for r in {0, height // 2, height - 1} for c in {0, width - 1}]
    for start, end in itertools.product(corners, corners):
        check_path(tree_path(MazeRows.of(block, 4), start, end), block, start, end)
        check_path(shortest_path(MazeRows.of(block), start, end), block, start, end)


@pytest.mark.parametrize("rows", [(3, 4), (4, 3), (4, 7), (7, 8), (3, 3), (8, 8), (0, 19), (19, 0)])
def test_first_and_last_rows_of_bands(backend, rows):
    block = maze(9, 20, key_interval=4)
    for start, end in itertools.product(*[[(row, c) for c in (0, 4, 8)] for row in rows]):
        check_path(tree_path(MazeRows.of(block, 4), start, end), block, start, end)


@pytest.mark.parametrize("first", [0, 1024, 2**32 - 2, 2**40 + 3, 2**48 - 40])
def test_fragments_far_down(backend, first):
    stream = EllerStream(12, seed=5, key_interval=16)
    stream.seek(first)
    block = stream.read(40)
    draw = random.Random(first)
    found = 0
    for _ in range(40):
        start, end = ((draw.randrange(first, first + 40), draw.randrange(12)) for _ in range(2))
        if end in plain_distances(block, start):
            for one_set in (0, 16):
                check_path(tree_path(MazeRows.of(block, one_set), start, end), block, start, end)
            check_path(shortest_path(MazeRows.of(block), start, end), block, start, end)
            found += 1
        else:
            for function in (tree_path, shortest_path):
                with pytest.raises(SolveError, match="no path from"):
                    function(MazeRows.of(block), start, end)
            with pytest.raises(SolveError, match="no path from"):
                tree_path(MazeRows.of(block, 16), start, end)
    assert found > 10


def test_an_unfinished_maze_may_not_connect_its_cells_yet(backend):
    block = EllerStream(8, seed=3).read(6)
    below = [(5, c) for c in range(8)]
    reached = [end in plain_distances(block, below[0]) for end in below]
    assert not all(reached)
    for end, is_reached in zip(below, reached, strict=True):
        if is_reached:
            check_path(tree_path(MazeRows.of(block), below[0], end), block, below[0], end)
        else:
            with pytest.raises(SolveError, match=r"no path from \(5, 0\) to .* within rows 0 to 5"):
                tree_path(MazeRows.of(block), below[0], end)


def test_a_cycle_is_told(backend):
    rows = MazeRows.of(block_of_passages([*PUBLISHED, ADDED], 5, 6))
    with pytest.raises(SolveError, match="not perfect: a cycle shows in row 4"):
        tree_path(rows, (0, 0), (4, 5))


def test_what_is_read_at_a_time_is_bounded_and_with_key_rows_only_what_is_needed(backend, monkeypatch):
    monkeypatch.setattr(tree, "MOST_LABELS", 100)
    block, asked = maze(10, 400, key_interval=40), []
    in_memory = MazeRows.of(block).read

    def read(row, count):
        asked.append((row, count))
        return in_memory(row, count)

    for one_set in (0, 40):
        path = tree_path(MazeRows(10, 0, 400, read, one_set), (210, 0), (225, 9))
        check_path(path, block, (210, 0), (225, 9))
        assert max(count for _, count in asked) == 10
        if one_set:
            assert max(row + count for row, count in asked) <= 240
            assert min(row for row, _ in asked) >= 80
        asked.clear()


# ---- overlays --------------------------------------------------------------------------------


@few
@given(specs(max_width=20, heights=(1, 2, 9, 20), plain=True), st.data())
def test_the_overlay_is_the_path_as_a_maze(backend, spec, data):
    block = EllerStream.from_spec(spec).read(spec.height)
    start, end = cell_in(data, block), cell_in(data, block)
    path = tree_path(MazeRows.of(block), start, end)
    overlay = path.overlay(0, spec.height)
    report = verify([overlay])
    assert (report.answer, report.cells, report.passages) == ("connected", len(path), path.steps)
    assert set(overlay.passages()) == {tuple(sorted(pair)) for pair in itertools.pairwise(path.cells())}
    cut = data.draw(st.integers(0, spec.height))
    assert path.overlay(0, cut) == overlay[:cut]
    assert path.overlay(cut, spec.height - cut) == overlay[cut:]
    pieces = list(tree_overlays(MazeRows.of(block, spec.key_interval), start, end))
    assert all(piece == path.overlay(piece.start, len(piece)) for piece in pieces)


def test_an_overlay_beyond_the_maze_is_empty():
    path = tree_path(MazeRows.of(maze(5, 4)), (0, 0), (3, 4))
    overlay = path.overlay(4, 3)
    assert (len(overlay), overlay.floor.any(), overlay.east.any(), overlay.north.any()) == (3, False, False, False)


# ---- loops, maps, ends -----------------------------------------------------------------------


@few
@given(specs(max_width=20, heights=(1, 2, 5, 12)), st.data())
def test_shortest_paths_with_loops(backend, spec, data):
    block = EllerStream.from_spec(spec).read(spec.height)
    start, end = cell_in(data, block), cell_in(data, block)
    check_path(shortest_path(MazeRows.of(block), start, end), block, start, end)


@st.composite
def maps(draw):
    """Maps with walls, whose neighbours of floor are all joined; and a start in the middle of nowhere."""
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 12)))
    floor = np.array(draw(st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])))
    floor = floor.reshape(shape)
    east, south = np.zeros((2, *shape), np.bool_)
    east[:, :-1] = floor[:, :-1] & floor[:, 1:]
    south[:-1] = floor[:-1] & floor[1:]
    planes = [pack_bits(plane) for plane in (east, south, np.zeros(shape[1], np.bool_), floor)]
    return Block(draw(st.sampled_from([0, 2**33])), shape[1], *planes), floor


@few
@given(maps(), st.data())
def test_paths_over_the_floor_of_maps(backend, drawn, data):
    block, floor = drawn
    rows = MazeRows.of(block)
    start, end = cell_in(data, block), cell_in(data, block)
    if not all(floor[r - block.start, c] for r, c in (start, end)):
        with pytest.raises(SolveError, match="is a wall"):
            shortest_path(rows, start, end)
    elif end in plain_distances(block, start):
        check_path(shortest_path(rows, start, end), block, start, end)
    else:
        with pytest.raises(SolveError, match="no path"):
            shortest_path(rows, start, end)


@few
@given(maps())
def test_top_and_bottom_of_maps(drawn):
    block, floor = drawn
    cells = [(block.start + int(r), int(c)) for r, c in zip(*np.nonzero(floor), strict=True)]
    if cells:
        assert top_and_bottom(MazeRows.of(block)) == (cells[0], cells[-1])
        return
    for function in (top_and_bottom, farthest_pair):
        with pytest.raises(SolveError, match="no cells"):
            function(MazeRows.of(block))


def test_top_and_bottom_of_many_rows_of_walls(monkeypatch):
    floor = np.zeros((50, 3), np.bool_)
    floor[20:30, 1] = True
    south = np.zeros_like(floor)
    south[20:29, 1] = True
    block = Block(0, 3, *(pack_bits(p) for p in (np.zeros_like(floor), south, np.zeros(3, np.bool_), floor)))
    monkeypatch.setattr(search, "_FLOOR_AT_ONCE", 6)
    assert top_and_bottom(MazeRows.of(block)) == ((20, 1), (29, 1))


@few
@given(specs(max_width=12, heights=(1, 2, 5, 9), plain=True))
def test_the_farthest_pair_of_a_perfect_maze(backend, spec):
    block = EllerStream.from_spec(spec).read(spec.height)
    cells = [(r, c) for r in range(spec.height) for c in range(spec.width)]
    farthest = max(max(plain_distances(block, cell).values()) for cell in cells)
    start, end, length = farthest_pair(MazeRows.of(block))
    assert plain_distances(block, start)[end] == length == farthest


@few
@given(specs(max_width=12, heights=(2, 5, 9)))
def test_the_farthest_pair_with_loops_is_as_far_as_is_told(backend, spec):
    block = EllerStream.from_spec(spec).read(spec.height)
    start, end, length = farthest_pair(MazeRows.of(block))
    assert plain_distances(block, start)[end] == length == max(plain_distances(block, start).values())


# ---- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", [(-1, 0), (0, -1), (4, 0), (0, 5), (10**30, 0)])
@pytest.mark.parametrize("function", [tree_path, shortest_path])
def test_cells_outside(function, cell):
    rows = MazeRows.of(maze(5, 4))
    for ends in ((cell, (0, 0)), ((0, 0), cell)):
        with pytest.raises(SolveError, match="outside: there are rows 0 to 3, 5 cells each"):
            function(rows, *ends)


def test_a_maze_without_rows():
    rows = MazeRows.of(maze(5, 4)[:0])
    for function in (tree_path, shortest_path):
        with pytest.raises(SolveError, match="there are no rows"):
            function(rows, (0, 0), (0, 0))
    with pytest.raises(SolveError, match="no cells"):
        farthest_pair(rows)


def test_a_search_is_bounded(monkeypatch):
    rows = MazeRows(1000, 0, 2**40, lambda *_: pytest.fail("nothing is read"))
    for refused in (lambda: shortest_path(rows, (0, 0), (1, 1)), lambda: farthest_pair(rows)):
        with pytest.raises(CapacityError, match="too many to search: at most 67108864 cells"):
            refused()
    monkeypatch.setattr(search, "MOST_CELLS", 20)
    assert farthest_pair(MazeRows.of(maze(5, 4)))
    with pytest.raises(CapacityError):
        farthest_pair(MazeRows.of(maze(7, 3)))


def test_rows_that_find_no_room(monkeypatch):
    def full(*_):
        raise MemoryError

    rows = MazeRows.of(maze(5, 4))
    monkeypatch.setattr(tree.np, "empty", full)
    with pytest.raises(CapacityError, match="rows of 5 cells finds no room"):
        tree_overlays(rows, (0, 0), (3, 4))


def test_rows_that_were_not_asked_for():
    block = maze(5, 8)
    rows = MazeRows(5, 0, 8, lambda row, count: block[row : row + count - 1])
    with pytest.raises(BlockError, match="rows 0 to 7 of 5 cells were asked for, rows 0 to 6 of 5 cells came"):
        tree_path(rows, (0, 0), (7, 0))


# ---- the two backends ------------------------------------------------------------------------


def step_arrays(width, rows, draw):
    planes = [pack_bits(np.array([[draw.random() < 0.4 for _ in range(width)] for _ in range(rows)])) for _ in "es"]
    labels, marks = np.full((rows + 1, width), -1, np.int32), np.full((rows + 1, 2), -1, np.int32)
    return planes, labels, marks, np.array([(draw.randrange(-1, rows), draw.randrange(width)) for _ in "ab"], np.int64)


@few
@example(1, 1, 0)
@example(64, 3, 1)
@example(65, 3, 2)
@given(st.integers(1, 20), st.integers(1, 6), st.integers(0, 2**32))
def test_both_backends_find_the_same_in_any_rows(pytestconfig, width, rows, seed):
    assume(not pytestconfig.getoption("--without-c"))
    draw = random.Random(seed)
    found = {}
    for backend in ("c", "python"):
        draw.seed(seed)
        (east, south), labels, marks, ends = step_arrays(width, rows, draw)
        chosen, scratch = steps.steps(backend), np.zeros(8 * width, np.int32)
        chosen.sweep(width, east, south, labels, marks, ends, scratch[: 2 * width])
        demand = pack_bits(np.array([draw.random() < 0.2 for _ in range(width)]))
        paths = np.zeros_like(east), np.zeros_like(east)
        stopped = chosen.trace(width, east, labels[:-1], marks[:-1], ends, demand, *paths, scratch)
        distance, queue = np.empty((rows, width), np.int32), np.empty(rows * width, np.int32)
        sides = Block(0, width, east, south, south[0] * 0).cells() & 15
        sides[-1] &= ~2 & 15
        sides[:, -1] &= ~4 & 15
        reached = chosen.search(width, sides, distance, queue, draw.randrange(rows * width))
        found[backend] = [stopped, reached, *map(np.ndarray.tolist, (labels, marks, *paths, demand, distance))]
        found[backend].append(queue[:reached].tolist())
    assert found["c"] == found["python"]


def test_the_c_steps_refuse_what_does_not_fit(pytestconfig):
    if pytestconfig.getoption("--without-c"):
        pytest.skip("the C backend is left out")
    sweep, trace, find, _ = steps.steps("c")
    plane, row = np.zeros((2, 1), np.uint8), np.zeros(1, np.uint8)
    labels, marks, ends = np.full((3, 8), -1, np.int32), np.full((3, 2), -1, np.int32), np.zeros((2, 2), np.int64)
    scratch = np.zeros(64, np.int32)
    good = [8, plane, plane, labels, marks, ends, scratch[:16]]
    sweep(*good)
    bad_labels, bad_marks, bad_ends = labels + 2, marks + 9, ends + 8
    for place, bad in [(0, 0), (0, 9), (0, -8), (1, row), (2, row), (3, labels[1:]), (3, bad_labels), (4, marks[1:])]:
        with pytest.raises(ValueError, match="do not fit"):
            sweep(*good[:place], bad, *good[place + 1 :])
    for place, bad in [(4, bad_marks), (5, bad_ends), (5, ends[1:]), (5, ends - 1), (6, scratch)]:
        with pytest.raises(ValueError, match="do not fit"):
            sweep(*good[:place], bad, *good[place + 1 :])
    good = [8, plane, labels[1:].copy(), marks[1:], ends, row, plane.copy(), plane.copy(), scratch]
    assert trace(*good)[0] == 0
    for place, bad in [(1, row), (2, labels), (2, bad_labels[1:]), (3, bad_marks[1:]), (4, bad_ends), (5, plane)]:
        with pytest.raises(ValueError, match="do not fit"):
            trace(*good[:place], bad, *good[place + 1 :])
    for place, bad in [(6, row.copy()), (7, row.copy()), (8, scratch[1:])]:
        with pytest.raises(ValueError, match="do not fit"):
            trace(*good[:place], bad, *good[place + 1 :])
    good = [2, np.zeros(6, np.uint8), np.zeros(6, np.int32), np.zeros(6, np.int32), 5]
    assert find(*good) == 1
    for place, bad in [(0, 0), (0, 4), (1, np.zeros(8, np.uint8)), (2, scratch), (3, scratch), (4, 6), (4, -1)]:
        with pytest.raises(ValueError, match="do not fit"):
            find(*good[:place], bad, *good[place + 1 :])


def test_an_unknown_backend():
    with pytest.raises(KernelError, match="c or python, not 'rust'"):
        steps.steps("rust")


def test_planes_need_not_be_contiguous(backend):
    block = maze(20, 6)
    wide = [np.repeat(plane, 2, axis=1)[:, ::2] for plane in (block.east, block.south)]
    spread = Block(0, 20, *wide, block.north)
    check_path(tree_path(MazeRows.of(spread), (0, 0), (5, 19)), block, (0, 0), (5, 19))


def test_a_list_of_passages_is_solved_as_its_maze_is():
    spec = MazeSpec(9, seed=4, height=7)
    passages = EllerStream.from_spec(spec).read(7).passages()
    assert check_passages(passages, 7, 9).ok
    path = tree_path(MazeRows.of(block_of_passages(passages[::-1], 7, 9)), (0, 0), (6, 8))
    assert path.cells() == tree_path(MazeRows.of(EllerStream.from_spec(spec).read(7)), (0, 0), (6, 8)).cells()


# ---- several threads ------------------------------------------------------------------------------------


@few
@given(st.data(), specs(max_width=20, key_intervals=(2, 4, 16), heights=(40,), plain=True), st.integers(2, 4))
def test_several_threads_find_the_same_path(data, spec, workers):
    block = EllerStream.from_spec(spec).read(40)
    cells = st.tuples(st.integers(0, 39), st.integers(0, spec.width - 1))
    start, end = data.draw(cells), data.draw(cells)
    rows = MazeRows.of(block, spec.key_interval)
    one = list(tree_overlays(rows, start, end))
    assert list(tree_overlays(rows, start, end, workers=workers)) == one
    assert tree_path(rows, start, end, workers=workers).cells() == tree_path(rows, start, end).cells()
    assert list(tree_overlays(MazeRows.of(block), start, end, workers=workers)) == list(
        tree_overlays(MazeRows.of(block), start, end)
    )


def test_rows_that_the_path_does_not_need_may_be_damaged():
    block = EllerStream(9, seed=1, height=80, key_interval=8).read(80)

    def read(row, rows):
        if row < 40:
            raise OSError("damaged")
        return block[row : row + rows]

    rows = MazeRows(9, 0, 80, read, 8)
    start, end = (70, 0), (72, 8)
    assert tree_path(rows, start, end, workers=3).cells() == tree_path(rows, start, end).cells()
    with pytest.raises(OSError, match="damaged"):
        tree_path(rows, (70, 0), (0, 0), workers=3)
    with pytest.raises(StreamError, match="workers"):
        tree_path(rows, start, end, workers=0)
