"""Measures: counted over the cells of small mazes by hand and by brute force; drawing until a maze is good enough."""

from collections import Counter

import numpy as np
import pytest
from helpers import dead_ends, specs
from hypothesis import given, settings
from hypothesis import strategies as st
from test_passages import PUBLISHED
from test_solve import cut, maps

from eller_stream import measure as module
from eller_stream.block import Block
from eller_stream.errors import BlockError, SolveError
from eller_stream.measure import Measurer, Way, draw, longest_way, measure
from eller_stream.passages import block_of_passages
from eller_stream.solve import MazeRows, steps
from eller_stream.stream import EllerStream

few = settings(max_examples=25)


def sides_of(passages):
    sides = {}
    for a, b in passages:
        sides.setdefault(a, []).append(b)
        sides.setdefault(b, []).append(a)
    return sides


def plain_corridors(passages):
    """Return how many corridors of each length there are, walking each from both its ends."""
    sides, lengths = sides_of(passages), Counter()
    for cell, neighbours in sides.items():
        for at in neighbours if len(neighbours) != 2 else []:
            before, length = cell, 1
            while len(sides[at]) == 2:
                before, at = at, next(there for there in sides[at] if there != before)
                length += 1
            lengths[length] += 1
    return tuple(sorted((length, count // 2) for length, count in lengths.items()))


def check_measures(block, measures):
    passages = block.passages()
    counts = Counter(len(neighbours) for neighbours in sides_of(passages).values())
    assert (measures.rows, measures.passages) == (len(block), len(passages))
    assert (measures.dead_ends, measures.junctions) == (counts[1], counts[3] + counts[4])
    assert measures.corridors == plain_corridors(passages)


def test_the_published_example(backend):
    measures = measure([block_of_passages(PUBLISHED, 5, 6)])
    assert (measures.rows, measures.cells, measures.passages) == (5, 30, 29)
    assert (measures.dead_ends, measures.junctions) == (5, 3)
    assert measures.corridors == ((1, 2), (2, 2), (5, 1), (7, 1), (11, 1))
    assert (measures.longest_corridor, measures.mean_corridor) == (11, 29 / 7)


@few
@given(specs(max_width=40, heights=(1, 2, 3, 7, 20), plain=True), st.data())
def test_perfect_mazes_in_any_pieces(backend, spec, data):
    block = EllerStream.from_spec(spec).read(spec.height)
    cuts = data.draw(st.lists(st.integers(0, len(block)), max_size=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS_AT_ONCE", data.draw(st.sampled_from([1, 100, 2**18])))
        measures = measure(cut(block, cuts))
    check_measures(block, measures)
    assert measures.cells == spec.width * spec.height
    assert measures.dead_ends == dead_ends(block)
    assert sum(length * count for length, count in measures.corridors) == measures.passages


@few
@given(specs(max_width=12, heights=(3, 8)))
def test_mazes_with_loops(backend, spec):
    block = EllerStream.from_spec(spec).read(spec.height)
    measures = measure([block])
    if measures.dead_ends + measures.junctions:  # else the maze may be one cycle
        check_measures(block, measures)


@few
@given(maps())
def test_maps(backend, drawn):
    block, floor = drawn
    measures = measure([block])
    assert measures.cells == np.count_nonzero(floor)
    counts = Counter(len(neighbours) for neighbours in sides_of(block.passages()).values())
    assert (measures.dead_ends, measures.junctions) == (counts[1], counts[3] + counts[4])


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 63, 64, 65])
@pytest.mark.parametrize("height", [1, 2, 9])
def test_edges(backend, width, height):
    block = EllerStream(width, seed=width, height=height).read(height)
    check_measures(block, measure([block]))


def test_one_cell(backend):
    measures = measure([EllerStream(1, seed=0, height=1).read(1)])
    assert (measures.cells, measures.dead_ends, measures.junctions, measures.corridors) == (1, 0, 0, ())
    assert (measures.longest_corridor, measures.mean_corridor) == (0, 0.0)


def test_a_corridor_of_many_rows(backend):
    block = Block.from_bools(np.zeros((500, 1)), [[True]] * 499 + [[False]], start=0)
    assert measure(cut(block, [100, 101, 300])).corridors == ((499, 1),)


def test_a_fragment_counts_what_is_in_its_rows(backend):
    stream = EllerStream(20, seed=1)
    stream.seek(2**40)
    block = stream.read(50)
    measures = measure([block])
    cells = np.unpackbits(block.cells()[..., np.newaxis], axis=-1).sum(axis=-1)
    assert (measures.dead_ends, measures.junctions) == (np.count_nonzero(cells == 1), np.count_nonzero(cells > 2))


def test_a_passage_out_of_the_last_column_makes_no_cell_behind_it(backend):
    block = Block.from_bools([[True, False, True]], np.zeros((1, 3)))
    assert measure([block]).dead_ends == 3


def test_rows_that_do_not_follow():
    measurer = Measurer(5)
    block = EllerStream(5, seed=1).read(4)
    with pytest.raises(BlockError, match="from row 0 on follow here, not rows of 5 cells from row 2 on"):
        measurer.feed(block[2:])
    with pytest.raises(BlockError, match="at least one block"):
        measure([])


def test_plain_data():
    data = measure([block_of_passages(PUBLISHED, 5, 6)]).to_json()
    assert data["corridors"] == {"1": 2, "2": 2, "5": 1, "7": 1, "11": 1}
    assert (data["longest_corridor"], data["mean_corridor"]) == (11, round(29 / 7, 6))


def test_the_c_corridors_refuse_what_does_not_fit(pytestconfig):
    if pytestconfig.getoption("--without-c"):
        pytest.skip("the C backend is left out")
    corridors = steps.steps("c").corridors
    plane, labels, sizes = np.zeros((2, 1), np.uint8), np.full(8, -1, np.int32), np.zeros(8, np.int64)
    good = [8, plane, plane, plane, labels, sizes, np.zeros(24, np.int64), np.zeros(32, np.int64)]
    assert corridors(*good) == 0
    bad = [(0, 0), (0, 9), (0, 2**30), (1, plane[1:]), (2, plane[1:]), (3, plane[1:]), (4, labels + 9), (4, labels[1:])]
    bad += [(5, sizes[1:]), (6, good[6][1:]), (7, good[7][1:])]
    for place, value in bad:
        with pytest.raises(ValueError, match="do not fit"):
            corridors(*good[:place], value, *good[place + 1 :])


# ---- ways ------------------------------------------------------------------------------------


def test_the_longest_way():
    way = longest_way(MazeRows.of(block_of_passages(PUBLISHED, 5, 6)))
    assert (way.steps, way.cells) == (25, 30)
    assert way.quality == pytest.approx(25 / 30**0.5)


@few
@given(maps())
def test_the_longest_way_of_a_map_counts_its_floor(drawn):
    block, floor = drawn
    if floor.any():
        assert longest_way(MazeRows.of(block)).cells == np.count_nonzero(floor)


def make(seed):
    return EllerStream(10, seed=seed, height=10).read(10)


def test_drawing_until_a_maze_is_good_enough():
    ways = {seed % 2**64: longest_way(MazeRows.of(make(seed % 2**64))).quality for seed in range(2**64 - 4, 2**64 + 40)}
    first_four = list(ways.values())[:4]
    bar = next(quality for quality in list(ways.values())[4:] if quality > max(first_four))
    drawn = draw(make, 2**64 - 4, min_quality=bar, tries=100)
    assert (drawn.enough, drawn.way.quality) == (True, bar)
    assert drawn.seed == next(seed for seed, quality in ways.items() if quality >= bar) < 40
    assert drawn.tries == list(ways).index(drawn.seed) + 1


def test_drawing_in_vain_tells_the_best():
    drawn = draw(make, 5, min_quality=1000, tries=6)
    qualities = {seed: longest_way(MazeRows.of(make(seed))).quality for seed in range(5, 11)}
    assert (drawn.enough, drawn.tries, drawn.way.quality) == (False, 6, max(qualities.values()))
    assert qualities[drawn.seed] == drawn.way.quality
    with pytest.raises(SolveError, match="1 or more, not 0"):
        draw(make, 5, min_quality=1, tries=0)


def test_quality():
    assert Way((0, 0), (3, 3), 8, 16).quality == 2
