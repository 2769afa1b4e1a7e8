"""Files that were broken off and go on: the same bytes as an undisturbed run gives, whatever happened."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import specs
from hypothesis import given
from hypothesis import strategies as st

from eller_stream.errors import FormatError, StoreError, VersionError
from eller_stream.frames import Checkpoint, Rows
from eller_stream.spec import MazeSpec
from eller_stream.store import MazeFile, MazeWriter, PartFile, is_complete, read_events
from eller_stream.stream import EllerStream

EDGE_WIDTHS = (1, 2, 63, 64, 65)
KEYED = MazeSpec(10, seed=1, height=18, key_interval=4)
PLANNED = {
    "key rows": KEYED,
    "checkpoints": MazeSpec(10, seed=2, height=11, key_interval=0),
    "all options": MazeSpec(
        9, seed=3, height=13, key_interval=6, p_east=[(0, 0.2), (5, 0.7)], loops=[(0, 0.1), (7, 0.5)], braid=0.5
    ),
    "height a multiple of R": MazeSpec(5, seed=4, height=12, key_interval=4),
}
ENDLESS = MazeSpec(10, seed=1, key_interval=4)
CLASSIC = MazeSpec(6, seed=5, key_interval=0)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "maze.emz"


def part_of(path):
    return path.with_name(path.name + ".part")


def write_to(writer, last):
    """Write up to row `last`, which is made the maze's last if it would not be so by itself."""
    with writer:
        writer.write(last - writer.rows)
        if writer.stream.height is None:
            writer.stream.finalize()
        writer.write(1)


def undisturbed(path, spec, last, rows_per_frame=4):
    """The bytes of a run that nothing broke off."""
    write_to(MazeWriter(path, EllerStream.from_spec(spec), rows_per_frame=rows_per_frame), last)
    data = path.read_bytes()
    path.unlink()
    return data


def resumed(path, spec, last, rows_per_frame=4):
    write_to(MazeWriter.resume(path, spec, rows_per_frame=rows_per_frame), last)
    assert not part_of(path).exists()
    return path.read_bytes()


# ---- cut anywhere ------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", PLANNED.values(), ids=PLANNED)
@pytest.mark.parametrize("tail", [b"", bytes(30), b"\x99\xa4rows"], ids=["nothing", "zeros", "a frame begun"])
def test_a_part_cut_at_any_byte_goes_on_to_the_same_bytes(target, spec, tail):
    """A killed process leaves a cut file, a power cut one with a tail that was never written."""
    whole = undisturbed(target, spec, spec.height - 1)
    for size in range(header_size(whole) if tail else 0, len(whole) + 1):
        part_of(target).write_bytes(whole[:size] + tail)
        assert resumed(target, spec, spec.height - 1) == whole, f"cut at byte {size}"
        target.unlink()


def test_a_header_that_is_damaged_is_refused(target):
    whole = undisturbed(target, KEYED, 17)
    part_of(target).write_bytes(whole[:40] + bytes(300))
    with pytest.raises(FormatError, match=r"maze\.emz\.part: header"):
        MazeWriter.resume(target, KEYED)


def header_size(data):
    return data.index(b"\x99\xa4rows")


@pytest.mark.parametrize("spec", [ENDLESS, CLASSIC], ids=["key rows", "checkpoints"])
@pytest.mark.parametrize("first", range(13))
def test_a_merging_last_row_is_dropped_and_the_maze_goes_on(target, spec, first):
    """Finished by the first Ctrl-C at any row, cut anywhere behind the last full frame, or complete."""
    longer = undisturbed(target, spec, 14)
    finished = undisturbed(target, spec, first)
    for size in range(len(finished) - 90, len(finished) + 1):
        part_of(target).write_bytes(finished[:size])
        assert resumed(target, spec, 14) == longer
        target.unlink()
    target.write_bytes(finished)
    assert resumed(target, spec, 14) == longer


@given(specs(max_width=20, heights=(None, 1, 9, 30)), st.integers(1, 40), st.integers(1, 5), st.data())
def test_any_maze_cut_anywhere(tmp_path_factory, spec, last, rows_per_frame, data):
    target = tmp_path_factory.mktemp("maze") / "maze.emz"
    last = last if spec.height is None else spec.height - 1
    whole = undisturbed(target, spec, last, rows_per_frame)
    part_of(target).write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    assert resumed(target, spec, last, rows_per_frame) == whole


@pytest.mark.parametrize("width", EDGE_WIDTHS)
@pytest.mark.parametrize("key_interval", [0, 16])
def test_widths_around_a_word(target, width, key_interval):
    spec = MazeSpec(width, seed=1, height=90, key_interval=key_interval)
    whole = undisturbed(target, spec, 89)
    for size in range(len(whole) - 1, 0, -97):
        part_of(target).write_bytes(whole[:size])
        assert resumed(target, spec, 89) == whole
        target.unlink()


def test_it_goes_on_from_the_last_multiple_of_r_and_keeps_what_was_whole(target):
    whole = undisturbed(target, KEYED, 17)
    part_of(target).write_bytes(whole[:-30])
    inode = part_of(target).stat().st_ino
    with MazeWriter.resume(target, KEYED) as writer:
        assert (writer.rows, writer.stream.position) == (16, 16)
        assert part_of(target).read_bytes() == whole[: writer.bytes_written]
        writer.write(10)
        assert writer.finished
    assert target.read_bytes() == whole
    assert target.stat().st_ino == inode


@pytest.mark.parametrize("rows", range(10))
def test_a_file_that_was_closed_before_the_mazes_end_goes_on(target, rows):
    whole = undisturbed(target, KEYED, 17)
    with MazeWriter(target, EllerStream.from_spec(KEYED), rows_per_frame=4) as writer:
        writer.write(rows)
    assert resumed(target, KEYED, 17) == whole


def test_what_is_damaged_in_the_middle_is_made_anew_from_there(target):
    whole = undisturbed(target, KEYED, 17)
    damaged = bytearray(whole)
    damaged[header_size(whole) + 70] ^= 1
    part_of(target).write_bytes(damaged)
    with MazeWriter.resume(target, KEYED) as writer:
        assert writer.rows == 4 * (70 // 60)
        writer.write(100)
    assert target.read_bytes() == whole


def test_a_fragment_goes_on_as_a_fragment(target):
    stream = EllerStream.from_spec(ENDLESS)
    stream.seek(2**40 + 2)
    write_to(MazeWriter(target, stream, rows_per_frame=4), 20)
    whole = target.read_bytes()
    target.unlink()
    for size in range(header_size(whole), len(whole), 7):
        part_of(target).write_bytes(whole[:size])
        assert resumed(target, ENDLESS, 20) == whole
        target.unlink()


# ---- checkpoints -------------------------------------------------------------------------------------


def test_a_checkpoint_is_gone_on_from_without_the_rows_before_it(target, monkeypatch):
    whole = undisturbed(target, CLASSIC, 150)
    part_of(target).write_bytes(whole[:-90])
    carved = []
    carve = EllerStream._carve

    def watched(self, state, *more):
        carved.append(state.row)
        return carve(self, state, *more)

    monkeypatch.setattr(EllerStream, "_carve", watched)
    assert resumed(target, CLASSIC, 150) == whole
    assert min(carved) == 128


def test_a_checkpoint_of_a_finalized_stream_is_not_gone_on_from(target):
    """Rows were carved ahead when someone finalized: the checkpoint's stream ends there, the planned one does not."""
    whole = undisturbed(target, CLASSIC, 150)
    stream = EllerStream.from_spec(CLASSIC)
    with MazeWriter(target, Finalized(stream, 127), rows_per_frame=4) as writer:
        writer.write(129)
    with MazeFile(target) as maze:
        found = [event for event in maze._regular().events(124) if isinstance(event, Checkpoint)]
        assert [EllerStream.restore(checkpoint.snapshot).height for checkpoint in found] == [129]
    assert resumed(target, CLASSIC, 150) == whole


class Finalized:
    """A stream that somebody finalizes as soon as it stands where its last checkpoint will."""

    def __init__(self, stream, row):
        self.stream, self.row = stream, row

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def snapshot(self):
        if self.stream.position == self.row + 1:
            self.stream.finalize()
        return self.stream.snapshot()


# ---- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (MazeSpec(11, seed=1, height=18, key_interval=4), "width is 10 there and 11 here"),
        (MazeSpec(10, seed=2, height=18, key_interval=4), "seed is 1 there and 2 here"),
        (MazeSpec(10, seed=1, key_interval=4), "height is 18 there and None here"),
        (MazeSpec(10, seed=1, height=18, key_interval=4, braid=0.5), "braid is 0 there and 0.5 here"),
        (
            MazeSpec(10, seed=1, height=18, key_interval=4, loops=0.5, p_south=[(0, 0.5), (9, 0.25)]),
            "p_south is 0.5 there and 0:0.5,9:0.25 here, loops is 0 there and 0.5 here",
        ),
    ],
)
@pytest.mark.parametrize("complete", [False, True])
def test_another_spec_is_refused_naming_the_difference(target, other, difference, complete):
    whole = undisturbed(target, KEYED, 17)
    stands, data = (target, whole) if complete else (part_of(target), whole[:-40])
    stands.write_bytes(data)
    with pytest.raises(StoreError, match=difference):
        MazeWriter.resume(target, other)
    assert stands.read_bytes() == data
    assert [path.name for path in target.parent.iterdir()] == [stands.name]


def test_a_complete_maze_is_told(target):
    assert not is_complete(target, KEYED)
    whole = undisturbed(target, KEYED, 17)
    target.write_bytes(whole)
    assert is_complete(target, KEYED)
    with pytest.raises(StoreError, match="complete already, with 18 rows"):
        MazeWriter.resume(target, KEYED)
    assert target.read_bytes() == whole
    assert not part_of(target).exists()
    target.write_bytes(whole[:-1])
    assert not is_complete(target, KEYED)


@pytest.mark.parametrize("data", [b"someone's notes\n" * 9, b"\x97\xaceller-stream\x02" + bytes(99)])
def test_a_file_of_another_kind_is_not_touched(target, data):
    part_of(target).write_bytes(data)
    with pytest.raises(VersionError if b"eller" in data else FormatError, match=r"maze\.emz\.part: "):
        MazeWriter.resume(target, KEYED)
    assert part_of(target).read_bytes() == data


def test_where_nothing_stands_it_begins(target):
    whole = undisturbed(target, KEYED, 17)
    assert resumed(target, KEYED, 17) == whole


def test_a_part_beside_a_complete_file_is_not_chosen_from(target):
    target.write_bytes(b"one")
    part_of(target).write_bytes(b"another")
    with pytest.raises(StoreError, match="remove one of them"):
        MazeWriter.resume(target, KEYED)
    assert (target.read_bytes(), part_of(target).read_bytes()) == (b"one", b"another")


def test_killed_between_its_two_names(target):
    """A .part takes its name by a second link; a kill in between leaves both, of one file."""
    whole = undisturbed(target, KEYED, 17)
    target.write_bytes(whole)
    part_of(target).hardlink_to(target)
    with pytest.raises(StoreError, match="complete already"):
        MazeWriter.resume(target, KEYED)
    assert target.read_bytes() == whole
    assert not part_of(target).exists()


# ---- one writer, and no links ------------------------------------------------------------------------


def test_one_writes_at_a_time(target):
    first = MazeWriter(target, EllerStream.from_spec(KEYED), rows_per_frame=4)
    first.write(9)
    for second in (
        lambda: MazeWriter.resume(target, KEYED),
        lambda: MazeWriter(target, EllerStream.from_spec(KEYED), force=True),
        lambda: PartFile(target, force=True),
    ):
        with pytest.raises(StoreError, match="another run is writing it"):
            second()
    with pytest.raises(StoreError, match="another run writes it, or one was broken off"):
        MazeWriter(target, EllerStream.from_spec(KEYED))
    write_to(first, 17)
    whole = target.read_bytes()
    with MazeWriter(target, EllerStream.from_spec(KEYED), force=True, rows_per_frame=4) as again:
        again.write(100)
    assert target.read_bytes() == whole


def test_a_resumed_file_is_locked_too(target):
    part_of(target).write_bytes(undisturbed(target, KEYED, 17)[:-50])
    writer = MazeWriter.resume(target, KEYED)
    with pytest.raises(StoreError, match="another run is writing it"):
        MazeWriter.resume(target, KEYED)
    writer.abandon()
    MazeWriter.resume(target, KEYED).abandon()


def test_another_process_holds_the_lock(target):
    words = [sys.executable, "-m", "eller_stream", "generate", str(target), "--width", "100", "--seed", "1"]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        wait_for_size(part_of(target), 1, process)
        with pytest.raises(StoreError, match="another run is writing it"):
            MazeWriter.resume(target, MazeSpec(100, seed=1))
        process.kill()
    MazeWriter.resume(target, MazeSpec(100, seed=1)).abandon()


@pytest.mark.parametrize("begin", ["resume", "force"])
def test_a_link_at_the_parts_name_is_not_followed(target, begin):
    whole = undisturbed(target, KEYED, 17)
    victim = target.parent / "victim"
    victim.write_bytes(whole[:-50])
    part_of(target).symlink_to(victim)
    if begin == "resume":
        with pytest.raises(StoreError, match="it is a link, and links are not followed"):
            MazeWriter.resume(target, KEYED)
    else:
        with MazeWriter(target, EllerStream.from_spec(KEYED), force=True, rows_per_frame=4) as writer:
            writer.write(100)
        assert target.read_bytes() == whole
    assert victim.read_bytes() == whole[:-50]


@pytest.mark.parametrize("stands", ["part", "complete"])
def test_a_file_with_another_name_is_not_changed_under_it(target, stands):
    finished = undisturbed(target, ENDLESS, 9)
    copy = target.parent / "backup.emz"
    copy.write_bytes(finished)
    (part_of(target) if stands == "part" else target).hardlink_to(copy)
    with pytest.raises(StoreError, match="the file has other names too"):
        MazeWriter.resume(target, ENDLESS)
    assert copy.read_bytes() == finished


def test_a_pipe_at_the_parts_name_is_refused_and_not_waited_for(target):
    os.mkfifo(part_of(target))
    with pytest.raises(StoreError, match="no regular file"):
        MazeWriter.resume(target, KEYED)


# ---- the command: killed, interrupted, out of room ---------------------------------------------------

WIDE = ["--width", "3000", "--seed", "7"]


def eller(*words, **options):
    words = [sys.executable, "-m", "eller_stream", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, **options)


def started(*words):
    words = [sys.executable, "-m", "eller_stream", *map(str, words)]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True)


def wait_for_size(path, size, process):
    """Wait until a process has written so much, or has ended."""
    while process.poll() is None and not (path.exists() and path.stat().st_size >= size):
        time.sleep(0.001)


def rows_in(path):
    with MazeFile(path) as maze:
        return sum(len(event.block) for event in read_events(path.open("rb")) if isinstance(event, Rows)), maze.end


@pytest.mark.parametrize("key_interval", [0, 1024])
def test_killed_again_and_again_it_comes_to_the_same_bytes(target, key_interval):
    words = [*WIDE, "--rows", 150_000, "--key-interval", key_interval]
    calm = target.with_name("calm.emz")
    assert eller("generate", calm, *words).returncode == 0
    for part in (1, 1_000_000, 7_000_001, 20_000_003, 33_333_333):
        with started("generate", target, *words, "--resume") as process:
            wait_for_size(part_of(target), part, process)
            process.kill()
    done = eller("generate", target, *words, "--resume")
    assert (done.returncode, "resumed at row" in done.stderr) == (0, True)
    assert target.read_bytes() == calm.read_bytes()


@pytest.mark.parametrize("times", [1, 2])
def test_after_ctrl_c_once_or_twice_it_goes_on(target, times):
    words = [*WIDE, "--rows", 150_000]
    calm = target.with_name("calm.emz")
    assert eller("generate", calm, *words).returncode == 0
    with started("generate", target, *words) as process:
        wait_for_size(part_of(target), 3_000_000, process)
        for _ in range(times):
            process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 130
    done = eller("generate", target, *WIDE[:2], "--rows", 150_000, "--resume")
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == calm.read_bytes()


def test_after_a_full_disk_it_goes_on(target):
    words = [*WIDE, "--rows", 20_000]

    def small_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_001, 5_000_001))

    done = eller("generate", target, *words, preexec_fn=small_disk)
    assert (done.returncode, "File too large" in done.stderr) == (1, True)
    assert eller("generate", target, *words, "--resume").returncode == 0
    calm = target.with_name("calm.emz")
    eller("generate", calm, *words)
    assert target.read_bytes() == calm.read_bytes()


def test_what_is_complete_stays_and_the_seed_need_not_be_told(target):
    assert eller("generate", target, *WIDE, "--rows", 100).returncode == 0
    before = target.read_bytes()
    done = eller("generate", target, "--width", 3000, "--rows", 100, "--resume")
    assert (done.returncode, done.stderr) == (0, f"{target}: complete already, with 100 rows\n")
    assert target.read_bytes() == before
    other = eller("generate", target, "--width", 3000, "--rows", 101, "--resume")
    assert (other.returncode, "height is 100 there and 101 here" in other.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-", "--resume"], "--resume goes on with a file"),
        (["maze.txt", "--resume"], "--resume goes on with a file"),
        (["maze.emz", "--resume", "--force"], "not allowed with argument"),
    ],
)
def test_resume_in_the_wrong_place(tmp_path, words, message):
    done = eller("generate", *words, "--width", 9, "--rows", 9, cwd=tmp_path)
    assert (done.returncode, message in done.stderr, done.stderr.count("\n")) == (2, True, 1)
    assert not list(tmp_path.iterdir())


def test_the_record_tells_where_it_was_resumed(target):
    words = ["generate", target, *WIDE, "--rows", 2000]
    eller(*words)
    Path(part_of(target)).write_bytes(target.read_bytes()[:-5])
    target.unlink()
    done = eller(*words, "--resume", "--json")
    assert '"rows": 2000, "resumed_at": 1792' in done.stdout
