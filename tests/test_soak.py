"""The soak script, for two seconds: it counts rows lost and watches the server's memory, and says both."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "soak.py"


@pytest.fixture
def soak():
    spec = importlib.util.spec_from_file_location("soak", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["soak"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["soak"]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the server's memory is read from /proc")
def test_a_soak_prints_both_results():
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    words = [sys.executable, SCRIPT, "--seconds", "4", "--clients", "8"]
    done = subprocess.run(words, env=clean, capture_output=True, text=True, check=False, timeout=60)
    assert re.search(r"^rows lost 0$", done.stdout, re.MULTILINE), (done.stdout, done.stderr)
    assert re.search(r"^memory (NOT )?[fF]", done.stdout, re.MULTILINE)
    assert "by 7 clients" in done.stdout
    assert done.stderr == ""


def test_what_a_soak_finds_is_its_exit_code(soak, capsys):
    good = [soak.Tally(100, 0, 1), soak.Tally(50, 0, 1)]
    bad = [soak.Tally(100, 0, 1), soak.Tally(50, 7, 1)]
    assert soak.tell(good, [100, 101, 100, 102], True) == 0
    assert soak.tell(bad, [100, 101, 100, 102], True) == 1
    assert "rows lost 7" in capsys.readouterr().out
    assert soak.tell(good, [100, 101, 100, 120], True) == 1
    assert "NOT FLAT" in capsys.readouterr().out
    assert soak.tell(good, [100, 101, 100, 102], False) == 1


def test_a_wrong_row_is_a_row_lost(soak):
    tally = soak.Tally()
    streams = [soak.EllerStream(64, seed=seed) for seed in (1, 1, 2)]
    soak.compare(streams[0], streams[1], 10, tally)
    assert (tally.rows, tally.lost) == (10, 0)
    soak.compare(streams[0], streams[2], 10, tally)
    assert tally.lost == 10
