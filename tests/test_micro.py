"""`micro.py` on CPython: the same rows, frames and snapshots as the package's, byte for byte.

tests/test_micropython.py runs it where it belongs.
"""

import ast
import io
import json
import re
import socket
import sys
import threading
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import bits_of_labels, labels_of_choices, packed, partitions, specs
from hypothesis import example, given, settings
from hypothesis import strategies as st
from net_helpers import remote, serving

from eller_stream import micro
from eller_stream.errors import FormatError, SpecError
from eller_stream.frames import Checkpoint, End, FrameDecoder, Rows
from eller_stream.sealed import bin_head
from eller_stream.spec import MAX_ROW, MAX_SEED, MazeSpec, Probability, Schedule
from eller_stream.store import FrameWriter, MazeFile
from eller_stream.stream import EllerStream
from eller_stream.verify import verify

VECTORS = json.loads((Path(__file__).parent.parent / "docs/vectors/stream-v1.json").read_text(encoding="utf-8"))


def micro_stream(spec):
    """The stream of a spec in micro.py."""
    values = {
        name: [(row, n / 65536) for row, n in getattr(spec, name).pairs] for name in ("p_east", "p_south", "loops")
    }
    return micro.EllerStream(
        spec.width,
        seed=spec.seed,
        height=spec.height,
        key_interval=spec.key_interval,
        braid=spec.braid.n / 65536,
        **values,
    )


def rows_of(block):
    return [(block.east[i].tobytes(), block.south[i].tobytes()) for i in range(len(block))]


def micro_rows(stream, count):
    return [row for _, row in zip(range(count), stream, strict=False)]


# ---- rows --------------------------------------------------------------------------------------


def test_it_imports_what_micropython_has():
    tree = ast.parse(Path(micro.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imports] == ["from array import array", "from binascii import crc32"]


def test_words_and_coins_are_those_of_the_vectors():
    for z, mixed in VECTORS["mix"]:
        word = micro._limbs(int(z, 16))
        micro._mix(word)
        assert word == micro._limbs(int(mixed, 16))
    for case in VECTORS["words"]:
        assert drawn(case, lambda coins, out, case=case: coins._draw_lane(out, case["lane"])) == case["words"]
    for case in VECTORS["coins"]:
        draw = lambda coins, out, case=case: coins.draw(out, case["base"], case["n"], 64)  # noqa: E731
        assert drawn(case, draw) == case["words"]


def drawn(case, draw):
    """Return a vector's words, each drawn as that of a row of 64 columns."""
    coins, words = micro._Coins(64, int(case["seed"])), []
    for i in range(len(case["words"])):
        out = bytearray(8)
        coins.go_to(int(case["first"]) + i)
        draw(coins, out)
        words.append(out[::-1].hex())
    return words


@pytest.mark.parametrize("case", VECTORS["rows"])
def test_rows_are_those_of_the_vectors(case):
    stream = micro_stream(MazeSpec.from_data(case["spec"]))
    stream.seek(case["row"])
    rows = micro_rows(stream, len(case["east"]) - case["finalized"])
    if case["finalized"]:
        stream.finalize()
        rows += micro_rows(stream, 2)
    assert [(east.hex(), south.hex()) for east, south in rows] == list(zip(case["east"], case["south"], strict=True))
    ended = stream.position == stream.height
    assert (None if ended else stream.sets.tolist()) == case["sets"]


@given(
    spec=specs(max_width=130, heights=(None, 1, 20)),
    steps=st.lists(st.integers(0, 25), max_size=3),
    finalized=st.booleans(),
)
@settings(max_examples=120)
@example(spec=MazeSpec(1, seed=1, loops=1, braid=1, height=20), steps=[20, 0], finalized=False)
@example(spec=MazeSpec(65, seed=1, loops=0.5, braid=1, key_interval=2), steps=[2, 1, 25], finalized=True)
def test_micro_is_the_package(spec, steps, finalized):
    stream, twin = EllerStream.from_spec(spec), micro_stream(spec)
    for step in steps:
        row = step if stream.height is None else min(step, stream.height)
        stream.seek(row)
        twin.seek(row)
        assert twin.snapshot() == stream.snapshot()
        assert twin.sets.tolist() == stream.sets.tolist()
        block = stream.read(3)
        assert micro_rows(twin, 3) == rows_of(block)
        assert twin.north() == (block.south[-1] if len(block) else block.north).tobytes()
    if finalized and stream.position != stream.height:
        stream.finalize()
        twin.finalize()
        assert twin.snapshot() == stream.snapshot()
        assert micro_rows(twin, 9) == rows_of(stream.read(9))
    assert (twin.position, twin.height, twin.snapshot()) == (stream.position, stream.height, stream.snapshot())


@pytest.mark.parametrize("width", [1, 2, 63, 64, 65, 513])
@pytest.mark.parametrize("row", [2**32 - 1, 2**48 - 3])
def test_far_rows(width, row):
    spec = MazeSpec(width, seed=MAX_SEED, key_interval=4, p_east=0.3, loops=0.1, braid=0.5)
    stream, twin = EllerStream.from_spec(spec), micro_stream(spec)
    stream.seek(row)
    twin.seek(row)
    assert micro_rows(twin, 3) == rows_of(stream.read(3))
    assert twin.snapshot() == stream.snapshot()


@pytest.mark.parametrize("width", [2**15, 2**15 + 1])
def test_columns_whose_links_do_not_fit_in_16_bits(width):
    spec = MazeSpec(width, seed=1, key_interval=2, p_south=0.2)
    stream, twin = EllerStream.from_spec(spec), micro_stream(spec)
    assert micro_rows(twin, 2) == rows_of(stream.read(2))
    assert twin.sets.tolist() == stream.sets.tolist()


def test_there_is_no_row_behind_the_last():
    twin = micro.EllerStream(5, seed=1)
    twin.seek(MAX_ROW)
    with pytest.raises(ValueError, match="row 281474976710655 is the last that a stream can have"):
        next(twin)
    with pytest.raises(ValueError, match="has ended with row 281474976710655"):
        twin.finalize()


# ---- values ------------------------------------------------------------------------------------


@given(st.one_of(st.floats(0, 1), st.integers(0, 1), st.integers(0, 131072).map(lambda n: n / 131072)))
@example(1e-300)
@example(1 - 2**-53)
def test_probabilities_are_rounded_as_by_the_package(value):
    assert micro._probability("p", value) == Probability.of(value).n


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0, 0.5, 1])), max_size=4).map(sorted))
def test_schedules_are_taken_as_by_the_package(pairs):
    try:
        expected = list(Schedule.of(pairs).pairs)
    except SpecError:
        with pytest.raises(ValueError, match="p_east"):
            micro._schedule("p_east", pairs)
    else:
        assert micro._schedule("p_east", pairs) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 0},
        {"width": 2**31},
        {"width": 5.0},
        {"width": True},
        {"width": 10**5000},
        {"seed": -1},
        {"seed": 2**64},
        {"seed": "1"},
        {"height": 0},
        {"height": 2**48 + 1},
        {"key_interval": 3},
        {"key_interval": -2},
        {"key_interval": 2**34 // 5 + 2},
        {"braid": 1.5},
        {"braid": True},
        {"braid": [(0, 0.5)]},
        {"loops": -0.1},
        {"loops": float("nan")},
        {"loops": 2},
        {"p_east": "0.5"},
        {"p_east": []},
        {"p_east": [(1, 0.5)]},
        {"p_east": [0.5]},
        {"p_east": [(0, 0.5, 1)]},
        {"p_south": [(0, 0.5), (0, 0.2)]},
        {"p_south": [(0, 0.5), (2**48 + 1, 0.2)]},
        {"p_south": [(row, row % 2) for row in range(257)]},
    ],
    ids=lambda wrong: next(f"{name}={value!a:.30}" if name != "width" else name for name, value in wrong.items()),
)
def test_wrong_values(wrong):
    """What the package refuses is refused here too, by name."""
    values = {"width": 5, "seed": 1} | wrong
    with pytest.raises(SpecError):
        MazeSpec(**values)
    with pytest.raises(ValueError, match=next(iter(wrong))) as caught:
        micro.EllerStream(**values)
    assert len(str(caught.value)) < 250


def test_what_a_stream_refuses():
    twin = micro.EllerStream(5, seed=1, height=4)
    for row in (-1, 5, 2.0, None):
        with pytest.raises(ValueError, match="the row to seek is an integer from 0 to 4, not"):
            twin.seek(row)
    micro_rows(twin, 2)
    twin.finalize()
    with pytest.raises(ValueError, match="called already"):
        twin.finalize()
    assert len(micro_rows(twin, 9)) == 1
    endless = micro.EllerStream(5, seed=1, key_interval=0)
    with pytest.raises(ValueError, match="at most 3435973836 are carved"):
        endless.seek(MAX_ROW)
    assert endless.position == 0
    planned = micro.EllerStream(5, seed=1, key_interval=0, height=MAX_ROW)
    planned.seek(MAX_ROW)
    assert micro_rows(planned, 1) == []


# ---- snapshots ---------------------------------------------------------------------------------


@given(spec=specs(heights=(None, 30)), row=st.integers(0, 30), finalized=st.booleans())
@settings(max_examples=60)
def test_snapshots_go_both_ways(spec, row, finalized):
    stream, twin = EllerStream.from_spec(spec), micro_stream(spec)
    stream.seek(row)
    if finalized and row != stream.height:
        stream.finalize()
    twin.restore(stream.snapshot())
    assert (twin.position, twin.height, twin.snapshot()) == (row, stream.height, stream.snapshot())
    restored = EllerStream.restore(twin.snapshot())
    assert micro_rows(twin, 3) == rows_of(restored.read(3)) == rows_of(stream.read(3))


def resealed(data):
    return data[:-5] + b"\xce" + zlib.crc32(data[:-5]).to_bytes(4, "big")


def refused_or_restored(twin, data):
    """Restore; return whether the bytes were taken. If not, the stream stays as it was."""
    before = twin.snapshot()
    try:
        twin.restore(data)
    except ValueError:
        assert twin.snapshot() == before
        return False
    assert twin.snapshot() == data
    return True


def taken_by_the_package(data):
    try:
        EllerStream.restore(data)
    except FormatError:
        return False
    return True


@pytest.mark.parametrize("height", [None, 9])
@pytest.mark.parametrize("seal", [bytes, resealed])
def test_changed_snapshots_are_refused(height, seal):
    spec = MazeSpec(11, seed=1, height=height, key_interval=0)
    stream = EllerStream.from_spec(spec)
    stream.seek(4)
    data, twin = stream.snapshot(), micro_stream(spec)
    expected, found = [], []
    for place in range(len(data)):
        for flipped in (1, 128, 255):
            changed = seal(data[:place] + bytes([data[place] ^ flipped]) + data[place + 1 :])
            own_spec = changed.startswith(data[: data.index(b"braid") + 6])
            found.append(refused_or_restored(twin, changed))
            expected.append(own_spec and taken_by_the_package(changed))
    assert found == expected
    assert (True in found) == (seal is resealed)
    assert not any(refused_or_restored(twin, seal(data[:size])) for size in range(5, len(data)))
    assert not refused_or_restored(twin, data + b"\0")
    assert not refused_or_restored(twin, EllerStream(11, seed=2).snapshot())
    assert refused_or_restored(twin, data)


@given(
    labels=partitions(max_size=20),
    above=st.lists(st.booleans(), min_size=20, max_size=20),
    row=st.sampled_from([0, 1, 5, 9, 10]),
    end=st.sampled_from([None, 0, 5, 9]),
    height=st.sampled_from([None, 9]),
    flip=st.none() | st.integers(0, 19),
    swap=st.booleans(),
)
@settings(max_examples=300)
@example(labels=[0, 1, 0], above=[True] * 20, row=5, end=None, height=None, flip=None, swap=False)
@example(labels=[0, 1, 0], above=[True] * 20, row=5, end=None, height=None, flip=None, swap=True)
@example(labels=[0, 1, 2], above=[False] * 20, row=5, end=None, height=None, flip=None, swap=False)
@example(labels=[0, 1, 2], above=[False] * 20, row=9, end=9, height=9, flip=None, swap=False)
@example(labels=[0, 1, 0], above=[True] * 20, row=0, end=None, height=None, flip=None, swap=False)
def test_forged_states_are_judged_as_by_the_package(labels, above, row, end, height, flip, swap):
    width = len(labels)
    planes = [*bits_of_labels(labels)[:: -1 if swap else 1], above[:width]]
    if flip is not None:
        planes[flip % 3][flip % width] ^= True
    spec = MazeSpec(width, seed=1, height=height)
    twin = micro_stream(spec)
    data = micro._SNAPSHOT + twin.packed_spec + micro._u64(end or 0) + micro._u64(row)
    data += b"".join(bin_head(len(packed(plane))) + packed(plane) for plane in planes)
    data = resealed(data + bytes(5))
    assert refused_or_restored(twin, data) == taken_by_the_package(data)


def test_deeply_nested_sets_are_restored():
    labels = labels_of_choices([0] * 300 + list(range(299)))
    spec = MazeSpec(len(labels), seed=1)
    twin = micro_stream(spec)
    planes = [packed(bits) for bits in (*bits_of_labels(labels), [True] * len(labels))]
    data = micro._SNAPSHOT + twin.packed_spec + micro._u64(0) + micro._u64(7)
    data = resealed(data + b"".join(bin_head(len(plane)) + plane for plane in planes) + bytes(5))
    twin.restore(data)
    assert micro_rows(twin, 3) == rows_of(EllerStream.restore(data).read(3))


# ---- frames ------------------------------------------------------------------------------------


class Sink:
    """Takes bytes, all or `most` of them at a time; tells how many, or returns None."""

    def __init__(self, most=None, silent=False):
        self.data, self.most, self.silent = b"", most, silent

    def write(self, data):
        self.data += data[: self.most]
        return None if self.silent else len(data[: self.most])


@given(
    spec=specs(heights=(None, 1, 30)),
    first=st.integers(0, 30),
    portions=st.lists(st.integers(0, 20), max_size=4),
    rows=st.integers(1, 9),
    finalized=st.booleans(),
)
@settings(max_examples=120)
@example(spec=MazeSpec(9, seed=1, key_interval=0), first=3, portions=[40], rows=1, finalized=False)
@example(spec=MazeSpec(9, seed=1, key_interval=0), first=0, portions=[16, 0], rows=1, finalized=True)
@example(spec=MazeSpec(9, seed=1, key_interval=0, height=32), first=0, portions=[31, 9], rows=2, finalized=False)
def test_frames_are_those_of_the_package(spec, first, portions, rows, finalized):
    stream, twin = EllerStream.from_spec(spec), micro_stream(spec)
    first = first if spec.height is None else min(first, spec.height)
    stream.seek(first)
    twin.seek(first)
    expected, found = io.BytesIO(), Sink()
    writer, twin_writer = (
        FrameWriter(expected, stream, rows_per_frame=rows),
        micro.FrameWriter(found, twin, rows_per_frame=rows),
    )
    for portion in portions:
        assert twin_writer.write(portion) == writer.write(portion)
    if finalized and stream.position != stream.height:
        stream.finalize()
        twin.finalize()
        assert twin_writer.write(5) == writer.write(5) == 1
    writer.finish()
    twin_writer.finish()
    assert found.data == expected.getvalue()
    decoder = FrameDecoder()
    decoder.feed(found.data)
    events = list(decoder.events())
    decoder.close()
    assert isinstance(events[-1], End)
    assert sum(len(event.block) for event in events if isinstance(event, Rows)) == events[-1].rows


@pytest.mark.parametrize(("width", "rows"), [(1, 64), (64, 32), (1000, 2), (1024, 2), (2049, 1)])
def test_a_maze_file(tmp_path, width, rows):
    path = tmp_path / "board.emz"
    with path.open("wb") as file:
        writer = micro.FrameWriter(file, micro.EllerStream(width, seed=1, height=70))
        assert writer.write(100) == 70
        writer.finish()
    with MazeFile(path) as maze:
        assert maze.header.rows_per_frame == rows
        assert verify(maze.blocks()).answer == "perfect"
        rows = [row for block in maze.blocks() for row in rows_of(block)]
    assert rows == rows_of(EllerStream(width, seed=1, height=70).read(70))


def test_a_checkpoint_is_taken_before_the_maze_is_finalized():
    twin, sink = micro.EllerStream(5, seed=1, key_interval=0), Sink()
    writer = micro.FrameWriter(sink, twin, rows_per_frame=1)
    writer.write(16)
    before = twin.snapshot()
    twin.finalize()
    writer.write(1)
    writer.finish()
    decoder = FrameDecoder()
    decoder.feed(sink.data)
    assert [event for event in decoder.events() if isinstance(event, Checkpoint)] == [Checkpoint(16, before)]


@pytest.mark.parametrize("sink", [Sink(most=3), Sink(silent=True)])
def test_outputs_that_take_a_part_or_tell_nothing(sink):
    whole = Sink()
    for out in (whole, sink):
        writer = micro.FrameWriter(out, micro.EllerStream(70, seed=1, height=9))
        writer.write(9)
        writer.finish()
    assert sink.data == whole.data


def test_nothing_is_written_after_a_write_that_failed():
    sink = Sink()
    writer = micro.FrameWriter(sink, micro.EllerStream(5, seed=1), rows_per_frame=2)
    sink.most = 0
    with pytest.raises(OSError, match="the output took 0 of"):
        writer.write(5)
    sink.most = None
    for again in (lambda: writer.write(1), writer.finish):
        with pytest.raises(ValueError, match="a write failed before"):
            again()


def test_what_a_writer_refuses():
    stream = micro.EllerStream(5, seed=1)
    for rows in (0, -1, 1.0, 2**26):
        with pytest.raises(ValueError, match="rows_per_frame is an integer from 1 to"):
            micro.FrameWriter(Sink(), stream, rows_per_frame=rows)
    writer = micro.FrameWriter(Sink(), stream)
    with pytest.raises(ValueError, match="the number of rows to write is"):
        writer.write(-1)
    next(stream)
    with pytest.raises(ValueError, match="row 0 was expected, the stream stands at 1"):
        writer.write(1)
    writer.finish()
    with pytest.raises(ValueError, match="the end frame is written"):
        writer.write(1)


class Line:
    """A serial line: what the board's UART takes, the PC's port gives, a few bytes at a time."""

    def __init__(self, *ignored, **also_ignored):
        pass

    sent = bytearray()
    in_waiting = 100

    def write(self, data):
        Line.sent += data[:30]
        return len(data[:30])

    def read(self, size):
        data = bytes(Line.sent[:size])
        del Line.sent[:size]
        assert data, "the PC waits for more than was sent"
        return data

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def codes_of_the_page(*words):
    page = (Path(__file__).parent.parent / "docs/BOARDS.md").read_text(encoding="utf-8")
    codes = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return [code for code in codes if any(word in code for word in words)]


def test_the_page_feeds_a_pc(monkeypatch, capsys):
    board, pc = codes_of_the_page("UART", "serial")
    monkeypatch.setitem(sys.modules, "micro", micro)
    monkeypatch.setitem(sys.modules, "machine", SimpleNamespace(UART=Line))
    monkeypatch.setitem(sys.modules, "serial", SimpleNamespace(Serial=Line))
    exec(board, {})
    decoder = FrameDecoder()
    decoder.feed(bytes(Line.sent))
    blocks = [event.block for event in decoder.events() if isinstance(event, Rows)]
    assert str(verify(blocks)).startswith("perfect: 1,000 rows of 64 cells")
    exec(pc, {})
    assert capsys.readouterr().out == "".join(f"{block.start} {block.east}\n" for block in blocks)
    assert not Line.sent


def test_the_page_feeds_a_window_through_a_socket(monkeypatch, capsys):
    board, pc = codes_of_the_page("import socket")
    monkeypatch.setitem(sys.modules, "micro", micro)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        board = board.replace("192.168.1.2", "127.0.0.1").replace("7007", str(port))
        sending = threading.Thread(target=exec, args=(board, {}))
        sending.start()
        monkeypatch.setattr(socket, "create_server", lambda _: server)
        known = {}
        exec(pc, known)
        sending.join()
    assert capsys.readouterr().out == "[range(800, 1000)]\n"
    stream = EllerStream(64, seed=42, height=1000)
    stream.seek(800)
    assert known["window"].view(800, 200) == stream.read(200)
    assert known["decoder"].end == End(1000, True)


def test_what_a_board_wrote_is_served_and_fetched(tmp_path):
    stream = micro.EllerStream(64, seed=42)
    with (tmp_path / "board.emz").open("wb") as file:
        writer = micro.FrameWriter(file, stream, rows_per_frame=8)
        writer.write(999)
        stream.finalize()
        writer.write(1)
        writer.finish()
    finished = EllerStream(64, seed=42, height=1000)
    with MazeFile(tmp_path / "board.emz") as maze, serving(maze) as served, remote(served) as fetched:
        assert fetched.read(1001) == finished.read(1000)


def test_rows_are_of_the_caller():
    stream = micro.EllerStream(9, seed=1)
    first = next(stream)
    kept = [bytes(plane) for plane in first]
    next(stream)
    assert list(first) == kept
    assert np.frombuffer(first[0], np.uint8).shape == (2,)
