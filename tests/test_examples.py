"""The examples: each as a process of its own; the game in a window that nobody sees, played by a program."""

import os
import subprocess
import sys
from collections import deque
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from net_helpers import serving

from eller_stream import EllerStream, MazeFile
from eller_stream.verify import verify

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
UNSEEN = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
TWENTY_LINES = ["rows_in_a_loop", "file_and_window", "socket_client", "save_and_resume", "asyncio_consumer"]


def run(name, *words):
    """Run an example and return the lines that it prints."""
    command = [sys.executable, "-W", "error", EXAMPLES / f"{name}.py", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", TWENTY_LINES)
def test_an_example_has_some_twenty_lines(name):
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) <= 24


def test_the_game_has_fewer_than_200_lines():
    assert len((EXAMPLES / "endless_runner.py").read_text().splitlines()) < 200


def test_rows_in_a_loop_are_a_whole_maze():
    lines = run("rows_in_a_loop")
    assert len(lines) == 2 * 11 + 1
    east = [[line[4 * c + 4] == " " for c in range(20)] for line in lines[1::2]]
    south = [[line[4 * c + 2] == " " for c in range(20)] for line in lines[2::2]]
    stream = EllerStream(20, seed=42)
    rows = [next(stream) for _ in range(10)]
    stream.finalize()
    rows.append(next(stream))
    assert east == [row.east.tolist() for row in rows]
    assert south == [row.south.tolist() for row in rows]


def test_a_file_and_a_window_of_it(tmp_path):
    path = tmp_path / "maze.emz"
    first, *window = run("file_and_window", path)
    assert first == "20,000 rows of 1,000 cells, made from the seed 42"
    with MazeFile(path) as maze:
        assert verify(maze.blocks()).answer == "perfect"
        tiles = maze.read(12_000, 8).tiles()[:, 600:660]
    assert window == ["".join(" █"[tile] for tile in line) for line in tiles]


def test_a_socket_client():
    with serving() as served:
        *rows, last = run("socket_client", "127.0.0.1", served.port)
    expected = EllerStream(64, seed=42, loops=0.05)
    assert rows == [f"{i} " + "".join("|."[open_] for open_ in next(expected).east.astype(int)) for i in range(10)]
    assert last == "rows 1,000,000,000,000 to 1,000,000,000,999 in 16,000 bytes"


def test_save_and_resume_goes_on_where_it_stopped(tmp_path):
    lines = [line for _ in range(3) for line in run("save_and_resume", tmp_path / "game.save")]
    rows = [line for line in lines if not line.startswith("saved")]
    expected = EllerStream(32, seed=42)
    assert rows == [f"{i:4} " + "".join("_."[open_] for open_ in next(expected).south.astype(int)) for i in range(15)]


def test_an_asyncio_consumer():
    lines = run("asyncio_consumer")
    for name, seed in (("quick", 1), ("slow", 2)):
        block = EllerStream(64, seed=seed, height=5).read(5)
        expected = [f"{name}: row {row.index} has {row.south.sum()} passages south" for row in block]
        assert [line for line in lines if line.startswith(name)] == expected
    assert lines[-1].startswith("slow")


# ---- the game -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runner():
    """The game's module."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in UNSEEN.items():
            patch.setenv(name, value)
        spec = spec_from_file_location("endless_runner", EXAMPLES / "endless_runner.py")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
        module.pygame.quit()


def way_ahead(runner, run):
    """Return the first step of a shortest way, within the screen, to the uppermost row that can be reached."""
    start = run.next_cell() if run.step else run.cell
    rows = range(int(run.bottom) + 1, run.first + len(run.rows) - 1)
    came, waiting, best = {start: None}, deque([start]), start
    while waiting and best[0] < rows[-1]:
        cell = waiting.popleft()
        best = max(best, cell, key=lambda cell: cell[0])
        for way in (runner.AHEAD, runner.LEFT, runner.RIGHT, runner.BACK):
            there = cell[0] + way[0], cell[1] + way[1]
            if there[0] in rows and there not in came and run.is_open(cell, way):
                came[there] = cell, way
                waiting.append(there)
    way = runner.STILL
    while came[best]:
        best, way = came[best]
    return way


def press(runner, key):
    runner.pygame.event.post(runner.pygame.event.Event(runner.pygame.KEYDOWN, key=key))


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the resident memory is read from /proc")
def test_a_program_plays_2000_rows_at_a_steady_memory(runner):
    """It presses keys and sees what is on the screen. So the game is fair: whoever plays well goes on."""
    game = runner.Game(seed=11)
    keys = {way: key for key, way in runner.KEYS.items()}
    memory = {}
    while game.run.score < 2000:
        way = way_ahead(runner, game.run)
        if way not in (runner.STILL, game.run.wish):
            press(runner, keys[way])
        game.frame(1 / 15)
        assert game.run.alive
        assert len(game.run.rows) <= runner.ROWS + 4
        assert game.run.rows[0].index == game.run.first
        memory.setdefault(game.run.score // 500, resident_bytes())
    assert game.run.speed == runner.FASTEST
    assert memory[4] - memory[1] < 2**20


@pytest.mark.parametrize("seed", range(4))
def test_the_maze_is_fair(runner, seed):
    run = runner.Run(seed)
    while run.score < 1000:
        run.wish = way_ahead(runner, run)
        run.update(1 / 15)
        assert run.alive


@given(data=st.data(), seed=st.integers(0, 2**64 - 1))
def test_nobody_goes_through_walls(runner, data, seed):
    run = runner.Run(seed)
    maze = EllerStream.from_spec(run.stream.spec).read(200)
    seconds = data.draw(st.sampled_from([0.01, 0.1, 0.25]))
    cell = run.cell
    for way in data.draw(st.lists(st.sampled_from([*set(runner.KEYS.values())]), max_size=60)):
        run.wish = way
        run.move(seconds)
        for there in (run.cell, run.next_cell() if run.step else run.cell):
            assert abs(there[0] - cell[0]) + abs(there[1] - cell[1]) <= 1 + seconds * runner.RUN
            if abs(there[0] - cell[0]) + abs(there[1] - cell[1]) == 1:
                upper, left = min(there[0], cell[0]), min(there[1], cell[1])
                plane = maze.bools("south" if there[1] == cell[1] else "east")
                assert plane[upper, left]
            cell = there
        run.scroll(0)


def test_who_stands_still_falls_off_the_bottom(runner):
    game = runner.Game(seed=3)
    for _ in range(1000):
        game.frame(0.1)
    assert not game.run.alive
    before = game.run.place, game.run.bottom
    game.frame(0.1)
    assert (game.run.place, game.run.bottom) == before


def test_pause_restart_and_a_new_maze(runner):
    game, pygame = runner.Game(seed=5), runner.pygame
    first_rows = [row.south.copy() for row in game.run.rows]
    press(runner, pygame.K_UP)
    for _ in range(40):
        game.frame(0.1)
    press(runner, pygame.K_p)
    game.frame(0.1)
    before = game.run.place, game.run.bottom
    game.frame(0.1)
    assert game.paused
    assert (game.run.place, game.run.bottom) == before
    press(runner, pygame.K_r)
    game.frame(0.0)
    assert game.run.score == 4
    assert not game.paused
    assert np.array_equal(first_rows, [row.south for row in game.run.rows])
    press(runner, pygame.K_n)
    game.frame(0.0)
    assert game.run.stream.spec.seed != 5


def test_the_picture_shows_the_walls_and_the_runner(runner):
    game = runner.Game(seed=9)
    game.frame(0.0)
    run, night = game.run, runner.NIGHT
    for row in list(run.rows)[1 : runner.ROWS - 1]:
        middle = round(game.y(row.index + 0.5))
        walls = [game.maze.get_at(((c + 1) * runner.CELL, middle))[:3] != night for c in range(runner.COLUMNS - 1)]
        assert walls == (~row.east[:-1]).tolist()
    assert (
        game.maze.get_at(((run.cell[1] * 2 + 1) * runner.CELL // 2, round(game.y(run.cell[0] + 0.5))))[:3]
        == runner.GOLD
    )


def test_the_game_as_a_process():
    """Escape is pressed before its first frame."""
    code = (
        "import pygame, runpy, sys; pygame.display.init(); "
        "pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE)); "
        "sys.argv[:] = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    command = [sys.executable, "-c", code, EXAMPLES / "endless_runner.py", "--seed", "42"]
    done = subprocess.run(command, env=os.environ | UNSEEN, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not done.stdout + done.stderr
