"""The benchmarks: the yardsticks give the stream's rows, and a run leaves the record it promises. Nothing is timed."""

import importlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from eller_stream.block import Block, row_bytes
from eller_stream.stream import EllerStream
from eller_stream.verify import verify

FOLDER = Path(__file__).parents[1] / "benchmarks"
WIDTHS = [1, 2, 7, 8, 9, 63, 64, 65, 128, 200]


@pytest.fixture
def load(monkeypatch):
    """Import a module of benchmarks/ by its name."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.fixture
def needs_c(request):
    if request.config.getoption("--without-c"):
        pytest.skip("the C backend was left out")


def stream(width):
    return EllerStream(width, seed=width, key_interval=0)


def run(*words, **environment):
    command = [sys.executable, FOLDER / "run.py", *words]
    # Unlike the other processes that tests start, a script is to find its neighbours.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return subprocess.run(command, env=clean | environment, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_yardstick_in_python_gives_the_rows_of_the_stream(load, width):
    textbook = load("textbook").PythonTextbook(width)
    drawn = load("textbook").coins_ahead(width, width, 40)
    for row, (joins, keeps) in zip(stream(width), drawn, strict=False):
        east, south = textbook.row(joins, keeps, backwards=row.index % 2 == 1)
        assert (east, south) == (row.east.tolist(), row.south.tolist()), row


@pytest.mark.parametrize("width", WIDTHS)
def test_the_yardstick_in_c_gives_the_rows_of_the_stream(load, needs_c, width):
    textbook, rows = load("textbook").CTextbook(width, width), stream(width)
    for count in (1, 2, 37, 160):  # each call goes on where the last one ended, on even and on odd rows
        east, south = (np.empty((count, row_bytes(width)), np.uint8) for _ in range(2))
        textbook.carve(east, south)
        block = rows.read(count)
        assert np.array_equal(east, block.east)
        assert np.array_equal(south, block.south)


@pytest.mark.parametrize("name", ["dfs", "prim", "wilson"])
def test_the_plain_algorithms_of_bands_make_perfect_mazes(load, name):
    east, south = getattr(load("plain_bands"), name)(30, 20, random.Random(1))
    assert verify([Block.from_bools(east, south)]).answer == "perfect"


def test_the_plain_random_walk_digs(load):
    walls = load("plain_bands").random_walk(30, 20, random.Random(1), 50, 8)
    assert 50 < sum(row.count(0) for row in walls) <= 50 * 8 + 1


def test_rows_that_differ_are_not_timed(load, monkeypatch):
    textbook = load("textbook")
    textbook.prove(with_c=False)
    ahead = textbook.coins_ahead
    monkeypatch.setattr(textbook, "coins_ahead", lambda *words: [coins[::-1] for coins in ahead(*words)])
    with pytest.raises(RuntimeError, match="python_rows and EllerStream differ at width 64"):
        textbook.prove(with_c=False)


def test_contestants_run_by_turns_after_a_round_to_warm_up(load):
    measure, order = load("measure"), []

    def contestant(name):
        def sample():
            order.append(name)
            return float(len(order))

        return measure.Contestant(name, sample)

    a, b = measure.race([contestant("a"), contestant("b")], 2)
    assert "".join(order) == "abbaab"
    assert (a.values, b.values) == ((4.0, 5.0), (3.0, 6.0))
    assert measure.ratios(a, b) == (4 / 3, 5 / 6)


@pytest.mark.parametrize(
    ("target", "at_most", "met"), [(None, False, None), (2.0, False, True), (2.1, False, False), (1.9, True, False)]
)
def test_a_figure_is_the_median_against_its_target(load, target, at_most, met):
    figure = load("measure").Figure("a figure", "times", (9.0, 2.0, 1.0), target, at_most)
    assert figure.reached == 2.0
    assert figure.met is met
    assert figure.to_json() == {
        "name": "a figure",
        "unit": "times",
        "reached": 2.0,
        "median": 2.0,
        "min": 1.0,
        "max": 9.0,
        "target": target,
        "at_most": at_most,
        "met": met,
    }


def test_a_child_tells_its_seconds_and_its_own_peak_memory(load):
    child = load("child")
    small, large = (child.run(sys.executable, "-c", f"x = b'x' * {size}") for size in (1, 100_000_000))
    assert small.seconds > 0
    assert 0 < small.peak_bytes < 100_000_000 < large.peak_bytes
    with pytest.raises(RuntimeError, match=r"exit code 3: on stderr$"):
        child.run(sys.executable, "-c", "import sys; print('on stderr', file=sys.stderr); sys.exit(3)")


def test_a_run_prints_a_table_and_keeps_a_record(needs_c, tmp_path):
    out = tmp_path / "made" / "record.json"
    ran = run("--quick", "--only", "read", "--json", out, ELLER_STREAM_KERNEL="c")
    assert "EllerStream.read" in ran.stdout
    record = json.loads(out.read_text())
    assert set(record) == {
        *("record", "command", "quick", "machine", "python", "numpy", "backend", "lanes", "version", "commit", "jobs")
    }
    assert set(record["machine"]) == {"cpu", "architecture", "cores", "memory_bytes", "os"}
    assert record["command"] == ["python", "benchmarks/run.py", "--only", "read", "--quick"]
    assert (record["quick"], record["backend"], list(record["jobs"])) == (True, "c", ["read"])
    job = record["jobs"]["read"]
    assert set(job) == {"title", "settings", "figures", "samples"}
    assert {figure["target"] for figure in job["figures"]} - {18.0, 30.0} == {6.0, 0.5, None}  # by the machine
    for samples in job["samples"]:
        assert samples["unit"] == "million cells/s"
        assert len(samples["values"]) == 5
        assert 0 < samples["min"] <= samples["median"] <= samples["max"]


def test_a_job_that_the_machine_cannot_run_is_left_out():
    ran = run("--quick", "--only", "read", "iterate", ELLER_STREAM_KERNEL="python")
    for name in ("read", "iterate"):
        assert f"{name} is left out: streams run on the python kernel, not on the one in C" in ran.stderr


def test_without_a_c_compiler_its_yardstick_is_left_out(needs_c):
    ran = run("--quick", "--only", "read", ELLER_STREAM_KERNEL="c", CC="no-such-compiler")
    assert "read is left out: there is no C compiler 'no-such-compiler'" in ran.stderr
