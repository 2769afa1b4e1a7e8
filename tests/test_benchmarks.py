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

ROOT = Path(__file__).parents[1]
WIDTHS = [1, 2, 7, 8, 9, 63, 64, 65, 128, 200]


@pytest.fixture
def load(monkeypatch):
    """Import a module of benchmarks/ by its name."""
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: importlib.import_module(f"benchmarks.{name}")


@pytest.fixture
def needs_c(request):
    if request.config.getoption("--without-c"):
        pytest.skip("the C backend was left out")


def stream(width):
    return EllerStream(width, seed=width, key_interval=0)


def run(*words, **environment):
    command = [sys.executable, "-m", "benchmarks", *words]
    # Unlike the other processes that tests start, this one is to find the folder it is started in.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return subprocess.run(command, cwd=ROOT, env=clean | environment, capture_output=True, text=True, check=True)


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


def test_a_run_prints_a_table_and_keeps_a_record(needs_c, tmp_path):
    out = tmp_path / "made" / "record.json"
    ran = run("--quick", "--only", "read", "--json", out, ELLER_STREAM_KERNEL="c")
    assert "EllerStream.read" in ran.stdout
    record = json.loads(out.read_text())
    assert set(record) == {
        *("record", "command", "quick", "machine", "python", "numpy", "backend", "lanes", "version", "commit", "jobs")
    }
    assert set(record["machine"]) == {"cpu", "architecture", "cores", "memory_bytes", "os"}
    assert record["command"] == ["python", "-m", "benchmarks", "--only", "read", "--quick"]
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


def test_a_plot_of_what_can_be_plotted(tmp_path):
    ran = run("--quick", "--only", "lean", "curve", "--plots", tmp_path, "--json", tmp_path / "record.json")
    assert [file.name for file in tmp_path.glob("*.svg")] == ["curve.svg"]
    assert "eller-stream generate" in (tmp_path / "curve.svg").read_text()
    figures = {
        figure["name"]: figure
        for figure in json.loads((tmp_path / "record.json").read_text())["jobs"]["lean"]["figures"]
    }
    assert figures["generate, width 1,000"]["target"] == 40.0
    assert figures["import eller_stream, beyond numpy and msgpack"]["target"] == 4.0
    assert figures["generate, width 1,000"]["reached"] < 60  # with room for other versions of numpy
    assert all(figure["reached"] < 8 for name, figure in figures.items() if name.endswith("beyond numpy and msgpack"))
    assert "generate, width 10,000,000" in ran.stdout


# ---- the field ------------------------------------------------------------------------------------

NEAR = """
import sys, time
package, algorithm, width, height = sys.argv[1:]
if algorithm == "fails" or (algorithm == "wide fails" and int(width) > 100):
    sys.exit("what went wrong")
time.sleep(60 if algorithm == "slow" else 0)
print(0.5, int(width) * int(height) - (2 if algorithm == "apart" else 1))
"""


def test_who_fails_or_is_slow_is_left_out_by_name(load, monkeypatch, tmp_path):
    field, install = load("jobs.field"), load("field.install")
    (tmp_path / "near.py").write_text(NEAR)
    kinds = ["", "fails", "wide fails", "slow", "apart"]
    found = {
        install.Generator("", "one" if kind else "eller_stream", "", kind, kind or "Eller"): [
            sys.executable,
            str(tmp_path / "near.py"),
            "package",
            kind,
        ]
        for kind in kinds
    }
    monkeypatch.setattr(field, "commands", lambda _: (found, ["another: it could not be installed here"]))
    monkeypatch.setattr(field, "SIZES", (100, 200))
    monkeypatch.setattr(field, "SECONDS", 1.0)
    result = field.run(load("measure").Options())
    assert result.settings["left_out"] == [
        "another: it could not be installed here",
        "one, fails, 100 x 100: what went wrong",
        "one, slow, 100 x 100: not done in 1 seconds",
        "one, apart, 100 x 100: 9998 passages, where a perfect maze has 9999",
        "one, wide fails, 200 x 200: what went wrong",
    ]
    assert [samples.name for samples in result.samples if samples.unit == "million cells/s"] == [
        "eller_stream, Eller, 100 x 100",
        "one, wide fails, 100 x 100",
        "eller_stream, Eller, 200 x 200",
    ]
    assert result.samples[0].values == (0.02, 0.02, 0.02)
    assert [figure.name for figure in result.figures] == ["eller_stream against one, wide fails, 100 x 100"]
    assert [list(panel.lines) for panel in field.panels(result)] == [["eller_stream"]] * 2
    assert field.panels(result)[0].lines["eller_stream"] == [(1e4, 0.02), (4e4, 0.08)]


def test_a_generator_that_cannot_be_installed_is_named(load, monkeypatch, tmp_path):
    install = load("field.install")
    monkeypatch.setattr(install, "_works", lambda *_: False)
    found, missing = install.commands(tmp_path)
    assert list(found) == [install.OURS]
    assert len(missing) == len(install.FIELD)
    assert "pydaedalus, Eller: pydaedalus could not be installed here" in missing


def test_the_runner_makes_our_maze(load):
    install = load("field.install")
    done = subprocess.run(
        [sys.executable, "-P", install.HERE / "generators.py", "eller_stream", "", "30", "20"],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, passages = done.stdout.split()
    assert float(seconds) > 0
    assert int(passages) == 30 * 20 - 1
