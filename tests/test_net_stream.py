"""A stream over a socket is the stream itself: same rows, same end, same state, from any row and in any portions."""

from io import BytesIO

import numpy as np
import pytest
from helpers import EDGE_WIDTHS, specs
from hypothesis import given, settings
from hypothesis import strategies as st
from net_helpers import HOST, QUICK, remote, serving, small

from eller_stream import EllerStream, MazeFile, MazeWriter, StreamError, open_stream
from eller_stream.block import joined
from eller_stream.errors import NetError
from eller_stream.frames import Rows
from eller_stream.net.client import RemoteStream
from eller_stream.net.limits import ClientLimits, ServerLimits
from eller_stream.store import FrameWriter, read_events
from eller_stream.verify import verify


@pytest.fixture(scope="module")
def served():
    with serving() as server:
        yield server


def local(spec, row=0):
    stream = EllerStream.from_spec(spec)
    stream.seek(row)
    return stream


# ---- rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", EDGE_WIDTHS)
def test_the_rows_are_those_of_the_stream(served, width):
    spec = small(width, height=70, loops=0.1, braid=0.5)
    with remote(served, spec) as stream:
        block = stream.read(1000)
        assert block == local(spec).read(1000)
        assert (stream.position, stream.height) == (70, 70)
        assert stream.read(5) == local(spec, 70).read(5)
        assert list(stream) == []


@settings(max_examples=40)
@given(specs(heights=(None, 1, 2, 90)), st.integers(0, 90), st.lists(st.integers(0, 40), max_size=6))
def test_any_portions_from_any_row(served, spec, row, portions):
    row = min(row, spec.height or row)
    with remote(served, spec, row=row) as stream:
        here = local(spec, row)
        for rows in portions:
            assert stream.position == here.position
            assert stream.read(rows) == here.read(rows)
            assert [next(stream, None)] == [next(here, None)]


@settings(max_examples=25)
@given(specs(heights=(None, 60)), st.lists(st.integers(0, 60), min_size=1, max_size=6), st.booleans())
def test_jumps_and_the_state(served, spec, places, with_state):
    with remote(served, spec) as stream:
        here = local(spec)
        for place in places:
            stream.seek(place)
            here.seek(place)
            if with_state:
                assert stream.snapshot() == here.snapshot()
            assert stream.read(7) == here.read(7)


def test_rows_beyond_2_to_the_32_and_the_last_row_of_all(served):
    spec = small(65)
    with remote(served, spec, row=2**40 + 3) as stream:
        assert stream.read(3000) == local(spec, 2**40 + 3).read(3000)
        stream.seek(2**48 - 10)
        assert stream.read(10) == local(spec, 2**48 - 10).read(10)
        assert len(stream.read(1)) == 0
        assert stream.height is None


def test_a_row_is_a_row(served):
    with remote(served, small()) as stream:
        for row, expected in zip(stream, local(small()), strict=False):
            assert row == expected
            assert np.array_equal(row.east, expected.east)
            if row.index == 5000:
                break


def test_count_ends_the_rows_and_not_the_maze(served):
    with remote(served, small(), row=100, count=5000) as stream:
        block = stream.read(10_000)
        assert (block.start, block.stop, block.ends, stream.height) == (100, 5100, False, None)
        assert len(stream.read(1)) == 0
        stream.seek(5090)
        assert stream.read(100).stop == 5100
        with pytest.raises(StreamError, match="from 0 to 5100, not 5101"):
            stream.seek(5101)
        with pytest.raises(StreamError, match="have ended with row 5099"):
            stream.finalize()


def test_the_snapshot_goes_on_alone(served):
    spec = small(100, key_interval=0)
    with remote(served, spec, row=777) as stream:
        assert EllerStream.restore(stream.snapshot()).read(100) == stream.read(100)


# ---- finalize --------------------------------------------------------------------------------

# 16 rows a frame, 4 frames ahead: a buffer of 64 rows and the frame that is being taken from.
WIDE, FRAME, AHEAD = 65_536, 16, 4


@pytest.mark.parametrize("key_interval", [0, 32])
def test_finalize_after_every_row_within_a_buffer(served, key_interval):
    spec = small(WIDE, key_interval=key_interval)
    with remote(served, spec, limits=ClientLimits(ahead=AHEAD)) as stream:
        assert stream.header.rows_per_frame == FRAME
    taken = 200
    for more in range((AHEAD + 1) * FRAME + 1):
        with remote(served, spec, row=taken - 1, limits=ClientLimits(ahead=AHEAD)) as stream:
            head = stream.read(1 + more)
            here = local(spec, taken - 1)
            assert head == here.read(1 + more)
            stream.finalize()
            here.finalize()
            assert (stream.height, stream.position) == (taken + more + 1, taken + more)
            last = stream.read(100)
            assert last == here.read(100)
            assert (len(last), last.ends) == (1, True)


@pytest.mark.parametrize("key_interval", [0, 64])
@pytest.mark.parametrize("rows", [0, 1, 4095, 4096, 4097, 30_000])
def test_a_finalized_maze_is_perfect(served, key_interval, rows):
    spec = small(63, key_interval=key_interval)
    with remote(served, spec) as stream:
        blocks = [stream.read(rows)]
        stream.finalize()
        blocks.append(stream.read(10))
        assert verify(blocks).ok
        stream.seek(rows // 2)
        assert stream.read(10**6).stop == rows + 1
        with pytest.raises(StreamError, match=f"already: row {rows} is the last one"):
            stream.finalize()


def test_finalize_at_the_end(served):
    with remote(served, small(height=10)) as stream:
        stream.read(10)
        with pytest.raises(StreamError, match="have ended with row 9"):
            stream.finalize()


def test_without_key_rows_going_back_within_the_buffer_costs_no_more_than_a_frame():
    """The seek limit allows for two frames: it would not allow for the way from row 0."""
    spec = small(WIDE, key_interval=0)
    with serving(limits=ServerLimits(ahead=AHEAD, max_seek_cells=2 * FRAME * WIDE)) as server:
        with remote(server, spec) as stream:
            stream.read(40 * FRAME + 5)
            stream.finalize()
            assert stream.read(2).ends
        with remote(server, spec) as stream:
            stream.read(3)
            stream.seek(0)
            with pytest.raises(NetError, match="the limit is 2097152 cells"):
                stream.seek(40 * FRAME)
            assert stream.position == 0
            assert stream.read(3) == local(spec).read(3)


# ---- wrong asks ------------------------------------------------------------------------------


def test_wrong_asks_are_told_and_change_nothing(served):
    with remote(served, small(height=50)) as stream:
        for row in (-1, 51, 2**48 + 1, 1.5, "x"):
            with pytest.raises(StreamError):
                stream.seek(row)
        for rows in (-1, 1.5):
            with pytest.raises(StreamError):
                stream.read(rows)
        assert stream.read(50) == local(small(height=50)).read(50)
    with pytest.raises(NetError, match="closed"):
        stream.seek(3)


def test_no_file_is_offered(served):
    with pytest.raises(NetError, match="offers no file"):
        remote(served)


def test_no_server():
    with pytest.raises(NetError, match=r"127.0.0.1:1: .*refused$"):
        RemoteStream(HOST, 1, small(), limits=QUICK)


# ---- files -----------------------------------------------------------------------------------


def written(path, stream, rows, **options):
    with MazeWriter(path, stream, **options) as writer:
        writer.write(rows)
    return path


@pytest.mark.parametrize("key_interval", [0, 1024])
def test_a_file_of_remote_rows_is_the_file_of_the_stream(served, tmp_path, key_interval):
    spec = small(1000, key_interval=key_interval, height=40_000)
    here = written(tmp_path / "here.emz", local(spec), 40_000)
    with remote(served, spec) as stream:
        there = written(tmp_path / "there.emz", stream, 40_000)
    assert here.read_bytes() == there.read_bytes()


@settings(max_examples=25)
@given(specs(heights=(None, 200)), st.lists(st.integers(1, 60), max_size=8), st.lists(st.integers(1, 60), max_size=8))
def test_file_stream_and_socket_are_one_in_whatever_portions(served, spec, here, there):
    """200 rows, finished: a file's bytes from the stream and from the socket, and the rows in them."""
    with remote(served, spec) as stream:
        data = maze_bytes(stream, there)
    assert data == maze_bytes(local(spec), here)
    stream = local(spec)
    blocks = [event.block for event in read_events(BytesIO(data)) if isinstance(event, Rows)]
    assert joined(blocks)[:199] == stream.read(199)
    if spec.height is None:
        stream.finalize()
    assert joined(blocks)[199:] == stream.read(2)


def maze_bytes(stream, portions):
    """Return the bytes of 200 rows that are written in these portions, and the rest; the last one ends the maze."""
    out = BytesIO()
    writer = FrameWriter(out, stream, rows_per_frame=32)
    for portion in [*portions, 199]:
        writer.write(min(portion, 199 - writer.rows))
    if stream.height is None:
        stream.finalize()
    writer.write(1)
    writer.finish()
    return out.getvalue()


@pytest.mark.parametrize("rows_per_frame", [None, 7])
@pytest.mark.parametrize("key_interval", [0, 1024])
def test_an_offered_file(tmp_path, key_interval, rows_per_frame):
    spec = small(100, key_interval=key_interval)
    stream = local(spec)
    with MazeWriter(tmp_path / "a.emz", stream, rows_per_frame=rows_per_frame) as writer:
        writer.write(3000)
        stream.finalize()
        writer.write(1)
    with MazeFile(tmp_path / "a.emz") as maze, serving(maze) as server:
        with remote(server) as stream:
            assert (stream.spec, stream.height) == (spec, 3001)
            with pytest.raises(StreamError, match="as long as it is"):
                stream.finalize()
            rows = stream.header.rows_per_frame
            written(tmp_path / "b.emz", stream, 5000, rows_per_frame=rows)
        with remote(server, row=1234, count=100) as stream:
            assert stream.read(1000) == local(spec, 1234).read(100)
        with remote(server, small(9)) as stream:
            assert stream.read(10) == local(small(9)).read(10)
        with pytest.raises(NetError, match="rows from 0 up to 3001, not row 3002"):
            remote(server, row=3002)
    assert (tmp_path / "a.emz").read_bytes() == (tmp_path / "b.emz").read_bytes()


@pytest.mark.parametrize("algorithm", ["eller", "wilson", "uniform"])
def test_every_algorithm_goes_back_over_rows_that_were_passed(served, algorithm):
    """Rows that no frame was made of have left no state behind; a uniform maze then begins again."""
    spec = small(9, algorithm=algorithm)
    with remote(served, spec, row=100) as stream:
        stream.seek(40)
        assert stream.read(9) == open_stream(spec).read(49)[40:]


def test_an_offered_fragment_begins_where_it_begins(tmp_path):
    spec = small(100)
    written(tmp_path / "a.emz", local(spec, 500), 100)
    with MazeFile(tmp_path / "a.emz") as maze, serving(maze) as server, remote(server) as stream:
        assert (stream.position, stream.height) == (500, None)
        assert stream.read(1000) == local(spec, 500).read(100)
