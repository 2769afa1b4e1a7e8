"""Rows summed up as spans: merged in any order they are the sum of all rows, and `verify` on threads says the same."""

import json
import subprocess
import sys

import numpy as np
import pytest
from helpers import EDGE_WIDTHS, Graph, specs
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream import spans as spans_module
from eller_stream import verify as verify_module
from eller_stream.block import Block, pack_bits
from eller_stream.errors import BlockError, StreamError
from eller_stream.spans import row_sweeper, span_of
from eller_stream.streams import open_stream
from eller_stream.verify import ThreadedVerifier, Verifier, verify


@st.composite
def any_rows(draw, starts=(0, 5), floors=(False, True)):
    """Rows of random passages, few or many; most of them are faulty in some way, with a floor or without."""
    width, rows = draw(st.integers(1, 9) | st.sampled_from([63, 64, 65])), draw(st.integers(1, 9))
    chances = draw(st.tuples(*[st.sampled_from([0, 0.2, 0.5, 0.9, 1])] * 3))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    east, south, floor = (random.random((rows, width)) < p for p in chances)
    north = random.random(width) < draw(st.sampled_from([0, 0.5, 1]))
    east[:, -1] &= draw(st.sampled_from([False, False, False, True]))
    south[-1] &= draw(st.booleans())
    start = draw(st.sampled_from(starts))
    north &= start > 0
    if not draw(st.sampled_from(floors)):
        return Block(start, width, pack_bits(east), pack_bits(south), pack_bits(north))
    if draw(st.booleans()):  # passages between cells of the floor only
        below = np.concatenate([floor[1:], np.ones((1, width), bool)])
        east[:, :-1] &= floor[:, :-1] & floor[:, 1:]
        east[:, -1], south, north = False, south & floor & below, north & floor[0]
    return Block(start, width, *map(pack_bits, (east, south, north)), pack_bits(floor))


@st.composite
def real_rows(draw):
    """Rows of a maze, often whole, sometimes with a passage more or less."""
    spec = draw(specs(max_width=20, heights=(None, 12, 30)))
    stream = open_stream(spec)
    stream.seek(draw(st.sampled_from([0, 0, 3])))
    block = stream.read(draw(st.integers(1, 30)))
    planes = [block.bools(name).copy() for name in ("east", "south")]
    for _ in range(draw(st.integers(0, 2))):
        plane = draw(st.sampled_from(planes))
        cell = draw(st.integers(0, len(block) - 1)), draw(st.integers(0, spec.width - 1))
        plane[cell] ^= True
    return Block(block.start, spec.width, *map(pack_bits, planes), block.north)


rows_to_judge = any_rows() | real_rows()


def cut(draw, block):
    """Return the block in pieces that follow one another."""
    at = sorted(draw(st.sets(st.integers(1, len(block) - 1), max_size=6))) if len(block) > 1 else []
    return [block[a:b] for a, b in zip([0, *at], [*at, len(block)], strict=True)]


def merged_somehow(draw, spans):
    """Merge neighbours in a random order until one is left."""
    spans = list(spans)
    while len(spans) > 1:
        i = draw(st.integers(0, len(spans) - 2))
        spans[i : i + 2] = [spans[i] + spans[i + 1]]
    return spans[0]


# ---- sums --------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(st.data(), rows_to_judge)
def test_any_bracketing_gives_the_span_of_all_rows(data, block):
    spans = [span_of([piece]) for piece in cut(data.draw, block)]
    assert merged_somehow(data.draw, spans) == span_of([block])


@settings(max_examples=100)
@given(rows_to_judge, st.booleans())
def test_a_span_is_what_its_graph_is(block, north_known):
    """The same by brute force over all cells."""
    span, width, rows = span_of([block], north_known=north_known), block.width, len(block)
    floor = np.ones((rows, width), bool) if block.floor is None else block.bools("floor")
    graph, loops, broken = Graph(), 0, False
    for (r, c), other in ((a, b) for a, b in block.passages() if b[0] < block.stop):
        inside = other[1] < width and floor[r - block.start, c] and floor[other[0] - block.start, other[1]]
        broken |= not inside
        loops += inside and not graph.unite((r, c), other)
    below = np.flatnonzero(block.bools("south")[-1]).tolist()
    broken |= not all(floor[-1, c] for c in below)
    assert span.broken == broken
    if broken:
        return
    components = [graph.root((block.start, c)) if floor[0, c] else None for c in range(width)]
    components += [graph.root((block.stop - 1, c)) if c in below else None for c in range(width)]
    assert span.ports.tolist() == [-1 if x is None else components.index(x) for x in components]
    cells = [(block.start + r, c) for r, c in zip(*np.nonzero(floor), strict=True)]
    closed = len({graph.root(cell) for cell in cells} - set(components))
    numbers = (len(cells), len(block.passages()), loops, closed)
    assert (span.cells, span.passages, span.loops, span.closed) == numbers


@given(rows_to_judge)
def test_both_sweepers_agree(request, block):
    if request.config.getoption("--without-c"):
        pytest.skip("the C backend was left out")
    before, found = spans_module.sweep_rows, []
    for backend in ("c", "python"):
        spans_module.sweep_rows = row_sweeper(backend)
        found.append(span_of([block]))
    spans_module.sweep_rows = before
    assert found[0] == found[1]


def test_rows_that_do_not_follow_are_no_sum():
    stream = open_stream("eller", width=8, seed=1)
    a, b, c = (stream.read(3) for _ in range(3))
    with pytest.raises(
        BlockError, match="rows of 8 cells from row 3 on follow here, not rows of 8 cells from row 6 on"
    ):
        span_of([a]) + span_of([c])
    with pytest.raises(BlockError, match="rows of 8 cells from row 3 on follow here"):
        span_of([a, c])
    with pytest.raises(BlockError, match="at least one row"):
        span_of([a[:0]])
    assert span_of([a]) != span_of([b])
    assert span_of([a]) != "a span"


def test_a_seam_whose_sides_differ_is_broken():
    a, b = open_stream("eller", width=8, seed=1).read(4)[:2], open_stream("eller", width=8, seed=2).read(4)[2:]
    assert (span_of([a]) + span_of([b])).broken
    assert span_of([a, b]).broken
    assert not (span_of([a]) + span_of([b], north_known=False)).broken


@pytest.mark.parametrize("wrong", ["sets", "tops", "united", "short"])
def test_buffers_that_do_not_fit_are_refused(wrong, request):
    if request.config.getoption("--without-c"):
        pytest.skip("the C backend was left out")
    arrays = {name: np.arange(8, dtype=np.int32) for name in ("sets", "tops", "united")}
    if wrong == "short":
        arrays["tops"] = arrays["tops"][:7]
    else:
        arrays[wrong][3] = 9
    plane = np.zeros((2, 1), np.uint8)
    with pytest.raises(ValueError, match=r"buffers do not fit|points at one"):
        row_sweeper("c")(8, plane, plane, plane[0], None, *arrays.values(), np.empty(24, np.int32))


# ---- verify on threads -----------------------------------------------------------------------------------


@pytest.fixture
def tiny_groups(monkeypatch):
    """Groups of one block each."""
    monkeypatch.setattr(verify_module, "_GROUP_BYTES", 1)
    monkeypatch.setattr(verify_module, "_GROUP_ROWS", 1)


def judged(verifier, pieces):
    for piece in pieces:
        verifier.feed(piece)
    return verifier.report()


@settings(max_examples=150)
@given(st.data(), rows_to_judge, st.booleans())
def test_threads_report_what_one_verifier_does(data, block, loops):
    size = data.draw(st.sampled_from([1, 3, 50]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify_module, "_GROUP_BYTES", 1)
        patch.setattr(verify_module, "_GROUP_ROWS", size)
        pieces = cut(data.draw, block)
        report = judged(ThreadedVerifier(block.width, start=block.start, loops=loops, workers=2), pieces)
        assert report == judged(Verifier(block.width, start=block.start, loops=loops), pieces)
        assert verify(pieces, loops=loops, workers=3) == verify(pieces, loops=loops)


@settings(max_examples=100)
@given(st.data(), rows_to_judge, st.booleans())
def test_clean_spans_are_those_a_verifier_passes(data, block, loops):
    """A span is clean only if the verifier finds no fault and no end; then both know the same of what follows."""
    head = block[: data.draw(st.integers(1, len(block)))]
    verifier = Verifier(block.width, start=block.start, loops=loops)
    report = judged(verifier, [head])
    if span_of([head]).is_clean(loops=loops):
        assert report.answer in ("unfinished", "fragment")
        assert judged(Verifier.below(span_of([head]), loops=loops), [block[len(head) :]]) == judged(
            verifier, [block[len(head) :]]
        )
    elif block.floor is None and not block.start:
        assert report.answer != "unfinished"


@pytest.mark.parametrize("width", EDGE_WIDTHS)
def test_widths_around_words(backend, width, tiny_groups):
    block = open_stream("eller", width=width, seed=width, height=60, key_interval=8).read(60)
    pieces = [block[i : i + 7] for i in range(0, 60, 7)]
    assert verify(pieces, workers=2) == verify(pieces)
    assert verify(pieces, workers=2).answer == "perfect"


@pytest.mark.parametrize("algorithm", ["dfs", "prim", "wilson", "random_walk"])
def test_other_algorithms(algorithm, tiny_groups):
    block = open_stream(algorithm, width=20, seed=1, height=90, band=16).read(90)
    pieces = [block[i : i + 7] for i in range(0, 90, 7)]
    assert verify(pieces, workers=2).ok
    assert verify(pieces, workers=2) == verify(pieces)


def test_most_rows_are_judged_as_spans(tiny_groups, monkeypatch):
    """The fast path is taken: row by row only the group with the end is judged."""
    fed, feed = [], Verifier.feed
    monkeypatch.setattr(Verifier, "feed", lambda self, block: fed.append(block.start) or feed(self, block))
    block = open_stream("eller", width=20, seed=1, height=100).read(100)
    assert verify([block[i : i + 10] for i in range(0, 100, 10)], workers=2).answer == "perfect"
    assert fed == [90]


def test_reports_in_between_and_wrong_use(tiny_groups):
    block = open_stream("eller", width=20, seed=1, height=9).read(9)
    verifier = ThreadedVerifier(20, workers=2)
    assert verifier.report().answer == "unfinished"
    verifier.feed(block[:4])
    assert (verifier.report().answer, verifier.report().rows) == ("unfinished", 4)
    with pytest.raises(BlockError, match="from row 4 on follow here"):
        verifier.feed(block[5:])
    verifier.feed(block[4:])
    assert verifier.report() == verify([block])
    for workers in (0, 1.5):
        with pytest.raises(StreamError, match="workers"):
            verify([block], workers=workers)


def test_the_command(tmp_path):
    file = tmp_path / "maze.emz"

    def eller(*words):
        return subprocess.run(
            [sys.executable, "-m", "eller_stream", *words], capture_output=True, check=False, timeout=60
        )

    assert eller("generate", file, "--width", "300", "--rows", "90000", "--seed", "1").returncode == 0
    told = [eller("verify", file, "--json", "--workers", str(n)) for n in (1, 2)]
    assert [done.returncode for done in told] == [0, 0]
    assert told[0].stdout == told[1].stdout
    damaged = bytearray(file.read_bytes())
    damaged[-50_000] ^= 1
    file.write_bytes(damaged)
    told = [eller("verify", file, "--json", "--workers", str(n)) for n in (1, 2)]
    assert [done.returncode for done in told] == [1, 1]
    assert told[0].stdout == told[1].stdout
    assert json.loads(told[1].stdout)["answer"] == "damaged"
