"""The algorithms carved in bands, through the command: generate, info, verify, resume, wrong use."""

import json
from itertools import pairwise

import numpy as np
import pytest
from test_cli import eller, fails, works

from eller_stream.bands import BandStream
from eller_stream.store import MazeFile

WORDS = {
    "dfs": (["--doors", "3", "--weights", "2,1,1,1"], {"doors": 3, "weights": (2, 1, 1, 1)}),
    "prim": (["--goal", "3,4", "--weights", "toward:0.05"], {"goal": (3, 4), "weights": ("toward", 0.05)}),
    "wilson": (["--braid", "0.5"], {"braid": 0.5}),
    "random_walk": (["--max-tunnels", "40", "--max-length", "5"], {"max_tunnels": 40, "max_length": 5}),
}


@pytest.mark.parametrize("algorithm", WORDS)
def test_generate_info_verify(algorithm, tmp_path):
    path, (words, options) = tmp_path / "maze.emz", WORDS[algorithm]
    common = ["--algorithm", algorithm, "--width", "40", "--rows", "100", "--seed", "5", "--band", "16"]
    works("generate", path, *common, *words)
    with MazeFile(path) as maze:
        stream = BandStream(algorithm, 40, height=100, seed=5, band=16, **options)
        assert maze.spec == stream.spec
        assert [block.east.tolist() for block in maze.blocks()] == [stream.read(100).east.tolist()]
    assert works("verify", path).stdout
    told = works("info", path).stdout.decode()
    assert f"algorithm:      {algorithm}\n" in told
    assert "band:           16\n" in told
    assert json.loads(works("info", path, "--json").stdout)["spec"]["algorithm"] == algorithm


def test_a_start_and_a_direction(tmp_path):
    words = ["--algorithm", "dfs", "--width", "9", "--rows", "5", "--seed", "1", "--start", "4,8", "--goal", "0,0"]
    works("generate", tmp_path / "maze.emz", *words, "--weights", "3,1")
    with MazeFile(tmp_path / "maze.emz") as maze:
        assert (maze.spec.start, maze.spec.goal, maze.spec.weights) == ((4, 8), (0, 0), (3, 1))


@pytest.mark.parametrize("algorithm", ["dfs", "random_walk"])
def test_a_file_that_was_broken_off_is_resumed(algorithm, tmp_path):
    whole, part = tmp_path / "whole.emz", tmp_path / "other.emz"
    words = ["--algorithm", algorithm, "--width", "2000", "--rows", "1500", "--seed", "5"]
    works("generate", whole, *words)
    (tmp_path / "other.emz.part").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    works("generate", part, *words, "--resume")
    assert part.read_bytes() == whole.read_bytes()


def test_a_map_as_text(tmp_path):
    path = tmp_path / "map.txt"
    works("generate", path, "--algorithm", "random_walk", "--width", "10", "--rows", "10", "--seed", "1")
    tiles = BandStream("random_walk", 10, height=10, seed=1).read(10).floor_tiles()
    assert path.read_text().count("###") >= np.count_nonzero(tiles)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--algorithm", "kruskal"],
            "one of eller, dfs, prim, wilson, random_walk, uniform, not 'kruskal'",
        ),
        (["--algorithm", "wilson", "--doors", "2"], "wilson has the options band, loops, braid, not 'doors'"),
        (["--band", "8"], "eller has the options p_east, p_south, key_interval, loops, braid, not 'band'"),
        (["--algorithm", "dfs", "--p-east", "0.5"], "dfs has the options band, .*, not 'p_east'"),
        (["--algorithm", "dfs", "--start", "5"], "row,column as in 3,5, not '5'"),
        (["--algorithm", "dfs", "--start", "64,0"], "the row of start is from 0 to 8, not 64"),
        (["--algorithm", "dfs", "--weights", "1,x,1,1"], "numbers a,b,..., toward:A, away:A or even, not '1,x,1,1'"),
        (["--algorithm", "dfs", "--weights", "0,0,0,0"], "weights are 4 numbers"),
        (["--algorithm", "dfs", "--weights", "nan,0,0,0"], "weights are 4 numbers"),
        (["--algorithm", "prim", "--goal", "1,1", "--weights", "away:-1"], "the a of weights is a number above 0"),
        (["--algorithm", "random_walk", "--max-tunnels", "0"], "max_tunnels is from 1 to"),
    ],
)
def test_wrong_use(words, message, tmp_path):
    fails(2, message, "generate", tmp_path / "maze.emz", "--width", "10", "--rows", "9", *words)
    assert not list(tmp_path.iterdir())


def test_help_tells_the_options():
    told = eller("generate", "--help").stdout.decode()
    assert "eller, dfs, prim, wilson, random_walk" in told
    assert all(word in told for word in ("--band", "--start", "--goal", "--weights", "--doors", "--max-tunnels"))


@pytest.mark.parametrize("algorithm", WORDS)
def test_a_path_through_many_bands(algorithm, tmp_path):
    """The solver takes bands for what key rows are; in a perfect maze the path is the only one."""
    path = tmp_path / "maze.emz"
    works("generate", path, "--algorithm", algorithm, "--width", "30", "--rows", "300", "--seed", "5", "--band", "8")
    with MazeFile(path) as maze:
        block = maze.read(0, 300)
    floor = np.argwhere(block.floor_tiles() == 0)
    ends = [",".join(map(str, cell)) for cell in (floor[0].tolist(), floor[-1].tolist())]
    told = works("solve", path, "--from", ends[0], "--to", ends[1]).stdout.decode().split()
    cells = [tuple(map(int, line.split(","))) for line in told]
    assert (told[0], told[-1]) == tuple(ends)
    assert len(set(cells)) == len(cells)
    passages = {frozenset(pair) for pair in block.passages()}
    assert all({frozenset(pair)} <= passages for pair in pairwise(cells))


def test_a_search_of_good_quality(tmp_path):
    path = tmp_path / "maze.emz"
    words = ["--algorithm", "dfs", "--width", "20", "--rows", "20", "--band", "20", "--seed", "1"]
    done = works("generate", path, *words, "--min-quality", "8", "--tries", "50")
    with MazeFile(path) as maze:
        assert maze.spec.algorithm == "dfs"
        assert f"seed {maze.spec.seed} after" in done.stderr
