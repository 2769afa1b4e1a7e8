"""Maze files: the same bytes however they are written, and no broken file where a good one stood."""

import errno
import io
import json
import os
import sys
import threading
import tracemalloc
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream import frames
from eller_stream.ahead import ahead
from eller_stream.block import Block, row_bytes
from eller_stream.errors import CutShortError, FormatError, StoreError
from eller_stream.frames import Checkpoint, End, Header, Rows
from eller_stream.spec import MazeSpec
from eller_stream.store import FrameWriter, MazeFile, MazeWriter, PartFile, flusher, open_output, read_events, write_all
from eller_stream.store.behind import Behind
from eller_stream.stream import EllerStream

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


class FakeStream:
    """Rows of any bits in the place of a maze: `total` of them, the last one closed to the south."""

    def __init__(self, spec, total, position=0, floor=False):
        self.spec, self.position, self.total, self.height = spec, position, total, total
        planes = np.random.default_rng(spec.seed).integers(0, 256, (2, 64, row_bytes(spec.width)), np.uint8)
        planes[..., -1] &= 255 >> -spec.width % 8
        planes[1, :, 0] |= 1
        self.planes, self.floor = planes, floor
        self.snapshots = []

    def plane(self, k, start, stop):
        return self.planes[k].take([row % 64 for row in range(start, stop)], axis=0)

    def read(self, rows):
        start, stop = self.position, min(self.position + rows, self.total)
        self.position = stop
        east, south = self.plane(0, start, stop), self.plane(1, start, stop)
        north = self.plane(1, start - 1, start)[0] * (start > 0)
        if stop == self.total and start < stop:
            south[-1] = 0
        return Block(start, self.spec.width, east, south, north, east if self.floor else None)

    def snapshot(self):
        self.snapshots.append(self.position)
        return b"the state at row %20d" % self.position

    def finalize(self):
        self.total = self.position + 1


SPEC = MazeSpec(10, seed=1)
CLASSIC = MazeSpec(10, seed=1, key_interval=0)


def written(stream, *portions, rows_per_frame=4):
    """The bytes of a stream written in portions and finished."""
    out = io.BytesIO()
    writer = FrameWriter(out, stream, rows_per_frame=rows_per_frame)
    for rows in portions:
        writer.write(rows)
    writer.finish()
    assert writer.bytes_written == len(out.getvalue())
    return out.getvalue()


def rows_of(events):
    return [row for event in events if isinstance(event, Rows) for row in event.block]


# ---- writing frames ----


@given(st.lists(st.integers(0, 9), max_size=9), st.integers(1, 5), st.integers(0, 40), st.integers(0, 9), st.booleans())
def test_portions_do_not_change_the_bytes(portions, rows_per_frame, total, first, floor):
    spec = MazeSpec(10, seed=1, key_interval=0)
    asked = sum(portions)
    data = written(FakeStream(spec, first + total, first, floor), *portions, rows_per_frame=rows_per_frame)
    assert data == written(FakeStream(spec, first + total, first, floor), asked, rows_per_frame=rows_per_frame)
    header, *events, end = read_events(io.BytesIO(data))
    assert header == Header(spec, rows_per_frame, 16, first)
    assert end == End(min(asked, total), 0 < total <= asked)
    assert rows_of(events) == list(FakeStream(spec, first + total, first, floor).read(asked))


def test_the_header_is_written_at_once_and_rows_when_a_frame_is_full():
    out = io.BytesIO()
    writer = FrameWriter(out, FakeStream(SPEC, 100), rows_per_frame=4)
    header = len(out.getvalue())
    assert header == frames.header_size(writer.header) == writer.bytes_written
    assert writer.write(3) == 3
    assert (writer.rows, len(out.getvalue())) == (3, header)
    assert writer.write(1) == 1
    assert (writer.rows, len(out.getvalue())) == (4, header + frames.rows_frame_size(10, 4))
    assert writer.write(0) == 0


def test_rows_are_read_frame_by_frame_and_written_without_copying():
    asked, pieces = [], []

    class Watched(FakeStream):
        def read(self, rows):
            asked.append(rows)
            self.block = super().read(rows)
            return self.block

    class Out:
        def write(self, piece):
            pieces.append(piece)

    stream = Watched(SPEC, 100, position=2)
    FrameWriter(Out(), stream, rows_per_frame=4).write(10)
    assert asked == [2, 4, 4]
    planes = [np.frombuffer(piece, np.uint8) for piece in pieces]
    assert any(np.shares_memory(plane, stream.block.east) for plane in planes)
    assert any(np.shares_memory(plane, stream.block.south) for plane in planes)


def frame_by_frame(stream, rows, rows_per_frame):
    """The bytes of a stream's rows as the format says, each frame encoded by itself."""
    header = Header.of(stream.spec, stream.position, rows_per_frame)
    pieces, stop = frames.encode_header(header), stream.position + rows
    while stream.position < stop:
        block = stream.read(min(header.rows_due(stream.position), stop - stream.position))
        pieces += frames.encode_rows(Rows(block, block.stop == stream.height))
    pieces += frames.encode_end(End(rows, stream.position == stream.height))
    return b"".join(pieces)


@settings(max_examples=50)
@given(st.lists(st.integers(0, 99), max_size=9), st.integers(1, 5), st.integers(0, 9), st.booleans(), st.integers(1, 2))
def test_frames_taken_many_at_once_are_the_same_frames(portions, rows_per_frame, first, ends, workers):
    rows = sum(portions)
    spec = MazeSpec(10, seed=1, key_interval=4, height=first + rows if ends and rows else None)
    stream, plain = ahead(EllerStream.from_spec(spec), workers), EllerStream.from_spec(spec)
    stream.seek(first)
    plain.seek(first)
    assert written(stream, *portions, rows_per_frame=rows_per_frame) == frame_by_frame(plain, rows, rows_per_frame)


def test_a_stream_that_carves_bands_side_by_side_is_asked_for_many_frames():
    asked = []

    class Watched(EllerStream):
        def read(self, rows, **options):
            asked.append(rows)
            return super().read(rows, **options)

    writer = FrameWriter(io.BytesIO(), Watched(1000, seed=1, height=30_000))
    writer.write(20)
    writer.write(29_980)
    assert asked == [20, 1004, 8192, 8192, 8192, 4096, 304]


def test_a_maze_that_ends_tells_so():
    out = io.BytesIO()
    writer = FrameWriter(out, FakeStream(SPEC, 6), rows_per_frame=4)
    assert not writer.finished
    assert writer.write(100) == 6
    assert writer.finished
    assert writer.write(100) == 0
    writer.finish()
    assert list(read_events(io.BytesIO(out.getvalue())))[-1] == End(6, True)


def test_a_stream_that_has_ended_gives_no_rows():
    *_, end = read_events(io.BytesIO(written(FakeStream(SPEC, 6, position=6), 5)))
    assert end == End(0, False)


@pytest.mark.parametrize("rows", [3, 4, 5, 9])
def test_a_finalized_stream_ends_with_its_last_row(rows):
    stream, out = FakeStream(CLASSIC, 1000), io.BytesIO()
    writer = FrameWriter(out, stream, rows_per_frame=4)
    writer.write(rows)
    stream.finalize()
    assert writer.write(5) == 1
    writer.finish()
    *_, rows_event, end = read_events(io.BytesIO(out.getvalue()))
    assert rows_event.last
    assert end == End(rows + 1, True)


def test_checkpoints_hold_the_state_that_the_stream_had_there():
    stream = FakeStream(CLASSIC, 1000)
    writer = FrameWriter(io.BytesIO(), stream, rows_per_frame=2)
    writer.write(31)
    assert stream.snapshots == []
    writer.write(1)
    assert stream.snapshots == [32], "taken before anyone can finalize there"
    writer.write(70)
    assert stream.snapshots == [32, 64, 96]
    events = read_events(io.BytesIO(written(FakeStream(CLASSIC, 1000), 102, rows_per_frame=2)))
    checkpoints = [event for event in events if isinstance(event, Checkpoint)]
    assert [checkpoint.row for checkpoint in checkpoints] == [32, 64, 96]
    assert all(checkpoint.snapshot == b"the state at row %20d" % checkpoint.row for checkpoint in checkpoints)


def test_no_checkpoint_at_the_end_without_its_rows():
    events = list(read_events(io.BytesIO(written(FakeStream(CLASSIC, 1000), 64, rows_per_frame=2))))
    assert [event.row for event in events if isinstance(event, Checkpoint)] == [32]


def test_no_state_is_asked_of_a_stream_that_has_ended():
    stream, out = FakeStream(CLASSIC, 32), io.BytesIO()
    writer = FrameWriter(out, stream, rows_per_frame=2)
    assert writer.write(32) == 32
    assert writer.write(1) == 0
    assert stream.snapshots == []


def test_no_checkpoints_where_there_are_key_rows():
    stream = FakeStream(SPEC, 1000)
    written(stream, 1000, rows_per_frame=2)
    assert stream.snapshots == []


def test_rows_taken_by_someone_else_are_an_error():
    stream = FakeStream(SPEC, 100)
    writer = FrameWriter(io.BytesIO(), stream, rows_per_frame=4)
    writer.write(3)
    stream.read(1)
    with pytest.raises(StoreError, match="the stream gave row 4 where row 3 was expected"):
        writer.write(1)


def test_nothing_is_written_behind_the_end():
    out = io.BytesIO()
    writer = FrameWriter(out, FakeStream(SPEC, 100))
    writer.finish()
    size = len(out.getvalue())
    writer.finish()
    with pytest.raises(StoreError, match="the end frame is written"):
        writer.write(1)
    assert len(out.getvalue()) == size


def test_a_negative_number_of_rows_is_refused():
    with pytest.raises(StoreError, match="0 or more, not -1"):
        FrameWriter(io.BytesIO(), FakeStream(SPEC, 100)).write(-1)


@pytest.mark.parametrize("rows", [0, -1, 2**32, 2**24])
def test_frames_that_no_reader_takes_are_refused(rows):
    out = io.BytesIO()
    with pytest.raises(StoreError, match="rows_per_frame"):
        FrameWriter(out, FakeStream(SPEC, 100), rows_per_frame=rows)
    assert not out.getvalue()


class Stingy(io.RawIOBase):
    """Takes at most `most` bytes at a time, and fails for good after `room` of them."""

    def __init__(self, most=7, room=2**30, error=None):
        self.data, self.most, self.room = b"", most, room
        self.error = error or OSError(errno.ENOSPC, "No space left on device")

    def write(self, data):
        taken = min(len(data), self.most, self.room - len(self.data))
        if not taken:
            raise self.error
        self.data += bytes(data[:taken])
        return taken


def test_an_output_may_take_a_part_at_a_time():
    out = Stingy()
    writer = FrameWriter(out, FakeStream(SPEC, 100), rows_per_frame=4)
    writer.write(10)
    writer.finish()
    assert out.data == written(FakeStream(SPEC, 100), 10)


@pytest.mark.parametrize("taken", [0, -1, 1000])
def test_an_output_that_takes_nothing_or_too_much_is_an_error(taken):
    class Wrong:
        def write(self, _):
            return taken

    with pytest.raises(StoreError, match=f"the output took {taken} of 15 bytes"):
        FrameWriter(Wrong(), FakeStream(SPEC, 100))


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()], ids=["full", "interrupted"])
@pytest.mark.parametrize("room", range(140, 340, 7))
def test_after_a_write_that_failed_nothing_is_written(room, error):
    out = Stingy(room=room, error=error)
    writer = FrameWriter(out, FakeStream(SPEC, 100), rows_per_frame=4)
    with pytest.raises(type(error)):
        writer.write(100)
    out.room = 2**30
    for again in (lambda: writer.write(1), writer.finish, lambda: writer.write(0)):
        with pytest.raises(StoreError, match="a write failed before"):
            again()
    assert len(out.data) == room


def test_a_large_frame_that_failed_is_the_last_write_too():
    out = Stingy(most=2**20, room=100_000)
    writer = FrameWriter(out, FakeStream(MazeSpec(10_000, seed=1), 10**6), rows_per_frame=64)
    writer.write(64)
    with pytest.raises(OSError, match="No space left"):
        writer.wait()
    out.room = 2**30
    for again in (lambda: writer.write(1), writer.finish):
        with pytest.raises(StoreError, match="a write failed before"):
            again()
    assert len(out.data) == 100_000


def test_an_interrupt_while_rows_are_made_loses_none_unnoticed():
    class Interrupted(FakeStream):
        loses = False

        def read(self, rows):
            if self.position == 8 and not self.loses:
                self.loses = True
                raise KeyboardInterrupt
            return super().read(rows)

    stream, out = Interrupted(SPEC, 100), io.BytesIO()
    writer = FrameWriter(out, stream, rows_per_frame=4)
    with pytest.raises(KeyboardInterrupt):
        writer.write(20)
    assert writer.rows == 8
    assert writer.write(12) == 12
    writer.finish()
    assert out.getvalue() == written(FakeStream(SPEC, 100), 20)


# ---- files ----


def make_file(path, rows=10, stream=None, **options):
    with MazeWriter(path, stream or FakeStream(SPEC, 100), rows_per_frame=4, **options) as writer:
        writer.write(rows)
    return path


@pytest.fixture
def target(tmp_path):
    return tmp_path / "maze.emz"


def part_of(path):
    return path.with_name(path.name + ".part")


def test_a_file_is_written_and_read(target):
    with MazeWriter(str(target), FakeStream(SPEC, 100), rows_per_frame=4) as writer:
        assert writer.write(10) == 10
        assert (writer.rows, writer.finished) == (10, False)
        assert not target.exists()
        assert part_of(target).exists()
        assert writer.header == Header(SPEC, 4, 0)
    assert not part_of(target).exists()
    assert target.read_bytes() == written(FakeStream(SPEC, 100), 10)
    assert writer.bytes_written == target.stat().st_size
    with MazeFile(target) as maze:
        assert (maze.spec, maze.header, maze.end) == (SPEC, Header(SPEC, 4, 0), End(10, False))
        assert [row for block in maze.blocks() for row in block] == list(FakeStream(SPEC, 100).read(10))


def test_closing_by_hand_and_twice(target):
    writer = MazeWriter(target, FakeStream(SPEC, 100), rows_per_frame=4)
    writer.write(10)
    writer.close()
    writer.close()
    assert target.read_bytes() == written(FakeStream(SPEC, 100), 10)
    with pytest.raises(StoreError, match="nothing more can be"):
        writer.write(1)


def test_an_existing_file_stays(target):
    target.write_bytes(b"good")
    stream = FakeStream(SPEC, 100)
    with pytest.raises(StoreError, match="the file exists already"):
        MazeWriter(target, stream)
    assert (target.read_bytes(), stream.position) == (b"good", 0)
    assert not part_of(target).exists()


def test_with_force_an_existing_file_stays_until_the_new_one_is_complete(target):
    target.write_bytes(b"good")
    part_of(target).write_bytes(b"broken off")
    with MazeWriter(target, FakeStream(SPEC, 100), force=True, rows_per_frame=4) as writer:
        writer.write(10)
        assert target.read_bytes() == b"good"
    assert target.read_bytes() == written(FakeStream(SPEC, 100), 10)
    assert not part_of(target).exists()


def test_an_existing_part_stays(target):
    part_of(target).write_bytes(b"someone's")
    with pytest.raises(StoreError, match=r"\.part: the file exists already; another run"):
        make_file(target)
    assert part_of(target).read_bytes() == b"someone's"
    assert not target.exists()


@posix
@pytest.mark.parametrize("plant", [Path.symlink_to, Path.hardlink_to])
def test_a_link_planted_at_the_part_is_not_followed(tmp_path, target, plant):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    plant(part_of(target), victim)
    with pytest.raises(StoreError, match="exists already"):
        make_file(target)
    make_file(target, force=True)
    assert victim.read_bytes() == b"precious"
    assert target.read_bytes() == written(FakeStream(SPEC, 100), 10)


@posix
def test_a_dangling_link_at_the_part_makes_no_file(tmp_path, target):
    part_of(target).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="exists already"):
        make_file(target)
    assert not (tmp_path / "elsewhere").exists()


@posix
def test_a_link_at_the_target_is_a_file_that_exists(tmp_path, target):
    target.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="exists already"):
        make_file(target)
    make_file(target, force=True)
    assert not target.is_symlink()
    assert not (tmp_path / "elsewhere").exists()


def test_what_is_no_regular_file_is_never_replaced(tmp_path):
    with pytest.raises(StoreError, match="no regular file"):
        make_file(tmp_path, force=True)
    with pytest.raises(StoreError, match="no regular file"):
        make_file(Path(os.devnull), force=True)
    with pytest.raises(StoreError, match="names no file"):
        make_file(Path())


def test_a_missing_folder_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        make_file(tmp_path / "missing" / "maze.emz")


@contextmanager
def without_privileges():
    """The body runs as a user whom permissions hold for."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@posix
def test_an_unwritable_folder_is_the_systems_error(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    with without_privileges(), pytest.raises(PermissionError):
        make_file(folder / "maze.emz")
    assert not list(folder.iterdir())


def write_then(writer, error):
    with writer:
        writer.write(10)
        raise error


@pytest.mark.parametrize("error", [RuntimeError("oh"), KeyboardInterrupt()])
@pytest.mark.parametrize("force", [False, True])
def test_an_error_in_the_body_leaves_the_part_and_comes_out(target, force, error):
    if force:
        target.write_bytes(b"good")
    writer = MazeWriter(target, FakeStream(SPEC, 100), force=force, rows_per_frame=4)
    with pytest.raises(type(error)):
        write_then(writer, error)
    assert (target.read_bytes() == b"good") if force else not target.exists()
    whole = written(FakeStream(SPEC, 100), 8)
    assert part_of(target).read_bytes() == whole[: -frames.END_FRAME_SIZE]
    for again in (lambda: writer.write(1), writer.close, lambda: writer.write(1)):
        with pytest.raises(StoreError, match="nothing more can be written"):
            again()
    assert not force or target.read_bytes() == b"good"


@contextmanager
def file_size_limit(size):
    """Files cannot grow beyond `size` bytes, as on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@posix
def test_a_full_disk_leaves_the_part_and_the_target(target):
    target.write_bytes(b"good")
    with file_size_limit(100_000):
        writer = MazeWriter(target, FakeStream(SPEC, 10**6), force=True)
        with pytest.raises(OSError, match="File too large") as caught, writer:
            writer.write(10**6)
        assert caught.value.filename == str(part_of(target))
    assert target.read_bytes() == b"good"
    assert part_of(target).stat().st_size == 100_000
    with pytest.raises(StoreError):
        writer.close()
    with MazeFile(part_of(target)) as maze:
        blocks = maze.blocks()
        rows = sum(len(next(blocks)) for _ in range(4))
        assert rows == 4 * 4096
        with pytest.raises(CutShortError):
            list(blocks)


@posix
def test_a_body_that_hides_a_full_disk_makes_no_file(target):
    writer = MazeWriter(target, FakeStream(SPEC, 10**6))
    with file_size_limit(100_000), suppress(OSError):
        writer.write(10**6)
    with pytest.raises(StoreError, match="a write failed before"), writer:
        pass
    assert not target.exists()
    assert part_of(target).exists()


@posix
def test_a_disk_too_full_for_the_header_leaves_nothing(target):
    with file_size_limit(10), pytest.raises(OSError, match="File too large"):
        make_file(target)
    assert not target.exists()
    assert not part_of(target).exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_device(target):
    with Path("/dev/full").open("wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
        FrameWriter(full, FakeStream(SPEC, 100))


def test_frames_that_no_reader_takes_make_no_part(target):
    with pytest.raises(StoreError, match="rows_per_frame"):
        MazeWriter(target, FakeStream(SPEC, 100), rows_per_frame=2**31)
    assert not part_of(target).exists()


@pytest.mark.parametrize("error", [None, errno.EPERM, errno.EOPNOTSUPP])
def test_a_file_that_appears_meanwhile_is_not_replaced(target, monkeypatch, error):
    refuse_links(monkeypatch, error)
    writer = MazeWriter(target, FakeStream(SPEC, 100), rows_per_frame=4)
    writer.write(10)
    target.write_bytes(b"someone's")
    with pytest.raises(StoreError, match="a file of that name appeared meanwhile; the maze is whole in"):
        writer.close()
    assert target.read_bytes() == b"someone's"
    assert part_of(target).read_bytes() == written(FakeStream(SPEC, 100), 10)
    with pytest.raises(StoreError, match="closed"):
        writer.close()


def refuse_links(monkeypatch, number):
    def refuse(self, target):
        raise OSError(number, os.strerror(number))

    if number is not None:
        monkeypatch.setattr(Path, "hardlink_to", refuse)


def test_without_links_the_file_gets_its_name_too(target, monkeypatch):
    refuse_links(monkeypatch, errno.EPERM)
    make_file(target)
    assert target.read_bytes() == written(FakeStream(SPEC, 100), 10)
    assert not part_of(target).exists()


@posix
def test_other_errors_of_a_link_come_out(target, monkeypatch):
    refuse_links(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match="Input/output error"):
        make_file(target)
    assert part_of(target).read_bytes() == written(FakeStream(SPEC, 100), 10)


@posix
def test_the_file_is_on_disk_before_it_takes_its_name_and_the_folder_after(target, monkeypatch):
    steps = []
    sync, link = os.fsync, Path.hardlink_to

    def watched_sync(handle):
        steps.append("folder" if os.fstat(handle).st_ino == target.parent.stat().st_ino else "file")
        sync(handle)

    def watched_link(self, part):
        steps.append("name")
        assert part.read_bytes() == written(FakeStream(SPEC, 100), 10)
        link(self, part)

    monkeypatch.setattr(os, "fsync", watched_sync)
    monkeypatch.setattr(Path, "hardlink_to", watched_link)
    make_file(target)
    assert steps == ["file", "name", "folder"]


class SlowDisk:
    """A disk that puts nothing down until it may, and tells how often it was asked to."""

    def __init__(self, monkeypatch, error=None):
        self.asked, self.may_go_on, self.error = [], threading.Event(), error
        monkeypatch.setattr(flusher, "EVERY", 2**16)
        monkeypatch.setattr(flusher, "_to_disk", self.put_down)

    def put_down(self, handle):
        self.asked.append(os.fstat(handle).st_size)
        assert self.may_go_on.wait(60)
        if self.error:
            raise self.error


def test_a_file_goes_to_disk_while_it_is_written_and_nobody_waits(target, monkeypatch):
    disk = SlowDisk(monkeypatch)
    with PartFile(target) as file:
        for _ in range(7):
            write_all(file, bytes(2**15))
        assert len(disk.asked) <= 1
        disk.may_go_on.set()
        file._flusher.wait()
        write_all(file, bytes(1))
        write_all(file, bytes(2**15))
    assert len(disk.asked) == 2
    assert disk.asked[0] >= 2**16
    assert disk.asked[1] >= 7 * 2**15
    assert target.read_bytes() == bytes(8 * 2**15 + 1)


@pytest.mark.parametrize("more", [0, 2**17])
def test_an_error_that_the_disk_tells_meanwhile_is_no_success(target, monkeypatch, more):
    target.write_bytes(b"good")
    disk = SlowDisk(monkeypatch, OSError(errno.EIO, os.strerror(errno.EIO)))
    disk.may_go_on.set()

    def write():
        with PartFile(target, force=True) as file:
            write_all(file, bytes(2**16))
            assert file._flusher._idle.wait(60)
            write_all(file, bytes(more))

    with pytest.raises(OSError, match="Input/output error") as caught:
        write()
    assert caught.value.filename == str(part_of(target))
    assert target.read_bytes() == b"good"
    assert len(disk.asked) == 1


def test_a_file_is_closed_only_when_the_disk_is_idle(target, monkeypatch):
    disk = SlowDisk(monkeypatch)
    file = PartFile(target)
    write_all(file, bytes(2**16))
    closing = threading.Thread(target=file.abandon)
    closing.start()
    closing.join(0.1)
    assert closing.is_alive()
    assert not file._file.closed
    disk.may_go_on.set()
    closing.join()
    assert file._file.closed


@posix
def test_a_failed_sync_is_no_success(target, monkeypatch):
    def fail(handle):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        make_file(target)
    assert not target.exists()


def test_an_error_while_closing_does_not_hide_the_first(target, monkeypatch):
    writer = MazeWriter(target, FakeStream(SPEC, 100), rows_per_frame=4)
    monkeypatch.setattr(writer._output, "_file", FailingClose(writer._output._file))
    with pytest.raises(RuntimeError, match="the first"):
        write_then(writer, RuntimeError("the first"))


class FailingClose:
    closed = False

    def __init__(self, file):
        self.file, self.fileno = file, file.fileno

    def close(self):
        self.file.close()
        raise OSError(errno.EIO, "while closing")


# ---- other outputs: parts of any kind of file, and standard output ----


def test_a_part_file_of_any_bytes(target):
    with PartFile(target) as part:
        write_all(part, b"0123", b"", b"4567")
        assert part.rewrite_beginning(b"ab")
        write_all(part, b"89")
    assert target.read_bytes() == b"ab23456789"


def test_an_error_leaves_a_part_file(target):
    part = PartFile(target)
    with pytest.raises(RuntimeError):
        fail_within(part)
    assert not target.exists()
    assert part_of(target).read_bytes() == b"0123"
    with pytest.raises(StoreError, match=r"\.part: closed"):
        part.write(b"4")


def fail_within(part):
    with part:
        part.write(b"0123")
        raise RuntimeError


def test_a_part_file_without_gathering_writes(target, monkeypatch):
    monkeypatch.delattr(os, "writev", raising=False)
    make_file(target)
    assert target.read_bytes() == written(FakeStream(SPEC, 100), 10)


class Stdio:
    def __init__(self, data=b""):
        self.buffer = io.BytesIO(data)

    def flush(self):
        pass


def test_standard_output(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Stdio())
    with MazeWriter("-", FakeStream(SPEC, 100), rows_per_frame=4) as writer:
        writer.write(10)
    assert sys.stdout.buffer.getvalue() == written(FakeStream(SPEC, 100), 10)
    assert not open_output("-").rewrite_beginning(b"x")


def test_an_error_leaves_standard_output_without_an_end(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Stdio())
    with pytest.raises(RuntimeError):
        write_then(MazeWriter("-", FakeStream(SPEC, 100), rows_per_frame=4), RuntimeError())
    whole = written(FakeStream(SPEC, 100), 8)
    assert sys.stdout.buffer.getvalue() == whole[: -frames.END_FRAME_SIZE]


# ---- reading ----


@pytest.mark.parametrize("content", [b"", b"\x97\xaceller-st", written(FakeStream(SPEC, 9), 9)[:60]])
def test_a_file_without_a_whole_header(target, content):
    target.write_bytes(content)
    with pytest.raises(CutShortError, match=rf"maze\.emz: cut short: {len(content)} bytes came, not a whole header"):
        MazeFile(target)


@pytest.mark.parametrize("content", [b"P4\n10 10\n", b"\n", b"\x1b[2J" * 9999])
def test_a_file_of_another_kind(target, content):
    target.write_bytes(content)
    with pytest.raises(FormatError, match=r"maze\.emz: not a maze file: it begins with b'") as caught:
        MazeFile(target)
    assert str(caught.value).isprintable()


def test_a_missing_file_and_a_folder_are_the_systems_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        MazeFile(tmp_path / "missing.emz")
    with pytest.raises(OSError):  # noqa: PT011 - which one is the system's choice
        MazeFile(tmp_path)


@given(st.data())
def test_a_file_cut_anywhere_gives_its_whole_rows(tmp_path_factory, data):
    whole = written(FakeStream(CLASSIC, 100), 70, rows_per_frame=2)
    header = frames.header_size(Header(CLASSIC, 2, 16))
    target = tmp_path_factory.mktemp("cut") / "maze.emz"
    target.write_bytes(whole[: data.draw(st.integers(header, len(whole) - 1))])
    rows = []
    with MazeFile(target) as maze:
        assert maze.end is None
        with pytest.raises(CutShortError, match=r"maze\.emz: cut short: \d+ whole rows came"):
            rows.extend(row for block in maze.blocks() for row in block)
        assert maze.end is None
    expected = [block.stop for block in blocks_in(whole) if place_behind(block) <= target.stat().st_size]
    assert len(rows) == max(expected, default=0)


def blocks_in(data):
    return [event.block for event in read_events(io.BytesIO(data)) if isinstance(event, Rows)]


def place_behind(block):
    """Where the frame of a block of the classic fake file ends."""
    snapshot = len(FakeStream(CLASSIC, 1).snapshot())
    header = Header(CLASSIC, 2, 16)
    behind = header.place(block.start, snapshot_size=snapshot) + frames.rows_frame_size(10, len(block))
    return behind + header.checkpoint_due(block.start) * frames.checkpoint_frame_size(snapshot)


def test_a_file_is_read_any_number_of_times_side_by_side(target):
    make_file(target, rows=40)
    with MazeFile(target) as maze:
        first, second = maze.blocks(), maze.blocks()
        next(first)
        rest = list(second)
        assert len(rest) == 10
        assert list(first) == rest[1:] == list(maze.blocks())[1:]


def test_threads_share_a_file(target):
    make_file(target, rows=4000, stream=FakeStream(SPEC, 10**6))
    expected = blocks_in(target.read_bytes())
    with MazeFile(target) as maze:
        came = []
        threads = [threading.Thread(target=lambda: came.append(list(maze.blocks()))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert came == [expected] * 4


def test_blocks_stay_good_when_the_file_is_closed(target):
    make_file(target)
    with MazeFile(target) as maze:
        blocks = list(maze.blocks())
    assert blocks == blocks_in(written(FakeStream(SPEC, 100), 10))
    with pytest.raises(ValueError, match="closed"):
        list(maze.blocks())


def test_bytes_behind_the_end(target):
    make_file(target)
    with target.open("ab") as file:
        file.write(b"more")
    with MazeFile(target) as maze, pytest.raises(FormatError, match=r"maze\.emz: 4 bytes or more came behind the end"):
        list(maze.blocks())


def test_a_bound_for_frames(target):
    make_file(target)
    with pytest.raises(FormatError, match="this reader takes 50"):
        MazeFile(target, max_frame=50)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdio(written(FakeStream(SPEC, 100), 10)))
    with MazeFile("-") as maze:
        assert (maze.spec, maze.end) == (SPEC, None)
        assert sum(map(len, maze.blocks())) == 10
        assert maze.end == End(10, False)
        with pytest.raises(StoreError, match="it is a pipe, and was read before"):
            maze.blocks().__next__()
    assert not sys.stdin.buffer.closed


@posix
def test_a_named_pipe(target):
    os.mkfifo(target)
    writer = threading.Thread(target=lambda: target.write_bytes(written(FakeStream(SPEC, 100), 10)))
    writer.start()
    with MazeFile(target) as maze:
        assert maze.end is None
        assert sum(map(len, maze.blocks())) == 10
        assert maze.end == End(10, False)
    writer.join()


@pytest.mark.parametrize("buffering", [0, -1])
def test_frames_come_out_of_a_pipe_as_soon_as_they_are_whole(buffering):
    whole = written(FakeStream(SPEC, 100), 8)
    header = frames.header_size(Header(SPEC, 4, 0))
    cuts = [0, header, header + frames.rows_frame_size(10, 4), len(whole) - frames.END_FRAME_SIZE, len(whole)]
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=buffering) as source:  # noqa: PTH123 - a descriptor, not a path
        events = read_events(source)
        for a, b in pairwise(cuts):
            os.write(writer, whole[a:b])
            next(events)
        os.close(writer)
        assert list(events) == []


# ---- memory ----


def peak(job):
    job()
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Nowhere:
    def write(self, data):
        return len(data)


def write_frames(count, spec=CLASSIC):
    writer = FrameWriter(Nowhere(), FakeStream(spec, 10**9), rows_per_frame=16)
    writer.write(16 * count)
    writer.finish()


def test_memory_for_writing_does_not_depend_on_the_rows():
    few, many = peak(lambda: write_frames(40)), peak(lambda: write_frames(1000))
    assert many < few + 20_000


def test_memory_for_reading_does_not_depend_on_the_rows(tmp_path):
    def read(path):
        with MazeFile(path) as maze:
            for _ in maze.blocks():
                pass

    paths = [tmp_path / "few.emz", tmp_path / "many.emz"]
    wide = MazeSpec(100_000, seed=1, key_interval=0)
    for path, count in zip(paths, (40, 1000), strict=True):
        make_file(path, rows=4 * count, stream=FakeStream(wide, 10**9))
    few, many = (peak(lambda path=path: read(path)) for path in paths)
    assert many < few + 20_000
    assert many < 12 * frames.rows_frame_size(100_000, 4)


# ---- the real stream ----


@pytest.mark.parametrize("key_interval", [0, 4, 1024])
def test_a_real_maze_comes_back(target, key_interval):
    def stream():
        return EllerStream(37, seed=5, key_interval=key_interval, height=300, loops=0.1, braid=0.2)

    with MazeWriter(target, stream()) as writer:
        writer.write(10**6)
        assert writer.finished
    with MazeFile(target) as maze:
        assert maze.end == End(300, True)
        assert list(maze.blocks()) == [stream().read(300)]


def test_the_vectors_are_what_the_real_stream_gives():
    path = Path(__file__).parent.parent / "docs" / "vectors" / "format-v1.json"
    vectors = {vector["name"]: vector for vector in json.loads(path.read_text())["good"]}
    for name, spec, first, portions in [
        ("whole", MazeSpec(10, seed=1, height=6), 0, [100]),
        ("unfinished", MazeSpec(16, seed=2**64 - 1), 0, [2, 3]),
        ("fragment", MazeSpec(10, seed=1, p_south=0.25), 6, [7]),
        ("far fragment", MazeSpec(9, seed=7), 2**40 + 2, [1, 3]),
    ]:
        stream = EllerStream.from_spec(spec)
        stream.seek(first)
        assert written(stream, *portions).hex() == "".join(vectors[name]["frames"]), name


@pytest.mark.parametrize("finalize", [False, True])
def test_checkpoints_of_a_real_stream_go_on_from_there(finalize):
    stream, out = EllerStream(10, seed=1, key_interval=0), io.BytesIO()
    writer = FrameWriter(out, stream, rows_per_frame=2)
    writer.write(64)
    if finalize:
        stream.finalize()
    writer.write(50)
    writer.finish()
    events = list(read_events(io.BytesIO(out.getvalue())))
    checkpoints = [event for event in events if isinstance(event, Checkpoint)]
    assert [checkpoint.row for checkpoint in checkpoints] == ([32, 64] if finalize else [32, 64, 96])
    assert len({len(checkpoint.snapshot) for checkpoint in checkpoints}) == 1
    for checkpoint in checkpoints:
        restored = EllerStream.restore(checkpoint.snapshot)
        assert restored.position == checkpoint.row
        assert restored.height is None, "the state is that of before it was finalized"
        if not finalize:
            assert list(restored.read(114 - checkpoint.row)) == rows_of(events)[checkpoint.row :]


def test_a_maze_cut_at_a_checkpoint_and_gone_on_with_has_the_same_rows():
    """What resuming does: find the checkpoint, restore, go on."""
    whole = written(EllerStream(10, seed=3, key_interval=0, height=100), 100, rows_per_frame=2)
    header, *events, _ = read_events(io.BytesIO(whole))
    states = [event for event in events if isinstance(event, Checkpoint)]
    place = header.place(64, snapshot_size=len(states[0].snapshot))
    assert whole[place:].startswith(b"".join(frames.encode_checkpoint(states[1])))
    restored = EllerStream.restore(states[1].snapshot)
    again = rows_of(read_events(io.BytesIO(written(restored, 100, rows_per_frame=2))))
    assert again == rows_of(events)[64:]


# ---- interrupts at any moment ------------------------------------------------------------------


def interrupted_at(step, work):
    """Run the work with a Ctrl-C at its `step`-th line in `Behind`; return whether it came to that."""
    seen = 0

    def trace(frame, event, _):
        nonlocal seen
        if frame.f_code.co_qualname not in ("Behind.do", "Behind.wait"):
            return None
        if event == "line":
            seen += 1
            if seen == step:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_after_an_interrupt_at_any_moment_waiting_ends():
    """The second Ctrl-C may come between any two steps, and the file is closed behind it."""
    step = 0
    hit = True
    while hit:
        step += 1
        behind, done = Behind(), []

        def work(behind=behind, done=done):
            behind.do(partial(done.append, 1))
            behind.do(partial(done.append, 2))
            behind.wait()

        hit = interrupted_at(step, work)
        waiting = threading.Thread(target=behind.wait, daemon=True)
        waiting.start()
        waiting.join(20)
        assert not waiting.is_alive(), f"interrupted at step {step}"
    assert done == [1, 2]
    assert step > 6
