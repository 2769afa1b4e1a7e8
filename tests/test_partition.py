"""Partitions: which bit pairs are a row, and the set numbers that they tell."""

from itertools import product

import numpy as np
import pytest
from helpers import Graph, PlainStream, bits_of_labels, nested, partitions, seeds, smallest
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream.partition import is_row, levels, set_numbers
from eller_stream.spec import MazeSpec, Probability


def all_partitions(width):
    """Every way to put the cells into sets, crossing or not."""
    rows = [[]]
    for _ in range(width):
        rows = [[*row, label] for row in rows for label in range(max(row, default=-1) + 2)]
    return rows


def crosses(labels):
    """Return whether some a < b < c < d have a and c in one set, b and d in another."""
    width = len(labels)
    return any(
        labels[a] == labels[c] != labels[b] == labels[d]
        for a in range(width)
        for b in range(a + 1, width)
        for c in range(b + 1, width)
        for d in range(c + 1, width)
    )


def arrays(labels):
    return tuple(np.array(bits, bool) for bits in bits_of_labels(labels))


@pytest.mark.parametrize("width", range(1, 7))
def test_a_row_is_the_image_of_a_partition_without_crossings(width):
    rows = [labels for labels in all_partitions(width) if not crosses(labels)]
    assert len(rows) == [1, 2, 5, 14, 42, 132][width - 1]
    images = {tuple(map(tuple, bits_of_labels(labels))): labels for labels in rows}
    assert len(images) == len(rows), "two bits a cell tell the sets fully"
    bools = list(product([False, True], repeat=width))
    for pair in product(bools, bools):
        has_next, has_prev = (np.array(bits, bool) for bits in pair)
        answer = is_row(has_next, has_prev)
        assert bool(answer) == (pair in images), pair
        if answer:
            assert set_numbers(has_next, has_prev).tolist() == smallest(images[pair])


@given(labels=partitions(max_size=300))
def test_set_numbers_are_the_smallest_columns(labels):
    numbers = set_numbers(*arrays(labels))
    assert numbers.dtype == np.int32
    assert numbers.tolist() == smallest(labels)
    assert is_row(*arrays(labels))


@given(labels=partitions(), flips=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 129)), min_size=1, max_size=3))
def test_a_flipped_bit_makes_another_row_or_none(labels, flips):
    """Read back from its own numbers, what is called a row has the same bits."""
    bits = arrays(labels)
    for plane, c in flips:
        bits[plane][c % len(labels)] ^= True
    if is_row(*bits):
        assert [plane.tolist() for plane in bits] == list(bits_of_labels(set_numbers(*bits).tolist()))


@given(seed=seeds, width=st.integers(1, 30), rows=st.integers(0, 12), chance=st.integers(0, 65_536).map(Probability))
@settings(max_examples=60)
def test_set_numbers_are_what_the_rows_above_connect(seed, width, rows, chance):
    plain = PlainStream(MazeSpec(width, seed=seed, p_east=chance, key_interval=8))
    graph = Graph()
    for row in plain.rows(rows):
        for c in range(width):
            if row.east[c]:
                graph.unite((row.index, c), (row.index, c + 1))
            if row.south[c]:
                graph.unite((row.index, c), (row.index + 1, c))
    connected = smallest([graph.root((rows, c)) for c in range(width)])
    assert set_numbers(*arrays(plain.labels)).tolist() == connected


def test_levels_by_hand():
    """Sets {0, 6}, {1, 3}, {2}, {4}, {5}, {7}."""
    labels = [0, 1, 2, 1, 4, 5, 0, 7]
    assert levels(*arrays(labels)).tolist() == [0, 1, 2, 1, 1, 1, 0, 0]
    assert set_numbers(*arrays(labels)).tolist() == labels


@pytest.mark.parametrize("width", [1, 2, 3, 1000, 1001])
def test_the_deepest_rows(width):
    labels = nested(width)
    assert levels(*arrays(labels)).tolist() == [
        min(label, (width - 2) // 2 if width % 2 == 0 else label) for label in labels
    ]
    assert is_row(*arrays(labels))
    assert set_numbers(*arrays(labels)).tolist() == labels


@pytest.mark.parametrize(
    ("has_next", "has_prev"),
    [
        ([1], [0]),
        ([0], [1]),
        ([0, 1], [0, 0]),
        ([0, 0], [1, 0]),
        ([1, 0], [0, 0]),
        ([0, 0], [0, 1]),
        ([0, 1, 0], [0, 0, 0]),
        ([0, 0, 1, 0], [0, 1, 0, 0]),
    ],
)
def test_bits_that_are_no_row(has_next, has_prev):
    assert not is_row(np.array(has_next, bool), np.array(has_prev, bool))
