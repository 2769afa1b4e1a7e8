"""`eller-stream render`, and `generate` to pictures, from the outside: a real process, real pipes, a real terminal."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import time

import numpy as np
import png
import pytest
from pictures import drawn, marked, maze
from PIL import Image
from test_cli import COMMAND, fails, peak_memory, works

from eller_stream import EllerStream, MazeFile, MazeWriter
from eller_stream.block import FLOOR, Block, pack_bits
from eller_stream.frames import End, Header, Rows, encode_end, encode_header, encode_rows
from eller_stream.render import FORMATS, Png, Text, TiledMap
from eller_stream.render.tiled import tiles_image
from eller_stream.spec import MazeSpec

WIDTH, ROWS = 40, 5000
MAZE = ["--width", WIDTH, "--rows", ROWS, "--seed", 1]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("maze") / "m.emz"
    works("generate", path, *MAZE)
    return path


@pytest.fixture(scope="module")
def block():
    return maze(WIDTH, ROWS)


# ---- what is drawn ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_and_the_run_that_makes_it_give_the_same_picture(tmp_path, file, block, form):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    works("render", file, "-o", tmp_path / "a" / f"m.{form}")
    works("generate", tmp_path / "b" / f"m.{form}", *MAZE)
    renderer = TiledMap(image="m-tiles.png") if form == "tmj" else FORMATS[form]()
    for folder in "ab":
        assert (tmp_path / folder / f"m.{form}").read_bytes() == drawn(renderer, block)
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert names == {f"m.{form}"} | ({"m-tiles.png"} if form == "tmj" else set())


@pytest.mark.parametrize(
    ("words", "start", "stop"),
    [(":7", 0, 7), ("4990:", 4990, 5000), ("4990:9999", 4990, 5000), ("1000:1300", 1000, 1300)],
)
def test_any_rows(file, block, words, start, stop):
    assert works("render", file, "--rows", words).stdout == drawn(Text(), block[start:stop])


def test_rows_far_down(tmp_path):
    stream = EllerStream(30, seed=5)
    stream.seek(2**33)
    with MazeWriter(tmp_path / "far.emz", stream) as writer:
        writer.write(50)
    expected = EllerStream(30, seed=5)
    expected.seek(2**33 + 10)
    out = works("render", tmp_path / "far.emz", "--rows", f"{2**33 + 10}:{2**33 + 20}").stdout
    assert out == drawn(Text(), expected.read(10))


def test_options_of_the_formats(file, block):
    out = works("render", file, "--format", "png", "--cell", 3, "--wall", 1, "--rows", ":20").stdout
    assert out == drawn(Png(3, 1), block[:20])
    out = works("render", file, "--charset", "unicode", "--rows", ":20").stdout
    assert out == drawn(Text("unicode"), block[:20])
    out = works("generate", "-", "--format", "tmj", "--finite", "--width", 40, "--rows", 20, "--seed", 1).stdout
    assert out == drawn(TiledMap(True, "maze-tiles.png"), maze(40, 20))


@pytest.mark.parametrize("loops", [0, 0.2])
def test_the_solution(tmp_path, loops):
    works("generate", tmp_path / "m.emz", "--width", 30, "--rows", 20, "--seed", 3, "--loops", loops)
    block = maze(30, 20, seed=3, loops=loops)
    path, marks = marked(block)
    assert works("render", tmp_path / "m.emz", "--solve").stdout == drawn(Text(), block, marks)
    ends = works("render", tmp_path / "m.emz", "--ends", "top-bottom").stdout
    assert ends.count(b" S ") == ends.count(b" E ") == 1
    assert b"*" not in ends
    solved = works("solve", tmp_path / "m.emz", "--ends", "--json").stdout
    farthest = json.loads(solved)
    text = works("render", tmp_path / "m.emz", "--ends", "--solve").stdout.decode().splitlines()
    shown = [[r, c] for r in range(20) for c in range(30) if text[2 * r + 1][4 * c + 2] in "*SE"]
    assert shown == sorted(farthest["cells"])
    assert len(path) - 1 <= farthest["steps"]


@pytest.mark.parametrize("form", [name for name in FORMATS if name != "tmj"])
def test_a_map_of_a_random_walk(tmp_path, form):
    walkable = [[True, True, False], [False, True, True]]
    east, south = [[True, False, False], [False, True, False]], [[False, True, False], [False] * 3]
    planes = (pack_bits(np.array(plane)) for plane in (east, south, [False] * 3, walkable))
    block = Block(0, 3, *planes)
    frames = [
        encode_header(Header(MazeSpec(3, seed=1), 4, 0, 0)),
        encode_rows(Rows(block, True)),
        encode_end(End(2, True)),
    ]
    (tmp_path / "m.emz").write_bytes(b"".join(bytes(piece) for frame in frames for piece in frame))
    assert works("render", tmp_path / "m.emz", "--format", form).stdout == drawn(FORMATS[form](), block)
    solved = works("render", tmp_path / "m.emz", "--solve").stdout.decode().splitlines()
    assert solved[1::2] == ["| S   * |###|", "|###| *   E |"]


# ---- where it is written ---------------------------------------------------------------------


def test_a_map_and_its_tiles(tmp_path, file):
    out = tmp_path / "level.tmj"
    works("render", file, "-o", out, "--rows", ":9")
    assert (tmp_path / "level-tiles.png").read_bytes() == tiles_image()
    assert json.loads(out.read_bytes())["tilesets"][0]["image"] == "level-tiles.png"
    (tmp_path / "level-tiles.png").write_bytes(b"nicer tiles")
    works("render", file, "-o", out, "--rows", ":8", "--force")
    assert (tmp_path / "level-tiles.png").read_bytes() == b"nicer tiles"
    assert json.loads(out.read_bytes())["height"] == 17


def test_an_output_that_exists_stays(tmp_path, file):
    out = tmp_path / "m.png"
    out.write_bytes(b"precious")
    fails(1, "exists already", "render", file, "-o", out)
    assert out.read_bytes() == b"precious"
    works("render", file, "-o", out, "--force", "--rows", ":3")
    assert out.read_bytes().startswith(b"\x89PNG")


def test_the_maze_comes_through_a_pipe(file, block):
    data = file.read_bytes()
    assert works("render", "-", "--rows", "10:20", input=data).stdout == drawn(Text(), block[10:20])
    assert works("render", "-", "--format", "png", input=data).stdout == drawn(Png(), block)
    fails(1, "it is a pipe", "render", "-", "--solve", input=data)


def test_a_pipe_that_ends_before_its_planned_height(tmp_path):
    stream = EllerStream(20, seed=2, height=1000)
    with MazeWriter(tmp_path / "m.emz", stream) as writer:
        writer.write(30)
        stream.finalize()
        writer.write(1)
    data = (tmp_path / "m.emz").read_bytes()
    works("render", "-", "-o", tmp_path / "m.npy", input=data)
    with MazeFile(tmp_path / "m.emz") as maze_file:
        assert np.array_equal(np.load(tmp_path / "m.npy"), maze_file[:].cells())
    done = works("render", "-", "--format", "npy", input=data)
    assert "tells a height that it does not have" in done.stderr


def test_an_endless_maze_through_a_pipe(tmp_path):
    endless = works("generate", "-", "--width", 9, "--rows", 30, "--seed", 1).stdout
    assert works("render", "-", input=endless).stdout == drawn(Text(), maze(9, 30))
    stream = EllerStream(9, seed=1)
    with MazeWriter(tmp_path / "m.emz", stream) as writer:
        writer.write(30)
    data = (tmp_path / "m.emz").read_bytes()
    fails(1, "number of rows has to be known", "render", "-", "--format", "pbm", input=data)
    assert works("render", "-", "--format", "npy", "--rows", ":30", input=data).stdout[:6] == b"\x93NUMPY"
    fails(1, "no rows", "render", "-", "--rows", "40:50", input=data)


def test_a_file_that_was_cut_short(tmp_path, file, block):
    path = tmp_path / "m.emz"
    path.write_bytes(file.read_bytes()[:-30])
    done = works("render", path, "-o", tmp_path / "m.npy")
    assert "cut short" in done.stderr
    masks = np.load(tmp_path / "m.npy")
    assert np.array_equal(masks, block[: len(masks)].cells())


def test_ctrl_c_mends_the_height_of_a_png(tmp_path):
    path, part = tmp_path / "m.png", tmp_path / "m.png.part"
    words = ["--width", "100", "--rows", str(10**8), "--seed", "3", "--cell", "1", "--wall", "1"]
    process = subprocess.Popen([*COMMAND, "generate", str(path), *words], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (part.exists() and part.stat().st_size > 100_000) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130
    rows = int(re.search(r"([\d,]+) rows", errors)[1].replace(",", ""))
    width, height, lines, _ = png.Reader(bytes=path.read_bytes()).read()
    assert (width, height) == (201, 2 * rows + 1)
    assert sum(1 for _ in lines) == height


# ---- the terminal ----------------------------------------------------------------------------


def on_a_terminal(*words, **environment):
    """Return what the command prints on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *map(str, words)], stdout=theirs, stderr=subprocess.DEVNULL, env=os.environ | environment
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while data := os.read(ours, 65536):
                said += data
        except OSError:  # Linux: the other side is closed
            pass
        os.close(ours)
    assert process.returncode == 0
    return said.replace(b"\r\n", b"\n")


def test_a_terminal_gets_what_it_can_show(file, block):
    words = ["render", file, "--rows", ":9"]
    boxes, ascii_text = drawn(Text("unicode"), block[:9]), drawn(Text(), block[:9])
    assert on_a_terminal(*words, PYTHONIOENCODING="utf-8") == boxes
    assert on_a_terminal(*words, PYTHONIOENCODING="gb18030") == boxes.decode().encode("gb18030")
    assert on_a_terminal(*words, PYTHONIOENCODING="latin-1") == ascii_text
    assert on_a_terminal(*words, "--charset", "ascii", PYTHONIOENCODING="utf-8") == ascii_text
    assert works(*words, env=os.environ | {"PYTHONIOENCODING": "utf-8"}).stdout == ascii_text


# ---- wrong use -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("ending of OUT is one of txt, svg, pbm, png, tmj, npy, not 'emz'", ["-o", "m.emz"]),
        ("--format is one of txt, svg, pbm, png, tmj, npy, not 'gif'", ["--format", "gif"]),
        ("--cell does not go with the format txt", ["--cell", "3"]),
        ("--finite does not go with the format png", ["--finite", "--format", "png"]),
        ("--charset does not go with the format svg", ["--charset", "ascii", "--format", "svg"]),
        ("pixels from 1 on, not '0'", ["--format", "png", "--cell", "0"]),
        ("pixels from 1 on, not '-1'", ["--format", "png", "--wall=-1"]),
        ("A:B as in 100:200, not '5'", ["--rows", "5"]),
        ("pbm shows neither paths nor ends", ["--format", "pbm", "--solve"]),
        ("npy shows neither paths nor ends", ["--format", "npy", "--ends"]),
        ("invalid choice: 'left'", ["--ends", "left"]),
    ],
)
def test_wrong_use(file, tmp_path, message, words):
    fails(2, message, "render", file, *words, cwd=tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["emz", "txt"])
def test_generate_refuses_options_of_other_formats(form):
    fails(2, f"--cell does not go with the format {form}", "generate", "-", "--width", 9, "--format", form, "--cell", 3)


@pytest.mark.parametrize("rows", ["5000:5001", "7:7", "9:3", "6000:"])
def test_rows_that_are_not_there(file, rows):
    fails(1, rf"there are no rows {rows}, but 0 to 4999", "render", file, "--rows", rows)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("a PNG has at most 2147483647 pixels a side", ["m.png", "--width", 9, "--rows", 10**9]),
        ("a Tiled map has at most", ["m.tmj", "--width", 9, "--rows", 10**9]),
        ("an SVG is made for at most", ["m.svg", "--width", 10**4, "--rows", 10**4]),
    ],
)
def test_a_size_that_the_format_cannot_hold_is_told_before_it_starts(tmp_path, message, words):
    fails(1, message, "generate", *words, cwd=tmp_path)
    assert not any(tmp_path.iterdir())


def test_what_is_no_maze(tmp_path):
    (tmp_path / "m.emz").write_bytes(b"no maze")
    fails(1, "m.emz", "render", tmp_path / "m.emz")
    fails(1, "No such file", "render", tmp_path / "none.emz")
    assert [path.name for path in tmp_path.iterdir()] == ["m.emz"]


# ---- memory ----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["txt", "--charset", "unicode"], ["tmj"], ["png"]], ids=str)
def test_memory_does_not_grow_with_the_rows(words):
    few, many = (
        peak_memory("generate", "-", "--width", 64, "--rows", rows, "--seed", 1, "--format", *words)
        for rows in (10_000, 60_000)
    )
    assert many < few + 6 * 2**20


def test_pillow_sees_what_render_wrote(tmp_path, file, block):
    works("render", file, "-o", tmp_path / "m.png", "--cell", 1, "--wall", 1)
    with Image.open(io.BytesIO((tmp_path / "m.png").read_bytes())) as picture:
        assert np.array_equal(np.asarray(picture), block.tiles() == FLOOR)
