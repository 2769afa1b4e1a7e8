"""The vectors of docs/STREAM.md, "Bands": the second implementation makes them, and the package agrees with both."""

import json

import make_band_vectors
import pytest
import second_bands as second
from hypothesis import given, settings
from hypothesis import strategies as st
from second_stream import packed

from eller_stream.bands import BandStream
from eller_stream.spec import MazeSpec

TEXT = make_band_vectors.FILE.read_text(encoding="utf-8")
VECTORS = json.loads(TEXT)["rows"]
KINDS = "east", "south", "floor"


def taken(spec, first, count, finalized):
    """The rows as the package gives them: each plane in hexadecimal, or None."""
    stream = BandStream.from_spec(MazeSpec.from_data(spec))
    stream.seek(first)
    blocks = [stream.read(count - finalized)]
    if finalized:
        stream.finalize()
        blocks.append(stream.read(1))
    return [planes_of(blocks, kind) for kind in KINDS]


def planes_of(blocks, kind):
    planes = [getattr(block, kind) for block in blocks]
    return None if planes[-1] is None else [row.tobytes().hex() for plane in planes for row in plane]


def test_file_is_what_the_second_implementation_makes():
    assert make_band_vectors.text() == TEXT


@pytest.mark.parametrize("case", VECTORS)
def test_package_has_the_rows(backend, case):
    found = taken(case["spec"], case["row"], len(case["east"]), case["finalized"])
    assert found == [case[kind] for kind in KINDS]


@pytest.mark.parametrize("case", VECTORS[::7])
def test_specs_keep_their_plain_data(case):
    assert MazeSpec.from_data(case["spec"]).to_json() == case["spec"]
    assert list(MazeSpec.from_data(case["spec"]).to_json()) == list(case["spec"])


# Specs that hypothesis thinks of

CHANCES = st.sampled_from([0, 0, 21845, 65536])


@st.composite
def cases(draw):
    """A spec, a first row, a number of rows, and whether the last of them is finalized."""
    algorithm = draw(st.sampled_from(sorted(make_band_vectors.OWN)))
    width, band = draw(st.integers(2, 20)), draw(st.integers(2, 9))
    first, count = draw(st.integers(0, 20) | st.integers(0, 2**48 - 10)), draw(st.integers(1, 5))
    height = draw(st.none() | st.integers(max(2, first + count), first + count + 5))
    far = 2**48 if height is None else height
    start = draw(st.none() | st.tuples(st.integers(0, min(band, far) - 1), st.integers(0, width - 1)).map(list))
    goal = draw(st.none() | st.tuples(st.integers(max(0, first - 9), far - 1), st.integers(0, width - 1)).map(list))
    own = {"loops": [[0, draw(CHANCES)]], "braid": draw(CHANCES)}
    if algorithm == "dfs":
        weights = draw(st.sampled_from([[1, 2], [1, 0]] if goal else [[1, 1, 1, 1], [0, 1, 2, 3]]))
        own |= {"start": start, "goal": goal, "weights": weights, "doors": draw(st.integers(1, width))}
    elif algorithm == "prim":
        pull = st.tuples(st.sampled_from(["away", "toward"]), st.sampled_from([1, 3277, 2**22]))
        own |= {"start": start, "goal": goal, "weights": list(draw(pull)) if goal else "even"}
    elif algorithm == "random_walk":
        own |= {"max_tunnels": draw(st.integers(1, 30)), "max_length": draw(st.integers(1, 9))}
    seed = str(draw(st.integers(0, 2**64 - 1)))
    spec = make_band_vectors.plain(algorithm, width=width, band=band, seed=seed, height=height, **own)
    return spec, first, count, draw(st.booleans())


@given(cases())
@settings(max_examples=60)
def test_package_and_second_implementation_agree(backend, case):
    found = second.rows(*case)
    assert taken(*case) == [None if rows is None else [packed(row).hex() for row in rows] for rows in found]
