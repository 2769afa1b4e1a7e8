"""`solve`, `verify --passages`, `info --measures` and `generate --min-quality` from the outside."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from test_passages import ADDED, PUBLISHED
from test_solve import check_path, plain_distances

from eller_stream import EllerStream, MazeFile, MazeWriter
from eller_stream.block import Block, pack_bits
from eller_stream.frames import End, Header, Rows, encode_end, encode_header, encode_rows
from eller_stream.measure import longest_way, measure
from eller_stream.solve import MazeRows, Path, farthest_pair
from eller_stream.spec import MazeSpec

COMMAND = [sys.executable, "-m", "eller_stream"]


def eller(*words, **options):
    """Run the command and return its code, its stdout and its stderr."""
    done = subprocess.run(
        [*COMMAND, *map(str, words)], capture_output=True, text=True, check=False, timeout=120, **options
    )
    return done.returncode, done.stdout, done.stderr


def works(*words, **options):
    code, out, err = eller(*words, **options)
    assert code == 0, err
    return out


def fails(code, message, *words, **options):
    """Assert that the command leaves with the code, says the message in one line, and prints nothing."""
    came, out, err = eller(*words, **options)
    assert (came, out) == (code, ""), err
    assert re.search(message, err), err
    assert err.count("\n") == 1
    assert "Traceback" not in err


def written(path, rows=12, width=9, **options):
    stream = EllerStream(width, seed=3, **options)
    with MazeWriter(path, stream) as writer:
        writer.write(rows)
    with MazeFile(path) as maze:
        return maze[:]


@pytest.fixture
def maze(tmp_path):
    """A file of 12 rows of 9 cells, and its rows."""
    return tmp_path / "a.emz", written(tmp_path / "a.emz", height=12)


def cells_of(out):
    return [tuple(map(int, line.split(","))) for line in out.splitlines()]


def as_path(cells, width):
    return Path(width, *np.array(cells, np.int64).T.copy())


# ---- solve -----------------------------------------------------------------------------------


def test_the_path_between_two_cells(maze):
    path, block = maze
    code, out, err = eller("solve", path, "--from", "0,0", "--to", "11,8")
    assert code == 0
    check_path(as_path(cells_of(out), 9), block, (0, 0), (11, 8))
    steps = plain_distances(block, (0, 0))[11, 8]
    assert err == f"{path}: {steps} steps from 0,0 to 11,8\n"


def test_the_path_as_json(maze):
    path, block = maze
    record = json.loads(works("solve", path, "--from", "3,4", "--to", "2,1", "--json"))
    assert list(record) == ["file", "from", "to", "steps", "cells"]
    assert (record["file"], record["from"], record["to"]) == (str(path), [3, 4], [2, 1])
    check_path(as_path(record["cells"], 9), block, (3, 4), (2, 1))


@pytest.mark.parametrize(
    ("words", "ends"),
    [(["--ends"], None), (["--ends", "farthest"], None), (["--ends", "top-bottom"], ((0, 0), (11, 8)))],
)
def test_suggested_ends(maze, words, ends):
    path, block = maze
    start, end = ends or farthest_pair(MazeRows.of(block))[:2]
    cells = cells_of(works("solve", path, *words))
    check_path(as_path(cells, 9), block, start, end)


@pytest.mark.parametrize("options", [{"loops": 0.3}, {"braid": 1}, {"key_interval": 0}, {"key_interval": 4}])
def test_mazes_of_every_kind(tmp_path, options):
    block = written(tmp_path / "b.emz", rows=20, height=20, **options)
    for start, end in (((0, 0), (19, 8)), ((17, 2), (3, 8))):
        words = ("--from", f"{start[0]},{start[1]}", "--to", f"{end[0]},{end[1]}")
        check_path(as_path(cells_of(works("solve", tmp_path / "b.emz", *words)), 9), block, start, end)


def test_a_map_with_walls(tmp_path):
    floor = np.ones((3, 3), np.bool_)
    floor[1, 1] = False
    east, south = np.zeros((2, 3, 3), np.bool_)
    east[::2, :2] = south[:2, ::2] = True
    block = Block(0, 3, *(pack_bits(plane) for plane in (east, south, np.zeros(3, np.bool_), floor)))
    header = Header.of(MazeSpec(3, seed=1, height=3))
    frames = [*encode_header(header), *encode_rows(Rows(block, block.ends)), *encode_end(End(3, True))]
    (tmp_path / "map.emz").write_bytes(b"".join(frames))
    assert len(cells_of(works("solve", tmp_path / "map.emz", "--from", "0,1", "--to", "2,1"))) == 5
    fails(1, "is a wall", "solve", tmp_path / "map.emz", "--from", "0,1", "--to", "1,1")
    facts = json.loads(works("info", tmp_path / "map.emz", "--measures", "--json"))
    assert (facts["cells"], facts["passages"], facts["longest_path"]["steps"]) == (8, 8, 4)


def test_a_fragment_and_a_file_cut_short(tmp_path):
    stream = EllerStream(9, seed=3)
    stream.seek(2**33)
    with MazeWriter(tmp_path / "f.emz", stream) as writer:
        writer.write(30)
    with MazeFile(tmp_path / "f.emz") as file:
        block = file[:]
    reached = plain_distances(block, (2**33, 0))
    far = max(reached, key=reached.get)
    words = ("--from", f"{2**33},0", "--to", f"{far[0]},{far[1]}")
    check_path(as_path(cells_of(works("solve", tmp_path / "f.emz", *words)), 9), block, (2**33, 0), far)
    whole = (tmp_path / "f.emz").read_bytes()
    (tmp_path / "f.emz").write_bytes(whole[:-1])
    assert cells_of(works("solve", tmp_path / "f.emz", *words))[-1] == far
    fails(1, "outside", "solve", tmp_path / "f.emz", "--from", "0,0", "--to", "1,1")


def test_no_path_in_an_unfinished_maze(tmp_path):
    block = written(tmp_path / "u.emz", rows=4)
    reached = plain_distances(block, (3, 0))
    apart = next(c for c in range(9) if (3, c) not in reached)
    fails(1, "no path from", "solve", tmp_path / "u.emz", "--from", "3,0", "--to", f"3,{apart}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --from and --to, or --ends"),
        (["--from", "0,0"], "give --from and --to, or --ends"),
        (["--ends", "--to", "0,0"], "does not go with"),
        (["--from", "0", "--to", "1,1"], "row,column as in 3,5"),
        (["--from", "0,0", "--to", "-1,1"], "expected one argument"),
        (["--from=0,0", "--to=-1,1"], "row,column as in 3,5"),
        (["--from", "0,0", "--to", "1,1,1"], "row,column as in 3,5"),
        (["--ends", "nowhere"], "invalid choice"),
    ],
)
def test_wrong_use(maze, words, message):
    fails(2, message, "solve", maze[0], *words)


@pytest.mark.parametrize("cell", ["12,0", "0,9", "9999999999999999999,0"])
def test_cells_outside(maze, cell):
    fails(1, "is outside: there are rows 0 to 11, 9 cells each", "solve", maze[0], "--from", "0,0", "--to", cell)


def test_files_that_cannot_be_solved(tmp_path, maze):
    fails(1, "No such file", "solve", tmp_path / "none.emz", "--ends")
    with maze[0].open("rb") as file:
        fails(1, "it is a pipe", "solve", "-", "--ends", stdin=file)
    damaged = bytearray(maze[0].read_bytes())
    damaged[-70] ^= 1
    maze[0].write_bytes(damaged)
    fails(1, "a.emz: ", "solve", maze[0], "--ends", "top-bottom")


def test_who_reads_the_path_may_go_away(tmp_path):
    written(tmp_path / "long.emz", rows=20_000, height=20_000)
    words = [*COMMAND, "solve", tmp_path / "long.emz", "--ends", "top-bottom"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"0,0\n"
        process.stdout.close()
        assert b"whoever read the output has gone" in process.stderr.read()
    assert process.returncode == 1


# ---- verify --passages -----------------------------------------------------------------------


def listed(tmp_path, passages):
    path = tmp_path / "list.json"
    path.write_text(json.dumps(passages))
    return path


def test_a_list_of_passages(tmp_path):
    out = works("verify", listed(tmp_path, PUBLISHED), "--passages", "5,6")
    assert out.splitlines() == [
        "as many passages as cells - 1: yes, 29 for 30 cells",
        "side neighbours inside the grid: yes",
        "all cells reached: yes, 30 of 30",
        "no cycle: yes",
        "the same list again: not asked, no generator was given",
    ]
    assert works("verify", "-", "--passages", "5,6", input=json.dumps(PUBLISHED)) == out


def test_lists_that_are_no_maze(tmp_path):
    code, out, err = eller("verify", listed(tmp_path, PUBLISHED[1:]), "--passages", "5,6")
    assert (code, err) == (1, "")
    assert "all cells reached: no, 29 of 30, cut off from (0, 0)" in out
    code, out, err = eller("verify", listed(tmp_path, [*PUBLISHED, ADDED]), "--passages", "5,6", "--json")
    report = json.loads(out)
    assert (code, report["acyclic"], report["cycle"], report["all_reached"]) == (1, False, [[0, 0], [0, 1]], True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "a JSON list of passages was expected, not dict"),
        ("[", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[1]", "a passage is a pair of cells"),
        ("[[[0,0],[0,1e0]]]", "a passage is a pair of cells"),
        ("\xff", "no JSON"),
        ("[[[0,0],[0," + "9" * 5000 + "]]]", "no JSON"),
    ],
)
def test_what_is_no_list_of_passages(tmp_path, text, message):
    (tmp_path / "list.json").write_bytes(text.encode("latin-1"))
    fails(1, message, "verify", tmp_path / "list.json", "--passages", "5,6")
    fails(2, "row,column as in 3,5", "verify", tmp_path / "list.json", "--passages", "5")


# ---- info --measures -------------------------------------------------------------------------


def test_measures(maze):
    path, block = maze
    facts = json.loads(works("info", path, "--measures", "--json"))
    assert {name: facts[name] for name in measure([block]).to_json()} == measure([block]).to_json()
    way = longest_way(MazeRows.of(block))
    found = {"from": list(way.start), "to": list(way.end), "steps": way.steps, "quality": round(way.quality, 6)}
    assert facts["longest_path"] == found
    text = works("info", path, "--measures")
    assert f"dead ends:      {facts['dead_ends']}\n" in text
    assert f"longest path:   {way.steps} steps, {way.quality:.2f} * sqrt(cells), from " in text
    assert "dead ends" not in works("info", path)


def test_measures_of_no_rows(tmp_path):
    written(tmp_path / "e.emz", rows=0)
    facts = json.loads(works("info", tmp_path / "e.emz", "--measures", "--json"))
    assert (facts["cells"], facts["longest_path"]) == (0, None)
    assert "longest path:   none" in works("info", tmp_path / "e.emz", "--measures")


# ---- generate --min-quality ------------------------------------------------------------------


def quality_of(path):
    with MazeFile(path) as file:
        return longest_way(MazeRows.of(file[:])).quality, file.spec.seed


def test_drawing_until_a_maze_is_good_enough(tmp_path):
    words = ("--width", 20, "--rows", 20, "--seed", 7, "--min-quality", 6)
    code, out, err = eller("generate", tmp_path / "q.emz", *words, "--json")
    assert code == 0, err
    quality, seed = quality_of(tmp_path / "q.emz")
    assert quality >= 6
    assert seed > 7
    assert json.loads(out)["spec"]["seed"] == str(seed)
    assert f"seed {seed} after {seed - 6} tries has quality {quality:.3f}" in err
    earlier = [MazeRows.of(EllerStream(20, seed=s, height=20).read(20)) for s in range(7, seed)]
    assert all(longest_way(rows).quality < 6 for rows in earlier)


def test_drawing_in_vain(tmp_path):
    words = ("--width", 20, "--rows", 20, "--seed", 7, "--min-quality", 100, "--tries", 3)
    fails(1, "no maze of 3 has quality 100 or more; the best, of seed [789]: ", "generate", tmp_path / "q.emz", *words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--min-quality", 1], "give --rows"),
        (["--rows", 5, "--tries", 3], "--tries goes with --min-quality"),
        (["--rows", 5, "--min-quality", 1, "--tries", 0], "1 or more, not 0"),
        (["--rows", 5, "--min-quality", "nan"], "0 or more, not nan"),
        (["--rows", 5, "--min-quality", "inf"], "0 or more, not inf"),
        (["--rows", 2**40, "--min-quality", 1], "at most 67,108,864 cells"),
    ],
)
def test_wrong_qualities(tmp_path, words, message):
    fails(2, message, "generate", tmp_path / "q.emz", "--width", 9, *words)
