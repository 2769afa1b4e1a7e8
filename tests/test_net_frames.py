"""Frames on the wire, byte by byte: those of a stream and those of an offered file are the plain encoder's.

The plain way is one frame after another from a stream of its own. The server takes several at a turn, and sends those
of a file as they stand there; whatever it does, these are the bytes.
"""

from contextlib import suppress
from io import BytesIO

import pytest
from helpers import specs
from hypothesis import given, settings
from hypothesis import strategies as st
from net_helpers import ByHand, hello, serving, small

from eller_stream import MazeFile, MazeSpec, MazeWriter, open_stream
from eller_stream.errors import FormatError
from eller_stream.frames import End, Header, Rows, encode_end, encode_header, encode_rows
from eller_stream.net import protocol
from eller_stream.net.limits import ServerLimits
from eller_stream.net.protocol import Answer, More, Open, Refusal, encode
from eller_stream.net.sources import FileSource, Frames
from eller_stream.spec import MAX_ROW
from eller_stream.store import read_events
from eller_stream.stream import EllerStream

ROWS = 300


def plain_frames(spec, rows_per_frame, row, stop, height):
    """The bytes of each frame of the rows from `row` up to `stop`, made one by one."""
    stream = open_stream(spec)
    stream.seek(row)
    frames, first, finished = [encode_header(Header(spec, rows_per_frame, 0, row))], row, False
    while row < stop:
        block = stream.read(min(rows_per_frame - row % rows_per_frame, stop - row))
        row, finished = block.stop, block.ends_at(height)
        frames.append(encode_rows(Rows(block, finished)))
    return [b"".join(pieces) for pieces in [*frames, encode_end(End(row - first, finished))]]


def came(port, spec, row, stop, rooms):
    """What comes for a request, up to the end or a refusal; room is told in steps."""
    asked = Open(1, None if spec is None else spec.to_data(), row, stop)
    with ByHand(port, hello(), asked, *map(More, sorted(rooms)), More(MAX_ROW)) as client:
        assert isinstance(client.message(), protocol.Welcome)
        assert isinstance(client.message(), Answer)
        frames = [client.message()]
        while not (isinstance(frames[-1], Refusal) or frames[-1].startswith(b"\x94\xa3end")):
            frames.append(client.message())
    return frames


@pytest.fixture(scope="module")
def served():
    with serving() as server:
        yield server


rooms = st.lists(st.integers(0, 50_000), max_size=4)


@settings(max_examples=30)
@given(specs(heights=(None, ROWS)), st.integers(0, ROWS), st.integers(0, ROWS), rooms)
def test_a_stream_is_sent_as_it_is_encoded(served, spec, row, rows, rooms):
    stop = min(row + rows, ROWS)
    expected = plain_frames(spec, Header.of(spec).rows_per_frame, row, stop, spec.height)
    assert came(served.port, spec, row, stop, rooms) == expected


@settings(max_examples=15)
@given(
    st.sampled_from([2, 64, 1000, 1024, 4096, 6000, 0]),
    st.integers(0, 40_000),
    st.integers(0, 40_000),
    st.lists(st.integers(0, 80_000), max_size=4),
)
def test_turns_of_many_frames_are_sent_as_frames(served, key_interval, row, rows, rooms):
    spec = small(65, key_interval=key_interval)
    assert came(served.port, spec, row, row + rows, rooms) == plain_frames(spec, 4096, row, row + rows, None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("offered")


def written(path, spec, rows_per_frame, rows):
    """Write a file of a spec's rows, finished if it has a height."""
    with MazeWriter(path, open_stream(spec), rows_per_frame=rows_per_frame, force=True) as writer:
        writer.write(rows)
    return path


@settings(max_examples=30)
@given(specs(heights=(None, ROWS)), st.sampled_from([1, 7, 32, 64, 1000]), st.data())
def test_an_offered_file_is_sent_as_its_stream(folder, spec, rows_per_frame, data):
    """From any row to any stop, whether or not those are where the file's frames end."""
    path = written(folder / "a.emz", spec, rows_per_frame, ROWS)
    row = data.draw(st.integers(0, ROWS), "row")
    stop = data.draw(st.integers(row, ROWS) | st.none(), "stop")
    with MazeFile(path) as maze, serving(maze) as served:
        there = came(served.port, None, row, stop, data.draw(rooms, "rooms"))
    assert there == plain_frames(spec, rows_per_frame, row, ROWS if stop is None else stop, spec.height)


@settings(max_examples=30)
@given(st.sampled_from([0, 64]), st.data())
def test_a_file_cut_short_is_sent_up_to_its_last_whole_frame(folder, key_interval, data):
    spec = small(70, key_interval=key_interval, height=ROWS)
    path = written(folder / "a.emz", spec, 7, ROWS)
    whole = path.read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(len(whole) // 10, len(whole) - 1))])
    row = data.draw(st.integers(0, 20), "row")
    with MazeFile(path) as maze, serving(maze) as served:
        stop = maze.stop
        assert came(served.port, None, row, None, []) == plain_frames(spec, 7, row, stop, spec.height)
    assert stop % 7 == 0 or stop == ROWS


def rows_frames(data):
    """The number of rows frames before the first damage."""
    count = 0
    with suppress(FormatError):
        for event in read_events(BytesIO(data)):
            count += isinstance(event, Rows)
    return count


@settings(max_examples=30)
@given(st.sampled_from([0, 64]), st.integers(0, 6), st.data())
def test_frames_before_a_damage_are_sent_and_none_behind_it(folder, key_interval, row, data):
    spec = small(70, key_interval=key_interval, height=ROWS)
    path = written(folder / "a.emz", spec, 7, ROWS)
    damaged = bytearray(path.read_bytes())
    expected = plain_frames(spec, 7, row, ROWS, spec.height)
    behind_first = Header.of(spec, rows=7).place(7)
    place = data.draw(st.integers(behind_first, len(damaged) - 21), "place")
    damaged[place] ^= 1 << data.draw(st.integers(0, 7), "bit")
    path.write_bytes(damaged)
    good = rows_frames(damaged)
    with MazeFile(path) as maze, serving(maze) as served:
        *frames, refusal = came(served.port, None, row, None, [])
    assert frames == expected[: 1 + good]
    assert (type(refusal), refusal.word) == (Refusal, "failed")


def test_a_file_of_whole_frames_is_not_encoded_again(folder, monkeypatch):
    """Only a frame that begins or ends elsewhere is."""
    encoded = []
    monkeypatch.setattr(
        "eller_stream.net.sources.encode_rows",
        lambda rows: (encoded.append((rows.block.start, rows.block.stop)), encode_rows(rows))[1],
    )
    with MazeFile(written(folder / "a.emz", small(height=ROWS), 32, ROWS)) as maze:
        for row, stop, cut in [(0, None, []), (32, 96, []), (33, 97, [(33, 64), (96, 97)])]:
            encoded.clear()
            frames = Frames(FileSource(maze, ServerLimits()), row, stop)
            while not frames.at_end:
                frames.rows(MAX_ROW)
            assert encoded == cut


def test_a_turn_of_small_frames_has_32_of_them(folder):
    with MazeFile(written(folder / "a.emz", small(8, height=ROWS), 1, ROWS)) as maze:
        frames = Frames(FileSource(maze, ServerLimits()), 3, None)
        assert len(frames.rows(MAX_ROW)) == 32
        assert frames.row == 35


def test_a_map_of_rows_of_walls_is_sent_as_it_stands(folder):
    spec = MazeSpec(16, seed=1, algorithm="random_walk", band=8, height=64)
    path = written(folder / "a.emz", spec, 16, 64)
    with MazeFile(path) as maze, serving(maze) as served:
        assert came(served.port, None, 0, None, []) == plain_frames(spec, 16, 0, 64, 64)
        assert came(served.port, None, 5, None, []) == plain_frames(spec, 16, 5, 64, 64)


def test_rows_of_one_turn_that_pass_a_jump_are_void(served):
    """A client that jumps while a turn is sent gets the new answer's rows behind it, from the right row."""
    spec = small(1000)
    with ByHand(served.port, hello(), Open(1, spec.to_data(), 0, None), More(2**30)) as client:
        for _ in range(5):
            client.packet()
        client.say(protocol.Jump(2, 100_001), More(100_002))
        while not (isinstance(message := client.message(), Answer) and message.number == 2):
            pass
        client.packet()
        stream = EllerStream.from_spec(spec)
        stream.seek(100_001)
        rows = 1024 - 100_001 % 1024
        assert client.packet() == b"".join(encode_rows(Rows(stream.read(rows), False)))
        client.say(encode(More(MAX_ROW)))
        assert client.packet() == b"".join(encode_rows(Rows(stream.read(1024), False)))
