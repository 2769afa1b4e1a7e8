"""The vectors of docs/STREAM.md: the second implementation makes them, and the package agrees with both."""

import json

import make_stream_vectors
import pytest
import second_stream as second
from hypothesis import example, given
from hypothesis import strategies as st

from eller_stream import coins
from eller_stream.spec import MAX_ROW, MazeSpec
from eller_stream.stream import EllerStream

TEXT = make_stream_vectors.FILE.read_text(encoding="utf-8")
VECTORS = json.loads(TEXT)
PLAIN = make_stream_vectors.PLAIN
SIDES = "east", "south"

each_case_of_rows = pytest.mark.parametrize("case", VECTORS["rows"])


def numbers(words):
    return [int(digits, 16) for digits in words]


def expected(case):
    return case["east"], case["south"], case["sets"]


def planes(bits):
    return [second.packed(row).hex() for row in bits]


def taken(spec, first, count, finalized):
    """The rows as the package gives them: their planes in hexadecimal, and the sets behind them."""
    stream = EllerStream.from_spec(MazeSpec.from_data(spec))
    stream.seek(first)
    blocks = [stream.read(count - finalized)]
    if finalized:
        stream.finalize()
        blocks.append(stream.read(1))
    east, south = ([row.tobytes().hex() for block in blocks for row in getattr(block, side)] for side in SIDES)
    ended = stream.position == stream.height
    return east, south, None if ended else stream.sets.tolist()


# The second implementation, and the file


def test_file_is_what_the_second_implementation_makes():
    assert make_stream_vectors.text() == TEXT


def test_second_implementation_has_the_words_and_coins():
    for z, mixed in VECTORS["mix"]:
        assert second.mix(int(z, 16)) == int(mixed, 16)
    for case in VECTORS["words"]:
        for i, word in enumerate(numbers(case["words"]), int(case["first"])):
            assert second.word(int(case["seed"]), case["lane"], i % 2**64) == word
    for case in VECTORS["coins"]:
        for i, word in enumerate(numbers(case["words"]), int(case["first"])):
            assert second.coin_word(int(case["seed"]), case["base"], case["n"], i % 2**64) == word


@each_case_of_rows
def test_second_implementation_has_the_rows(case):
    found = second.rows(case["spec"], case["row"], len(case["east"]), case["finalized"])
    assert (planes(found.east), planes(found.south), found.sets) == expected(case)


# The package


def test_package_has_the_words_and_coins():
    for z, mixed in VECTORS["mix"]:
        assert coins.mix(int(z, 16)) == int(mixed, 16)
    for case in VECTORS["words"]:
        words = numbers(case["words"])
        found = coins.lane_words(int(case["seed"]), case["lane"], int(case["first"]), len(words))
        assert found.tolist() == words, case
    for case in VECTORS["coins"]:
        words = numbers(case["words"])
        found = coins.coin_words(int(case["seed"]), case["base"], case["n"], int(case["first"]), len(words))
        assert found.tolist() == words, case


@each_case_of_rows
def test_package_has_the_rows(backend, case):
    found = taken(case["spec"], case["row"], len(case["east"]), case["finalized"])
    assert found == expected(case)


# Specs that hypothesis thinks of

CHANCES = st.sampled_from([0, 1, 21845, 32768, 65535, 65536]) | st.integers(0, 65536)


@st.composite
def schedules(draw, near):
    """A schedule that changes now and then, the later times near a row."""
    pairs = [[0, draw(CHANCES)]]
    for row in sorted(draw(st.sets(st.integers(max(1, near - 8), near + 8), max_size=4))):
        n = draw(CHANCES)
        if row < MAX_ROW and n != pairs[-1][1]:
            pairs.append([row, n])
    return pairs


@st.composite
def cases(draw):
    """A spec, a first row, a number of rows, and whether the last of them is finalized."""
    interval = draw(st.sampled_from([0, 2, 4, 6, 8, 16]))
    farthest = MAX_ROW - 1 if interval else 20
    first = draw(st.integers(0, 20) | st.integers(0, farthest) | st.integers(farthest - 20, farthest))
    count = draw(st.integers(1, min(8, MAX_ROW - first)))
    height = draw(st.none() | st.integers(first + count, min(MAX_ROW, first + count + 3)))
    spec = {
        "algorithm": "eller",
        "width": draw(st.integers(1, 12) | st.integers(1, 200) | st.sampled_from([63, 64, 65, 127, 128, 129])),
        "seed": str(draw(st.integers(0, 2**64 - 1))),
        "height": height,
        "p_east": draw(schedules(first)),
        "p_south": draw(schedules(first)),
        "key_interval": interval,
        "loops": draw(st.just([[0, 0]]) | schedules(first)),
        "braid": draw(CHANCES),
    }
    return spec, first, count, draw(st.booleans())


@given(cases())
@example((PLAIN | {"height": MAX_ROW, "key_interval": 2, "braid": 65536}, MAX_ROW - 1, 1, False))
def test_package_and_second_implementation_agree(backend, case):
    found = second.rows(*case)
    assert taken(*case) == (planes(found.east), planes(found.south), found.sets)
