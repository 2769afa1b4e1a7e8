"""The command, from the outside: a real process, real pipes, real signals, a full disk."""

import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from eller_stream import EllerStream, MazeFile, MazeSpec, MazeWriter
from eller_stream.block import Block
from eller_stream.frames import End, Header, Rows, encode_end, encode_header, encode_rows
from eller_stream.verify import verify

COMMAND = [sys.executable, "-m", "eller_stream"]


def eller(*words, **options):
    """Run the command and return what came: its code, stdout as bytes and stderr as text."""
    done = subprocess.run([*COMMAND, *map(str, words)], capture_output=True, check=False, timeout=120, **options)
    done.stderr = done.stderr.decode()
    return done


def works(*words, **options):
    done = eller(*words, **options)
    assert done.returncode == 0, done.stderr
    return done


def fails(code, message, *words, **options):
    """Assert that the command leaves with the code and says the message, in one line."""
    done = eller(*words, **options)
    assert done.returncode == code, done.stderr
    assert re.search(message, done.stderr), done.stderr
    assert done.stderr.count("\n") == 1
    return done


def maze_bytes(tmp_path, stream, rows):
    path = tmp_path / f"{os.urandom(4).hex()}.emz"
    with MazeWriter(path, stream) as writer:
        writer.write(rows)
    return path.read_bytes()


# ---- starting --------------------------------------------------------------------------------


def test_version_tells_the_kernel_and_imports_no_numpy():
    for backend in ("c", "python"):
        code = f"import sys; from eller_stream.cli import run\ntry: run(['--version'])\nexcept SystemExit as e: {AFTER}"
        env = os.environ | {"ELLER_STREAM_KERNEL": backend}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
        if backend == "c" and "C kernel is not there" in done.stderr:
            continue
        assert done.stdout.splitlines() == [f"eller-stream 0.1.0 ({backend} kernel)", "0 False"]


AFTER = "print(e.code, 'numpy' in sys.modules)"


@pytest.mark.parametrize("words", [[], ["generate"], ["info"], ["render"], ["verify"]])
def test_help(words):
    assert b"usage: eller-stream" in works(*words, "--help").stdout


def test_an_unknown_kernel_is_an_error():
    environment = os.environ | {"ELLER_STREAM_KERNEL": "fast"}
    fails(1, "c or python, not 'fast'", "generate", "-", "--width", 5, env=environment)
    fails(1, "c or python, not 'fast'", "--version", env=environment)


# ---- generate --------------------------------------------------------------------------------


def test_generate_writes_what_the_library_writes(tmp_path):
    options = [
        "--p-east",
        "0:0.5,100:0.6",
        "--p-south",
        "0.4",
        "--key-interval",
        64,
        "--loops",
        "0.03",
        "--braid",
        "0.2",
    ]
    works("generate", tmp_path / "m.emz", "--width", 100, "--rows", 3000, "--seed", 7, *options)
    stream = EllerStream(
        100, seed=7, height=3000, p_east=[(0, 0.5), (100, 0.6)], p_south=0.4, key_interval=64, loops=0.03, braid=0.2
    )
    assert (tmp_path / "m.emz").read_bytes() == maze_bytes(tmp_path, stream, 3000)
    assert not (tmp_path / "m.emz.part").exists()


def test_both_kernels_write_the_same(tmp_path, request):
    if request.config.getoption("--without-c"):
        pytest.skip("there is but one kernel")
    words = ["generate", "-", "--width", 77, "--rows", 500, "--seed", 7, "--loops", 0.1, "--braid", 1]
    outputs = {works(*words, env=os.environ | {"ELLER_STREAM_KERNEL": kernel}).stdout for kernel in ("c", "python")}
    assert len(outputs) == 1


def test_seed_text_stands_for_its_seed():
    by_text = works("generate", "-", "--width", 9, "--rows", 9, "--seed-text", "2026-11-30")
    by_number = works("generate", "-", "--width", 9, "--rows", 9, "--seed", 0xE0B7C44611A45C9D)
    assert by_text.stdout == by_number.stdout


def test_a_drawn_seed_is_told(tmp_path):
    first = works("generate", tmp_path / "a.emz", "--width", 9, "--rows", 9)
    seed = re.search(r"seed (\d+)", first.stderr)[1]
    works("generate", tmp_path / "b.emz", "--width", 9, "--rows", 9, "--seed", seed)
    assert (tmp_path / "a.emz").read_bytes() == (tmp_path / "b.emz").read_bytes()


def test_the_record_is_json(tmp_path):
    done = works("generate", tmp_path / "a.emz", "--width", 9, "--rows", 20, "--seed", 2**64 - 1, "--json")
    record = json.loads(done.stdout)
    assert record["rows"] == 20
    assert record["finished"] is True
    assert record["bytes"] == (tmp_path / "a.emz").stat().st_size
    assert MazeSpec.from_data(record["spec"]) == MazeSpec(9, seed=2**64 - 1, height=20)
    fails(2, "--json prints on stdout", "generate", "-", "--width", 9, "--json")


def test_stdout_can_be_verified_as_it_comes():
    with subprocess.Popen(
        [*COMMAND, "generate", "-", "--width", "500", "--rows", "5000", "--key-interval", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as maker:
        done = works("verify", "-", stdin=maker.stdout)
    assert b"perfect: 5,000 rows of 500 cells, 2,499,999 passages" in done.stdout
    assert maker.returncode == 0


@pytest.mark.parametrize(("words", "code"), [([], 0), (["--rows", "1000000"], 1)])
@pytest.mark.parametrize("form", ["emz", "txt"])
def test_a_closed_pipe_ends_an_endless_run_well(words, code, form):
    process = subprocess.Popen(
        [*COMMAND, "generate", "-", "--width", "1000", "--format", form, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert len(process.stdout.read(100_000)) == 100_000
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(60) == code
    assert errors.count("\n") == 1
    assert "Traceback" not in errors


# ---- Ctrl-C ----------------------------------------------------------------------------------


def interrupted(path, *words, times=1, grown=100_000):
    """Start a run, wait until its output has grown, press Ctrl-C, and return its code and last words."""
    process = subprocess.Popen([*COMMAND, "generate", str(path), *map(str, words)], stderr=subprocess.PIPE)
    part = path.with_name(path.name + ".part")
    deadline = time.monotonic() + 60
    while not (part.exists() and part.stat().st_size > grown) and time.monotonic() < deadline:
        time.sleep(0.01)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    errors = process.communicate(timeout=60)[1].decode()
    return process.returncode, errors


@pytest.mark.parametrize("words", [[], ["--rows", 10**9], ["--key-interval", 0], ["--loops", 0.01]], ids=str)
def test_ctrl_c_finishes_the_maze(tmp_path, words):
    path = tmp_path / "m.emz"
    code, errors = interrupted(path, "--width", 1000, "--seed", 1, *words)
    assert code == 130
    rows = int(re.search(r"([\d,]+) rows of 1,000 cells, interrupted, finished", errors)[1].replace(",", ""))
    with MazeFile(path) as maze:
        report = verify(maze.blocks(), loops="--loops" in words)
        assert (report.ok, report.rows, maze.end) == (True, rows, End(rows, True))
    assert not (tmp_path / "m.emz.part").exists()
    assert works("verify", path).stdout.startswith(str(path).encode())


def test_a_second_ctrl_c_stops_at_once(tmp_path):
    path = tmp_path / "m.emz"
    code, errors = interrupted(path, "--width", 8_000_000, times=2, grown=1000)
    assert code == 130
    if "finished, seed" not in errors:  # the second one came before the end
        assert "interrupted" in errors
        assert not path.exists()
        assert path.with_name("m.emz.part").exists()
    assert errors.count("\n") == 1


def test_ctrl_c_mends_the_height_of_a_bitmap(tmp_path):
    path = tmp_path / "m.pbm"
    code, errors = interrupted(path, "--width", 100, "--rows", 10**9, "--seed", 3)
    assert code == 130
    rows = int(re.search(r"([\d,]+) rows", errors)[1].replace(",", ""))
    tiles = read_bitmap(path.read_bytes())
    assert tiles.shape == (2 * rows + 1, 201)
    assert tiles[-1].all()


def test_a_pipe_cannot_be_mended_and_that_is_said():
    process = subprocess.Popen(
        [*COMMAND, "generate", "-", "--width", "100", "--rows", str(10**9), "--format", "pbm"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.read(50_000)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"header tells a height that it does not have" in errors


# ---- pictures --------------------------------------------------------------------------------


def read_bitmap(data):
    """Return the pixels of a P4 bitmap, as netpbm's manual describes it: 1 is black."""
    kind, size, raster = re.fullmatch(rb"(P4)\s+(\d+\s+\d+)\s(.*)", data, re.DOTALL).groups()
    assert kind == b"P4"
    width, height = map(int, size.split())
    lines = np.frombuffer(raster, np.uint8).reshape(height, (width + 7) // 8)
    return np.unpackbits(lines, axis=1)[:, :width]


def read_text(text):
    """Return the passages east and south of a maze drawn with +---+ and |, and check all else that is drawn."""
    lines = text.splitlines()
    cells, walls = lines[1::2], lines[2::2]
    width = len(lines[0]) // 4
    assert lines[0] == "+---" * width + "+"
    for line in walls:
        assert line[::4] == "+" * (width + 1)
        assert {line[c : c + 3] for c in range(1, 4 * width, 4)} <= {"   ", "---"}
    for line in cells:
        assert (line[0], line[-1]) == ("|", "|")
        assert {line[c : c + 3] for c in range(1, 4 * width, 4)} == {"   "}
    east = [[line[c] == " " for c in range(4, 4 * width + 1, 4)] for line in cells]
    south = [[line[c] == " " for c in range(2, 4 * width, 4)] for line in walls]
    return east, south


@pytest.mark.parametrize(("width", "rows"), [(1, 1), (1, 5), (2, 1), (7, 9), (63, 4), (64, 3), (65, 2), (300, 1200)])
def test_pictures_show_the_walls_of_the_maze(tmp_path, width, rows):
    block = EllerStream(width, seed=5, height=rows, loops=0.1).read(rows)
    words = ["--width", width, "--rows", rows, "--seed", 5, "--loops", 0.1]
    text = works("generate", "-", *words, "--format", "txt").stdout.decode("ascii")
    east, south = read_text(text)
    assert np.array_equal(east, block.bools("east"))
    assert np.array_equal(south, block.bools("south"))
    works("generate", tmp_path / "m.pbm", *words)
    assert np.array_equal(read_bitmap((tmp_path / "m.pbm").read_bytes()), block.tiles())


def test_a_small_maze_as_text():
    assert works("generate", "-", "--width", 4, "--rows", 3, "--seed", 1, "--format", "txt").stdout.decode() == SMALL


SMALL = """\
+---+---+---+---+
|   |   |   |   |
+   +   +   +   +
|       |   |   |
+   +---+   +   +
|               |
+---+---+---+---+
"""


# ---- outputs that exist, are full, cannot be written --------------------------------------------


@pytest.mark.parametrize("ending", ["emz", "txt", "svg", "pbm", "png", "npy"])
def test_an_output_that_exists_stays_without_force(tmp_path, ending):
    path = tmp_path / f"m.{ending}"
    path.write_bytes(b"precious")
    words = ["generate", path, "--width", 9, "--rows", 9, "--seed", 1]
    fails(1, "exists already", *words)
    assert path.read_bytes() == b"precious"
    works(*words, "--force")
    assert path.read_bytes() != b"precious"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", ["emz", "txt", "pbm"])
def test_a_full_disk_leaves_the_good_file(tmp_path, ending):
    path = tmp_path / f"m.{ending}"
    path.write_bytes(b"precious")

    def small_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    words = ["generate", path, "--width", 1000, "--rows", 10**6, "--force"]
    fails(1, rf"m\.{ending}\.part: File too large", *words, preexec_fn=small_disk)
    assert path.read_bytes() == b"precious"
    assert path.with_name(path.name + ".part").stat().st_size <= 200_000


def test_stdout_that_is_full():
    with Path("/dev/full").open("wb") as full:
        for form in ("emz", "txt"):
            words = [*COMMAND, "generate", "-", "--width", "9", "--rows", "9", "--format", form]
            done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            assert (done.returncode, done.stderr) == (1, "eller-stream: error: stdout: No space left on device\n")


def test_places_that_cannot_be_written(tmp_path):
    fails(1, "No such file or directory", "generate", tmp_path / "none" / "m.emz", "--width", 9, "--rows", 9)
    (tmp_path / "folder.emz").mkdir()
    fails(1, "no regular file", "generate", tmp_path / "folder.emz", "--width", 9, "--rows", 9, "--force")


def test_a_row_that_finds_no_room():
    def little_memory():
        resource.setrlimit(resource.RLIMIT_AS, (700 * 2**20, 700 * 2**20))

    words = ["generate", "/dev/null/x.emz", "--width", 2**31 - 1, "--rows", 2]
    fails(1, "no room in memory|out of memory", *words[:1], "-", *words[2:], preexec_fn=little_memory)


# ---- wrong use -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("required: COMMAND", []),
        ("invalid choice: 'mend'", ["mend"]),
        ("required: OUT, --width", ["generate"]),
        ("required: --width", ["generate", "m.emz"]),
        ("invalid int value: '1.5'", ["generate", "m.emz", "--width", "1.5"]),
        ("width is from 1 to 2147483647, not 0", ["generate", "m.emz", "--width", "0"]),
        ("width is from 1 to 2147483647, not -4", ["generate", "m.emz", "--width", "-4"]),
        ("width is from 1 to 2147483647", ["generate", "m.emz", "--width", "2147483648"]),
        ("height is from 1", ["generate", "m.emz", "--width", "9", "--rows", "0"]),
        ("seed is from 0 to", ["generate", "m.emz", "--width", "9", "--seed", "-1"]),
        ("seed is from 0 to", ["generate", "m.emz", "--width", "9", "--seed", "18446744073709551616"]),
        ("not allowed with", ["generate", "m.emz", "--width", "9", "--seed", "1", "--seed-text", "a"]),
        ("p_east is a number from 0 to 1, not nan", ["generate", "m.emz", "--width", "9", "--p-east", "nan"]),
        ("p_south is a number from 0 to 1", ["generate", "m.emz", "--width", "9", "--p-south", "1.5"]),
        ("argument --loops", ["generate", "m.emz", "--width", "9", "--loops", "many"]),
        ("starts at row 0", ["generate", "m.emz", "--width", "9", "--loops", "5:0.5"]),
        ("rising first rows", ["generate", "m.emz", "--width", "9", "--p-east", "0:0.5,9:0.6,9:0.7"]),
        ("even number", ["generate", "m.emz", "--width", "9", "--key-interval", "5"]),
        ("at most 17179869184 cells", ["generate", "m.emz", "--width", "1000000", "--key-interval", "1000000"]),
        ("algorithm is one of eller", ["generate", "m.emz", "--width", "9", "--algorithm", "magic"]),
        (
            "ending of OUT is one of emz, txt, svg, pbm, png, tmj, npy, zarr, not ''",
            ["generate", "maze", "--width", "9"],
        ),
        (
            "--format is one of emz, txt, svg, pbm, png, tmj, npy, zarr, not 'gif'",
            ["generate", "m.emz", "--width", "9", "--format", "gif"],
        ),
        ("cannot be endless: give --rows", ["generate", "m.pbm", "--width", "9"]),
        ("required: FILE", ["info"]),
        ("required: FILE", ["verify"]),
    ],
)
def test_wrong_use_is_told_in_one_line(tmp_path, message, words):
    fails(2, message, *words, cwd=tmp_path)
    assert not any(tmp_path.iterdir())


# ---- info and verify ---------------------------------------------------------------------------


@pytest.fixture
def maze(tmp_path):
    path = tmp_path / "m.emz"
    with MazeWriter(path, EllerStream(100, seed=9, height=3000)) as writer:
        writer.write(3000)
    return path


def test_info_for_people_and_programs(maze):
    text = works("info", maze).stdout.decode()
    assert re.search(r"rows: +3,000, finished", text)
    assert re.search(r"seed: +9\n", text)
    facts = json.loads(works("info", maze, "--json").stdout)
    assert MazeSpec.from_data(facts["spec"]) == MazeSpec(100, seed=9, height=3000)
    expected = {"rows": 3000, "finished": True, "complete": True, "first_row": 0, "bytes": maze.stat().st_size}
    assert {name: facts[name] for name in expected} == expected


def test_info_from_a_pipe_and_of_a_file_cut_short(maze, tmp_path):
    with maze.open("rb") as file:
        piped = json.loads(works("info", "-", "--json", stdin=file).stdout)
    assert (piped["rows"], piped["complete"], piped["finished"]) == (3000, True, True)
    cut = tmp_path / "cut.emz"
    cut.write_bytes(maze.read_bytes()[:-30])
    facts = json.loads(works("info", cut, "--json").stdout)
    assert facts["complete"] is False
    assert facts["rows"] < 3000
    assert "the end frame is missing" in works("info", cut).stdout.decode()


def verdict(path, code, *words):
    """Assert the exit code of verify, and return what it says for people and for programs."""
    done = eller("verify", path, *words)
    assert done.returncode == code, done.stdout
    assert (done.stdout.count(b"\n"), done.stderr) == (1, "")
    told = eller("verify", path, "--json", *words)
    assert told.returncode == code
    return done.stdout.decode(), json.loads(told.stdout)


def test_verify_says_perfect(maze):
    sentence, report = verdict(maze, 0)
    assert sentence.endswith("perfect: 3,000 rows of 100 cells, 299,999 passages, all connected without a cycle\n")
    assert (report["answer"], report["ok"], report["loops"], report["fault"]) == ("perfect", True, 0, None)


def test_verify_counts_promised_loops(tmp_path):
    path = tmp_path / "m.emz"
    with MazeWriter(path, EllerStream(50, seed=9, height=200, braid=0.5)) as writer:
        writer.write(200)
    sentence, report = verdict(path, 0)
    assert report["answer"] == "connected"
    assert f"{report['loops']:,} loop passages" in sentence
    assert report["passages"] == 50 * 200 - 1 + report["loops"]


def test_verify_says_unfinished(tmp_path):
    path = tmp_path / "m.emz"
    with MazeWriter(path, EllerStream(50, seed=9)) as writer:
        writer.write(200)
    assert verdict(path, 1)[1]["answer"] == "unfinished"
    assert verdict(path, 0, "--unfinished")[1]["answer"] == "unfinished"
    verdict(path, 1, "--fragment")


def test_verify_says_fragment(tmp_path):
    path = tmp_path / "m.emz"
    stream = EllerStream(50, seed=9)
    stream.seek(5000)
    with MazeWriter(path, stream) as writer:
        writer.write(200)
    assert verdict(path, 1)[1]["answer"] == "fragment"
    assert verdict(path, 0, "--fragment")[1]["answer"] == "fragment"
    verdict(path, 1, "--unfinished")


def with_flipped_bit(tmp_path, plane, row, column):
    """Write a whole file, checksums and all, of a maze in which one passage is not as it was."""
    spec = MazeSpec(50, seed=9, height=40)
    block = EllerStream.from_spec(spec).read(40)
    planes = {name: np.array(block.bools(name)) for name in ("east", "south")}
    planes[plane][row, column] ^= True
    changed = Block.from_bools(planes["east"], planes["south"])
    path = tmp_path / "m.emz"
    pieces = [*encode_header(Header.of(spec)), *encode_rows(Rows(changed, True)), *encode_end(End(40, True))]
    path.write_bytes(b"".join(pieces))
    return path, planes[plane][row, column]


@pytest.mark.parametrize("column", [0, 17, 48])
@pytest.mark.parametrize(("plane", "row"), [("east", 0), ("east", 20), ("east", 39), ("south", 0), ("south", 20)])
def test_verify_names_the_place_of_a_fault(tmp_path, plane, row, column):
    path, opened = with_flipped_bit(tmp_path, plane, row, column)
    sentence, report = verdict(path, 1)
    fault = report["fault"]
    assert (report["answer"], fault["kind"]) == ("faulty", "cycle" if opened else "cut-off")
    assert fault["row"] >= row
    assert fault["message"] in sentence


def test_verify_says_damaged(maze, tmp_path):
    data = bytearray(maze.read_bytes())
    data[len(data) // 2] ^= 4
    damaged = tmp_path / "damaged.emz"
    damaged.write_bytes(data)
    sentence, report = verdict(damaged, 1)
    assert report["answer"] == "damaged"
    assert "checksum" in sentence
    damaged.write_bytes(maze.read_bytes()[:-1])
    assert "cut short" in verdict(damaged, 1)[0]
    damaged.write_bytes(maze.read_bytes() + b"x")
    assert "behind the end" in verdict(damaged, 1)[0]


@pytest.mark.parametrize("command", ["info", "verify"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "cut short"),
        (b"P4\n3 3\n", "not a maze|no maze"),
        (b"\x97\xaceller-stream\x02", "version 2"),
        (b"\x1b[2J\x07 escape!", r"\\x1b"),
    ],
)
def test_files_of_another_kind(tmp_path, command, data, message):
    path = tmp_path / "m.emz"
    path.write_bytes(data)
    done = fails(1, message, command, path)
    assert "\x1b" not in done.stderr


def test_files_that_are_not_there(tmp_path):
    for command in ("info", "verify"):
        fails(1, "No such file or directory", command, tmp_path / "none.emz")
        fails(1, "directory", command, tmp_path)


# ---- a terminal, and memory ------------------------------------------------------------------


def test_a_terminal_sees_how_far_it_came(tmp_path):
    master, slave = pty.openpty()
    words = [*COMMAND, "generate", str(tmp_path / "m.emz"), "--width", "1000", "--rows", "300000"]
    process = subprocess.Popen(words, stderr=slave, env=os.environ | {"TERM": "xterm", "COLUMNS": "120"})
    os.close(slave)
    seen = b"".join(iter(partial(read_terminal, master), b""))
    os.close(master)
    assert process.wait(60) == 0
    assert re.search(rb"[\d,]+ rows +[\d.]+ MB +[\d.]+ [MG]cells/s", seen)
    assert b"300,000 rows of 1,000 cells, finished" in seen


def read_terminal(master):
    try:
        return os.read(master, 65_536)
    except OSError:  # the other side is closed
        return b""


def peak_memory(*words):
    """Return the most memory that a run of the command took, in bytes."""
    process = subprocess.Popen([*COMMAND, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.parametrize("words", [[], ["--key-interval", 0], ["--format", "txt"], ["--format", "npy"]], ids=str)
def test_memory_does_not_grow_with_the_rows(words):
    few, many = (peak_memory("generate", "-", "--width", 64, "--rows", rows, *words) for rows in (10_000, 500_000))
    assert many < few + 3 * 2**20
