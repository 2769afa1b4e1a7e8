"""The terminal scroller: the way it shows, the characters it draws, and the program, by Textual's pilot."""

import asyncio
import threading
import time
from collections import deque
from contextlib import asynccontextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from net_helpers import HOST, QUICK, serving
from textual.widgets import Input

from eller_stream import EllerStream, MazeFile, MazeSpec, MazeWriter, RemoteStream, open_stream
from eller_stream.block import E, N, S, W
from eller_stream.render.text import ASCII, UNICODE, lines
from eller_stream.spec import ALGORITHMS, MAX_ROW
from eller_stream.tui.app import SPEEDS, Help, MazeApp, MazeView
from eller_stream.tui.canvas import canvas_of, shows_boxes
from eller_stream.tui.way import ends_within, way_through

algorithms = st.sampled_from(ALGORITHMS)


def rows_of(algorithm, width, seed, start, count, **options):
    stream = open_stream(algorithm, width=width, seed=seed, **options)
    stream.seek(start)
    return stream.read(count)


# ---- the way -------------------------------------------------------------------------------------------


def distances_down(block, enters):
    """Return the steps from above column `enters` to each cell: a search as plain as can be."""
    cells = block.cells()
    floor = block.floor_tiles() == 0
    found = {}
    waiting = deque()
    order = sorted((abs(c - enters) + 1, c) for c in range(block.width) if floor[0, c])
    steps = 0
    while waiting or order:
        if not waiting:
            steps = order[0][0]
        while order and order[0][0] == steps:
            waiting.append((0, order.pop(0)[1]))
        following = deque()
        for cell in waiting:
            if cell in found:
                continue
            found[cell] = steps
            row, column = cell
            for side, dr, dc in ((N, -1, 0), (S, 1, 0), (W, 0, -1), (E, 0, 1)):
                if cells[cell] & side and 0 <= row + dr < len(block):
                    following.append((row + dr, column + dc))
        waiting, steps = following, steps + 1
    return found


@given(
    algorithm=algorithms,
    width=st.integers(2, 40),
    seed=st.integers(0, 99),
    start=st.integers(0, 200),
    count=st.integers(1, 24),
    loops=st.sampled_from([0, 0.1]),
    data=st.data(),
)
@settings(max_examples=80)
def test_a_way_is_a_shortest_one_through_the_rows(algorithm, width, seed, start, count, loops, data):
    block = rows_of(algorithm, width, seed, start, count, loops=loops)
    enters, leaves = (data.draw(st.integers(0, width - 1)) for _ in range(2))
    way = way_through(block, enters, leaves)
    found = distances_down(block, enters)
    last = start + count - 1
    out = [found[0 + count - 1, c] + abs(c - leaves) for c in range(width) if (count - 1, c) in found]
    if way is None:
        assert algorithm == "random_walk"
        assert not out
        return
    cells = way.cells()
    assert cells[0][0] == start
    assert cells[-1][0] == last
    passages = {frozenset(pair) for pair in block.passages()}
    assert all(frozenset(pair) in passages for pair in pairwise(cells))
    assert (
        [row for row, _ in cells].count(start)
        == [row for row, _ in cells].count(last)
        == (1 if count > 1 else len(way))
    )
    assert abs(cells[0][1] - enters) + 1 + way.steps + abs(cells[-1][1] - leaves) == min(out)


def test_rows_without_floor_or_without_rows_have_no_way():
    block = EllerStream(9, seed=1).read(4)
    assert way_through(block[:0], 0, 0) is None
    walls = type(block)(0, 9, *(np.zeros_like(block.east) for _ in range(2)), block.north, np.zeros_like(block.east))
    assert way_through(walls, 3, 3) is None


def share_kept(maze, tops, ends):
    """Return how much of the way that is still in view is on the way again, as the view moves over `tops`."""
    way, kept, cells = None, 0, 0
    for top in tops:
        block = maze[top : top + 20]
        before, way = way, way_through(block, *ends(way, block))
        if before is not None:
            inside = {cell for cell in before.cells() if block.start <= cell[0] < block.stop}
            kept += len(inside & set(way.cells()))
            cells += len(inside)
    return kept / cells


@pytest.mark.parametrize("tops", [range(200), range(199, -1, -1)], ids=["down", "up"])
def test_a_way_stays_much_as_it_was(tops):
    maze = EllerStream(24, seed=5).read(220)
    kept = share_kept(maze, tops, lambda way, block: (12, 12) if way is None else ends_within(way, block))
    assert kept > share_kept(maze, tops, lambda *_: (12, 12))
    assert kept > 0.85


def test_a_way_far_from_the_rows_gives_its_own_ends():
    maze = EllerStream(24, seed=5).read(100)
    way = way_through(maze[:20], 3, 17)
    ends = int(way.columns[0]), int(way.columns[-1])
    assert ends_within(way, maze[:20]) == ends
    assert ends_within(way, maze[40:60]) == ends


# ---- characters ----------------------------------------------------------------------------------------


@given(
    algorithm=algorithms,
    width=st.sampled_from([2, 7, 8, 9, 63, 64, 65, 100]),
    charset=st.sampled_from([ASCII, UNICODE]),
    shows_way=st.booleans(),
    data=st.data(),
)
@settings(max_examples=80)
def test_the_columns_on_the_screen_are_a_part_of_all(algorithm, width, charset, shows_way, data):
    block = rows_of(algorithm, width, 7, 30, data.draw(st.integers(1, 8)))
    way = way_through(block, width // 2, width // 2) if shows_way else None
    left = data.draw(st.integers(0, width - 1))
    columns = data.draw(st.integers(1, 4 * width + 9))
    whole, part = canvas_of(block, way, 0, 4 * width + 1, charset), canvas_of(block, way, left, columns, charset)
    assert whole.characters.shape == (2 * len(block) + 1, 4 * width + 1)
    for name in ("characters", "on_way"):
        assert np.array_equal(getattr(part, name), getattr(whole, name)[:, 4 * left :][:, :columns])
    for line in range(len(part)):
        assert "".join(text for text, _ in part.pieces(line)) == "".join(part.characters[line])


def test_the_characters_are_those_of_the_text():
    block = EllerStream(9, seed=1).read(20)[10:]
    canvas = canvas_of(block, None, 0, 200, ASCII)
    assert "\n".join("".join(line) for line in canvas.characters) + "\n" == lines(block, top=True).decode()


@pytest.mark.parametrize("charset", [ASCII, UNICODE])
def test_a_way_goes_through_no_wall(charset):
    block = EllerStream(30, seed=2).read(40)[10:]
    way = way_through(block, 10, 20)
    plain = canvas_of(block, None, 0, 200, charset)
    canvas = canvas_of(block, way, 0, 200, charset)
    north = sum(int(block.north[c // 8]) >> c % 8 & 1 for c in {int(way.columns[0])})
    assert canvas.on_way.sum() in (len(way) + way.steps, len(way) + way.steps + north)
    assert set(plain.characters[canvas.on_way]) == {" "}
    assert set(canvas.characters[canvas.on_way]) == {"*" if charset == ASCII else "•"}
    assert np.array_equal(canvas.characters[~canvas.on_way], plain.characters[~canvas.on_way])


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("utf-8", True), ("utf-16", True), ("ascii", False), ("latin-1", False), (None, False), ("nonsense", False)],
)
def test_boxes_are_drawn_where_the_encoding_has_them(encoding, shown):
    assert shows_boxes(encoding) is shown


# ---- the program ---------------------------------------------------------------------------------------


@asynccontextmanager
async def running(source=None, *, size=(101, 24), paused=True, **options):
    """Run the program on some maze, and give it with its pilot, the first rows on the screen."""
    if source is None:
        source, options = EllerStream(16, seed=3), {"another": open_stream} | options
    app = MazeApp(source, **options)
    app.paused = paused
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.shown is not None and len(app.shown.block) > 1)
        yield app, pilot


async def until(pilot, so):
    for _ in range(1000):
        if so():
            return
        await pilot.pause(0.01)
    raise AssertionError("it never came about")


async def press(pilot, *keys):
    """Press keys and see what they ask for done."""
    await pilot.press(*keys)
    app = pilot.app
    await until(pilot, lambda: not app._busy and not app._asked.is_set())
    await pilot.pause()


def screen(app):
    """Return the lines of the maze as they are on the screen."""
    view = app.query_one(MazeView)
    return ["".join(piece.text for piece in view.render_line(y)) for y in range(view.size.height)]


def state(app):
    return str(app.query_one("#state").content).rstrip()


def top(app):
    return app.shown.block.start


def piloted(test):
    """Let a test be a coroutine."""

    def run():
        asyncio.run(test())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@piloted
async def test_the_rows_are_on_the_screen():
    async with running() as (app, _):
        expected = lines(EllerStream(16, seed=3).read(11), top=True).decode().splitlines()
        assert [line.strip() for line in screen(app)] == [line.strip() for line in expected]
        assert {len(line) for line in screen(app)} == {101}
        assert screen(app)[0].index("+") == (101 - 65) // 2
        assert state(app) == "rows 0 to 10  paused  ? help  eller  width 16  seed 3"


@piloted
async def test_keys_move_the_view():
    async with running(EllerStream(16, seed=3, height=1000)) as (app, pilot):
        for keys, row in [
            (["down"], 1),
            (["j", "j", "down"], 4),
            (["up", "k"], 2),
            (["pagedown", "pagedown"], 24),
            (["pageup"], 13),
            (["end"], 989),
            (["down"], 989),
            (["home"], 0),
            (["up"], 0),
        ]:
            await press(pilot, *keys)
            assert top(app) == row
            assert app.shown.at_end == (row == 989)
        await press(pilot, "end")
        assert state(app).startswith("rows 989 to 999, the end  paused")
        assert screen(app)[-1].strip() == "+" + 16 * "---+"


@piloted
async def test_a_row_to_go_to():
    async with running() as (app, pilot):
        row = app.query_one("#row", Input)
        assert not row.display
        await press(pilot, "g", *"1,000,000,000,000", "enter")
        assert top(app) == 10**12
        assert not row.display
        expected = rows_of("eller", 16, 3, 10**12, 11)
        assert app.shown.block == expected
        await press(pilot, "g", "5", "escape")
        assert not row.display
        await press(pilot, "g", "7", "enter")
        assert top(app) == 7


@pytest.mark.parametrize("typed", ["", "x", "-1", "1.5", str(MAX_ROW + 1), "9" * 500])
def test_a_row_that_is_none(typed):
    async def test():
        async with running() as (app, pilot):
            await press(pilot, "g")
            app.query_one("#row", Input).value = typed
            await press(pilot, "enter")
            assert top(app) == 0
            assert [note.message for note in app._notifications] == [f"a row is a number from 0 to {MAX_ROW:,}"]

    asyncio.run(test())


@piloted
async def test_it_scrolls_by_until_it_is_paused():
    async with running(paused=False) as (app, pilot):
        await press(pilot, *["plus"] * 8)
        assert app.speed == SPEEDS[-1]
        await until(pilot, lambda: top(app) > 50)
        await press(pilot, "space")
        at = top(app)
        await pilot.pause(0.2)
        assert top(app) == at
        assert "paused" in state(app)
        await press(pilot, *["minus"] * 10, "p")
        assert app.speed == SPEEDS[0]
        assert "1 rows/s" in state(app)
        await until(pilot, lambda: top(app) > at)


@pytest.mark.parametrize(("size", "rows"), [((40, 10), 4), ((120, 50), 24), ((7, 3), 1), ((20, 1), 1)])
def test_it_follows_the_size_of_the_terminal(size, rows):
    async def test():
        async with running() as (app, pilot):
            await press(pilot, "pagedown")
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: len(app.shown.block) == rows)
            assert top(app) == 11
            await pilot.pause()
            assert {len(line) for line in screen(app)} <= {size[0]}
            await pilot.resize_terminal(101, 24)
            await until(pilot, lambda: len(app.shown.block) == 11)

    asyncio.run(test())


@piloted
async def test_a_wide_maze_is_panned():
    async with running(EllerStream(60, seed=3)) as (app, pilot):
        block = EllerStream(60, seed=3).read(11)
        for keys, left in [([], 0), (["right"], 4), (["right", "right"], 12), (["left"], 8), (["right"] * 12, 35)]:
            await press(pilot, *keys)
            expected = canvas_of(block, None, left, 101, ASCII).characters
            assert screen(app) == ["".join(line) for line in expected]
        await press(pilot, *["left"] * 10)
        assert app.left == 0


@piloted
async def test_another_algorithm_and_another_seed():
    spec = MazeSpec(16, seed=3, p_east=0.3, loops=0.1, height=500)
    async with running(open_stream(spec), another=open_stream) as (app, pilot):
        for name in [*ALGORITHMS[1:], ALGORITHMS[0]]:
            await press(pilot, "pagedown", "a")
            assert app.spec.algorithm == name
            assert (app.spec.seed, app.spec.height, app.spec.loops) == (3, 500, spec.loops)
            assert app.shown.block == open_stream(app.spec).read(11)
        assert app.spec == spec
        await press(pilot, "n")
        assert app.spec.seed != 3
        assert f"seed {app.spec.seed}" in state(app)
        assert app.shown.block == open_stream(app.spec).read(11)
        assert app.spec.p_east == spec.p_east


@piloted
async def test_an_algorithm_that_has_no_mazes_so_narrow_is_passed_over():
    async with running(EllerStream(1, seed=3), another=open_stream) as (app, pilot):
        seen = []
        for _ in ALGORITHMS[1:]:
            await press(pilot, "a")
            seen.append(app.spec.algorithm)
        assert seen == [name for name in (*ALGORITHMS[1:], ALGORITHMS[0]) if name != "random_walk"]
        assert not app._notifications


@piloted
async def test_the_solution_on_and_off():
    async with running(charset=UNICODE) as (app, pilot):
        await press(pilot, "pagedown")
        assert "•" not in "".join(screen(app))
        await press(pilot, "s")
        assert "solution" in state(app)
        dots = [line.count("•") for line in screen(app)]
        assert all(dots[1::2])
        assert all(dots[2:-1:2])
        way = app.shown.way
        assert (way.rows[0], way.rows[-1]) == (11, 21)
        await press(pilot, "down")
        assert app.shown.way.rows[-1] == 22
        await press(pilot, "s")
        assert app.shown.way is None
        assert "solution" not in state(app)


@piloted
async def test_a_maze_too_wide_to_search_has_no_solution():
    async with running(EllerStream(2**23, seed=1, key_interval=0)) as (app, pilot):
        await press(pilot, "s")
        assert "no solution" in state(app)


@piloted
async def test_help_and_leaving():
    async with running() as (app, pilot):
        await press(pilot, "question_mark")
        assert isinstance(app.screen, Help)
        await press(pilot, "down")
        assert not isinstance(app.screen, Help)
        assert top(app) == 0
        await press(pilot, "h", "x")
        await pilot.press("q")
    assert app.return_value is False
    async with running() as (app, pilot):
        await pilot.press("ctrl+c")
    assert app.return_value is True


@piloted
async def test_an_error_is_shown_and_the_view_stays():
    async with running(EllerStream(2**12, seed=1, key_interval=0), paused=False) as (app, pilot):
        await press(pilot, "end")
        (note,) = app._notifications
        assert "no key rows between" in note.message
        assert app.paused
        await press(pilot, "home", "down")
        assert top(app) == 1


@piloted
async def test_it_answers_while_rows_are_waited_for():
    """Leaving too."""

    class Slow(EllerStream):
        gate = threading.Event()

        def read(self, rows, /):
            if self.position > 1000:
                self.gate.wait()
            return super().read(rows)

    async with running(Slow(16, seed=1)) as (app, pilot):
        await pilot.press("g", *"5000", "enter")
        await until(pilot, lambda: app._busy)
        await pilot.press("question_mark")
        assert isinstance(app.screen, Help)
        await pilot.press("x", "q")
    assert app.return_value is False
    assert not Slow.gate.is_set()
    Slow.gate.set()


# ---- files and servers ---------------------------------------------------------------------------------


def until_written(path, size):
    deadline = time.monotonic() + 20
    while not path.exists() or path.stat().st_size < size:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def write(path, spec, rows):
    with MazeWriter(path, open_stream(spec)) as writer:
        writer.write(rows)


def test_a_file(tmp_path):
    path = tmp_path / "maze.emz"
    write(path, MazeSpec(16, seed=3), 100)

    async def test():
        async with running(MazeFile(path, follow=5)) as (app, pilot):
            await press(pilot, "end")
            assert top(app) == 89
            assert app.shown.at_end
            for key in ("a", "n"):
                await press(pilot, key)
                assert app.spec.seed == 3
                assert {note.message for note in app._notifications} == {
                    "this maze is made already: it has no other algorithm and no other seed"
                }
                assert top(app) == 89

    asyncio.run(test())


def test_a_file_that_grows(tmp_path):
    path = tmp_path / "maze.emz"
    spec = MazeSpec(16, seed=3)

    async def test():
        writer = MazeWriter(path, open_stream(spec), rows_per_frame=8)
        writer.write(40)
        until_written(path.with_name("maze.emz.part"), 200)
        file = MazeFile(path, follow=5)
        async with running(file) as (app, pilot):
            await until(pilot, lambda: file.stop == 40)
            await press(pilot, "end")
            assert top(app) == 29
            writer.write(40)
            writer.close()
            await press(pilot, "end")
            assert app.shown.block == EllerStream.from_spec(spec).read(80)[69:]

    asyncio.run(test())


@pytest.mark.parametrize(("rows", "said"), [(2, "rows 0 to 1, the end"), (0, "no rows yet")])
def test_a_file_of_few_rows_or_none(tmp_path, rows, said):
    path = tmp_path / "maze.emz"
    write(path, MazeSpec(16, seed=3), rows)

    async def test():
        app = MazeApp(MazeFile(path, follow=5))
        async with app.run_test(size=(101, 24)) as pilot:
            await until(pilot, lambda: state(app))
            await press(pilot, "s", "down", "pageup", "end", "g", "0", "enter")
            assert len(app.shown.block) == rows
            assert state(app).startswith(said)
            assert not app._notifications

    asyncio.run(test())


def test_a_server_and_that_it_goes_away():
    spec = MazeSpec(16, seed=3)

    async def test():
        with serving() as served:

            def connect(spec):
                return RemoteStream(HOST, served.port, spec, limits=QUICK)

            async with running(connect(spec), another=connect) as (app, pilot):
                await press(pilot, "g", *"5000", "enter")
                assert app.shown.block == rows_of("eller", 16, 3, 5000, 11)
                await press(pilot, "a", "down")
                assert app.shown.block == rows_of("dfs", 16, 3, 1, 11)
                served.do(served.server.close())
                await press(pilot, "g", *"900000", "enter")
                assert app.paused
                assert len(app._notifications) == 1
                assert top(app) == 1

    asyncio.run(test())
