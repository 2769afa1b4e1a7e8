"""`eller-stream bench`: processes and limits, the search for the widest maze, records, plots. Nothing is timed."""

import argparse
import json
import os
import subprocess
import sys
from math import inf
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eller_stream import EllerStream, MazeFile
from eller_stream.bench import limits as limits_module
from eller_stream.bench import survey as survey_module
from eller_stream.bench.child import Child, Confines, launch, run
from eller_stream.bench.limits import ADDRESS_SPACE, CGROUP, Limit, limits
from eller_stream.bench.machine import facts, in_words
from eller_stream.bench.plot import Panel, svg
from eller_stream.bench.survey import Measured, Surveyor, growths
from eller_stream.bench.worker import SEED, Task
from eller_stream.cli.bench import memory
from eller_stream.errors import BenchError
from eller_stream.verify import verify

PYTHON = (sys.executable, "-S", "-E", "-c")
TOO_MUCH = "x = b'x' * 200_000_000"
LIMIT = 100_000_000


@pytest.fixture
def backends(request):
    """The backends that a survey is to find here."""
    return ["python", "micro"] if request.config.getoption("--without-c") else ["c", "python", "micro"]


# ---- processes and limits -------------------------------------------------------------------------


def test_a_child_tells_its_seconds_and_its_own_peak_memory():
    held = b"x" * 150_000_000  # this process's own memory does not count
    small, large = (run(*PYTHON, f"x = b'x' * {size}") for size in (1, 100_000_000))
    assert small.seconds > 0
    assert 0 < small.peak_bytes < 100_000_000 < large.peak_bytes < len(held)


def test_a_child_that_fails_says_so():
    with pytest.raises(BenchError, match=r"exit code 3: on stderr$"):
        run(*PYTHON, "import sys; print('on stderr', file=sys.stderr); sys.exit(3)")
    with pytest.raises(BenchError, match="no-such-command"):
        run("no-such-command")
    assert launch("no-such-command").peak_bytes == 0


def test_a_childs_output_is_kept_or_thrown_away():
    code = "print('two\\nlines')"
    assert launch(*PYTHON, code, out="").output == "two\nlines"
    assert launch(*PYTHON, code).output == ""


def test_a_child_that_takes_too_long_is_killed():
    ran = launch(*PYTHON, "import time; time.sleep(60)", confines=Confines(seconds=0.3))
    assert ran.code == -9
    assert ran.seconds < 50


def test_where_peaks_are_not_told(monkeypatch):
    monkeypatch.delattr(os, "wait4")
    with pytest.raises(BenchError, match="does not tell the peak memory of a process"):
        launch(*PYTHON, "pass")


def test_limits_hold_and_leave_nothing_behind():
    with limits(LIMIT) as held:
        names = [limit.name for limit in held]
        assert names
        assert set(names) <= {ADDRESS_SPACE, CGROUP}
        for limit in held:
            assert launch(*PYTHON, TOO_MUCH, confines=limit.confines).code != 0
            assert launch(*PYTHON, "x = b'x' * 20_000_000", confines=limit.confines).code == 0
        groups = [Path(limit.confines.cgroup) for limit in held if limit.name == CGROUP]
        assert all(group.is_dir() for group in groups)
    assert not any(group.exists() for group in groups)
    assert launch(*PYTHON, TOO_MUCH).code == 0


def test_a_limit_that_does_not_hold_is_not_offered(monkeypatch):
    monkeypatch.setattr(limits_module, "launch", lambda *_, **__: Child(0.1, 10**7, 0, "", ""))
    with limits(LIMIT) as held:
        assert held == []


@pytest.mark.parametrize(("file", "line"), [("memory.max", "0::"), ("memory.limit_in_bytes", "4:memory:")])
def test_a_cgroup_is_made_where_one_may_be_made(monkeypatch, tmp_path, file, line):
    """On folders in the place of cgroups: where files appear by themselves, here the group's own folder makes them."""
    monkeypatch.setattr(limits_module, "_MOUNTED", tmp_path)
    parent = tmp_path / ("memory" if "limit" in file else "") / "own"
    parent.mkdir(parents=True)
    (parent / "cgroup.subtree_control").write_text("cpu memory\n")
    (tmp_path / "proc").write_text(f"1:cpu:/\n{line}/own/deeper\n")
    monkeypatch.setattr(limits_module, "_OWN_GROUPS", tmp_path / "proc")
    found = list(limits_module._parents())
    assert parent in [folder for folder, _ in found]
    assert all(file in files for _, files in found)


# ---- what runs ------------------------------------------------------------------------------------


def worker(backend, *words):
    kernel = {} if backend == "micro" else {"ELLER_STREAM_KERNEL": backend}
    ran = launch(sys.executable, "-P", "-m", "eller_stream.bench.worker", *words, out="", environment=kernel)
    assert ran.code == 0, ran.error
    rows, seconds, state = ran.output.split()
    return int(rows), float(seconds), int(state)


def test_carving_by_rows_and_by_time(backends):
    stream = EllerStream(70, seed=SEED)
    for backend in backends:
        rows, seconds, state = worker(backend, "carve", backend, 70, 30, 10, 0, "")
        assert rows == 30
        assert seconds > 0
        stream.seek(40)  # ten rows went before, to warm up
        assert state == len(stream.snapshot())
        rows, seconds, _ = worker(backend, "carve", backend, 70, 0, 10, 0.05, "")
        assert rows % 10 == 0
        assert seconds >= 0.05


def test_writing_and_reading(backends, tmp_path):
    for backend in backends[:-1]:
        file = tmp_path / f"{backend}.emz"
        assert worker(backend, "write", backend, 65, 250, 100, 0, file)[0] == 250
        with MazeFile(file) as maze:
            assert maze.read(0, 250) == EllerStream(65, seed=SEED).read(250)
            assert "unfinished" in str(verify(maze.blocks()))
        assert worker(backend, "read", backend, 65, 250, 100, 0, file)[0] == 250


# ---- the survey -----------------------------------------------------------------------------------


def figure(rows, peak, what="carve", backend="c"):
    return Measured(what, backend, 100, rows, 2.0, 50, peak)


def test_growth_is_told_from_two_percent_on():
    flat, grown = growths(
        [figure(10, 1000), figure(1000, 1020), figure(100, 5000), figure(10, 1000, "read"), figure(1000, 1021, "read")]
    )
    assert (flat.few_rows, flat.many_rows, flat.few_bytes, flat.many_bytes, flat.flat) == (10, 1000, 1000, 1020, True)
    assert (grown.what, grown.flat) == ("read", False)
    assert growths([figure(10, 1000), figure(10, 1000, backend="python")]) == []


def test_rates():
    measured = figure(30, 1).to_json()
    assert (measured["rows_a_second"], measured["cells_a_second"]) == (15.0, 1500.0)


@given(most=st.integers(64, 2**31))
def test_the_search_finds_the_widest_that_fits(most):
    surveyor = Surveyor(Path(), [], 60)
    surveyor.survey.confined["c"] = ["a limit"]
    tried = []

    def try_it(task, confines):
        tried.append(task.width)
        return Child(0.1, 10**7, int(task.width > most), "1 0.1 0", "")

    surveyor._launch = try_it
    found = surveyor._widest("c", Limit("a limit", Confines()), inf)
    assert found.in_time
    assert len(tried) <= 8
    assert found.width <= most
    assert found.width == 2**31 - 1 or found.width > most / 1.1


def test_a_width_that_takes_too_long_is_not_called_the_widest():
    surveyor = Surveyor(Path(), [], 60)
    surveyor.survey.confined["c"] = ["a limit"]
    surveyor._launch = lambda task, _: Child(5.0, 10**7, -9 * (task.width > 1000), "1 0.1 0", "")
    found = surveyor._widest("c", Limit("a limit", Confines()), inf)
    assert found.width <= 1000
    assert not found.in_time


def test_each_search_gets_its_share_of_the_time(monkeypatch):
    surveyor = Surveyor(Path(), [Limit("a", Confines()), Limit("b", Confines())], 60)
    monkeypatch.setattr(survey_module, "backends_here", lambda: ["c", "micro"])
    monkeypatch.setattr(surveyor, "_search_until", 100.0)
    monkeypatch.setattr(survey_module.time, "monotonic", lambda: 20.0)
    asked = []
    monkeypatch.setattr(surveyor, "_widest", lambda *words: asked.append((words[0], words[1].name, words[2])))
    surveyor._search()
    assert asked == [("c", "a", 40.0), ("c", "b", 20.0 + 80 / 3), ("micro", "a", 60.0), ("micro", "b", 100.0)]


def test_nothing_begins_when_the_time_is_over(tmp_path, backends):
    survey = Surveyor(tmp_path, [], 0).run()
    assert (survey.rates, survey.heights, survey.files) == ([], [], [])
    assert list(dict.fromkeys(line.partition(",")[0] for line in survey.left_out)) == backends
    assert all(line.endswith("the time was over") for line in survey.left_out)


@pytest.mark.parametrize("kind", ["c", "python", "micro"])
def test_memory_does_not_grow_with_the_rows(monkeypatch, tmp_path, kind, backends):
    if kind not in backends:
        pytest.skip("the C backend was left out")
    monkeypatch.setattr(survey_module, "WIDTHS", ())
    monkeypatch.setattr(survey_module, "HEIGHTS", {kind: {"c": 5_000, "python": 300, "micro": 20}[kind]})
    monkeypatch.setattr(survey_module, "FILE_HEIGHTS", {} if kind == "micro" else {kind: 300})
    surveyor = Surveyor(tmp_path, [], 600)
    surveyor._confine(kind)
    surveyor._measure(kind)
    assert surveyor.survey.left_out == []
    found = growths([*surveyor.survey.heights, *surveyor.survey.files])
    assert [growth.what for growth in found] == (["carve"] if kind == "micro" else ["carve", "write", "read"])
    for growth in found:
        assert growth.many_rows == 100 * growth.few_rows
        assert growth.many_bytes < 1.1 * growth.few_bytes


def test_a_maze_that_is_too_wide_does_not_fit():
    with limits(60_000_000) as held:
        for limit in held:
            surveyor = Surveyor(Path(), [limit], 600)
            fits = [surveyor._launch(Task("fit", "micro", width, 1, 1, 0, ""), limit.confines) for width in (64, 2**27)]
            assert [child.code == 0 for child in fits] == [True, False]


def test_what_fails_is_left_out_by_name(monkeypatch, tmp_path):
    monkeypatch.setattr(survey_module, "HEIGHTS", {"python": 5})
    monkeypatch.setattr(survey_module, "WIDTHS", (100, 2**31))
    monkeypatch.setattr(survey_module, "FILE_HEIGHTS", {})
    surveyor = Surveyor(tmp_path, [], 60)
    surveyor._confine("python")
    surveyor._measure("python")
    assert [m.rows for m in surveyor.survey.heights] == [5, 50, 500]
    assert [m.width for m in surveyor.survey.rates] == [100]
    (line,) = surveyor.survey.left_out
    assert line.startswith("python, carve, width 2,147,483,648: ")
    assert "SpecError" in line


# ---- the command ----------------------------------------------------------------------------------


def bench(*words):
    return subprocess.run(
        [sys.executable, "-m", "eller_stream", "bench", *map(str, words)], capture_output=True, text=True, check=False
    )


def test_the_command_keeps_a_record_and_a_plot(tmp_path, backends):
    plot = tmp_path / "plot.svg"
    done = bench("--seconds", 4, "--json", "--plot", plot)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert set(record) == {
        *("record", "command", "machine", "python", "numpy", "backend", "lanes", "version", "limit"),
        *("rates", "heights", "files", "growth", "widest", "confined", "left_out"),
    }
    assert record["command"] == ["eller-stream", "bench", "--seconds", "4", "--json", "--plot", str(plot)]
    assert list(record["confined"]) == backends
    assert all(line.endswith(("the time was over", "was killed")) for line in record["left_out"])
    assert len(record["rates"]) + len(record["heights"]) + len(record["left_out"]) >= 8 * len(backends)
    ElementTree.parse(plot)
    refused = bench("--plot", plot)
    assert refused.returncode == 1
    assert "exists already" in refused.stderr


def test_the_command_under_a_limit():
    done = bench("--seconds", 6, "--memory-limit", "40M", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["limit"]["bytes"] == 40_000_000
    assert record["limit"]["held"]
    for found in record["widest"]:
        assert (found["width"] is None) == (found["limit"] not in record["confined"][found["backend"]])
    assert all(figure["peak_bytes"] < 41_000_000 for name in ("rates", "heights") for figure in record[name])


def test_the_command_prints_tables():
    done = bench("--seconds", 1.5, "--memory-limit", "400M")
    assert done.returncode == 0, done.stderr
    for words in ("Limit: 400 MB (400,000,000 bytes)", "The widest maze that fits", "the time was over", "kernel"):
        assert words in done.stdout


@pytest.mark.parametrize(
    ("text", "count"),
    [("48M", 48 * 10**6), ("48MB", 48 * 10**6), ("48Mi", 48 * 2**20), ("1G", 10**9), ("16000000", 16 * 10**6)],
)
def test_sizes(text, count):
    assert memory(text) == count


@pytest.mark.parametrize("text", ["", "M", "-48M", "48 M", "4.8M", "48T", "i", "48i", "1M", "9" * 15 + "G", "٤٨M"])
def test_sizes_that_are_none(text):
    with pytest.raises(argparse.ArgumentTypeError, match="a size"):
        memory(text)


@pytest.mark.parametrize("words", [["--memory-limit", "48Q"], ["--seconds", "nan"], ["--seconds", "-1"]])
def test_wrong_words(words):
    done = bench(*words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_the_machine_in_words():
    told = facts()
    line = in_words(told)
    assert told["version"] in line
    assert told["machine"]["cpu"] in line
    assert "memory unknown" in in_words({**told, "machine": {**told["machine"], "memory_bytes": None}, "lanes": None})


# ---- plots ----------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*panels):
    return ElementTree.fromstring(svg(panels))


def words_of(tree):
    return [text.text for text in tree.iter(f"{SVG}text")]


def test_a_plot_shows_its_points_in_their_places():
    tree = drawn(Panel("t", "x", "y", {"a < b": [(1, 0), (10, 5), (100, 10)]}))
    line = next(tree.iter(f"{SVG}polyline"))
    (x1, y1), (x2, y2), (x3, y3) = (map(float, point.split(",")) for point in line.get("points").split())
    assert x1 < x2 < x3
    assert y1 > y2 > y3
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.2)
    assert {"t", "x", "y", "a < b", "10⁰", "10²", "0", "10"} <= set(words_of(tree))


@given(
    st.lists(st.tuples(st.floats(1e-6, 1e12), st.floats(1e-6, 1e12)), min_size=1, max_size=5),
    st.booleans(),
    st.booleans(),
)
def test_every_point_is_inside_its_panel(points, log_x, log_y):
    tree = drawn(Panel("t", "x", "y", {"a": points}, log_x, log_y))
    for line in tree.iter(f"{SVG}polyline"):
        for point in line.get("points").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= float(tree.get("width"))
            assert 0 <= y <= float(tree.get("height"))


def test_panels_without_a_point_are_left_out():
    none, some = (Panel(name, "x", "y", {"a": points}) for name, points in (("none", []), ("some", [(1, 1)])))
    assert "none" not in words_of(drawn(none, some))
    assert words_of(drawn(none)) == words_of(drawn()) == []


def test_a_plot_of_zeros_has_axes():
    assert {"0", "1"} <= set(words_of(drawn(Panel("t", "x", "y", {"a": [(0, 0)]}, log_x=False))))
