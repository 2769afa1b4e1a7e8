"""Bands in the lanes of a vector: the same rows as one after the other, wherever they begin and end."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from helpers import carved, lanes_of_this_machine, nested, probabilities, seeds, shallow, state_bytes
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eller_stream import _step, kernel
from eller_stream.spec import MazeSpec, Probability
from eller_stream.stream import EllerStream

WORD_EDGES = [1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513]
WIDTHS = st.one_of(st.sampled_from(WORD_EDGES), st.integers(1, 300))
ONE_WORD, ONE_BAND = 1, 1
PLAIN_WAY = (ONE_WORD, ONE_BAND)


@pytest.fixture(scope="module")
def carve(request):
    """The C kernel; the twin in Python has no lanes."""
    if request.config.getoption("--without-c"):
        pytest.skip("the C backend is left out")
    return kernel.carver("c")


def numbers_of_bands():
    """How many bands the C kernel can be asked to carve at once here; 0 leaves it the choice."""
    most = import_module("eller_stream._kernel").BANDS
    return [bands for bands in (0, 2, 4, 8) if bands <= most]


def same_in_all_ways(carve, spec, expected=None, **rows):
    """Assert that all numbers of bands at once give what is expected; by default, one band, a word at a time."""
    expected = expected or carved(carve, spec, more=PLAIN_WAY, **rows)
    for bands in numbers_of_bands():
        assert carved(carve, spec, more=(0, bands), **rows) == expected, f"{bands} bands"


@st.composite
def banded_specs(draw):
    east, south, loops, braid = (draw(probabilities) for _ in range(4))
    loops, braid = (draw(st.sampled_from([0, chance])) for chance in (loops, braid))
    return MazeSpec(
        draw(WIDTHS),
        seed=draw(seeds),
        p_east=east,
        p_south=south,
        key_interval=2 * draw(st.integers(1, 8)),
        loops=loops,
        braid=braid,
    )


@given(
    spec=banded_specs(),
    band=st.sampled_from([0, 1, 2**32 // 16, 2**40]),
    offset=st.integers(0, 40),
    rows=st.integers(1, 170),
    last=st.one_of(st.none(), st.integers(-12, 12)),
)
@settings(max_examples=120)
@example(spec=MazeSpec(65, seed=3, key_interval=2), band=0, offset=0, rows=16, last=0)
@example(spec=MazeSpec(65, seed=3, key_interval=4), band=0, offset=3, rows=33, last=-1)
def test_bands_side_by_side_are_the_same_rows(carve, spec, band, offset, rows, last):
    """Whole bands, bands begun before, bands cut short, and the last row of the maze among them."""
    row = band * spec.key_interval + offset
    ends = {} if last is None else {"last_row": row + max(0, rows - 1 + last)}
    same_in_all_ways(carve, spec, row=row, rows=rows, **ends)


@given(spec=banded_specs(), bands=st.integers(1, 9), rest=st.integers(0, 15))
@settings(max_examples=25)
def test_bands_side_by_side_are_those_of_the_twin_in_python(carve, spec, bands, rest):
    rows = bands * spec.key_interval + rest % spec.key_interval
    same_in_all_ways(carve, spec, carved(_step.carve, spec, rows=rows), rows=rows)


@pytest.mark.parametrize(
    "n", [1, 2, 3, 31, 32, 33, 96, 127, 1966, 2**14 + 1, 21_845, *range(2**15 - 1, 2**15 + 2), 65_534, 65_535]
)
@pytest.mark.parametrize("width", [1, 65, 512, 1100])
def test_coins_of_few_and_many_words_side_by_side(carve, n, width):
    """The last words of a coin are drawn only where those before leave a column undecided: in some vectors of these."""
    few, many = Probability(n), Probability(65_536 - n)
    one = MazeSpec(width, seed=n, p_east=few, p_south=many, key_interval=4, loops=few, braid=few)
    for spec in (one, replace(one, p_east=many, p_south=few, loops=many, braid=many)):
        expected = carved(_step.carve, spec, row=2**33, rows=34)
        same_in_all_ways(carve, spec, expected, row=2**33, rows=34)
        for lanes in lanes_of_this_machine():
            assert carved(carve, spec, row=2**33, rows=34, more=(lanes, ONE_BAND)) == expected, f"{lanes} lanes"


@pytest.mark.parametrize("labels", [nested(200), shallow(700, 8), shallow(700, 40)], ids=["200", "8", "40"])
@pytest.mark.parametrize("chance", [0.02, 0.5])
def test_a_band_that_nests_too_deep_side_by_side(carve, labels, chance):
    """The first band begins deeper than the planes count; the others stay in their lanes."""
    spec = MazeSpec(len(labels), seed=8, p_east=chance, p_south=1 - chance, key_interval=16, braid=0.3)
    state = state_bytes(labels, [True] * len(labels))
    same_in_all_ways(carve, spec, row=2**20, rows=16 * 9 + 5, state=state)


def test_all_cells_of_a_key_row_drop_side_by_side(carve):
    """Each band then hangs on one cell."""
    for width in (1, 64, 65, 200):
        spec = MazeSpec(width, seed=1, p_south=0, key_interval=4)
        same_in_all_ways(carve, spec, rows=70)


def test_wide_bands_side_by_side_are_fewer(carve):
    """Eight of these do not fit into 64 MiB, and two of the wider ones do not."""
    for width in (4_000_000, 20_000_001):
        spec = MazeSpec(width, seed=2, key_interval=2)
        same_in_all_ways(carve, spec, rows=7)


def test_numbers_of_lanes_and_bands_that_there_are_not(carve):
    spec = MazeSpec(64, seed=1, key_interval=2)
    for more in ((0, 3), (0, -1), (0, 16), (0, 2**31 - 1), (2, 0), (-1, 0), (16, 0)):
        with pytest.raises(ValueError, match=r"is 0 \(the best\), 1, "):
            carved(carve, spec, more=more)
    module = import_module("eller_stream._kernel")
    if module.BANDS < 8:
        with pytest.raises(ValueError, match="this machine has no"):
            carved(carve, spec, more=(0, 8))


# ---- streams ------------------------------------------------------------------------------------


@given(spec=banded_specs(), start=st.integers(0, 60), rows=st.integers(0, 90), height=st.integers(0, 200))
@settings(max_examples=30)
def test_read_gives_what_next_gives(backend, spec, start, rows, height):
    """And both go on alike from there."""
    options = {name: getattr(spec, name) for name in ("seed", "p_east", "p_south", "key_interval", "loops", "braid")}
    at_once, one_by_one = (EllerStream(spec.width, height=height + 70 if height else None, **options) for _ in range(2))
    for stream in (at_once, one_by_one):
        stream.seek(start)
    block = at_once.read(rows)
    singles = [next(one_by_one) for _ in range(len(block))]
    for name in ("east", "south"):
        planes = [np.packbits(getattr(row, name), bitorder="little").tobytes() for row in singles]
        assert getattr(block, name).tobytes() == b"".join(planes)
    assert at_once.snapshot() == one_by_one.snapshot()


def test_schedules_change_within_bands(backend):
    """A stretch of constant probabilities ends wherever it likes."""
    changes = [(0, 0.5), (13, 0.3), (64, 0.7), (65, 0.5), (128, 0.2)]
    spec = {"seed": 4, "key_interval": 16, "p_east": changes, "p_south": changes, "loops": [(0, 0), (70, 0.1)]}
    at_once, one_by_one = EllerStream(130, **spec), EllerStream(130, **spec)
    block = at_once.read(400)
    assert [row.east.tolist() for row in block] == [next(one_by_one).east.tolist() for _ in range(400)]
    assert at_once.snapshot() == one_by_one.snapshot()


def test_threads_carve_side_by_side(carve):
    """The kernel shares nothing between calls; the thread sanitizer watches this one too."""
    specs = [MazeSpec(width, seed=width, key_interval=8, braid=0.2) for width in (63, 64, 65, 500)]
    expected = [carved(carve, spec, rows=300, more=PLAIN_WAY) for spec in specs]
    with ThreadPoolExecutor(len(specs)) as pool:
        for _ in range(3):
            assert list(pool.map(lambda spec: carved(carve, spec, rows=300), specs)) == expected
