"""The options of the algorithms that are carved in bands: normal forms, defaults, bounds, plain data."""

import copy
import dataclasses
import json
import math
import pickle
from fractions import Fraction

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eller_stream.errors import SpecError
from eller_stream.spec import ALGORITHMS, OPTIONS, MazeSpec

BANDED = [name for name in ALGORITHMS if "band" in OPTIONS[name]]
SOME = {
    "p_east": 0.5,
    "p_south": 0.5,
    "key_interval": 0,
    "band": 8,
    "start": (1, 2),
    "goal": (3, 4),
    "weights": (1, 1, 1, 2),
    "doors": 2,
    "max_tunnels": 5,
    "max_length": 5,
}


def spec(algorithm="dfs", **options):
    return MazeSpec(**{"width": 20, "seed": 1, "algorithm": algorithm} | options)


def refused(message, algorithm="dfs", **options):
    with pytest.raises(SpecError, match=message) as caught:
        spec(algorithm, **options)
    assert len(str(caught.value)) < 300


# ---- which options there are ---------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", SOME)
def test_an_option_that_an_algorithm_has_not_is_refused(algorithm, name):
    if name not in OPTIONS[algorithm]:
        known = ", ".join(OPTIONS[algorithm])
        refused(f"{algorithm} has the options {known}, not '{name}'", algorithm, **{name: SOME[name]})


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_spec_has_none_for_the_options_of_others(algorithm):
    made = spec(algorithm)
    for name in SOME:
        if name not in OPTIONS[algorithm]:
            assert getattr(made, name) is None
    assert list(made.to_data()) == ["algorithm", "width", "seed", "height", *OPTIONS[algorithm]]
    shown = repr(made)
    assert all((f" {name}=" in shown) == (name in OPTIONS[algorithm]) for name in SOME)


def test_defaults():
    assert [spec(name).band for name in BANDED] == [64] * 4
    assert (spec().weights, spec().doors, spec().start, spec().goal) == ((1, 1, 1, 1), 2, None, None)
    assert spec("prim").weights == "even"
    assert (spec("random_walk").max_tunnels, spec("random_walk").max_length) == (80, 8)
    assert spec("random_walk", width=2, band=2).max_tunnels == 1


@pytest.mark.parametrize(("width", "band", "doors"), [(1, 64, 1), (16, 64, 1), (17, 64, 2), (2**26, 64, 2**22)])
def test_defaults_follow_the_width(width, band, doors):
    assert (spec(width=width).band, spec(width=width).doors) == (band, doors)
    assert spec(width=width) == spec(width=width, band=band, doors=doors)


def test_the_widest_mazes_have_lower_bands():
    assert spec(width=2**26 + 1).band == 63
    assert [spec(name, width=2**31 - 1).band for name in BANDED] == [2] * 4


# ---- bands ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("band", [0, -1, 2**48 + 1, 10**400, 1.5, "8", True, [8]])
def test_what_is_no_band(band):
    for algorithm in BANDED:
        refused("band is ", algorithm, band=band)


def test_the_caps_of_bands():
    assert spec(width=2**14, band=2**20).band == 2**20
    refused(r"band \* width is at most 17179869184 cells, not 1048577 \* 16384", width=2**14, band=2**20 + 1)
    assert spec("wilson", width=3, band=192).band == 192
    refused("a band of wilson has at most 64 times its width as rows, not 193 at 3", "wilson", width=3, band=193)


# ---- cells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", [(-1, 0), (0, -1), (0, 20), (5, 10**400), (True, 0), (0.0, 0), ("0", 0)])
@pytest.mark.parametrize("algorithm", ["dfs", "prim"])
def test_cells_outside_the_grid_are_refused(algorithm, cell):
    for name in ("start", "goal"):
        refused(f"the (row|column) of {name} is ", algorithm, **{name: cell})


@pytest.mark.parametrize("cell", [5, (1,), (1, 2, 3), "ab", {1: 2, 3: 4}, math.nan])
def test_what_is_no_cell(cell):
    for name in ("start", "goal"):
        refused(rf"{name} is a cell \(row, column\), not ", **{name: cell})


def test_a_start_is_in_the_first_band_and_in_the_maze():
    assert spec(start=(63, 19)).start == (63, 19)
    refused("the row of start is from 0 to 63, not 64", start=(64, 0))
    refused("the row of start is from 0 to 6, not 7", start=(7, 0), height=7)
    assert spec(start=[np.int8(3), np.uint64(4)]) == spec(start=(3, 4))


def test_a_goal_is_anywhere_in_the_maze():
    assert spec(goal=(2**48 - 1, 0), weights=(2, 1)).goal == (2**48 - 1, 0)
    refused("the row of goal is from 0 to 99, not 100", goal=(100, 0), height=100, weights=(2, 1))


def test_a_goal_and_its_weights_go_together():
    for algorithm in ("dfs", "prim"):
        refused("a goal is for weights that speak of it", algorithm, goal=(3, 4))
    refused("a goal is for weights", "prim", goal=(3, 4), weights="even")
    refused("need a goal", "prim", weights=("away", 1))
    refused(r"weights are 4 numbers \(north, east, south, west\)", weights=(1, 2))
    refused(r"weights are 2 numbers \(nearer, farther\)", goal=(3, 4), weights=(1, 2, 3, 4))


# ---- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_weights", "normal"),
    [
        ((1, 1, 1, 1), (1, 1, 1, 1)),
        ((0.25, 0.25, 0.25, 0.25), (1, 1, 1, 1)),
        ((10**9, 10**9, 0, 0), (1, 1, 0, 0)),
        ((2, 4, 6, 8), (1, 2, 3, 4)),
        ([0, 0, 0.1, 0], (0, 0, 1, 0)),
        ((Fraction(1, 3), Fraction(1, 2), 0, 0), (2, 3, 0, 0)),
        ((65_536, 65_535, 0, 0), (65_536, 65_535, 0, 0)),
        ((131_072, 131_071, 0, 0), (1, 1, 0, 0)),
        ((10**30, 1, 0, 10**29), (65_536, 1, 0, 6554)),
        ((math.pi, 1, 1, 1), (65_536, 20_861, 20_861, 20_861)),
        ((np.float64(0.5), np.int8(1), 0, 0), (1, 2, 0, 0)),
    ],
)
def test_weights_become_whole_numbers(given_weights, normal):
    made = spec(weights=given_weights)
    assert made.weights == normal
    assert spec(weights=normal) == made


@given(st.lists(st.integers(0, 10**9) | st.floats(0, 1e9), min_size=4, max_size=4).filter(any))
def test_weights_in_normal_form_stay_as_they_are(weights):
    made = spec(weights=weights)
    assert spec(weights=made.weights) == made == MazeSpec.from_data(made.to_data())
    assert math.gcd(*made.weights) == 1
    assert max(made.weights) <= 65_536
    assert [bool(weight) for weight in made.weights] == [bool(weight) for weight in weights]


@pytest.mark.parametrize(
    "weights",
    [
        (-1, 1, 1, 1),
        (math.nan, 1, 1, 1),
        (math.inf, 1, 1, 1),
        (0, 0, 0, 0),
        (1, 1, 1),
        (1,) * 5,
        (True, 1, 1, 1),
        ("1", 1, 1, 1),
        (None, 1, 1, 1),
        (1j, 1, 1, 1),
        5,
        "even",
        "1111",
        (),
        {},
        iter((1, 1, 1, 1)),
    ],
    ids=lambda value: f"{type(value).__name__}-{value}" if not hasattr(value, "__next__") else "iterator",
)
def test_what_is_no_weights_of_a_search(weights):
    refused("weights are 4 numbers", weights=weights)


@pytest.mark.parametrize(
    ("a", "n"), [(0.05, 3277), (1, 65_536), (64, 2**22), (1e-9, 1), (np.float32(0.5), 32_768), (Fraction(1, 3), 21_845)]
)
def test_the_a_of_weights_becomes_65536ths(a, n):
    made = spec("prim", goal=(3, 4), weights=("away", a))
    assert made.weights == ("away", Fraction(n, 65_536))
    assert made.to_data()["weights"] == ["away", n]
    assert spec("prim", goal=(3, 4), weights=made.weights) == made


@pytest.mark.parametrize("a", [0, -1, 64.1, math.nan, math.inf, True, "1", None, 1j, 10**400], ids=lambda a: str(a)[:5])
def test_what_is_no_a(a):
    refused("the a of weights is a number above 0, at most 64", "prim", goal=(3, 4), weights=("toward", a))


@pytest.mark.parametrize(
    "weights", ["odd", "away", ("near", 1), ("away",), ("away", 1, 2), (1, 2), 5, {}, ([], 1)], ids=repr
)
def test_what_is_no_weights_of_walls(weights):
    refused('weights are "even"', "prim", goal=(3, 4), weights=weights)


# ---- counts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algorithm", "name", "most"),
    [("dfs", "doors", 20), ("random_walk", "max_tunnels", 64 * 64 * 20), ("random_walk", "max_length", 2**31 - 1)],
)
def test_counts_have_bounds(algorithm, name, most):
    assert getattr(spec(algorithm, **{name: most}), name) == most
    for count in (0, -1, most + 1, 10**400):
        refused(f"{name} is from 1 to {most}, not", algorithm, **{name: count})
    for count in (1.0, "1", True):
        refused(f"{name} is an integer", algorithm, **{name: count})


# ---- specs as values, and plain data -----------------------------------------------------------------

RICH = {
    "dfs": {"start": (1, 2), "goal": (3, 4), "weights": (2, 1), "doors": 3, "loops": 0.1, "braid": 0.5},
    "prim": {"start": (1, 2), "goal": (3, 4), "weights": ("toward", 0.05)},
    "wilson": {"band": 9, "loops": [(0, 0.1), (7, 0)]},
    "random_walk": {"max_tunnels": 7, "max_length": 9},
}


@pytest.mark.parametrize("algorithm", BANDED)
def test_there_and_back(algorithm):
    made = spec(algorithm, height=80, **RICH[algorithm])
    packed = msgpack.unpackb(msgpack.packb(made.to_data()))
    copies = [MazeSpec.from_data(packed), MazeSpec.from_data(json.loads(json.dumps(made.to_json())))]
    copies += [copy.copy(made), copy.deepcopy(made), dataclasses.replace(made), pickle.loads(pickle.dumps(made))]
    assert {made, *copies} == {made}
    assert all(other.to_data() == made.to_data() for other in copies)
    assert dataclasses.replace(made, seed=2) == spec(algorithm, **{"height": 80, "seed": 2} | RICH[algorithm])


def test_plain_data_by_hand():
    assert spec("dfs", height=9, **RICH["dfs"]).to_data() == {
        "algorithm": "dfs",
        "width": 20,
        "seed": 1,
        "height": 9,
        "band": 64,
        "loops": [[0, 6554]],
        "braid": 32_768,
        "start": [1, 2],
        "goal": [3, 4],
        "weights": [2, 1],
        "doors": 3,
    }


@pytest.mark.parametrize(
    ("algorithm", "change"),
    [
        ("dfs", {"band": None}),
        ("dfs", {"weights": None}),
        ("dfs", {"weights": [1, 1]}),
        ("dfs", {"weights": ["away", 1]}),
        ("dfs", {"weights": [1, 1, 1, "1"]}),
        ("dfs", {"doors": None}),
        ("dfs", {"start": [1]}),
        ("dfs", {"max_length": 5}),
        ("dfs", {"algorithm": "wilson"}),
        ("prim", {"weights": ["away", 1]}),
        ("prim", {"goal": [1, 1]}),
        ("prim", {"goal": [1, 1], "weights": ["away", 0.5]}),
        ("prim", {"goal": [1, 1], "weights": ["away", 0]}),
        ("prim", {"goal": [1, 1], "weights": ["away", 2**22 + 1]}),
        ("prim", {"goal": [1, 1], "weights": ["away", None]}),
        ("random_walk", {"max_tunnels": None}),
        ("random_walk", {"width": 1}),
        ("wilson", {"p_east": [[0, 1]]}),
    ],
)
def test_bad_data_is_refused(algorithm, change):
    with pytest.raises(SpecError):
        MazeSpec.from_data(spec(algorithm).to_data() | change)


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(algorithm=st.sampled_from(BANDED), data=st.data())
def test_hostile_data_raises_spec_error_only(algorithm, data):
    good = spec(algorithm, **RICH[algorithm]).to_data()
    name = data.draw(st.sampled_from(sorted(good)))
    changed = good | {name: data.draw(DATA)}
    try:
        made = MazeSpec.from_data(changed)
    except SpecError:
        return
    assert MazeSpec.from_data(made.to_data()) == made
