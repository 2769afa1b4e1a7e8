"""Rows that several threads carve are the rows of `next()`, one by one, however they are asked for."""

import fcntl
import io
import subprocess
import sys
import threading
from itertools import count, islice, pairwise

import pytest
from helpers import EDGE_WIDTHS, seeds
from helpers import specs as eller_specs
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream import ahead as ahead_module
from eller_stream.ahead import AheadStream, ahead
from eller_stream.block import joined
from eller_stream.errors import CapacityError, StreamError
from eller_stream.frames import Rows
from eller_stream.parallel import in_order, shares, side_by_side
from eller_stream.spec import MAX_ROW, MazeSpec
from eller_stream.store import MazeFile, MazeWriter, read_events
from eller_stream.streams import open_stream, restore_stream
from eller_stream.verify import verify

SMALL = {"dfs": {"band": 4}, "prim": {"band": 4}, "wilson": {"band": 4}, "random_walk": {"band": 4}}
SMALL["eller"] = {"key_interval": 4}
for_all = pytest.mark.parametrize("algorithm", sorted(SMALL))


def small(algorithm, width=20, **more):
    return MazeSpec(width, algorithm=algorithm, seed=7, **SMALL[algorithm], **more)


@st.composite
def band_specs(draw):
    algorithm = draw(st.sampled_from(["dfs", "prim", "wilson", "random_walk"]))
    width, height = draw(st.integers(2, 20) | st.sampled_from([63, 64, 65])), draw(st.sampled_from([None, 2, 7, 8, 30]))
    chances = {"loops": draw(st.sampled_from([0, 0.1])), "braid": draw(st.sampled_from([0, 0.5]))}
    band = draw(st.sampled_from([2, 3, 8]))
    return MazeSpec(width, algorithm=algorithm, seed=draw(seeds), height=height, band=band, **chances)


def keyed_specs():
    return eller_specs(key_intervals=(2, 4, 6, 16), heights=(None, 1, 7, 8, 33))


any_spec = st.one_of(keyed_specs(), band_specs())


def one_by_one(stream, rows):
    """Return the next rows, taken singly with next()."""
    return list(islice(stream, rows))


@pytest.fixture
def tiny_groups(monkeypatch):
    """Groups of one key interval or band each, so that few rows make many groups."""
    monkeypatch.setattr(ahead_module, "_GROUP_BYTES", 1)


# ---- read(workers) -----------------------------------------------------------------------------------


@given(any_spec, st.integers(1, 5), st.integers(0, 20), st.lists(st.integers(0, 40), min_size=1, max_size=3))
def test_rows_read_by_several_workers(spec, workers, first, portions):
    first = min(first, spec.height or first)
    plain, stream = open_stream(spec), open_stream(spec)
    plain.seek(first)
    stream.seek(first)
    for portion in portions:
        block = stream.read(portion, workers=workers)
        assert (block.start, list(block)) == (plain.position, one_by_one(plain, portion))
        assert stream.position == plain.position
    assert next(stream, None) == next(plain, None)


@pytest.mark.parametrize("width", EDGE_WIDTHS)
def test_widths_around_words_and_lanes(backend, width):
    spec = MazeSpec(width, seed=width, height=45, key_interval=8, loops=0.1, braid=0.3)
    block = open_stream(spec).read(100, workers=3)
    assert list(block) == one_by_one(open_stream(spec), 45)
    assert verify([block], loops=True).ok


@for_all
def test_a_finalized_end_is_known_to_every_worker(algorithm):
    streams = [open_stream(small(algorithm)) for _ in range(2)]
    for stream in streams:
        stream.seek(21)
        stream.finalize()
        stream.seek(2)
    block = streams[0].read(100, workers=4)
    assert list(block) == one_by_one(streams[1], 100)
    assert block.stop == 22
    assert len(streams[0].read(5, workers=2)) == 0


@for_all
def test_far_rows(algorithm):
    spec, last = small(algorithm), MAX_ROW - 30
    streams = [open_stream(spec) for _ in range(2)]
    for stream in streams:
        stream.seek(last)
    assert list(streams[0].read(30, workers=3)) == one_by_one(streams[1], 30)
    with pytest.raises(StreamError, match="is the last that a stream can have"):
        streams[0].read(1, workers=3)


@pytest.mark.parametrize("workers", [0, -1, 1025, 1.5, "2", None])
@for_all
def test_a_wrong_number_of_workers(algorithm, workers):
    with pytest.raises(StreamError, match="workers"):
        open_stream(small(algorithm)).read(5, workers=workers)
    with pytest.raises(StreamError, match="workers"):
        AheadStream(open_stream(small(algorithm)), workers)


def test_rows_that_follow_one_another_are_not_shared():
    classic = open_stream("eller", width=10, seed=1, key_interval=0)
    assert len(classic.read(5, workers=1)) == 5
    with pytest.raises(StreamError, match="key_interval is 0"):
        classic.read(5, workers=2)
    with pytest.raises(StreamError, match="key_interval is 0"):
        AheadStream(classic, 2)
    assert classic.position == 5


@for_all
def test_more_rows_than_there_is_memory_for(algorithm):
    stream = open_stream(small(algorithm))
    with pytest.raises(CapacityError):
        stream.read(2**47, workers=2)
    assert list(stream.read(9, workers=2)) == one_by_one(open_stream(small(algorithm)), 9)


# ---- AheadStream -------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(any_spec, st.integers(1, 3), st.integers(0, 20), st.lists(st.integers(0, 30), min_size=1, max_size=4))
def test_rows_carved_ahead(spec, workers, first, portions):
    first = min(first, spec.height or first)
    plain, wrapped = open_stream(spec), open_stream(spec)
    plain.seek(first)
    wrapped.seek(first)
    stream = AheadStream(wrapped, workers)
    stream._group_rows = spec.key_interval or spec.band
    for portion in portions:
        assert stream.read(portion) == plain.read(portion)
        assert stream.position == plain.position
    assert next(stream, None) == next(plain, None)
    assert restore_stream(stream.snapshot()).read(20) == plain.read(20)


@for_all
def test_finalizing_and_seeking_drop_what_was_carved_ahead(algorithm, tiny_groups):
    streams = [AheadStream(open_stream(small(algorithm)), 2), open_stream(small(algorithm))]
    told = []
    for stream in streams:
        rows = [stream.read(9)]
        stream.seek(30)
        rows.append(stream.read(7))
        stream.finalize()
        rows += [stream.read(5), stream.read(5)]
        with pytest.raises(StreamError, match="finalize was called already: row 37 is the last one"):
            stream.finalize()
        with pytest.raises(StreamError, match="the row to seek"):
            stream.seek(39)
        told.append((rows, stream.height, stream.position))
    assert told[0] == told[1]


def test_an_endless_stream_carves_a_bounded_number_of_groups(tiny_groups, monkeypatch):
    begun, carve = [], ahead_module._carve
    monkeypatch.setattr(ahead_module, "_carve", lambda *group: begun.append(group[1]) or carve(*group))
    stream = AheadStream(open_stream(small("eller")), 3)
    assert begun == []
    stream.read(1)
    stream._groups.close()
    assert len(begun) <= 6


def test_an_error_in_a_worker_loses_no_rows(tiny_groups, monkeypatch):
    carve = ahead_module._carve
    plain, stream = open_stream(small("eller")), AheadStream(open_stream(small("eller")), 2)
    assert stream.read(3) == plain.read(3)
    for _ in range(2):
        monkeypatch.setattr(ahead_module, "_carve", lambda s, row, n: carve(s, row, n if row < 12 else 2**47))
        with pytest.raises(CapacityError):
            stream.read(20)
        assert stream.position == 3
    monkeypatch.setattr(ahead_module, "_carve", carve)
    assert stream.read(20) == plain.read(20)


def test_one_worker_is_the_stream_itself():
    stream = open_stream(small("eller"))
    assert ahead(stream, 1) is stream


def test_threads_share_what_is_carved_ahead(tiny_groups):
    stream, taken = AheadStream(open_stream(small("eller", height=200)), 2), []

    def take():
        while len(block := stream.read(3)):
            taken.append(block)

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = joined(sorted(taken, key=lambda block: block.start))
    assert whole == open_stream(small("eller", height=200)).read(200)


# ---- files ---------------------------------------------------------------------------------------------


def generate(out, *words):
    command = [sys.executable, "-m", "eller_stream", "generate", out, "--width", "70", "--seed", "3", *words]
    return subprocess.run(command, capture_output=True, check=False, timeout=120)


@for_all
def test_the_command_writes_the_same_bytes_with_workers(tmp_path, algorithm):
    small_band = ["--key-interval", "6"] if algorithm == "eller" else ["--band", "6"]
    words = ["--rows", "3000", "--algorithm", algorithm, "--loops", "0.1", *small_band]
    files = []
    for workers in (1, 3):
        files.append(tmp_path / f"{workers}.emz")
        done = generate(files[-1], "--workers", str(workers), *words)
        assert done.returncode == 0, done.stderr
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="pipes have one size elsewhere")
def test_a_pipe_is_made_to_hold_some_frames():
    command = [
        sys.executable,
        "-m",
        "eller_stream",
        "generate",
        "-",
        "--width",
        "1000",
        "--rows",
        "5000",
        "--seed",
        "1",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        first = process.stdout.read(1)
        assert fcntl.fcntl(process.stdout, fcntl.F_GETPIPE_SZ) == 2**20
        data = first + process.stdout.read()
    assert [len(event.block) for event in read_events(io.BytesIO(data)) if isinstance(event, Rows)][:2] == [1024, 1024]


def test_the_command_refuses_workers_without_key_rows(tmp_path):
    done = generate(tmp_path / "maze.emz", "--workers", "2", "--key-interval", "0")
    assert (done.returncode, b"key_interval is 0" in done.stderr) == (1, True)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_off_file_goes_on_with_workers(tmp_path, tiny_groups):
    spec = MazeSpec(20, seed=1, height=100, key_interval=6)
    whole, broken = tmp_path / "whole.emz", tmp_path / "broken.emz"
    with MazeWriter(whole, open_stream(spec), rows_per_frame=4) as writer:
        writer.write(100)
    broken.with_name("broken.emz.part").write_bytes(whole.read_bytes()[:900])
    with MazeWriter.resume(broken, spec, workers=2) as writer:
        assert isinstance(writer.stream, AheadStream)
        writer.write(100)
    assert broken.read_bytes() == whole.read_bytes()
    with MazeFile(broken) as maze:
        assert maze[:] == open_stream(spec).read(100)


# ---- the machinery ---------------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(0, 300), st.integers(1, 50), st.integers(1, 9))
def test_shares_cover_the_rows(start, rows, step, parts):
    cut = shares(start, start + rows, step, parts)
    assert 1 <= len(cut) <= parts
    assert (cut[0][0], cut[-1][1]) == (start, start + rows)
    assert all(a[1] == b[0] and b[0] % step == 0 for a, b in pairwise(cut))
    longest, even = max(stop - first for first, stop in cut), -(-rows // parts)
    assert longest <= even + step


def test_jobs_come_in_their_order_and_only_so_many_at_once():
    gate, begun = threading.Event(), []

    def job(n):
        begun.append(n)
        if n == 0:
            gate.wait(10)
        return n

    made = []
    results = in_order(((lambda n=n: job(n)) for n in count() if not made.append(n)), 2)
    threading.Timer(0.05, gate.set).start()
    assert list(islice(results, 9)) == list(range(9))
    assert len(made) <= 9 + 4
    results.close()
    assert len(begun) <= len(made)


def test_what_a_job_raises_comes_out_in_its_place():
    results = in_order([lambda: 1, lambda: 1 // 0, lambda: 3], 2)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1, lambda: 1 // 0])
    assert side_by_side([threading.current_thread]) == [threading.current_thread()]
