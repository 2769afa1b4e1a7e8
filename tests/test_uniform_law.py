"""The law of uniform's rows: against the enumeration of all trees, against determinants, and as they come out."""

from collections import Counter
from functools import cache
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from grid_law import ENDLESS, chances, grid_edges, hidden_edges, laplacian, row_law, tree_weight, trees, visible_edges

from eller_stream.block import E, N, S, W
from eller_stream.streams import open_stream
from eller_stream.uniform import UniformStream
from eller_stream.uniform.rows import labels_below
from eller_stream.uniform.table import strip

SMALL = [(w, h) for w in range(1, 4) for h in range(1, 4)] + [(4, 2), (2, 5), (4, 3)]


@cache
def law_of(labels, below):
    return row_law(labels, below)


@pytest.mark.parametrize(("width", "height"), SMALL)
def test_the_product_of_the_rows_laws_is_one_in_the_number_of_trees(width, height):
    """Each tree's chance is that of its rows, one after another; the laws come from the table, entry by entry."""
    found = trees(width, height)
    expected = 1 / len(found)
    assert round(tree_weight(width * height, grid_edges(width, height))) == len(found) == len(set(found))
    for tree in found:
        labels, chance = tuple(range(width)), 1.0
        for below, row in zip(range(height - 1, -1, -1), tree, strict=True):
            chance *= law_of(labels, below)[row]
            labels = tuple(labels_below(list(labels), *row))
        assert chance == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("width", [1, 2, 9, 64])
def test_an_end_far_away_is_no_end(width):
    """The tables of ever more rows come as near to the endless one as floats can tell."""
    endless = np.array(chances(width, ENDLESS), float)
    distances = [np.abs(np.array(chances(width, n * width), float) - endless).sum() / 2**64 for n in (1, 2, 4, 6, 13)]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 1e-6
    assert distances[3] < 1e-8
    assert distances[4] == 0


# ---- as they come out ----------------------------------------------------------------------------------

SIGNIFICANCE = 1e-4  # of each test below, with fixed seeds


def chi_square_fits(counts, expected):
    """Whether counts of equally expected cases pass a chi-square test (Wilson and Hilferty's normal approximation)."""
    freedom = len(counts) - 1
    statistic = sum((n - expected) ** 2 / expected for n in counts)
    z = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / (2 / (9 * freedom)) ** 0.5
    return z < NormalDist().inv_cdf(1 - SIGNIFICANCE)


def drawn(width, height, seeds):
    """Return how often each tree came out."""
    found = Counter()
    for seed in seeds:
        block = UniformStream(width, seed=seed, height=height).read(height)
        found[block.east.tobytes() + block.south.tobytes()] += 1
    return found


@pytest.mark.parametrize(("width", "height", "times"), [(2, 2, 400), (3, 2, 60), (2, 3, 60), (4, 2, 20), (3, 3, 20)])
def test_all_trees_are_equally_likely(backend, width, height, times):
    number = len(trees(width, height))
    found = drawn(width, height, range(times * number))
    assert len(found) == number
    assert chi_square_fits(list(found.values()), times)


def test_the_chi_square_test_sees_a_bias():
    """Counts that scatter as they should, and some that scatter a third more."""
    assert chi_square_fits([90, 110] * 96, 100)
    assert not chi_square_fits([87, 113] * 96, 100)


# ---- wide mazes against the whole grid's Green's function ------------------------------------------------

WIDE = 64


@cache
def green(width, height):
    """Return a generalised inverse of the grid's Laplacian: the cells' potentials for unit currents."""
    return np.linalg.inv(laplacian(width * height, grid_edges(width, height)) + 1 / (width * height))


def transfer(potentials, e, f):
    """Return the current through edge f when a unit current enters and leaves at the ends of edge e."""
    difference = potentials[e[0]] - potentials[e[1]]
    return difference[f[0]] - difference[f[1]]


def edge_chances(potentials, edges):
    """Return the chance of each edge, and of each two neighbours of the list together (Burton and Pemantle)."""
    ones = np.array([transfer(potentials, e, e) for e in edges])
    across = np.array([transfer(potentials, e, f) for e, f in pairwise(edges)])
    return ones, ones[:-1] * ones[1:] - across**2


@pytest.mark.parametrize("rows", [2, 9, 30])
def test_the_first_row_of_a_wide_maze_has_the_grids_chances(rows):
    """The row's graph, which is twice the row, is the whole grid's equal: in currents, and so in chances."""
    labels = list(range(WIDE))
    small = laplacian(2 * WIDE, visible_edges(labels, rows - 1) + hidden_edges(WIDE, rows - 1))
    potentials = np.linalg.inv(small + 1 / (2 * WIDE))
    mine = np.concatenate(edge_chances(potentials, visible_edges(labels, rows - 1)))
    whole = [(c, c + 1) for c in range(WIDE - 1)] + [(c, WIDE + c) for c in range(WIDE)]
    theirs = np.concatenate(edge_chances(green(WIDE, rows), whole))
    assert np.allclose(mine, theirs, rtol=0, atol=1e-12)


def shares_fit(found, chances, number):
    """Whether shares of `number` mazes are as expected, all of them; each has its part of the significance."""
    z = (found - chances) / np.sqrt(chances * (1 - chances) / number)
    most = NormalDist().inv_cdf(1 - SIGNIFICANCE / 2 / z.size)
    return bool(np.abs(z).max() < most)


@pytest.fixture(scope="module")
def wide_mazes():
    return [UniformStream(WIDE, seed=seed, height=16).read(16) for seed in range(1500)]


def test_one_edge_and_two_edges_of_wide_mazes_come_out_as_often_as_they_should(wide_mazes):
    potentials, height = green(WIDE, 16), 16
    for r in (0, 7, 8, height - 2, height - 1):
        cells = [r * WIDE + c for c in range(WIDE)]
        east = [(cell, cell + 1) for cell in cells[:-1]]
        came = np.array([block.bools("east")[r, :-1] for block in wide_mazes])
        ones, twos = edge_chances(potentials, east)
        assert shares_fit(came.mean(axis=0), ones, len(wide_mazes))
        assert shares_fit((came[:, :-1] & came[:, 1:]).mean(axis=0), twos, len(wide_mazes))
        if r < height - 1:
            south = [(cell, cell + WIDE) for cell in cells]
            came = np.array([block.bools("south")[r] for block in wide_mazes])
            ones, twos = edge_chances(potentials, south)
            assert shares_fit(came.mean(axis=0), ones, len(wide_mazes))
            assert shares_fit((came[:, :-1] & came[:, 1:]).mean(axis=0), twos, len(wide_mazes))


def passages_south(algorithm, row, **options):
    """Return, for each of many mazes, how many passages lead south from a row."""
    streams = (open_stream(algorithm, width=WIDE, seed=seed, height=16, **options) for seed in range(600))
    return np.array([int(stream.read(16).bools("south")[row].sum()) for stream in streams])


def row_fits(numbers, row):
    """Whether the mean number of passages south of a row is that of uniform trees."""
    south = [(row * WIDE + c, row * WIDE + WIDE + c) for c in range(WIDE)]
    expected = edge_chances(green(WIDE, 16), south)[0].sum()
    z = (numbers.mean() - expected) / (numbers.std(ddof=1) / len(numbers) ** 0.5)
    return abs(z) < NormalDist().inv_cdf(1 - SIGNIFICANCE / 2)


def test_uniform_has_no_seams_where_wilson_in_bands_has_them():
    """The seam of two bands is a row like any other, and only uniform takes it as one."""
    assert row_fits(passages_south("uniform", 7), 7)
    assert not row_fits(passages_south("wilson", 7, band=8), 7)
    assert row_fits(passages_south("wilson", 7, band=16), 7), "within a band it is Wilson's algorithm"


# ---- shapes ----------------------------------------------------------------------------------------------


def test_dead_ends_and_straights_are_as_many_as_in_uniform_trees():
    """At 100 x 100: 29.33 % dead ends and 17.08 % straights. A maze's share varies by about 0.003."""
    number = 40
    masks = [UniformStream(100, seed=seed, height=100).read(100).cells() for seed in range(number)]
    dead_ends = [np.isin(cells, [N, S, E, W]).mean() for cells in masks]
    straights = [np.isin(cells, [N | S, E | W]).mean() for cells in masks]
    most = NormalDist().inv_cdf(1 - SIGNIFICANCE / 2)
    for found, expected in ((dead_ends, 0.2933), (straights, 0.1708)):
        error = np.std(found, ddof=1) / number**0.5
        assert error < 0.001
        assert abs(np.mean(found) - expected) < most * error + 0.00005


# ---- endless, then finalized -----------------------------------------------------------------------------


def distance_bound(width, rows):
    """Return the bound on the distance from uniform in total variation that the docs state."""
    parts, total = strip(width), 0.0
    for top in parts.tops[1:width]:
        s = (1 + top) ** (-2.0 * rows)
        total += np.log((1 + s * (1 + top)) / (1 - s))
    return float(np.tanh(total / 4))


def test_the_bound_on_the_bias_is_what_the_docs_say():
    for width in (64, 256):
        found = [distance_bound(width, rows) for rows in (width // 4, width, 3 * width)]
        assert found == pytest.approx([0.13, 0.001, 3e-9], rel=0.3)
