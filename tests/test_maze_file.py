"""`MazeFile`: any rows without the rest, as a sequence, and while it is still being written."""

import os
import subprocess
import sys
import threading
import time
from itertools import islice

import pytest
from helpers import specs
from hypothesis import given
from hypothesis import strategies as st
from test_store import FakeStream

from eller_stream.block import joined
from eller_stream.errors import CutShortError, FormatError, StoreError
from eller_stream.spec import MazeSpec
from eller_stream.store import MazeFile, MazeWriter
from eller_stream.stream import EllerStream

KEYED = MazeSpec(10, seed=1, key_interval=4)
CLASSIC = MazeSpec(6, seed=5, key_interval=0)
FOREVER = 60.0


@pytest.fixture
def target(tmp_path):
    return tmp_path / "maze.emz"


def part_of(path):
    return path.with_name(path.name + ".part")


def make(path, stream, rows, rows_per_frame=4):
    with MazeWriter(path, stream, rows_per_frame=rows_per_frame, force=True) as writer:
        writer.write(rows)
    return path


def all_of(path):
    with MazeFile(path) as maze:
        return maze.read(0, 1000)


def stream_at(spec, row):
    stream = EllerStream.from_spec(spec)
    stream.seek(row)
    return stream


# ---- any rows ----------------------------------------------------------------------------------------


@given(specs(max_width=20, heights=(None, 9, 50)), st.integers(0, 60), st.integers(1, 7), st.integers(0, 40), st.data())
def test_any_rows_are_those_of_the_stream(tmp_path_factory, spec, rows, rows_per_frame, first, data):
    first = min(first, spec.height or first)
    path = make(tmp_path_factory.mktemp("maze") / "maze.emz", stream_at(spec, first), rows, rows_per_frame)
    whole = stream_at(spec, first).read(rows)
    with MazeFile(path) as maze:
        assert (maze.stop, len(maze)) == (whole.stop, len(whole))
        for _ in range(4):
            start = data.draw(st.integers(first, first + 70))
            count = data.draw(st.integers(0, 70))
            got = maze.read(start, count)
            place = min(start, whole.stop)
            if len(whole):
                assert got == whole[place - first : place - first + count]
            else:
                assert (len(got), got.start) == (0, first)
            assert same_rows(maze.blocks(start, start + count), got)


def same_rows(blocks, block):
    blocks = list(blocks)
    return joined(blocks) == block if blocks else not len(block)


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("first", [0, 2, 2**40 + 3])
@pytest.mark.parametrize("spec", [KEYED, CLASSIC], ids=["key rows", "checkpoints"])
def test_rows_behind_checkpoints_and_with_a_floor(target, spec, first, floor):
    make(target, FakeStream(spec, first + 300, first, floor), 300)
    whole = FakeStream(spec, first + 300, first, floor).read(300)
    with MazeFile(target) as maze:
        for row in (299, 0, 63, 64, 65, 131, 128, 3, 4, 250):
            assert maze.read(first + row, 3) == whole[row : row + 3]
        assert maze[-1] == whole[-1]


def test_it_is_a_sequence_of_rows(target):
    whole = EllerStream.from_spec(KEYED).read(30)
    with MazeFile(make(target, EllerStream.from_spec(KEYED), 30)) as maze:
        assert list(maze) == list(whole)
        assert maze[7] == whole[7]
        assert maze[-30] == whole[0]
        assert maze[5:21] == whole[5:21]
        assert maze[-3:] == whole[-3:]
        assert maze[:] == whole
        empty = maze[9:9]
        assert (empty.start, len(empty)) == (9, 0)
        with pytest.raises(IndexError):
            maze[30]
        with pytest.raises(StoreError, match="step 1, not 2"):
            maze[::2]


def test_a_fragment_as_a_sequence_begins_with_its_first_row(target):
    with MazeFile(make(target, stream_at(KEYED, 2**40 + 1), 9)) as maze:
        assert (maze[0].index, maze[-1].index, maze[2:4].start) == (2**40 + 1, 2**40 + 9, 2**40 + 3)
        with pytest.raises(StoreError, match=f"begins with row {2**40 + 1}, so row 5 is not in it"):
            maze.read(5, 1)
        with pytest.raises(StoreError, match="begins with row"):
            list(maze.blocks(5))


def test_a_number_of_rows_below_0(target):
    with MazeFile(make(target, EllerStream.from_spec(KEYED), 9)) as maze, pytest.raises(StoreError, match="not -1"):
        maze.read(0, -1)


def test_only_the_frames_that_hold_the_rows_are_read(target, monkeypatch):
    make(target, EllerStream(1000, seed=1), 100_000, None)
    with MazeFile(target) as maze:
        maze.read(5, 1)
        taken = []
        read = maze._file.read
        monkeypatch.setattr(maze, "_file", None)
        frames = maze._frames
        frames._file = Watched(frames._file, read, taken)
        assert maze.read(77_777, 2) == stream_at(EllerStream(1000, seed=1).spec, 77_777).read(2)
        assert sum(taken) < 2 * 2**20 < target.stat().st_size / 10
        before = len(taken)
        assert maze.read(77_780, 1).start == 77_780
        assert len(taken) == before, "the frame that was read last is kept"
        maze._file = frames._file.file


class Watched:
    def __init__(self, file, read, taken):
        self.file, self._read, self._taken = file, read, taken

    def read(self, size):
        data = self._read(size)
        self._taken.append(len(data))
        return data

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_threads_read_different_rows_of_one_file(target):
    whole = EllerStream.from_spec(KEYED).read(400)
    wrong = []
    with MazeFile(make(target, EllerStream.from_spec(KEYED), 400)) as maze:

        def look(first):
            wrong.extend(row for row in range(first, 400, 4) if maze.read(row, 1) != whole[row : row + 1])

        threads = [threading.Thread(target=look, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def whole_rows(maze):
    """The rows that come before a file is found to be cut short."""
    rows = 0
    try:
        for block in maze.blocks():
            rows += len(block)
    except CutShortError:
        return rows
    raise AssertionError("the file is not cut short")


@pytest.mark.parametrize("width", [1, 2, 65])
@pytest.mark.parametrize("rows", [1, 5, 8])
def test_a_short_last_frame_and_a_piece_of_the_end_are_no_full_frame(target, width, rows):
    spec = MazeSpec(width, seed=1, height=rows)
    data = make(target, EllerStream.from_spec(spec), rows, 2).read_bytes()
    for cut in range(1, 25):
        target.write_bytes(data[:-cut])
        with MazeFile(target) as maze:
            assert maze.stop == whole_rows(maze)


@pytest.mark.parametrize("spec", [KEYED, CLASSIC], ids=["key rows", "checkpoints"])
def test_of_a_file_cut_anywhere_the_whole_rows_are_known(target, spec):
    data = make(target, EllerStream.from_spec(spec), 131).read_bytes()
    first = data.index(b"\x99\xa4rows")
    for size in {*range(first, len(data), 11), *range(first, first + 99), *range(len(data) - 99, len(data))}:
        target.write_bytes(data[:size])
        with MazeFile(target) as maze:
            rows = whole_rows(maze)
            assert maze.stop == rows
            assert maze.read(0, 1000) == EllerStream.from_spec(spec).read(rows)


def test_damage_is_found_where_it_is(target):
    data = bytearray(make(target, EllerStream.from_spec(KEYED), 100).read_bytes())
    with MazeFile(target) as maze:
        place = maze.header.place(52)
    data[place + 40] ^= 1
    target.write_bytes(data)
    with MazeFile(target) as maze:
        assert maze.read(48, 4) == stream_at(KEYED, 48).read(4)
        with pytest.raises(FormatError, match=r"maze\.emz: rows frame at row 52"):
            maze.read(50, 4)


def test_a_pipe_is_gone_through_once(target):
    make(target, EllerStream.from_spec(KEYED), 30)
    code = (
        "from eller_stream.store import MazeFile\nfrom eller_stream.errors import StoreError\n"
        "maze = MazeFile('-')\n"
        "for use in (lambda: maze.read(0, 1), lambda: maze[0], lambda: len(maze), lambda: maze.stop):\n"
        "    try: use(); print('no error')\n"
        "    except StoreError as error: assert 'it is a pipe' in str(error)\n"
        "print(*(row.index for block in maze.blocks(7, 12) for row in block))\n"
        "try: list(maze.blocks())\nexcept StoreError: print('read before')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=target.read_bytes(), capture_output=True, check=False)
    assert done.stdout.decode() == "7 8 9 10 11\nread before\n", done.stderr.decode()


# ---- following ---------------------------------------------------------------------------------------


def follower(path, rows=10**9, start=None):
    """Follow a file on a thread; return the list that fills, and the thread."""
    seen = []

    def follow():
        try:
            with MazeFile(path, follow=FOREVER) as maze:
                seen.extend(islice((row for block in maze.blocks(start) for row in block), rows))
                seen.append(maze.end)
        except Exception as error:
            seen.append(error)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    return seen, thread


def until(condition):
    while not condition():
        time.sleep(0.005)


@pytest.mark.parametrize("spec", [KEYED, CLASSIC], ids=["key rows", "checkpoints"])
def test_rows_come_as_they_are_written_and_across_the_rename(target, spec):
    with MazeWriter(target, EllerStream.from_spec(spec), rows_per_frame=4) as writer:
        seen, thread = follower(target)
        for rows in (3, 1, 4, 9, 60, 64):
            writer.write(rows)
            whole = writer.rows - writer.rows % 4
            until(lambda whole=whole: len(seen) >= whole)
            time.sleep(0.1)
            assert len(seen) == whole, "a frame that is not whole waits"
        writer.stream.finalize()
        writer.write(1)
    thread.join()
    *rows, end = seen
    assert rows == list(all_of(target))
    assert (end.rows, end.finished) == (142, True)


@pytest.mark.parametrize("last", [7, 9])
def test_a_merging_last_row_without_an_end_is_not_handed_out_and_a_resumed_run_replaces_it(target, last):
    """The first run is killed between its merging row and its end frame, and then goes on without that row."""
    with MazeWriter(target, EllerStream.from_spec(KEYED), rows_per_frame=4) as writer:
        writer.write(last)
        writer.stream.finalize()
        writer.write(1)
    part_of(target).write_bytes(target.read_bytes()[:-20])
    target.unlink()
    seen, thread = follower(target)
    kept = last // 4 * 4
    until(lambda: len(seen) >= kept)
    time.sleep(0.2)
    assert len(seen) == kept
    with MazeFile(target, follow=0) as maze:
        assert maze.stop == kept
        assert len(maze.read(0, 100)) == kept
    with MazeWriter.resume(target, KEYED) as writer:
        writer.write(30)
        writer.stream.finalize()
        writer.write(1)
    thread.join()
    assert seen[:-1] == list(all_of(target))


def test_a_finished_file_that_is_resumed_under_its_followers_eyes(target):
    """Whoever stands before its end sees it become longer."""
    with MazeWriter(target, EllerStream.from_spec(KEYED), rows_per_frame=4) as writer:
        writer.write(41)
        writer.stream.finalize()
        writer.write(1)
    with MazeFile(target, follow=FOREVER) as maze:
        blocks = maze.blocks()
        seen = [next(blocks) for _ in range(5)]
        with MazeWriter.resume(target, KEYED) as writer:
            writer.write(20)
            seen += [next(blocks) for _ in range(10)]
            writer.stream.finalize()
            writer.write(1)
        seen += blocks
        assert joined(seen) == all_of(target)


def test_followed_from_a_row_that_is_not_written_yet(target):
    with MazeWriter(target, EllerStream.from_spec(CLASSIC), rows_per_frame=4) as writer:
        seen, thread = follower(target, rows=8, start=201)
        writer.write(300)
        writer._frames.wait()
        thread.join()
    assert [row.index for row in seen[:-1]] == list(range(201, 209))


def test_patience_ends(target):
    with MazeWriter(target, EllerStream.from_spec(KEYED), rows_per_frame=4) as writer:
        writer.write(9)
        with MazeFile(target, follow=0.2) as maze:
            blocks = maze.blocks()
            assert [len(next(blocks)) for _ in range(2)] == [4, 4]
            with pytest.raises(CutShortError, match="the end frame is missing"):
                next(blocks)


@pytest.mark.parametrize("replace", [False, True])
def test_a_file_that_is_removed_or_replaced_is_not_waited_for(target, replace):
    writer = MazeWriter(target, EllerStream.from_spec(KEYED), rows_per_frame=4)
    writer.write(9)
    with MazeFile(target, follow=FOREVER) as maze:
        blocks = maze.blocks()
        assert len(next(blocks)) == 4
        writer.abandon()
        if replace:
            make(target, EllerStream.from_spec(KEYED), 100)
        else:
            part_of(target).unlink()
        with pytest.raises(CutShortError, match="removed or replaced"):
            list(blocks)


def test_damage_is_not_waited_for_either(target):
    data = bytearray(make(target, EllerStream.from_spec(KEYED), 40).read_bytes())
    data[-100] ^= 1
    part_of(target).write_bytes(data[:-1])
    target.unlink()
    with MazeFile(target, follow=FOREVER) as maze, pytest.raises(FormatError, match="checksum"):
        list(maze.blocks())


def test_a_complete_file_can_be_followed_too(target):
    make(target, stream_at(MazeSpec(10, seed=1, height=30, key_interval=4), 0), 30)
    with MazeFile(target, follow=FOREVER) as maze:
        assert len(maze) == 30
        assert sum(len(block) for block in maze.blocks()) == 30
        assert list(maze.blocks(30)) == []
        assert list(maze.blocks(99)) == []


def test_a_command_that_is_killed_and_resumed_is_followed_to_its_end(target):
    words = [sys.executable, "-m", "eller_stream", "generate", str(target), "--width", "2000", "--rows", "30000"]
    words += ["--seed", "1", "--resume"]
    spec = MazeSpec(2000, seed=1, height=30_000)
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        until(
            lambda: process.poll() is not None or (part_of(target).exists() and part_of(target).stat().st_size > 10**6)
        )
        seen, thread = follower(target)
        process.kill()
    if target.exists():  # it was quicker
        target.rename(part_of(target))
    with part_of(target).open("r+b") as part:
        part.truncate(part.seek(0, os.SEEK_END) - 12_345)
    subprocess.run(words, stderr=subprocess.DEVNULL, check=True)
    thread.join()
    *rows, end = seen
    assert end.finished
    assert [row.index for row in rows] == list(range(30_000))
    whole = EllerStream.from_spec(spec).read(30_000)
    assert all(row == whole[row.index] for row in rows[::97])
    assert joined([row.block() for row in rows]) == whole


def test_no_file_and_no_part(target):
    with pytest.raises(FileNotFoundError):
        MazeFile(target, follow=1)
