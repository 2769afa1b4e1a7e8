"""The law of uniform's rows: against the enumeration of all trees, against determinants, and as they come out."""

from functools import cache

import pytest
from grid_law import grid_edges, row_law, tree_weight, trees

from eller_stream.uniform.rows import labels_below

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
