"""`Scroller`: a view over a stream, a file or any source of rows is a slice of the maze, wherever it moves."""

import gc
import threading
import time
from dataclasses import replace
from io import BytesIO

import pytest
from helpers import specs
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream.errors import FormatError, StreamError
from eller_stream.frames import END_FRAME_SIZE
from eller_stream.spec import MAX_ROW, MazeSpec
from eller_stream.store import FrameWriter, MazeFile
from eller_stream.stream import EllerStream
from eller_stream.verify import verify
from eller_stream.window import FileSource, Scroller, StreamSource, scroller

ROWS = 60
PATIENCE = 10  # seconds until a test gives up


def whole(spec, rows=ROWS):
    return EllerStream.from_spec(spec).read(rows)


def wait_until(so):
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.001)


class Rows:
    """A source of a block's rows that gives at most `at_once` of them, and tells its height only if it is asked to."""

    def __init__(self, block, *, at_once=10**9, height=None):
        self.block, self.at_once, self.height = block, at_once, height
        self.width, self.first_row = block.width, block.start
        self.reads, self.threads, self.closed, self.fails = [], set(), 0, None
        self.given_to = 0
        self.open = threading.Event()
        self.open.set()

    def read_rows(self, start, count):
        self.reads.append(range(start, start + count))
        self.threads.add(threading.current_thread())
        assert self.open.wait(PATIENCE)
        if self.fails is not None and start + count > self.fails:
            raise OSError(f"row {self.fails} cannot be read")
        first = min(start, self.block.stop) - self.block.start
        given = self.block[first : first + min(count, self.at_once)]
        self.given_to = max(self.given_to, given.stop)
        return given

    def finalize(self, row):
        raise StreamError(f"row {row} is made")

    def close(self):
        self.threads.add(threading.current_thread())
        self.closed += 1


def file_bytes(spec, *, first_row=0, rows=ROWS, rows_per_frame=5):
    """Return the bytes of a file that begins with a row of the maze."""
    stream, out = EllerStream.from_spec(spec), BytesIO()
    stream.seek(first_row)
    writer = FrameWriter(out, stream, rows_per_frame=rows_per_frame)
    writer.write(rows)
    writer.finish()
    return out.getvalue()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "maze.emz"


# ---- a view is a slice -----------------------------------------------------------------------------

moves = st.lists(
    st.tuples(st.sampled_from(["scroll", "jump", "view", "resize"]), st.integers(-ROWS - 5, ROWS + 5)),
    min_size=1,
    max_size=12,
)


@st.composite
def sources(draw):
    """A source, or the bytes of a file; its rows as one block, and the row where a view begins."""
    spec = draw(specs(max_width=66, key_intervals=(0, 2, 16), heights=(1, 2, 16, ROWS)))
    block = whole(spec)
    kind = draw(st.sampled_from(["stream", "file", "unfinished file", "rows", "fragment"]))
    if kind == "stream":
        stream, start = EllerStream.from_spec(spec), draw(st.integers(0, len(block)))
        stream.seek(start)
        return stream, block, start
    if kind == "rows":
        height = draw(st.sampled_from([None, block.stop]))
        return Rows(block, at_once=draw(st.integers(1, 7)), height=height), block, 0
    first = draw(st.integers(0, len(block))) if kind == "fragment" else 0
    data = file_bytes(spec, first_row=first, rows_per_frame=draw(st.integers(1, 9)))
    data = data[:-END_FRAME_SIZE] if kind == "unfinished file" else data
    return data, block[first:], first


@given(made=sources(), height=st.integers(1, ROWS + 5), ahead=st.integers(0, 20), moves=moves)
@settings(max_examples=150)
def test_wherever_a_view_moves_it_is_a_slice(path, made, height, ahead, moves):
    source, block, start = made
    if isinstance(source, bytes):
        path.write_bytes(source)
        source = MazeFile(path)

    def nearest(row):
        return max(block.start, min(row, block.stop - height))

    with Scroller(source, height, ahead=ahead) as view:
        top = nearest(start)
        assert view.view() == block[top - block.start :][:height]
        for kind, rows in moves:
            before = top
            if kind == "scroll":
                top = nearest(top + rows)
                assert view.scroll(rows) == top - before
            elif kind == "jump":
                top = nearest(rows)
                assert view.jump(rows) == top
            elif kind == "resize":
                height = abs(rows) + 1
                top = nearest(top)
                view.resize(height)
            assert (view.top, view.height) == (top, height)
            assert view.view() == block[top - block.start :][:height]
            if not block.ends or view.at_end:
                assert view.at_end == (top + height >= block.stop)


@pytest.mark.parametrize("width", [1, 2, 63, 64, 65])
@pytest.mark.parametrize("key_interval", [0, 2, 1024])
def test_up_and_down_row_by_row(backend, width, key_interval):
    spec = MazeSpec(width, seed=4, key_interval=key_interval, loops=0.1)
    expected = whole(spec, 300)
    with Scroller(EllerStream.from_spec(spec), 7, ahead=8) as view:
        for top in [*range(1, 200), *range(198, -1, -1)]:
            view.scroll(top - view.top)
            assert view.view() == expected[top : top + 7]
        assert view.scroll(-1) == 0


def test_the_smallest_room():
    expected = whole(MazeSpec(9, seed=4), 9)
    with Scroller(EllerStream(9, seed=4), 1, ahead=0, capacity=1) as view:
        for top in (0, 1, 2, 1, 0, 8):
            view.jump(top)
            assert view.view() == expected[top : top + 1]


@pytest.mark.parametrize("row", [2**32 - 2, 2**40])
def test_rows_beyond_32_bits(row):
    stream = EllerStream(65, seed=1)
    stream.seek(row - 40)
    expected = stream.read(100)
    with Scroller(EllerStream(65, seed=1), 10, ahead=20) as view:
        view.jump(row)
        assert view.view() == expected[40:50]
        for _ in range(20):
            assert view.scroll(-2) == -2
        assert view.view() == expected[:10]


def test_the_last_rows_that_a_stream_can_have():
    stream = EllerStream(9, seed=1)
    stream.seek(MAX_ROW - 50)
    expected = stream.read(50)
    with Scroller(EllerStream(9, seed=1), 10, ahead=20) as view:
        assert view.jump(10**30) == MAX_ROW - 10
        assert view.view() == expected[40:]
        assert view.scroll(1) == 0
        assert view.scroll(-30) == -30
        assert view.view() == expected[10:20]
        assert view.scroll(40) == 30
    with Scroller(StreamSource(stream), 10, ahead=20) as view:
        assert view.jump(MAX_ROW) == MAX_ROW - 10
    assert StreamSource(stream).read_rows(MAX_ROW, 5) == expected[50:]


def test_a_source_without_rows():
    empty = whole(MazeSpec(9, seed=1))[:0]
    with Scroller(Rows(empty), 10) as view:
        assert view.view() == empty
        assert (view.scroll(3), view.top, view.at_end) == (0, 0, True)


# ---- what is read, and when ------------------------------------------------------------------------


def test_moving_within_what_was_read_ahead_waits_for_nothing():
    block = whole(MazeSpec(9, seed=1), 500)
    source = Rows(block)
    with Scroller(source, 10, ahead=40) as view:
        view.jump(100)
        wait_until(lambda: source.given_to >= 150)
        source.open.clear()  # whatever is read from now on never comes
        for _ in range(40):
            assert view.scroll(1) == 1
        assert view.view() == block[140:150]
        assert view.scroll(-40) == -40
        source.open.set()


def test_going_back_reads_nothing_while_the_rows_are_held_and_little_afterwards():
    block = whole(MazeSpec(9, seed=1), 500)
    source = Rows(block, height=500)
    with Scroller(source, 10, ahead=20, capacity=110) as view:
        for _ in range(300):
            view.scroll(1)
        wait_until(lambda: source.given_to >= 330)
        reads = len(source.reads)
        view.scroll(-20)
        assert view.view() == block[280:290]
        before = source.reads[reads:]
        assert all(rows.stop <= 280 for rows in before)
        for _ in range(200):
            view.scroll(-1)
        assert view.view() == block[80:90]
        assert len(source.reads) - reads <= 200 / 10 + 6  # a step is ten rows
    assert sum(map(len, source.reads)) < 330 + 330


def test_a_view_that_grows_has_room():
    source = Rows(whole(MazeSpec(9, seed=1)))
    with Scroller(source, 1, ahead=2) as view:  # room for 28 rows
        view.resize(40)
        assert view.view() == source.block[:40]
        wait_until(lambda: source.reads[-1].stop == 42)
        view.jump(15)
        view.resize(1)
        assert view.view() == source.block[15:16]
        with pytest.raises(StreamError, match="the height of a view is 1 or more, not 0"):
            view.resize(0)


def test_a_view_that_cannot_grow_is_as_it_was():
    block = whole(MazeSpec(9, seed=1))
    source = Rows(block)
    with Scroller(source, 10, ahead=0) as view:
        view.view()
        source.block = whole(MazeSpec(9, seed=2))
        with pytest.raises(ValueError, match="row 9 is held with other passages south"):
            view.resize(20)
        assert view.height == 10
        assert view.view() == block[:10]


def test_what_is_farthest_from_the_view_goes_first():
    source = Rows(whole(MazeSpec(9, seed=1)))
    with Scroller(source, 10, ahead=0, capacity=20) as view:
        for row in (0, 14, 9):
            view.jump(row)
        assert source.reads == [range(10), range(14, 24), range(10, 14)]
        for row in (14, 4):  # five rows above and five below are left
            view.jump(row)
        assert len(source.reads) == 3
        view.jump(3)
        assert source.reads[3:] == [range(3, 4)]


def test_a_stream_wide_as_a_map_is_not_read_far_ahead():
    assert scroller._ahead(1) == scroller._ahead(2**14) == 256
    assert scroller._ahead(2**20) == 4
    assert scroller._ahead(2**31 - 1) == 1


def test_one_thread_touches_the_source_and_closes_it():
    source = Rows(whole(MazeSpec(9, seed=1)))
    with Scroller(source, 10, ahead=5) as view:
        view.jump(30)
    wait_until(lambda: source.closed)  # it may still be read ahead
    assert source.closed == 1
    assert len(source.threads) == 1
    assert threading.current_thread() not in source.threads
    view.close()
    assert source.closed == 1


def test_a_scroller_that_is_dropped_lets_its_thread_end():
    source = Rows(whole(MazeSpec(9, seed=1)))
    view = Scroller(source, 10, ahead=5)
    view.view()
    del view
    gc.collect()
    wait_until(lambda: source.closed)
    (thread,) = source.threads
    thread.join(PATIENCE)
    assert not thread.is_alive()


# ---- the end ---------------------------------------------------------------------------------------


@given(spec=specs(max_width=66, key_intervals=(0, 2, 16)), down=st.integers(0, 60), height=st.integers(1, 20))
@settings(max_examples=60)
def test_finalizing_ends_the_maze_below_the_view(spec, down, height):
    bottom = down + height
    expected = whole(replace(spec, height=bottom + 1), ROWS * 2)
    with Scroller(EllerStream.from_spec(spec), height, ahead=16) as view:
        view.scroll(down)
        seen = view.view()
        view.finalize()
        assert view.view() == seen
        assert not view.at_end
        assert view.scroll(5) == 1
        assert view.at_end
        assert view.view() == expected[down + 1 :]
        assert view.scroll(1) == 0
        with pytest.raises(StreamError):
            view.finalize()
        view.jump(0)
        rows = [view.view(), *(view.view()[-1].block() for _ in range(down + 1) if view.scroll(1))]
        assert verify(rows, loops=True).ok
        assert rows[-1].stop == expected.stop
        assert rows[-1].ends


def test_what_cannot_be_finalized(path):
    spec = MazeSpec(9, seed=1, height=30)
    path.write_bytes(file_bytes(spec))
    with (
        Scroller(MazeFile(path), 10) as view,
        pytest.raises(StreamError, match="a file's rows are made already, so row 10"),
    ):
        view.finalize()
    with Scroller(EllerStream.from_spec(spec), 40) as view:
        with pytest.raises(StreamError, match="the maze has ended with row 29"):
            view.finalize()
        assert view.view() == whole(spec)


def test_a_file_that_grows_while_one_scrolls(path):
    spec = MazeSpec(9, seed=1, height=ROWS)
    block, data = whole(spec), file_bytes(spec)
    cut = [len(file_bytes(spec, rows=rows)) for rows in (25, 40)]  # an end frame is shorter than the next five rows
    path.write_bytes(data[: cut[0]])
    with path.open("ab") as growing, Scroller(MazeFile(path, follow=0.01), 10, ahead=8) as view:
        assert view.scroll(100) == 15
        assert view.at_end
        assert view.view() == block[15:25]
        growing.write(data[cut[0] : cut[1]])
        growing.flush()
        assert view.scroll(3) == 3
        assert view.view() == block[18:28]
        growing.write(data[cut[1] :])
        growing.flush()
        assert view.scroll(100) == 32
        assert view.view() == block[50:]
        assert view.at_end


def test_a_maze_cut_short_of_its_height():
    block = whole(MazeSpec(9, seed=1))
    with Scroller(Rows(block[:30], height=ROWS), 10) as view:
        for _ in range(3):
            assert view.jump(45) == 20
            assert view.view() == block[20:30]
            assert view.jump(3) == 3


# ---- what goes wrong -------------------------------------------------------------------------------


def test_rows_that_cannot_be_read_are_an_error_only_for_who_needs_them():
    block = whole(MazeSpec(9, seed=1))
    source = Rows(block)
    source.fails = 30
    with Scroller(source, 10, ahead=8) as view:
        wait_until(lambda: source.given_to >= 18)
        while view.top < 20:
            view.scroll(1)
            assert view.view() == block[view.top : view.top + 10]
        reads = len(source.reads)
        view.scroll(-1)
        view.scroll(1)
        assert len(source.reads) == reads  # nobody needs them yet
        for move in (view.scroll, view.jump):
            with pytest.raises(OSError, match="row 30 cannot be read"):
                move(25)
            assert view.top == 20
            assert view.view() == block[20:30]
        source.fails = None
        assert view.scroll(1) == 1
        assert view.view() == block[21:31]


def test_a_seek_too_far_is_an_error_and_the_view_stays():
    with Scroller(EllerStream(1000, seed=1, key_interval=0), 10, ahead=8) as view:
        with pytest.raises(StreamError, match="there are no key rows between"):
            view.jump(2**40)
        assert view.top == 0
        assert view.scroll(5) == 5


def test_a_source_that_gives_other_rows():
    block = whole(MazeSpec(9, seed=1))

    class Wrong(Rows):
        def read_rows(self, start, count):
            return self.block[start + self.off :][: min(count, self.most)]

    for off, most in [(1, 5), (1, 0)]:
        source = Wrong(block)
        source.off, source.most = off, most
        with Scroller(source, 10) as view, pytest.raises(StreamError, match="gave row 1 where row 0 was expected"):
            view.view()


def test_a_source_that_changes_its_mind():
    block, other = whole(MazeSpec(9, seed=1)), whole(MazeSpec(9, seed=2))
    source = Rows(block)
    with Scroller(source, 10, ahead=0, capacity=30) as view:
        view.view()
        source.block = other
        with pytest.raises(ValueError, match="row 9 is held with other passages south"):
            view.scroll(10)
        assert view.view() == block[:10]


@pytest.mark.parametrize("call", ["view", "scroll", "jump", "finalize"])
def test_closing_waits_for_no_source(call):
    source = Rows(whole(MazeSpec(9, seed=1)))
    source.open.clear()
    view, said = Scroller(source, 10), []

    def work():
        try:
            getattr(view, call)(*[3] * (call in ("scroll", "jump")))
        except StreamError as error:
            said.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    wait_until(lambda: source.reads)
    view.close()
    thread.join(PATIENCE)
    assert said == ["the scroller is closed"]
    assert not source.closed  # it is being read
    source.open.set()
    wait_until(lambda: source.closed)
    with pytest.raises(StreamError, match="the scroller is closed"):
        view.scroll(1)


def test_numbers_that_are_none():
    source = EllerStream(9, seed=1)
    for height in (0, -1, 2.5, None):
        with pytest.raises(StreamError, match="the height of a view is"):
            Scroller(source, height)
    with pytest.raises(StreamError, match="the number of rows read ahead is 0 or more, not -1"):
        Scroller(source, 5, ahead=-1)
    with pytest.raises(StreamError, match="the capacity is 11 or more, not 10"):
        Scroller(source, 5, ahead=2, capacity=10)
    with Scroller(source, 5) as view:
        for move in (view.scroll, view.jump):
            with pytest.raises(StreamError, match=r"is an integer, not 1\.5"):
                move(1.5)


# ---- files and connections -------------------------------------------------------------------------


def test_a_maze_file(path):
    spec = MazeSpec(65, seed=3, height=500)
    block = whole(spec, 500)
    path.write_bytes(file_bytes(spec, rows=500, rows_per_frame=16))
    file = MazeFile(path)
    with Scroller(file, 20, ahead=30) as view:
        for row in (0, 480, 17, 9999, 300):
            top = view.jump(row)
            assert top == min(row, 480)
            assert view.view() == block[top : top + 20]
        for _ in range(100):
            view.scroll(-1)
        assert view.view() == block[200:220]
    with pytest.raises(ValueError, match="closed file"):
        file.read(0, 1)


def test_a_damaged_file_is_shown_up_to_the_damage(path):
    spec = MazeSpec(65, seed=3, height=ROWS)
    data = bytearray(file_bytes(spec))
    data[len(file_bytes(replace(spec, height=None), rows=40))] ^= 1  # in the frame of rows 40 to 44
    path.write_bytes(data)
    with Scroller(MazeFile(path), 10, ahead=8) as view:
        for _ in range(25):
            view.scroll(1)
        assert view.view() == whole(spec)[25:35]
        with pytest.raises(FormatError, match=r"maze\.emz: rows frame at row 40: the checksum does not fit"):
            view.jump(38)
        assert view.view() == whole(spec)[25:35]
        view.jump(45)
        assert view.view() == whole(spec)[45:55]


class Connection:
    """What a stream through a connection has beside a stream's own methods: few rows at a time, a way to close it."""

    def __init__(self, stream):
        self.stream, self.closed = stream, False

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def read(self, rows):
        return self.stream.read(min(rows, 7))

    def close(self):
        self.closed = True


def test_a_connection():
    spec = MazeSpec(20, seed=3)
    connection = Connection(EllerStream.from_spec(spec))
    with Scroller(connection, 30, ahead=20) as view:
        view.scroll(40)
        assert view.view() == whole(spec, 70)[40:]
        view.finalize()
        view.scroll(1)
        assert view.view() == whole(replace(spec, height=71), 71)[41:]
    assert connection.closed


def test_what_a_source_of_a_file_or_a_stream_says(path):
    spec = MazeSpec(20, seed=3, height=50)
    block = whole(spec)[10:]
    data = file_bytes(spec, first_row=10)
    path.write_bytes(data[:-1])
    with MazeFile(path) as file:
        source = FileSource(file)
        assert (source.width, source.first_row, source.height) == (20, 10, None)
    path.write_bytes(data)
    with MazeFile(path) as file:
        source = FileSource(file)
        assert (source.width, source.first_row, source.height) == (20, 10, 50)
        assert source.read_rows(45, 10) == block[35:]
        assert source.read_rows(60, 10) == block[40:]
    source = StreamSource(EllerStream.from_spec(spec))
    assert (source.width, source.first_row, source.height) == (20, 0, 50)
    assert source.read_rows(45, 10) == block[35:]
    assert source.read_rows(60, 10) == block[40:]
