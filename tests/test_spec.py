"""Specs: every wrong value is refused with SpecError, and equal mazes have equal specs."""

import copy
import dataclasses
import hashlib
import itertools
import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import msgpack
import numpy as np
import pytest
from helpers import probabilities, schedules, specs
from hypothesis import example, given
from hypothesis import strategies as st

from eller_stream import spec as spec_module
from eller_stream.errors import EllerStreamError, SpecError
from eller_stream.spec import MAX_ROW, MazeSpec, Probability, Schedule, seed_from_text

HUGE = 10**5000  # too long for Python to print as digits
NAMES = ("p_east", "p_south", "loops", "braid")


def refused(match=None, **values):
    with pytest.raises(SpecError, match=match) as caught:
        MazeSpec(**{"width": 5, "seed": 1} | values)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


def test_spec_error_is_a_value_error_of_the_tree():
    assert issubclass(SpecError, ValueError)
    assert issubclass(SpecError, EllerStreamError)


def test_defaults():
    spec = MazeSpec(64, seed=42)
    even = Schedule(((0, 32_768),))
    never = Schedule(((0, 0),))
    assert dataclasses.asdict(spec) == {
        "algorithm": "eller",
        "width": 64,
        "seed": 42,
        "height": None,
        "p_east": {"pairs": even.pairs},
        "p_south": {"pairs": even.pairs},
        "key_interval": 1024,
        "loops": {"pairs": never.pairs},
        "braid": {"n": 0},
        **dict.fromkeys(["band", "start", "goal", "weights", "doors", "max_tunnels", "max_length"]),
    }


# ---- integers --------------------------------------------------------------------------------

NO_INTEGERS = [
    5.0,
    5.5,
    math.nan,
    math.inf,
    True,
    False,
    "5",
    b"5",
    None,
    [5],
    (),
    {},
    Fraction(5),
    Decimal(5),
    5j,
    object(),
]
NO_INTEGERS += [np.float64(5), np.array([5]), np.array(5.0), np.True_, [HUGE]]


@pytest.mark.parametrize("name", ["width", "seed", "height", "key_interval"])
@pytest.mark.parametrize("value", NO_INTEGERS, ids=lambda value: type(value).__name__)
def test_what_is_no_integer_is_refused(name, value):
    if value is None and name != "width":
        assert getattr(MazeSpec(**{"width": 5, "seed": 1, name: None}), name) is None or name != "height"
    else:
        refused(f"{name} is an integer, not", **{name: value})


@pytest.mark.parametrize(
    ("name", "most"), [("width", 2**31 - 1), ("seed", 2**64 - 1), ("height", 2**48), ("key_interval", 2**48)]
)
def test_integers_out_of_range_are_refused(name, most):
    least = 0 if name in ("seed", "key_interval") else 1
    for value in (-1, least - 1, most + 1, -HUGE, HUGE, np.int64(-3)):
        refused(f"{name} is from {least} to {most}, not", **{name: value})


@pytest.mark.parametrize(("name", "most"), [("width", 2**31 - 1), ("seed", 2**64 - 1), ("height", 2**48)])
def test_the_largest_integers_are_taken(name, most):
    assert getattr(MazeSpec(**{"width": 5, "seed": 1, name: most}), name) == most


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64])
def test_numpy_integers_are_taken_as_integers(kind):
    spec = MazeSpec(
        kind(7), seed=kind(9), height=kind(3), key_interval=kind(4), p_east=[(kind(0), 0.5), (kind(2), 0.25)]
    )
    assert spec == MazeSpec(7, seed=9, height=3, key_interval=4, p_east=[(0, 0.5), (2, 0.25)])
    assert {type(getattr(spec, name)) for name in ("width", "seed", "height", "key_interval")} == {int}
    assert {type(row) for row, _ in spec.p_east.pairs} == {int}


def test_the_algorithm_is_a_known_one():
    for algorithm in ("Eller", "kruskal", "", None, 3, ["eller"]):
        refused("algorithm is one of eller, dfs, prim, wilson, random_walk, uniform, not", algorithm=algorithm)
    assert MazeSpec(5, seed=1, algorithm="eller") == MazeSpec(5, seed=1)


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError):
        MazeSpec(5, seed=1, bend=64)
    with pytest.raises(TypeError):
        MazeSpec(5, 1)


# ---- key intervals ---------------------------------------------------------------------------


@pytest.mark.parametrize("interval", [1, 3, 1023])
def test_odd_key_intervals_are_refused(interval):
    refused(f"even number of rows, or 0 for no key rows, not {interval}", key_interval=interval)


def test_key_intervals_over_the_cap_are_refused():
    refused("at most 17179869184 cells", width=2**20, key_interval=2**14 + 2)
    refused("at most 17179869184 cells", width=1, key_interval=2**34 + 2)
    assert MazeSpec(2**20, seed=1, key_interval=2**14).key_interval == 2**14
    assert MazeSpec(1, seed=1, key_interval=2**34).key_interval == 2**34


@pytest.mark.parametrize(
    ("width", "interval"), [(1, 1024), (1000, 1024), (2**24, 1024), (2**24 + 1, 0), (2**31 - 1, 0)]
)
def test_the_default_key_interval_follows_the_width(width, interval):
    assert MazeSpec(width, seed=1).key_interval == interval
    assert MazeSpec(width, seed=1) == MazeSpec(width, seed=1, key_interval=interval)


# ---- seeds -----------------------------------------------------------------------------------


def test_no_seed_draws_one_and_tells_it(monkeypatch):
    assert len({MazeSpec(5).seed for _ in range(4)}) == 4
    monkeypatch.setattr(spec_module.os, "urandom", lambda count: bytes(range(count)))
    spec = MazeSpec(5)
    assert spec.seed == 0x0001020304050607
    assert spec == MazeSpec(5, seed=spec.seed)


def test_seeds_from_texts():
    """SHA-256 of "" and "abc" are the known ones of FIPS 180; `printf 2026-11-30 | sha256sum` tells the third."""
    assert seed_from_text("") == 0xE3B0C44298FC1C14
    assert seed_from_text("abc") == 0xBA7816BF8F01CFEA
    assert seed_from_text("2026-11-30") == 0xE0B7C44611A45C9D
    assert seed_from_text("é") == int(hashlib.sha256(b"\xc3\xa9").hexdigest()[:16], 16)


# ---- probabilities ---------------------------------------------------------------------------

NO_PROBABILITIES = [-0.1, -1e-300, 1.0000001, 2, -1, math.nan, math.inf, -math.inf, True, False, "0.5", b"", 0.5j]
NO_PROBABILITIES += [
    np.float64(1.5),
    np.float32("nan"),
    np.True_,
    Fraction(3, 2),
    Fraction(-1, 3),
    Decimal("0.5"),
    object(),
]
NO_PROBABILITIES += [HUGE, -HUGE, Fraction(HUGE), Fraction(10**30 + 1, 10**30), Fraction(-1, 10**400)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", NO_PROBABILITIES, ids=lambda value: type(value).__name__)
def test_what_is_no_probability_is_refused(name, value):
    refused(name, **{name: value})


@pytest.mark.parametrize("name", ["p_east", "p_south", "loops"])
@pytest.mark.parametrize("value", NO_PROBABILITIES, ids=lambda value: type(value).__name__)
def test_nor_is_it_one_in_a_schedule(name, value):
    refused(f"{name} is a number from 0 to 1, not", **{name: [(0, 0.5), (3, value)]})


@pytest.mark.parametrize(
    ("value", "n"),
    [
        (0, 0),
        (0.0, 0),
        (-0.0, 0),
        (1, 65_536),
        (1.0, 65_536),
        (0.5, 32_768),
        (0.1, 6554),
        (1 / 3, 21_845),
        (5e-324, 1),
        (1e-9, 1),
        (math.nextafter(1, 0), 65_535),
        (1 - 1e-9, 65_535),
        (Fraction(1, 10**400), 1),
        (1 - Fraction(1, 10**400), 65_535),
        (Fraction(1, 2), 32_768),
        (0.5 / 65_536, 1),
        (1.5 / 65_536, 2),
        (2.5 / 65_536, 2),
        (3.5 / 65_536, 4),
        (65_534.5 / 65_536, 65_534),
        (65_535.5 / 65_536, 65_535),
        (Fraction(5, 131_072) + Fraction(1, 10**400), 3),
        (Fraction(7, 131_072) - Fraction(1, 10**400), 3),
        (np.float64(0.25), 16_384),
        (np.float32(0.1), 6554),
        (np.float16(0.1), 6552),
        (np.int64(1), 65_536),
        (np.uint8(0), 0),
        (Probability(77), 77),
    ],
)
def test_the_nearest_65536th(value, n):
    probability = Probability.of(value)
    assert probability == Probability(n)
    assert type(probability.n) is int
    assert MazeSpec(5, seed=1, braid=value, p_east=value, loops=[(0, value)]).to_data()["braid"] == n


@given(value=st.floats(0, 1) | st.fractions(0, 1, max_denominator=10**9))
def test_no_65536th_is_nearer(value):
    n = Probability.of(value).n
    if n in (1, 65_535) and 0 < value < 1:
        assert (n == 1) == (value < 0.5)
    else:
        assert abs(Fraction(value) * 65_536 - n) <= Fraction(1, 2)
    assert (n == 0) == (value == 0)
    assert (n == 65_536) == (value == 1)


@given(n=st.integers(0, 65_536))
def test_a_probability_of_65536ths_is_exact(n):
    assert Probability.of(n / 65_536).n == Probability.of(Fraction(n, 65_536)).n == n
    assert float(Probability(n)) == n / 65_536


@pytest.mark.parametrize("n", [-1, 65_537, 2**70, HUGE, 0.5, True, "1", None, math.nan], ids=lambda n: type(n).__name__)
def test_65536ths_out_of_range_are_refused(n):
    with pytest.raises(SpecError):
        Probability(n)


def test_probabilities_are_ordered_and_frozen():
    assert Probability(3) < Probability(4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Probability(3).n = 4


# ---- schedules -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "from 1 to 256 pairs, not 0"),
        ([(1, 0.5)], "starts at row 0, not at row 1"),
        ([(-1, 0.5)], "starts at row 0, not at row -1"),
        ([(HUGE, 0.5)], "starts at row 0, not at row"),
        ([(0, 0.5), (0, 0.6)], "rising"),
        ([(0, 0.5), (9, 0.6), (9, 0.6)], "rising"),
        ([(0, 0.5), (9, 0.6), (8, 0.7)], "rising"),
        ([(0, 0.5), (-HUGE, 0.6)], "rising"),
        ([(0, 0.5), (MAX_ROW + 1, 0.6)], "first row is from 0 to"),
        ([(0, 0.5), (HUGE, 0.6)], "first row is from 0 to"),
        ([(0.0, 0.5)], "first row is an integer"),
        ([(False, 0.5)], "first row is an integer"),
        ([("0", 0.5)], "first row is an integer"),
        ([(0, 0.5, 1)], "pairs"),
        ([(0,)], "pairs"),
        ([0, 0.5], "pairs"),
        ([0.5], "pairs"),
        ("0.5", "pairs"),
        ("0:0.5,1000:0.6", "pairs"),
        ([None], "pairs"),
        ([HUGE], "pairs"),
        (object(), "pairs"),
        ([itertools.count()], "pairs"),
    ],
)
@pytest.mark.parametrize("name", ["p_east", "p_south", "loops"])
def test_bad_schedules_are_refused(name, value, message):
    assert message in refused(name, **{name: value})


def test_a_braid_has_no_schedule():
    refused("braid is a number from 0 to 1", braid=[(0, 0.5)])


def test_a_schedule_has_at_most_256_pairs():
    pairs = [(row, row % 2) for row in range(257)]
    assert len(MazeSpec(5, seed=1, loops=pairs[:256]).loops.pairs) == 256
    refused("from 1 to 256 pairs, not", loops=pairs)
    with pytest.raises(SpecError, match="from 1 to 256 pairs, not"):
        Schedule(tuple((row, row % 2) for row in range(257)))


@pytest.mark.parametrize(
    "pairs", [((i, 0.5) for i in itertools.count()), itertools.repeat((0, 0.5)), itertools.cycle([(0, 1), (1, 0)])]
)
def test_an_endless_iterator_is_refused_without_hanging(pairs):
    refused("from 1 to 256 pairs, not", p_east=pairs)


@pytest.mark.parametrize(
    "pairs", [((3, 1),), ((0, 70_000),), ((0, -1),), ((0, 1), (0, 2)), (), ((0, 0.5),), ((0, True),), (("0", 1),), 7]
)
def test_a_schedule_made_by_hand_is_checked_too(pairs):
    with pytest.raises(SpecError):
        MazeSpec(5, seed=1, p_east=Schedule(pairs))


def test_repeated_values_say_nothing():
    spec = MazeSpec(5, seed=1, p_east=[(0, 0.5), (4, 0.5), (7, 0.25), (8, 0.25), (9, 0.5)])
    assert spec.p_east.pairs == ((0, 32_768), (7, 16_384), (9, 32_768))
    assert spec == MazeSpec(5, seed=1, p_east=[(0, 0.5), (7, 0.25), (9, 0.5)])
    assert MazeSpec(5, seed=1, p_east=[(0, 0.5), (4, 0.5)]) == MazeSpec(5, seed=1)
    assert MazeSpec(5, seed=1, p_east=Schedule(((0, 32_768), (4, 32_768)))) == MazeSpec(5, seed=1)


def test_nearly_equal_values_make_equal_specs():
    assert MazeSpec(5, seed=1, p_east=0.1) == MazeSpec(5, seed=1, p_east=np.float32(0.1))
    assert MazeSpec(5, seed=1, p_east=0.1, loops=0.03) != MazeSpec(5, seed=1, p_east=0.1, loops=0.031)


@pytest.mark.parametrize(
    "value", [((0, 0.5), (3, 0.25)), [[0, 0.5], [3, 0.25]], iter([(0, 0.5), (3, 0.25)]), {0: 0.5, 3: 0.25}.items()]
)
def test_any_iterable_of_pairs_is_a_schedule(value):
    assert Schedule.of(value).pairs == ((0, 32_768), (3, 16_384))


def test_what_a_schedule_says_of_a_row():
    schedule = Schedule.of([(0, 0.5), (10, 0.25), (20, 1)])
    assert [schedule.at(row) for row in (0, 9, 10, 19, 20, MAX_ROW)] == [32_768, 32_768, 16_384, 16_384, 65_536, 65_536]
    assert [schedule.changes_after(row) for row in (0, 9, 10, 19, 20)] == [10, 10, 20, 20, None]
    assert str(schedule) == "0:0.5,10:0.25,20:1"
    assert str(Schedule.of(0.5)) == "0.5"


@given(schedule=schedules(), row=st.integers(0, 60))
def test_a_schedule_is_constant_until_it_changes(schedule, row):
    until = schedule.changes_after(row)
    assert {schedule.at(r) for r in range(row, until or 80)} == {schedule.at(row)}
    assert until is None or schedule.at(until) != schedule.at(row)


# ---- specs as values -------------------------------------------------------------------------


def test_specs_are_frozen():
    spec = MazeSpec(5, seed=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.width = 6
    with pytest.raises(dataclasses.FrozenInstanceError):
        del spec.width


@given(spec=specs(heights=(None, 1, 2**48)))
def test_copies_are_equal_and_hash_alike(spec):
    copies = [copy.copy(spec), copy.deepcopy(spec), dataclasses.replace(spec)]
    copies += [pickle.loads(pickle.dumps(spec, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    assert {spec, *copies} == {spec}
    assert all(made == spec for made in copies)


def test_replace_checks_like_the_constructor():
    spec = MazeSpec(5, seed=1, p_east=[(0, 0.5), (3, 0.25)], braid=0.5)
    other = dataclasses.replace(spec, seed=2, height=7)
    assert other == MazeSpec(5, seed=2, height=7, p_east=[(0, 0.5), (3, 0.25)], braid=0.5)
    assert other != spec
    with pytest.raises(SpecError):
        dataclasses.replace(spec, width=0)


# ---- plain data ------------------------------------------------------------------------------


def test_plain_data_by_hand():
    spec = MazeSpec(64, seed=2**64 - 1, height=9, p_east=[(0, 0.5), (3, 1)], loops=0.25, braid=0.125)
    data = {
        "algorithm": "eller",
        "width": 64,
        "seed": 2**64 - 1,
        "height": 9,
        "p_east": [[0, 32_768], [3, 65_536]],
        "p_south": [[0, 32_768]],
        "key_interval": 1024,
        "loops": [[0, 16_384]],
        "braid": 8192,
    }
    assert spec.to_data() == data
    assert spec.to_json() == data | {"seed": "18446744073709551615"}


@given(spec=specs(heights=(None, 1, 17, 2**48)))
def test_there_and_back(spec):
    assert MazeSpec.from_data(spec.to_data()) == spec
    assert MazeSpec.from_data(msgpack.unpackb(msgpack.packb(spec.to_data()))) == spec
    assert MazeSpec.from_data(json.loads(json.dumps(spec.to_json()))) == spec


def test_every_kind_of_number_can_be_packed():
    numbers = {
        "p_east": np.float32(0.3),
        "p_south": Fraction(1, 3),
        "loops": [(np.int64(0), np.int64(1))],
        "braid": np.uint8(1),
    }
    spec = MazeSpec(np.int16(5), seed=np.uint64(1), height=np.int64(4), key_interval=np.int8(2), **numbers)
    assert MazeSpec.from_data(msgpack.unpackb(msgpack.packb(spec.to_data()))) == spec
    json.dumps(spec.to_json())


GOOD = MazeSpec(5, seed=1).to_data()


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": "ELLER"},
        {"algorithm": b"eller"},
        {"algorithm": ["eller"]},
        {"width": 0},
        {"width": "5"},
        {"width": 5.0},
        {"seed": None},
        {"seed": -1},
        {"seed": "-1"},
        {"seed": "+1"},
        {"seed": " 1"},
        {"seed": "1_0"},
        {"seed": ""},
        {"seed": "²"},
        {"seed": "१"},
        {"seed": "18446744073709551616"},
        {"seed": "9" * 5000},
        {"height": 0},
        {"height": "9"},
        {"key_interval": None},
        {"key_interval": 3},
        {"p_east": 32_768},
        {"p_east": 0.5},
        {"p_east": []},
        {"p_east": [[0, 0.5]]},
        {"p_east": [[0, 65_537]]},
        {"p_east": [[0, -1]]},
        {"p_east": [[0, True]]},
        {"p_east": [[1, 5]]},
        {"p_east": [[0, 5], [0, 6]]},
        {"p_east": [[0, 5, 6]]},
        {"p_east": {"pairs": [[0, 5]]}},
        {"p_east": None},
        {"loops": [[i, i % 2] for i in range(257)]},
        {"braid": 0.5},
        {"braid": 65_537},
        {"braid": [[0, 5]]},
        {"braid": None},
        {"extra": 1},
        {5: 1},
    ],
    ids=str,
)
def test_bad_data_is_refused(change):
    with pytest.raises(SpecError):
        MazeSpec.from_data(GOOD | change)


@pytest.mark.parametrize("name", list(GOOD))
def test_missing_data_is_refused(name):
    with pytest.raises(SpecError, match="a spec is a map with the keys algorithm, width"):
        MazeSpec.from_data({key: value for key, value in GOOD.items() if key != name})


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.binary(max_size=9)
HUGE_ONES = st.just(5000).map(lambda digits: 10**digits)
DATA = st.recursive(
    SCALARS | HUGE_ONES | st.tuples(st.just(0), HUGE_ONES).map(lambda pair: [list(pair)]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9) | st.integers(), inner, max_size=4),
    max_leaves=8,
)


@given(data=DATA)
def test_foreign_data_is_refused(data):
    with pytest.raises(SpecError):
        MazeSpec.from_data(data)


def made_or_refused(make):
    """Return the spec, None where it was refused with a message of one short line."""
    message = ""
    try:
        return make()
    except SpecError as error:
        message = str(error)
    assert len(message) < 1000
    assert "\n" not in message
    return None


@given(data=st.fixed_dictionaries({name: st.just(GOOD[name]) | DATA for name in GOOD}))
@example(data=GOOD)
def test_hostile_data_raises_spec_error_only(data):
    spec = made_or_refused(lambda: MazeSpec.from_data(data))
    assert spec is None or MazeSpec.from_data(spec.to_data()) == spec


@given(name=st.sampled_from(["width", "seed", "height", "key_interval", *NAMES, "algorithm"]), value=DATA)
def test_hostile_values_raise_spec_error_only(name, value):
    spec = made_or_refused(lambda: MazeSpec(**{"width": 5, "seed": 1} | {name: value}))
    assert spec is None or MazeSpec.from_data(spec.to_data()) == spec


@given(first=probabilities, second=probabilities)
def test_specs_of_different_probabilities_differ(first, second):
    assert (MazeSpec(5, seed=1, p_south=first) == MazeSpec(5, seed=1, p_south=second)) == (first == second)
