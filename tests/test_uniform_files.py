"""Uniform mazes in files and by the command: checkpoints, going on with what was broken off, windows."""

import json
import subprocess
import sys

import pytest

from eller_stream.errors import StreamError
from eller_stream.spec import MazeSpec
from eller_stream.store import MazeFile, MazeWriter
from eller_stream.store.part import PART
from eller_stream.uniform import UniformStream
from eller_stream.verify import PERFECT, verify
from eller_stream.window import Scroller

SPEC = MazeSpec(11, algorithm="uniform", seed=3)
PLANNED = MazeSpec(11, algorithm="uniform", seed=3, height=150, loops=0.1, braid=0.4)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "maze.emz"


def written(path, spec, rows, end):
    """The bytes of a file that nothing disturbed, finalized after so many rows to end after `end` of them in all."""
    with MazeWriter(path, UniformStream.from_spec(spec), rows_per_frame=2) as writer:
        writer.write(rows)
        if spec.height is None:
            writer.stream.finalize(rows=end - rows)
        writer.write(10**6)
    data = path.read_bytes()
    path.unlink()
    return data


def test_a_file_has_checkpoints_of_one_size_and_gives_its_rows(target):
    target.write_bytes(written(target, SPEC, 70, 170))
    with MazeFile(target) as maze:
        assert maze.header.checkpoint_every > 0
        assert maze.stop == 170
        blocks = list(maze.blocks())
        expected = UniformStream.from_spec(SPEC)
        head = expected.read(70)
        expected.finalize(rows=100)
        tail = expected.read(999)
        assert [row for block in blocks for row in block] == [*head, *tail]
        for row in (0, 31, 33, 64, 97, 129, 169):
            assert maze.read(row, 1) == (head[row : row + 1] if row < 70 else tail[row - 70 : row - 69])
    assert verify(blocks).answer == PERFECT


@pytest.mark.parametrize("spec", [SPEC, PLANNED], ids=["endless", "planned"])
@pytest.mark.parametrize("kept", [0.001, 0.2, 0.45, 0.7, 0.95])
def test_a_file_cut_anywhere_goes_on_to_the_same_bytes(target, spec, kept):
    whole = written(target, spec, 140, 150)
    target.with_name(target.name + PART).write_bytes(whole[: int(kept * len(whole))])
    with MazeWriter.resume(target, spec, rows_per_frame=2) as writer:
        assert kept < 0.1 or writer.rows > 0
        writer.write(140 - writer.rows)
        if spec.height is None:
            writer.stream.finalize(rows=10)
        writer.write(10**6)
    assert target.read_bytes() == whole


@pytest.mark.parametrize("finalized_at", [9, 64, 100])
def test_rows_drawn_with_the_end_in_sight_do_not_stay(target, finalized_at):
    """Who goes on with a maze that was being ended goes on as if nobody had wanted that."""
    whole = written(target, SPEC, 140, 150)
    writer = MazeWriter(target, UniformStream.from_spec(SPEC), rows_per_frame=2)
    writer.write(finalized_at)
    writer.stream.finalize(rows=30)
    writer.write(25)
    writer.abandon()
    with MazeWriter.resume(target, SPEC) as writer:
        assert writer.rows >= finalized_at - 2
        writer.write(140 - writer.rows)
        writer.stream.finalize(rows=10)
        writer.write(10**6)
    assert target.read_bytes() == whole


def command(*words):
    return subprocess.run([sys.executable, "-m", "eller_stream", *words], capture_output=True, text=True, check=False)


def test_the_command_makes_and_verifies_them(target):
    words = ["--algorithm", "uniform", "--width", "30", "--seed", "5"]
    made = command("generate", str(target), *words, "--rows", "40", "--json")
    assert made.returncode == 0, made.stderr
    spec = json.loads(command("info", str(target), "--json").stdout)["spec"]
    assert spec == MazeSpec(30, algorithm="uniform", seed=5, height=40).to_json()
    assert command("verify", str(target)).stdout.split(": ")[1] == "perfect"
    wrong = command("generate", str(target), *words, "--band", "4", "--force")
    assert wrong.returncode == 2
    assert "uniform has the options loops, braid, not 'band'" in wrong.stderr


def test_a_view_scrolls_down_and_says_why_it_cannot_go_far_back():
    expected = UniformStream.from_spec(SPEC).read(400)
    with Scroller(UniformStream.from_spec(SPEC), 10, ahead=5, capacity=30) as view:
        for _ in range(300):
            view.scroll(1)
        assert view.view() == expected[300:310]
        view.scroll(-3)
        assert view.view() == expected[297:307]
        with pytest.raises(StreamError, match="no key rows"):
            view.scroll(-200)
