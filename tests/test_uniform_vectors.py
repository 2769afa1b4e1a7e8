"""The vectors of docs/STREAM.md, "Uniform": the second implementation makes them, and the package agrees with both."""

import json

import make_uniform_vectors
import pytest
import second_uniform
from helpers import bits_of_labels, packed, partitions
from hypothesis import given, settings
from hypothesis import strategies as st
from second_stream import packed as packed_row

from eller_stream.spec import MazeSpec
from eller_stream.state import State, pack_snapshot
from eller_stream.uniform import UniformStream
from eller_stream.uniform.table import ENDLESS, strip, table

TEXT = make_uniform_vectors.FILE.read_text(encoding="utf-8")
VECTORS = json.loads(TEXT)


def taken(spec, end, row, sets, above, count):
    """The rows as the package gives them, and the sets below."""
    planes = [*map(packed, bits_of_labels(sets)), above]
    snapshot = pack_snapshot(MazeSpec.from_data(spec), end, State(row, b"".join(planes)))
    stream = UniformStream.restore(snapshot)
    block = stream.read(count)
    rows = [[row.tobytes().hex() for row in plane] for plane in (block.east, block.south)]
    return *rows, None if stream.position == end else stream.sets.tolist()


def test_file_is_what_the_second_implementation_makes():
    assert make_uniform_vectors.text() == TEXT


@pytest.mark.parametrize("case", VECTORS["tables"], ids=lambda case: f"{case['width']}-{case['below']}")
def test_package_has_the_tables(case):
    entries = table(strip(case["width"]), ENDLESS if case["below"] is None else case["below"])
    assert [f"{entry:016x}" for entry in entries.tolist()] == case["entries"]


@pytest.mark.parametrize("case", VECTORS["rows"])
def test_package_has_the_rows(backend, case):
    above = bytes.fromhex(case["above"])
    found = taken(case["spec"], case["end"], case["row"], case["sets"], above, len(case["east"]))
    assert found == (case["east"], case["south"], case["sets_below"])


@pytest.mark.parametrize("case", VECTORS["rows"][::7])
def test_specs_keep_their_plain_data(case):
    assert MazeSpec.from_data(case["spec"]).to_json() == case["spec"]
    assert list(MazeSpec.from_data(case["spec"]).to_json()) == list(case["spec"])


@given(partitions(max_size=25), st.integers(1, 2**48 - 70), st.none() | st.integers(1, 60), st.data())
@settings(max_examples=60)
def test_package_and_second_implementation_agree(backend, sets, row, more, data):
    n = st.sampled_from([0, 0, 21845, 65536])
    seed = str(data.draw(st.integers(0, 2**64 - 1)))
    spec = make_uniform_vectors.plain(width=len(sets), seed=seed, loops=[[0, data.draw(n)]], braid=data.draw(n))
    above = [int(any(bits)) for bits in zip(*bits_of_labels(sets), strict=True)]
    above[0] = 1
    count, end = 3 if more is None else min(3, more), None if more is None else row + more
    found = second_uniform.rows(spec, end, row, sets, above, count)
    planes = [[packed_row(row).hex() for row in plane] for plane in (found.east, found.south)]
    assert taken(spec, end, row, sets, packed_row(above), count) == (*planes, found.sets_below)
