"""The command watch, from the outside: without a terminal, and once in a real one."""

import os
import re
import shutil
import subprocess
import sys
import time

import pytest
from test_cli_net import eller, fails, serving, works
from test_net_access import certificate  # noqa: F401

from eller_stream import EllerStream, MazeSpec, MazeWriter, open_stream
from eller_stream.render.text import lines

COMMAND = [sys.executable, "-m", "eller_stream", "watch"]
PATIENCE = 30


def text_of(stream, rows):
    return lines(stream.read(rows), top=True)


def first_lines(count, *words, **environment):
    """Return the first lines that the command prints, and let it find that its reader has gone."""
    with subprocess.Popen(
        [*COMMAND, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
    ) as process:
        got = b"".join(process.stdout.readline() for _ in range(count))
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 1
    assert said == b"eller-stream: error: whoever read the output has gone\n"
    return got


# ---- without a terminal --------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["eller", "wilson", "random_walk"])
def test_rows_are_printed_until_the_reader_goes(algorithm):
    got = first_lines(20_001, "--width", 12, "--seed", 3, "--algorithm", algorithm)
    assert got == text_of(open_stream(algorithm, width=12, seed=3), 10_000)


def test_rows_are_printed_until_they_end():
    done = works("watch", "--width", 12, "--seed", 3, "--rows", 1000)
    assert done.stdout == text_of(EllerStream(12, seed=3, height=1000), 1000)


def test_the_width_is_that_of_the_terminal_where_none_is_told():
    got = first_lines(3, "--seed", 3, COLUMNS="61")
    assert got == text_of(EllerStream(15, seed=3), 1)


def test_a_file_and_a_pipe(tmp_path):
    path = tmp_path / "maze.emz"
    spec = MazeSpec(12, seed=3, height=500)
    with MazeWriter(path, open_stream(spec)) as writer:
        writer.write(500)
    expected = text_of(open_stream(spec), 500)
    assert works("watch", path).stdout == expected
    with path.open("rb") as file:
        assert subprocess.run([*COMMAND, "-"], stdin=file, capture_output=True, check=True).stdout == expected


def test_a_file_that_is_being_written(tmp_path):
    path = tmp_path / "maze.emz"
    spec = MazeSpec(12, seed=3, height=500)
    with MazeWriter(path, open_stream(spec), rows_per_frame=16) as writer:
        writer.write(64)
        while path.with_name("maze.emz.part").stat().st_size < 64 * 4:
            time.sleep(0.01)
        with subprocess.Popen([*COMMAND, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
            got = b"".join(process.stdout.readline() for _ in range(65))
            writer.write(500)
            writer.close()
            got += process.stdout.read()
    assert process.returncode == 0
    assert got == text_of(open_stream(spec), 500)


def test_a_server_with_a_spec_and_with_a_file(tmp_path):
    path = tmp_path / "maze.emz"
    spec = MazeSpec(12, seed=3, height=500)
    with MazeWriter(path, open_stream(spec)) as writer:
        writer.write(500)
    with serving(path) as server:
        assert works("watch", server.address).stdout == text_of(open_stream(spec), 500)
        got = first_lines(401, server.address, "--width", 9, "--seed", 1)
        assert got == text_of(EllerStream(9, seed=1), 200)
        fails(2, "the options of a maze go with --width", "watch", server.address, "--seed", 1)


def test_what_cannot_be_watched(tmp_path):
    path = tmp_path / "none.emz"
    path.write_bytes(b"no maze")
    fails(1, "none.emz: ", "watch", path)
    fails(1, "gone.emz: No such file or directory", "watch", tmp_path / "gone.emz")
    fails(2, "no such file, and no server: HOST:PORT", "watch", tmp_path / "gone:emz")
    fails(1, "127.0.0.1:1: .*refused", "watch", "127.0.0.1:1")
    fails(2, "the options of a maze do not go with FILE", "watch", path, "--seed", 1)
    fails(2, "width is from 1", "watch", "--width", 0)


# ---- in a terminal -------------------------------------------------------------------------------------


class Terminal:
    """A terminal of 80 columns and 24 lines in tmux, of a server of its own, that runs a command."""

    def __init__(self, folder, *words, **environment):
        self._tmux = ["tmux", "-S", str(folder / "tmux"), "-f", os.devnull]
        settings = [f"{name}={value}" for name, value in environment.items()]
        command = ["env", *settings, *COMMAND, *map(str, words)]
        told = ["sh", "-c", '"$@"; echo "left with $?"; exec sleep 1000', "sh", *command]
        self._do("new-session", "-d", "-x", "80", "-y", "24", *told)

    def _do(self, *words):
        done = subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=True, timeout=PATIENCE)
        return done.stdout

    def press(self, *keys):
        self._do("send-keys", *keys)

    def resize(self, columns, rows):
        self._do("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, *options):
        return self._do("capture-pane", "-p", *options)

    def until(self, pattern):
        """Return the screen as soon as it shows the pattern."""
        deadline = time.monotonic() + PATIENCE
        while not re.search(pattern, shown := self.screen()):
            assert time.monotonic() < deadline, shown
            time.sleep(0.05)
        return shown

    def status(self):
        """Return the exit code of the command, as soon as it has ended."""
        return int(re.search("left with ([0-9]+)", self.until("left with [0-9]"))[1])

    def close(self):
        self._do("kill-server")


@pytest.fixture
def terminal(tmp_path):
    """Give what opens a terminal."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux, the real terminal of this test, is not installed")
    opened = []

    def open_terminal(*words, **environment):
        opened.append(Terminal(tmp_path, *words, **environment))
        return opened[-1]

    yield open_terminal
    for each in opened:
        each.close()


def boxes(rows, charset="unicode"):
    """Return the lines of the first rows of the maze, as a terminal shows them."""
    from eller_stream.tui.canvas import canvas_of

    block = EllerStream(12, seed=3).read(rows)
    return ["".join(line) for line in canvas_of(block, None, 0, 49, charset).characters]


def test_in_a_real_terminal(terminal):
    window = terminal("--width", 12, "--seed", 3, LC_ALL="C.UTF-8", TERM="screen-256color", COLUMNS="80", LINES="24")
    window.until("rows/s")
    window.press("p", "Home")
    shown = window.until("rows 0 to 10  paused").splitlines()
    assert [line.strip() for line in shown[:23]] == [line.strip() for line in boxes(11)]
    window.press("s")
    assert window.until("solution").count("•") >= 21
    window.resize(60, 14)
    window.until("rows 0 to 5  paused")
    window.press("g", "1000000", "Enter")
    window.until("rows 1,000,000 to 1,000,005")
    window.press("a")
    window.until("rows 0 to 5 .* dfs")
    window.press("?")
    window.until("any key closes this")
    window.press("x", "q")
    assert window.status() == 0


def test_without_colours_and_without_boxes(terminal):
    window = terminal("--width", 12, "--seed", 3, NO_COLOR="1", PYTHONIOENCODING="ascii", TERM="screen")
    window.until("rows/s")
    window.press("p", "Home", "s")
    shown = window.until("rows 0 to 10  paused  solution")
    assert shown.isascii()
    assert "* *" in shown
    attributes = {
        number for codes in re.findall(r"\x1b\[([0-9;]*)m", window.screen("-e")) for number in codes.split(";")
    }
    assert attributes <= {"", "0", "1", "7", "22", "27", "39", "49"}  # bold, reverse, and the terminal's own colours
    window.press("C-c")
    assert window.status() == 130


def test_without_textual_the_error_names_the_extra(terminal, tmp_path):
    (tmp_path / "textual.py").write_text("raise ModuleNotFoundError(\"No module named 'textual'\", name='textual')\n")
    window = terminal("--width", 12, PYTHONPATH=str(tmp_path))
    window.until(r"eller-stream: error: this needs textual: pip install 'eller_stream\[tui\]'")
    assert window.status() == 1
    assert eller("watch", "--width", 3, "--rows", 2, PYTHONPATH=str(tmp_path)).returncode == 0


def test_a_growing_file_in_a_real_terminal(terminal, tmp_path):
    path = tmp_path / "maze.emz"
    with MazeWriter(path, EllerStream(12, seed=3), rows_per_frame=16) as writer:
        writer.write(64)
        while path.with_name("maze.emz.part").stat().st_size < 64 * 4:
            time.sleep(0.01)
        window = terminal(path, TERM="screen")
        window.until("rows/s")
        window.press("p", "End")
        window.until("rows 5[0-9] to 6[0-9]")
        writer.write(36)
    window.press("End")
    window.until("rows 89 to 99, the end")
    window.press("q")
    assert window.status() == 0
