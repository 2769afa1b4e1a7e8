"""UniformStream: the rows in C and in Python are the same, mazes are perfect, and streams do what all streams do."""

import pickle
from importlib import import_module
from threading import Thread

import numpy as np
import pytest
from helpers import EDGE_WIDTHS, bits_of_labels, faults, partitions, rare, schedules, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream.block import pack_bits, row_bytes
from eller_stream.errors import FormatError, SpecError, StreamError
from eller_stream.sealed import SEAL_SIZE, seal
from eller_stream.spec import MAX_UNIFORM_WIDTH, MazeSpec
from eller_stream.state import State, pack_snapshot
from eller_stream.streams import open_stream, restore_stream
from eller_stream.uniform import UniformStream, carve, rows
from eller_stream.uniform.table import ENDLESS, endless_table, is_endless, strip, table
from eller_stream.verify import PERFECT, verify

FAR = 2**48 - 20


def state_at(row, labels):
    """Return the state before a row of these sets; the cells of sets of several have a passage above them."""
    has_next, has_prev = map(np.array, bits_of_labels(labels))
    above = (has_next | has_prev) if row else np.zeros(len(labels), bool)
    above[0] |= row > 0
    return State(row, b"".join(pack_bits(plane.astype(bool)).tobytes() for plane in (has_next, has_prev, above)))


def stream_at(row, labels, *, height=None, **options):
    spec = MazeSpec(len(labels), algorithm="uniform", height=height, **options)
    return UniformStream.restore(pack_snapshot(spec, height, state_at(row, labels)))


# ---- the two kernels -----------------------------------------------------------------------------------


@pytest.fixture
def in_c(request):
    if request.config.getoption("--without-c"):
        pytest.skip("the C backend is left out")
    return import_module("eller_stream.uniform._uniform")


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 8, 9, 63, 64, 65, 100])
def test_the_tables_in_c_are_those_in_python(in_c, width):
    """Floats and all: a table is the same bit for bit."""
    parts = strip(width)
    for below in (1, 2, 3, 5, 30, 7 * width, 7 * width + 1, 9 * width, 13 * width, 10**6, 2**48, ENDLESS):
        entries = np.zeros(len(endless_table(width)), np.uint64)
        in_c.table(entries, width, below, parts.cosine, parts.tops, parts.sums)
        assert entries.tolist() == table(parts, below).tolist()
        assert not is_endless(parts, below) or entries.tolist() == endless_table(width).tolist()


def carved(how, planes, row, last_row, key, width, count):
    """Return the planes after `count` rows, and the rows."""
    state = bytearray(planes)
    east, south = (bytearray(b"\xff" * count * row_bytes(width)) for _ in range(2))
    how(state, east, south, width, key, row, last_row)
    return state, east, south


@given(partitions(max_size=70), seeds, st.sampled_from([0, 1, 2**32 - 1, FAR]), st.integers(0, 9), st.booleans())
@settings(max_examples=60)
def test_the_rows_in_c_are_those_in_python(in_c, labels, key, row, below, endless):
    state = state_at(row, labels)
    last_row = ENDLESS if endless else row + below
    count = 4 if endless else min(4, below + 1)
    ways = [carved(how, state.planes, row, last_row, key, len(labels), count) for how in (carve.carve, rows.carve)]
    assert carve._in_c() is in_c
    assert ways[0] == ways[1]


def test_c_refuses_what_does_not_fit(in_c):
    parts, entries = strip(9), endless_table(9)
    floats = (parts.cosine, parts.tops, parts.sums)

    def refused(message, planes=bytes(6), east=4, south=4, width=9, floats=floats, entries=entries):
        with pytest.raises(ValueError, match=message):
            in_c.carve(bytearray(planes), bytearray(east), bytearray(south), width, 1, 0, ENDLESS, *floats, entries)

    refused("sizes", planes=bytes(5))
    refused("sizes", east=3, south=3)
    refused("sizes", east=2)
    for width in (0, -1, 8, 17, 2**14 + 1, 2**30):
        refused("sizes", width=width)
    for short in range(3):
        refused("sizes", floats=[part[: len(part) - (i == short)] for i, part in enumerate(floats)])
    refused("sizes", entries=entries[1:])
    for planes in (b"\1\0\0\0\0\0", b"\0\0\1\0\0\0", b"\0\1\0\0\0\0", b"\2\0\1\0\0\0"):
        refused("not the sets of a row", planes=planes)
    for wrong in ({"below": 0}, {"width": 8}):
        arguments = {"width": 9, "below": 3} | wrong
        with pytest.raises(ValueError, match="sizes"):
            in_c.table(entries.copy(), *arguments.values(), *floats)


# ---- mazes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [*range(1, 20), *EDGE_WIDTHS[3:], 1000])
def test_mazes_are_perfect(backend, width):
    """Of a planned height, and of one that is only known when the end comes near."""
    most = 12 if width < 100 else 3
    for height in (1, 2, most):
        assert verify([UniformStream(width, seed=width, height=height).read(height + 5)]).answer == PERFECT
    for more in (1, 2, 5):
        stream = UniformStream(width, seed=width)
        blocks = [stream.read(most)]
        stream.finalize(rows=more)
        blocks.append(stream.read(10))
        assert stream.height == most + more == blocks[-1].stop
        assert verify(blocks).answer == PERFECT
        if width < 10:
            assert not faults(blocks)


def test_rows_beyond_2_to_32(backend):
    for row in (2**32 - 2, 2**33, FAR):
        stream = stream_at(row, [0, 1, 1, 0, 4, 5, 4, 7, 8], seed=5)
        block = stream.read(4)
        other = stream_at(row + 1, [0, 1, 1, 0, 4, 5, 4, 7, 8], seed=5).read(4)
        assert (block.start, block.stop) == (row, row + 4)
        assert block.east.tolist() != other.east.tolist()


def test_seeds_and_rows_have_words_of_their_own(backend):
    mazes = {UniformStream(30, seed=seed).read(1).south.tobytes() for seed in range(50)}
    first = {stream_at(row, list(range(30)), seed=1).read(1).south.tobytes() for row in range(50)}
    assert len(mazes) > 45
    assert len(first) > 45


# ---- what all streams do -------------------------------------------------------------------------------


@given(st.integers(1, 40), seeds, st.none() | st.integers(1, 30), schedules(rare), rare, st.data())
@settings(max_examples=30)
def test_rows_are_the_same_in_whatever_way_they_are_taken(backend, width, seed, height, loops, braid, data):
    spec = MazeSpec(width, algorithm="uniform", seed=seed, height=height, loops=loops, braid=braid)
    whole = UniformStream.from_spec(spec).read(60)
    stream, taken = UniformStream.from_spec(spec), 0
    for step in data.draw(st.lists(st.tuples(st.sampled_from("nrsc"), st.integers(0, 7)), max_size=6)):
        if step[0] == "n":
            for row, _ in zip(stream, range(step[1]), strict=False):
                assert row.block() == whole[row.index : row.index + 1]
        elif step[0] == "r":
            assert stream.read(step[1]) == whole[taken : min(taken + step[1], len(whole))]
        elif step[0] == "s":
            stream.seek(min(taken + step[1], len(whole)))
        else:
            stream = pickle.loads(pickle.dumps(stream))
        taken = stream.position


@given(st.integers(1, 40), seeds, st.integers(0, 20), st.integers(1, 20), st.integers(0, 20))
@settings(max_examples=30)
def test_finalizing_counts_from_what_was_taken(backend, width, seed, taken, more, kept):
    """What was carved ahead is carved again with the end in sight, and a snapshot keeps the end."""
    by_rows, by_blocks = UniformStream(width, seed=seed), UniformStream(width, seed=seed)
    for _ in range(taken):
        next(by_rows)
    by_blocks.read(taken)
    for stream in (by_rows, by_blocks):
        stream.finalize(rows=more)
    kept = by_rows.read(min(kept, more - 1))
    rest = restore_stream(by_rows.snapshot()).read(99)
    assert [*kept, *rest] == [*by_blocks]
    assert rest.stop == by_blocks.height == taken + more
    assert rest.ends


def test_a_planned_height_can_be_cut_short(backend):
    stream = UniformStream(9, seed=1, height=40)
    stream.read(10)
    with pytest.raises(StreamError, match="the number of rows to finalize after is from 1 to 30, not 31"):
        stream.finalize(rows=31)
    stream.finalize(rows=3)
    assert stream.read(99).stop == 13
    with pytest.raises(StreamError, match="finalize was called already: row 12 is the last one"):
        stream.finalize()


@pytest.mark.parametrize("algorithm", ["eller", "dfs", "wilson", "random_walk", "uniform"])
def test_every_stream_ends_after_so_many_rows(backend, algorithm):
    for taken, more in ((0, 1), (3, 1), (3, 2), (5, 150)):
        stream = open_stream(algorithm, width=12, seed=4)
        blocks = [stream.read(taken)]
        for wrong in (0, -1, 2**49, 1.5, None, True):
            with pytest.raises(StreamError, match="the number of rows to finalize after is"):
                stream.finalize(rows=wrong)
        assert stream.height is None
        stream.finalize(rows=more)
        blocks.append(stream.read(more + 9))
        assert stream.height == blocks[-1].stop == taken + more
        assert verify(blocks).fault is None
        assert not blocks[-1].south[-1].any()
        with pytest.raises(StreamError, match="called already"):
            stream.finalize(rows=3)


def test_rows_before_the_end_stay_as_they_were_planned(backend):
    """Eller's rows and bands know nothing of an end but in the last row."""
    for algorithm in ("eller", "dfs", "prim", "wilson"):
        endless = open_stream(algorithm, width=12, seed=4).read(100)
        stream = open_stream(algorithm, width=12, seed=4)
        stream.finalize(rows=100)
        assert stream.read(99) == endless[:99]


def test_seek_goes_forward_only(backend):
    stream = UniformStream(9, seed=1)
    expected = UniformStream(9, seed=1).read(30)
    stream.seek(20)
    assert next(stream).block() == expected[20:21]
    stream.seek(21)
    for row in (0, 20):
        with pytest.raises(StreamError, match=rf"row {row} is behind: row 21 .* no key rows .* restore a snapshot"):
            stream.seek(row)
    most = 2**30 // 9
    with pytest.raises(StreamError, match=rf"{most + 1} rows away.* no key rows .* at most {most} are drawn"):
        stream.seek(21 + most + 1)
    for wrong in (-1, 2**48 + 1, 1.0, "3"):
        with pytest.raises(StreamError, match="the row to seek"):
            stream.seek(wrong)
    assert stream.position == 21
    stream.finalize(rows=2)
    stream.seek(23)
    assert len(stream.read(1)) == 0


def test_the_sets_are_what_the_rows_above_connect(backend):
    stream = UniformStream(40, seed=2)
    block = stream.read(25)
    labels, names = list(range(40)), 40
    for row in block:
        for c in np.flatnonzero(row.east):
            labels = [labels[c] if a == labels[c + 1] else a for a in labels]
        labels = [a if opens else (names := names + 1) for a, opens in zip(labels, row.south, strict=True)]
    assert stream.sets.tolist() == [labels.index(a) for a in labels]


def test_specs():
    spec = MazeSpec(9, algorithm="uniform", seed=1, loops=0.25)
    assert list(spec.to_data()) == ["algorithm", "width", "seed", "height", "loops", "braid"]
    assert MazeSpec.from_data(spec.to_data()) == spec
    assert not spec.seekable
    assert MazeSpec(MAX_UNIFORM_WIDTH, algorithm="uniform").width == 2**14
    with pytest.raises(SpecError, match="width is from 1 to 16384, not 16385"):
        MazeSpec(2**14 + 1, algorithm="uniform")
    for option in ("band", "p_east", "key_interval", "doors"):
        with pytest.raises(SpecError, match=f"uniform has the options loops, braid, not '{option}'"):
            open_stream("uniform", width=9, **{option: 2})
    with pytest.raises(SpecError, match="UniformStream has algorithm uniform, not eller"):
        UniformStream.from_spec(MazeSpec(9))


def test_snapshots_are_of_their_own_kind():
    uniform, eller = UniformStream(9, seed=1).snapshot(), open_stream("eller", width=9, seed=1).snapshot()
    assert type(restore_stream(uniform)) is UniformStream
    with pytest.raises(FormatError, match="begins with uniform-snapshot was expected"):
        UniformStream.restore(eller)
    forged = pack_snapshot(MazeSpec(9, seed=1), None, State.at_top(9)).replace(b"\xaeeller-snap", b"\xb0uniform-snap")
    with pytest.raises(FormatError, match="its algorithm is eller, uniform was expected"):
        UniformStream.restore(forged[:-SEAL_SIZE] + seal([forged[:-SEAL_SIZE]]))
    sizes = set()
    for taken in (0, 1, 5):
        stream = UniformStream(9, seed=1)
        stream.read(taken)
        sizes.add(len(stream.snapshot()))
        stream.finalize(rows=10)
        sizes.add(len(stream.snapshot()))
    assert len(sizes) == 1


def test_two_streams_on_two_threads_give_what_they_give_alone(backend):
    expected = [UniformStream(100, seed=seed, height=60).read(60) for seed in range(2)]
    found = [None, None]

    def work(i):
        found[i] = UniformStream(100, seed=i, height=60).read(60)

    threads = [Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected
