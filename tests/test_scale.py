"""Mazes as Dask arrays and Zarr stores: on every scheduler the rows of `next()`, a killed worker or not."""

import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.array as da
import distributed
import numpy as np
import pytest
import zarr
from helpers import EDGE_WIDTHS, specs
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream import scale
from eller_stream.block import Block, joined
from eller_stream.errors import BlockError, FormatError, SpecError, StoreError, StreamError
from eller_stream.scale import maze_array, open_zarr, resume_zarr, verify_array, verify_zarr, write_zarr
from eller_stream.spec import MazeSpec
from eller_stream.streams import open_stream
from eller_stream.verify import verify

SMALL = {"eller": {"key_interval": 8}} | {name: {"band": 8} for name in ("dfs", "prim", "wilson", "random_walk")}
for_all = pytest.mark.parametrize("algorithm", sorted(SMALL))


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def small(algorithm, **more):
    return MazeSpec(20, algorithm=algorithm, seed=7, **SMALL[algorithm], **more)


def one_by_one(spec):
    """Return all rows of a maze with a height as a Block, taken singly with next()."""
    return joined([row.block() for row in open_stream(spec)])


def planes_of(block):
    return np.stack([plane for plane in (block.east, block.south, block.floor) if plane is not None])


# ---- arrays --------------------------------------------------------------------------------------


@given(specs(key_intervals=(2, 4, 16), heights=(1, 2, 16, 33)), st.integers(1, 40))
def test_arrays_hold_the_rows_of_the_stream(spec, rows):
    block = one_by_one(spec)
    assert np.array_equal(maze_array(spec, rows=rows).compute(scheduler="synchronous"), planes_of(block))


@for_all
@pytest.mark.parametrize("height", [2, 8, 9, 43])
def test_what_an_array_may_be(algorithm, height):
    spec = small(algorithm, height=height, loops=0.1)
    block = one_by_one(spec)
    assert np.array_equal(maze_array(spec, rows=1).compute(), planes_of(block))
    assert np.array_equal(maze_array(spec, what="cells", rows=9).compute(), block.cells())
    assert np.array_equal(maze_array(spec, what="tiles", rows=1).compute(), block.tiles())
    assert np.array_equal(maze_array(small(algorithm, loops=0.1), height, what="tiles").compute(), block.tiles())


@pytest.mark.parametrize("width", EDGE_WIDTHS)
def test_widths_around_words_and_lanes(width):
    spec = MazeSpec(width, seed=width, height=45, key_interval=8)
    assert np.array_equal(maze_array(spec, rows=8).compute(), planes_of(one_by_one(spec)))


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_schedulers(scheduler):
    spec = small("eller", height=50)
    array = maze_array(spec, rows=8)
    assert np.array_equal(array.compute(scheduler=scheduler, num_workers=2), planes_of(one_by_one(spec)))
    assert verify_array(array.persist(scheduler="threads"), 20).answer == "perfect"


def test_an_array_is_lazy_and_a_task_takes_whole_key_intervals():
    spec = MazeSpec(1000, seed=1, height=2**33)
    array = maze_array(spec)
    assert array.shape == (2, 2**33, 125)
    assert array.chunks[1][0] % 1024 == 0
    assert array.chunks[1][0] * 250 <= 2**25
    far = array[:, 2**32 + 5 : 2**32 + 9].compute()
    stream = open_stream(spec)
    stream.seek(2**32 + 5)
    assert np.array_equal(far, planes_of(stream.read(4)))


def test_an_array_can_be_written_as_users_do(tmp_path):
    spec = small("prim", height=40)
    cells = maze_array(spec, what="cells", rows=8)
    cells.to_zarr(tmp_path / "cells.zarr")
    da.to_npy_stack(tmp_path / "stack", cells)
    for array in (da.from_zarr(tmp_path / "cells.zarr"), da.from_npy_stack(tmp_path / "stack")):
        assert np.array_equal(array.compute(), one_by_one(spec).cells())


@pytest.mark.parametrize(
    ("error", "message", "spec", "options"),
    [
        (SpecError, "an array has a height", small("eller"), {}),
        (SpecError, "has the height 8, so the array cannot have 9", small("eller", height=8), {"height": 9}),
        (SpecError, "what is one of planes, cells, tiles", small("eller", height=8), {"what": "bits"}),
        (SpecError, "at least one row, not 0", small("eller", height=8), {"rows": 0}),
        (StreamError, "key_interval is 0", MazeSpec(8, seed=1, key_interval=0, height=8), {}),
    ],
)
def test_wrong_arrays(error, message, spec, options):
    with pytest.raises(error, match=message):
        maze_array(spec, **options)


# ---- verifying -------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.data(), specs(max_width=12, key_intervals=(2, 8), heights=(1, 12, 30)))
def test_the_reduction_reports_what_a_verifier_does(data, spec):
    """Mazes with up to two passages changed, in any chunks."""
    block = open_stream(spec).read(100)
    planes = planes_of(block).copy()
    for _ in range(data.draw(st.integers(0, 2))):
        plane, row, column = (data.draw(st.integers(0, n - 1)) for n in (2, len(block), spec.width))
        planes[plane, row, column // 8] ^= 1 << column % 8
    loops, size = data.draw(st.booleans()), data.draw(st.integers(1, 13))
    report = verify([Block(0, spec.width, planes[0], planes[1], block.north)], loops=loops)
    with dask.config.set(scheduler="synchronous"):
        assert verify_array(da.from_array(planes, chunks=(1, size, 1)), spec.width, loops=loops) == report


@for_all
def test_the_reduction_on_every_algorithm(algorithm):
    spec = small(algorithm, height=90)
    assert verify_array(maze_array(spec, rows=8), 20) == verify([one_by_one(spec)])
    assert verify_array(maze_array(spec, rows=8)[:, :50], 20).answer in ("unfinished", "faulty")


def test_planes_of_another_shape_are_refused():
    planes = maze_array(small("eller", height=9))
    for wrong, width in ((planes[0], 20), (planes, 25), (planes[:1], 20), (planes[:, :0], 20)):
        with pytest.raises(BlockError, match="planes have the shape"):
            verify_array(wrong, width)


# ---- stores ----------------------------------------------------------------------------------------


@for_all
def test_stores(tmp_path, algorithm):
    spec, store = small(algorithm, height=43, loops=0.1), tmp_path / "maze.zarr"
    assert write_zarr(store, spec, rows=8) == planes_of(one_by_one(spec)).nbytes
    told, planes = open_zarr(store)
    assert (told, planes.chunks[1][0]) == (spec, 8)
    assert np.array_equal(planes.compute(), planes_of(one_by_one(spec)))
    assert verify_zarr(store) == verify([one_by_one(spec)], loops=True)
    with pytest.raises(StoreError, match="exists already"):
        write_zarr(store, spec)
    write_zarr(store, small(algorithm), 9, overwrite=True)
    assert open_zarr(store)[0] == small(algorithm, height=9)


def test_stores_behind_a_url():
    write_zarr("memory://maze.zarr", small("eller", height=9))
    assert verify_zarr("memory://maze.zarr").answer == "perfect"


def test_stores_that_are_none(tmp_path, monkeypatch):
    zarr.open_group(tmp_path / "other.zarr", mode="w")
    with pytest.raises(FormatError, match="it is no maze"):
        open_zarr(tmp_path / "other.zarr")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(scale, "_write_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_zarr(tmp_path / "half.zarr", small("eller", height=9))
    with pytest.raises(FormatError, match="it is not complete"):
        verify_zarr(tmp_path / "half.zarr")


# ---- going on ------------------------------------------------------------------------------------------


def tree(store):
    """The bytes of every file of a store, by its name in it."""
    return {str(path.relative_to(store)): path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()}


def set_incomplete(store):
    zarr.open_group(store).attrs["complete"] = False


@settings(max_examples=25)
@given(st.sampled_from(sorted(SMALL)), st.data())
def test_a_store_that_was_broken_off_is_gone_on_with(tmp_path_factory, algorithm, data):
    """Whatever chunks are missing or cut short, the bytes become those of a store that was written at once."""
    spec, store = small(algorithm, height=43, loops=0.1), tmp_path_factory.mktemp("going") / "maze.zarr"
    write_zarr(store, spec, rows=8)
    whole = tree(store)
    set_incomplete(store)
    chunks = st.sampled_from(sorted(name for name in whole if "/c/" in name))
    missing, cut = (set(data.draw(st.lists(chunks, max_size=4), what)) for what in ("missing", "cut short"))
    for name in missing:
        (store / name).unlink()
    for name in cut - missing:
        (store / name).write_bytes(whole[name][: data.draw(st.integers(0, len(whole[name]) - 1))])
    (store / "east/c/0/0.0a1b2c.partial").write_bytes(b"what a killed run had begun")
    groups = {int(name.split("/")[2]) for name in missing | cut}
    assert resume_zarr(store, spec) == sum(3 if group == 5 else 8 for group in groups)
    assert tree(store) == whole
    assert resume_zarr(store, spec) == 0


@pytest.mark.parametrize("left", [(), ("east",)])
def test_a_store_of_which_hardly_anything_was_written(tmp_path, left):
    spec = small("eller", height=43)
    for name in ("whole", "half"):
        write_zarr(tmp_path / name, spec, rows=8)
    set_incomplete(tmp_path / "half")
    for array in {"east", "south"} - set(left):
        shutil.rmtree(tmp_path / "half" / array)
    assert resume_zarr(tmp_path / "half", spec, rows=8) == 43
    assert tree(tmp_path / "half") == tree(tmp_path / "whole")


def test_whole_chunks_are_not_made_again(tmp_path, monkeypatch):
    spec, store = small("eller", height=43), tmp_path / "maze.zarr"
    write_zarr(store, spec, rows=8)
    set_incomplete(store)
    (store / "south/c/2/0").unlink()
    made, carve = [], scale._group
    monkeypatch.setattr(scale, "_group", lambda spec, first, rows: (made.append(first), carve(spec, first, rows))[1])
    assert resume_zarr(store, spec) == 8
    assert made == [16]


def test_where_there_is_no_store_one_is_begun(tmp_path):
    assert resume_zarr(tmp_path / "maze.zarr", small("eller"), 43, rows=8) == 43
    write_zarr(tmp_path / "whole.zarr", small("eller"), 43, rows=8)
    assert tree(tmp_path / "maze.zarr") == tree(tmp_path / "whole.zarr")


def test_what_is_not_gone_on_with(tmp_path):
    store = tmp_path / "maze.zarr"
    write_zarr(store, small("eller", height=43), rows=8)
    before = tree(store)
    with pytest.raises(StoreError, match="it holds another maze: height is 43 there and 44 here"):
        resume_zarr(store, small("eller", height=44))
    with pytest.raises(StoreError, match="it holds another maze: algorithm is eller there and dfs here"):
        resume_zarr(store, small("dfs", height=43))
    assert tree(store) == before
    zarr.open_group(tmp_path / "other.zarr", mode="w")
    with pytest.raises(FormatError, match="it is no maze"):
        resume_zarr(tmp_path / "other.zarr", small("eller", height=43))
    (tmp_path / "other.zarr" / "zarr.json").write_text('{"kind')
    with pytest.raises(FormatError, match="its metadata is no JSON"):
        resume_zarr(tmp_path / "other.zarr", small("eller", height=43))
    with pytest.raises(StreamError, match="key_interval is 0"):
        resume_zarr(tmp_path / "new.zarr", MazeSpec(9, seed=1, key_interval=0, height=9))


# ---- a cluster -----------------------------------------------------------------------------------------


@contextmanager
def cluster(workers):
    """Give a cluster of processes on this machine; a worker that dies is started again."""
    quiet = {"dashboard_address": None, "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, **quiet) as local,
        distributed.Client(local) as client,
    ):
        yield local, client


def kill_in_the_middle(folder, pid):
    """Kill a process when some chunks are written; return the list that then tells how many there were."""
    told = []

    def kill():
        while not told:
            written = sum(path.is_file() for path in folder.glob("*/c/*/*"))
            if written >= 8:
                os.kill(pid, signal.SIGKILL)
                told.append(written)
            time.sleep(0.001)

    threading.Thread(target=kill, daemon=True).start()
    return told


@pytest.mark.filterwarnings("default")
def test_a_cluster_of_which_a_worker_is_killed(tmp_path):
    spec, store = MazeSpec(1000, seed=3, height=60_000), tmp_path / "maze.zarr"
    with cluster(2) as (local, client), dask.config.set(scheduler=None):
        before = client.run(os.getpid)
        told = kill_in_the_middle(store, next(iter(before.values())))
        write_zarr(store, spec, rows=1024)
        assert told
        assert told[0] < 2 * 59
        assert verify_zarr(store).answer == "perfect"
        command = [sys.executable, "-m", "eller_stream", "generate", tmp_path / "again.zarr"]
        words = ["--width", "20", "--rows", "5000", "--seed", "3", "--scheduler", local.scheduler_address]
        assert subprocess.run([*command, *words], check=False, timeout=60).returncode == 0
        after = client.run(os.getpid)
    assert set(before.values()) != set(after.values())
    assert np.array_equal(open_zarr(store)[1].compute(), planes_of(open_stream(spec).read(60_000)))
    again = MazeSpec(20, seed=3, height=5000)
    assert np.array_equal(open_zarr(tmp_path / "again.zarr")[1].compute(), planes_of(one_by_one(again)))


# ---- the command ---------------------------------------------------------------------------------------


def eller(*words):
    command = [sys.executable, "-m", "eller_stream", *map(str, words)]
    return subprocess.run(command, capture_output=True, check=False, timeout=120, text=True)


def test_generate_and_verify_a_store(tmp_path):
    store = tmp_path / "maze.zarr"
    words = ("--width", 70, "--rows", 3000, "--seed", 5, "--workers", 2)
    done = eller("generate", store, *words, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert (record["rows"], record["bytes"], record["finished"]) == (3000, 3000 * 18, True)
    spec = MazeSpec(70, seed=5, height=3000)
    assert MazeSpec.from_data(record["spec"]) == spec
    assert np.array_equal(open_zarr(store)[1].compute(), planes_of(open_stream(spec).read(3000)))
    done = eller("verify", store, "--json")
    assert (done.returncode, json.loads(done.stdout)["answer"]) == (0, "perfect")
    zarr.open_group(store)["south"][2000] = 0
    done = eller("verify", store, "--json")
    assert (done.returncode, json.loads(done.stdout)["fault"]["row"]) == (1, 2000)
    done = eller("generate", store, *words)
    assert (done.returncode, "exists already" in done.stderr) == (1, True)
    assert eller("generate", store, *words, "--force").returncode == 0


def killed_in_the_middle(store, *words):
    """Run the command, and kill it when a chunk is whole."""
    command = [sys.executable, "-m", "eller_stream", "generate", store, *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not list(store.glob("*/c/*/0")):
            time.sleep(0.001)
        process.kill()
    assert process.returncode == -signal.SIGKILL


def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path):
    """Five chunks of 32 MiB, of which the kill leaves some."""
    words, store = ("--width", 10_000, "--rows", 60_000), tmp_path / "maze.zarr"
    killed_in_the_middle(store, *words, "--seed", 5)
    there = sum(path.stat().st_size for path in store.glob("*/c/*/0"))
    assert 0 < there < 2 * 5 * 13_312 * 1250
    assert eller("verify", store).returncode == 1
    done = eller("generate", store, "--width", 9_999, "--rows", 60_000, "--resume")
    assert (done.returncode, "it holds another maze: width is 10000 there and 9999 here" in done.stderr) == (1, True)
    done = eller("generate", store, *words, "--resume", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert (record["rows"], record["bytes"], record["spec"]["seed"]) == (60_000, 60_000 * 2500, "5")
    assert record["resumed_at"] in (0, 13_312, 2 * 13_312, 3 * 13_312, 4 * 13_312)
    write_zarr(tmp_path / "whole.zarr", MazeSpec(10_000, seed=5, height=60_000))
    assert tree(store) == tree(tmp_path / "whole.zarr")
    done = eller("generate", store, *words, "--resume")
    assert (done.returncode, "complete already, with 60,000 rows" in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("give --rows", ("generate", "maze.zarr", "--width", 9)),
        ("give OUT a name", ("generate", "-", "--format", "zarr", "--width", 9, "--rows", 9)),
        ("--scheduler is for the format zarr", ("generate", "maze.emz", "--width", 9, "--scheduler", "tcp://x:1")),
        ("give one of them", ("verify", "maze.zarr", "--workers", 2, "--scheduler", "tcp://x:1")),
        ("--resume goes on with", ("generate", "maze.txt", "--width", 9, "--rows", 9, "--resume")),
    ],
)
def test_wrong_use(tmp_path, message, words):
    done = eller(words[0], tmp_path / words[1] if words[1] != "-" else "-", *words[2:])
    assert (done.returncode, message in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr


def test_spans_and_specs_travel():
    spec = small("wilson", height=9)
    span = scale._span_of_planes(planes_of(one_by_one(spec)), 20, 0)
    assert pickle.loads(pickle.dumps(span)) == span


# ---- docs/SCALE.md -------------------------------------------------------------------------------------

TIMES = "\N{MULTIPLICATION SIGN}"
SCALE_PAGE = (Path(__file__).parents[1] / "docs" / "SCALE.md").read_text(encoding="utf-8")
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15}
SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}


def amount(text, units):
    number, unit = text.split()
    return float(number) * units[unit]


def plain(text):
    return float(text.replace(",", "").replace(f" {TIMES} 10^", "e"))


def test_the_table_is_calculated_as_the_page_says():
    rates = [float(rate) for rate in re.findall(r"\*\*([0-9.]+)\*\*", SCALE_PAGE)]
    rows = [
        line.strip("| ").split(" | ")
        for line in SCALE_PAGE.splitlines()
        if re.match(rf"\| a .* {TIMES} .* {TIMES} 10\^", line)
    ]
    assert (len(rates), len(rows)) == (2, 4)
    for _, size, cells, stored, *hours, workers, to_make, to_verify in rows:
        width, height = (int(number.replace(",", "")) for number in size.split(f" {TIMES} "))
        assert plain(cells) == width * height
        assert amount(stored, UNITS) == width * height / 4
        core_hours = [width * height / 4e9 * rate / 3600 for rate in rates]
        assert [plain(told) for told in hours] == pytest.approx(core_hours, rel=0.05)
        times = [amount(told, SECONDS) for told in (to_make, to_verify)]
        assert times == pytest.approx([each * 3600 / int(workers.replace(",", "")) for each in core_hours], rel=0.05)
