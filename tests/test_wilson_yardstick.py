"""The yardstick of uniform mazes in benchmarks/ makes uniform spanning trees."""

import importlib
from collections import Counter
from pathlib import Path

import pytest

from eller_stream.verify import PERFECT, verify

ROOT = Path(__file__).parents[1]


@pytest.fixture
def wilson(request, monkeypatch):
    if request.config.getoption("--without-c"):
        pytest.skip("the C backend was left out")
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.wilson").CWilson


@pytest.mark.parametrize(("width", "rows"), [(1, 1), (1, 9), (9, 1), (2, 2), (65, 40)])
def test_its_mazes_are_perfect(wilson, width, rows):
    for seed in (0, 7, 2**64 - 1):
        textbook = wilson(width, rows)
        steps = textbook.make(seed)
        assert steps >= width * rows - 1
        assert verify([textbook.block()]).answer == PERFECT


def test_all_trees_are_equally_likely(wilson):
    """192 trees, 20 times each in the mean: 99.99 % of such samples stay below 271 (chi-square, 191 degrees)."""
    textbook, found = wilson(3, 3), Counter()
    for seed in range(3840):
        textbook.make(seed)
        block = textbook.block()
        found[block.east.tobytes() + block.south.tobytes()] += 1
    assert len(found) == 192
    assert sum((n - 20) ** 2 / 20 for n in found.values()) < 271
