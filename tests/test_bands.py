"""Mazes carved in bands, as streams: rows in any pieces, moving about, ends, snapshots; `verify` judges every maze."""

import copy
import pickle
import struct
import threading
import zlib
from itertools import pairwise

import msgpack
import numpy as np
import pytest
from helpers import dead_ends, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream.bands import BandStream
from eller_stream.bands import stream as stream_module
from eller_stream.errors import CapacityError, FormatError, SpecError, StreamError, VersionError
from eller_stream.spec import MAX_ROW, MazeSpec
from eller_stream.store import MazeFile, MazeWriter
from eller_stream.stream import EllerStream
from eller_stream.streams import open_stream, restore_stream
from eller_stream.verify import CONNECTED, PERFECT, UNFINISHED, verify

TREES = ["dfs", "prim", "wilson"]
ALL = [*TREES, "random_walk"]
for_all = pytest.mark.parametrize("algorithm", ALL)
for_trees = pytest.mark.parametrize("algorithm", TREES)


@st.composite
def specs(draw, heights=(None, 2, 7, 8, 9, 30)):
    algorithm = draw(st.sampled_from(ALL))
    width = draw(st.integers(2, 20) | st.sampled_from([63, 64, 65]))
    chances = {"loops": draw(st.sampled_from([0, 0.03, 1])), "braid": draw(st.sampled_from([0, 0.5, 1]))}
    height, band = draw(st.sampled_from(heights)), draw(st.sampled_from([2, 3, 8, 64]))
    return MazeSpec(width, algorithm=algorithm, seed=draw(seeds), height=height, band=band, **chances)


def whole(spec, rows=None):
    return BandStream.from_spec(spec).read(spec.height if rows is None else rows)


def answer(spec, blocks):
    return verify(blocks, loops=bool(spec.braid.n or spec.loops.pairs[0][1])).answer


# ---- mazes ------------------------------------------------------------------------------------------


@for_all
@pytest.mark.parametrize("width", [1, 2, 3, 63, 64, 65])
@pytest.mark.parametrize("height", [1, 2, 64, 65, 129])
def test_every_maze_is_perfect(backend, algorithm, width, height):
    """One row, one column, both sides of a word and of a band."""
    if algorithm == "random_walk" and (width == 1 or height == 1):
        return
    block = whole(MazeSpec(width, algorithm=algorithm, seed=width + height, height=height))
    assert (len(block), block.ends) == (height, True)
    assert verify([block]).answer == (CONNECTED if algorithm == "random_walk" else PERFECT)


@for_all
@pytest.mark.parametrize("band", [2, 5, 64])
def test_an_endless_maze_has_no_fault_and_every_set_goes_on(backend, algorithm, band):
    spec = MazeSpec(40, algorithm=algorithm, seed=band, band=band)
    blocks = [whole(spec, 200)]
    assert answer(spec, blocks) == UNFINISHED
    assert all(row.south.any() for row in blocks[0][band:])


@for_trees
def test_a_band_of_one_row(backend, algorithm):
    block = whole(MazeSpec(30, algorithm=algorithm, seed=2, band=1, height=50))
    assert verify([block]).answer == PERFECT


@given(spec=specs(heights=(None,)), rows=st.integers(1, 140))
@settings(max_examples=50)
def test_a_maze_is_finalized_at_any_row(backend, spec, rows):
    stream = BandStream.from_spec(spec)
    blocks = [stream.read(rows - 1)]
    stream.finalize()
    assert stream.height == rows
    blocks.append(stream.read(5))
    assert (len(blocks[1]), len(stream.read(1))) == (1, 0)
    assert answer(spec, blocks) in (PERFECT, CONNECTED)
    assert blocks[0] == whole(spec, rows - 1)


@given(spec=specs(heights=(30,)), rows=st.integers(1, 30))
@settings(max_examples=20)
def test_a_planned_maze_is_finalized_earlier(backend, spec, rows):
    stream = BandStream.from_spec(spec)
    stream.seek(rows - 1)
    stream.finalize()
    stream.seek(0)
    block = stream.read(100)
    assert len(block) == rows
    assert answer(spec, [block]) in (PERFECT, CONNECTED)


def test_a_cut_unites_what_hung_together_below(backend):
    """The row that the cut ends with has more passages east than it would have had."""
    spec = MazeSpec(60, algorithm="dfs", seed=4, doors=1)
    stream = BandStream.from_spec(spec)
    stream.seek(30)
    stream.finalize()
    cut, carved = stream.read(1), whole(spec, 31)[30:]
    assert np.all(cut.east & carved.east == carved.east)
    assert np.unpackbits(cut.east).sum() > np.unpackbits(carved.east).sum()
    assert not cut.south.any()


def test_a_map_that_ends_before_its_first_floor_has_one_cell(backend):
    spec = MazeSpec(9, algorithm="random_walk", seed=3, band=200, max_tunnels=1, max_length=1)
    first = int(np.argmax([row.any() for row in whole(spec, 200).floor]))
    assert first > 1
    for rows in (1, 2):
        stream = BandStream.from_spec(spec)
        stream.seek(rows - 1)
        stream.finalize()
        stream.seek(0)
        tiles = stream.read(9).floor_tiles()
        assert np.argwhere(tiles == 0).tolist() == [[rows - 1, 8 * (1 - rows % 2)]]


@for_trees
def test_height_up_to_the_band_is_one_carve(backend, algorithm):
    """As tall as the band or less tall: what the band would be makes no difference."""
    mazes = [whole(MazeSpec(20, algorithm=algorithm, seed=5, height=12, band=band)) for band in (12, 13, 64)]
    assert mazes[0] == mazes[1] == mazes[2]


# ---- braid and loops ---------------------------------------------------------------------------------


@for_trees
def test_loops_of_chance_one_open_all(backend, algorithm):
    block = whole(MazeSpec(20, algorithm=algorithm, seed=5, height=30, band=8, loops=1))
    assert all(row.east[:-1].all() for row in block)
    assert all(row.south.all() for row in block[:-1])


@for_trees
def test_braid_of_chance_one_leaves_few_dead_ends(backend, algorithm):
    plain, braided = (whole(MazeSpec(64, algorithm=algorithm, seed=6, height=256, braid=b)) for b in (0, 1))
    assert dead_ends(braided) < dead_ends(plain) / 5


@for_all
def test_loops_open_their_share_of_the_walls(backend, algorithm):
    """Within four standard deviations of the walls that may open; in a map, within its bounds alone."""
    spec = MazeSpec(100, algorithm=algorithm, seed=7, height=640, loops=0.03)
    report = verify([whole(spec)], loops=True)
    assert report.ok
    if algorithm != "random_walk":
        walls = 2 * 100 * 640 - 100 - 640 - (100 * 640 - 1)
        assert abs(report.loops - 0.03 * walls) < 4 * (walls * 0.03 * 0.97) ** 0.5
    else:
        assert report.cells > verify([whole(MazeSpec(100, algorithm=algorithm, seed=7, height=640))]).cells


@for_trees
def test_a_schedule_of_loops_changes_within_a_band(backend, algorithm):
    block = whole(MazeSpec(30, algorithm=algorithm, seed=8, height=40, band=16, loops=[(0, 0), (5, 1), (21, 0)]))
    plain = whole(MazeSpec(30, algorithm=algorithm, seed=8, height=40, band=16))
    assert all(row.east[:-1].all() and row.south.all() for row in block[5:21])
    for rows in (slice(0, 5), slice(22, 40)):
        assert block[rows] == plain[rows]


# ---- pieces ---------------------------------------------------------------------------------------------


@given(spec=specs(), pieces=st.lists(st.tuples(st.booleans(), st.integers(0, 70)), max_size=6))
@settings(max_examples=30)
def test_rows_in_any_pieces_are_the_same(backend, spec, pieces):
    stream, blocks = BandStream.from_spec(spec), []
    for by_next, count in pieces:
        left = count if spec.height is None else min(count, spec.height - stream.position)
        made = [next(stream).block() for _ in range(left)] if by_next else [stream.read(count)]
        assert sum(map(len, made)) == left
        blocks += made
    for above, below in pairwise(blocks):
        assert below.start == above.stop
        assert below.north.tolist() == (above.north_of(len(above)).tolist())
    expected = whole(spec, stream.position)
    for block in blocks:
        assert block == expected[block.start : block.stop]


@given(spec=specs(), start=st.integers(0, 140), target=st.integers(0, 140), count=st.integers(0, 70))
@settings(max_examples=30)
def test_seek_equals_skipping(backend, spec, start, target, count):
    most = spec.height or 140
    expected, stream = whole(spec, 210), BandStream.from_spec(spec)
    for row in (min(start, most), min(target, most)):
        stream.seek(row)
        assert stream.position == row
        assert stream.read(count) == expected[row : row + count]


@for_all
@pytest.mark.parametrize("row", [2**32 - 3, 2**40, MAX_ROW - 5])
def test_rows_far_off(backend, algorithm, row):
    stream = BandStream(algorithm, 30, seed=1, band=4)
    stream.seek(row)
    block = stream.read(5)
    stream.seek(row - row % 4)
    assert stream.read(row % 4 + 5)[row % 4 :] == block
    assert verify([block]).fault is None
    assert block.start == row


@for_all
def test_the_last_row_that_a_stream_can_have(backend, algorithm):
    stream = BandStream(algorithm, 9, seed=1)
    stream.seek(MAX_ROW - 2)
    assert [row.index for row in stream.read(2)] == [MAX_ROW - 2, MAX_ROW - 1]
    for ask in (lambda: next(stream), lambda: stream.read(1)):
        with pytest.raises(StreamError, match="is the last that a stream can have"):
            ask()


def test_going_on_carves_each_band_once(monkeypatch):
    carved, carve = [], stream_module.carve
    monkeypatch.setattr(stream_module, "carve", lambda spec, band: carved.append(band) or carve(spec, band))
    for algorithm in ALL:
        carved.clear()
        stream = BandStream(algorithm, 9, seed=1, band=4, height=22)
        for _ in stream:
            pass
        assert carved == [0, 1, 2, 3, 4, 5]
        stream.seek(9)
        stream.read(1)
        assert sorted(carved[6:]) == ([1, 2, 3] if algorithm == "random_walk" else [2, 3])


def test_a_yielded_row_never_changes(backend):
    stream = BandStream("prim", 20, seed=1, loops=0.1, braid=0.5)
    rows = [next(stream) for _ in range(9)]
    kept = [(row.east.tolist(), row.south.tolist(), row.north.tolist()) for row in rows]
    stream.finalize()
    list(stream)
    assert [(row.east.tolist(), row.south.tolist(), row.north.tolist()) for row in rows] == kept
    with pytest.raises(ValueError, match="read-only"):
        rows[0].east[0] = True


def test_threads_share_a_stream(backend):
    stream, taken = BandStream("dfs", 20, seed=1, height=300, band=16), []
    workers = [threading.Thread(target=lambda: taken.extend(row.index for row in stream)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(taken) == list(range(300))


# ---- wrong use ------------------------------------------------------------------------------------------


def test_rows_that_cannot_be_sought_or_read():
    stream = BandStream("dfs", 9, seed=1, height=10)
    for row in (-1, 11, 1.0, True, "1", None):
        with pytest.raises(StreamError, match="the row to seek is"):
            stream.seek(row)
    with pytest.raises(StreamError, match="the number of rows to read is"):
        stream.read(-1)
    stream.seek(10)
    with pytest.raises(StreamError, match="the maze has ended with row 9"):
        stream.finalize()
    stream.seek(3)
    stream.finalize()
    with pytest.raises(StreamError, match="finalize was called already: row 3 is the last one"):
        stream.finalize()


def test_memory_that_runs_out_is_a_capacity_error(monkeypatch):
    def no_room(spec, band):
        raise MemoryError

    monkeypatch.setattr(stream_module, "carve", no_room)
    with pytest.raises(CapacityError, match="a band of 64 rows of 9 cells finds no room in memory"):
        BandStream("dfs", 9, seed=1).read(1)


def test_more_rows_than_memory_holds():
    with pytest.raises(CapacityError, match="find no room in memory; read fewer at a time"):
        BandStream("dfs", 2**20, seed=1, band=1).read(2**47)


def test_a_band_stream_needs_bands_and_an_eller_stream_has_none():
    with pytest.raises(SpecError, match="a BandStream has an algorithm that carves bands, not eller"):
        BandStream.from_spec(MazeSpec(9, seed=1))
    with pytest.raises(SpecError, match="EllerStream has algorithm eller, not dfs"):
        EllerStream.from_spec(MazeSpec(9, seed=1, algorithm="dfs"))


# ---- open_stream ------------------------------------------------------------------------------------------


def test_open_stream_opens_every_algorithm(backend):
    for algorithm in ALL:
        stream = open_stream(algorithm, width=20, seed=7, loops=0.03)
        assert stream.spec == MazeSpec(20, algorithm=algorithm, seed=7, loops=0.03)
        assert open_stream(stream.spec).read(9) == stream.read(9)
    assert open_stream("eller", width=20, seed=7, p_east=0.3).read(9) == EllerStream(20, seed=7, p_east=0.3).read(9)


def test_open_stream_refuses_what_is_not_known():
    with pytest.raises(SpecError, match=r"algorithm is one of eller, .*, uniform, not 'kruskal'"):
        open_stream("kruskal", width=9)
    with pytest.raises(SpecError, match="wilson has the options band, loops, braid, not 'start'"):
        open_stream("wilson", width=9, start=(0, 0))
    with pytest.raises(SpecError, match=r"eller has the options p_east, .*, not 'bend'"):
        open_stream("eller", width=9, bend=3)
    with pytest.raises(SpecError, match="a maze of dfs needs a width"):
        open_stream("dfs")
    with pytest.raises(SpecError, match="no options go with it, not seed"):
        open_stream(MazeSpec(9, seed=1), seed=2)


# ---- snapshots ---------------------------------------------------------------------------------------------


@given(spec=specs(), rows=st.integers(0, 90), finalized=st.booleans())
@settings(max_examples=20)
def test_a_restored_stream_goes_on(backend, spec, rows, finalized):
    stream = BandStream.from_spec(spec)
    stream.read(rows)
    if finalized and stream.position != spec.height:
        stream.finalize()
    snapshot = stream.snapshot()
    others = [BandStream.restore(snapshot), restore_stream(snapshot), copy.deepcopy(stream)]
    others.append(pickle.loads(pickle.dumps(stream)))
    expected = stream.read(70)
    for other in others:
        assert (other.spec, other.height) == (spec, stream.height)
        assert other.read(70) == expected
        assert other.snapshot() == stream.snapshot()


def test_restore_stream_takes_each_kind():
    stream = EllerStream(9, seed=1)
    assert isinstance(restore_stream(stream.snapshot()), EllerStream)
    for data in (b"", b"\x99\xadother-snapshot", bytes(40)):
        with pytest.raises(FormatError, match="the bytes are no snapshot"):
            restore_stream(data)


def sealed(body):
    return body + b"\xce" + struct.pack(">I", zlib.crc32(body))


def u64(number):
    return b"\xcf" + struct.pack(">Q", number)


NO_END = u64(0)


def forged(spec=None, end=NO_END, row=5, kind="band-snapshot", version=1, head=b"\x96"):
    spec = MazeSpec(9, seed=1, algorithm="dfs").to_data() if spec is None else spec
    return sealed(head + b"".join(map(msgpack.packb, (kind, version, spec))) + end + u64(row))


def test_a_snapshot_by_hand():
    stream = BandStream("dfs", 9, seed=1)
    stream.seek(5)
    assert stream.snapshot() == forged()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (forged(end=u64(4)), "row 5 and end 4 are not of a maze of height None"),
        (forged(end=b"\xc0"), "its end and its row"),
        (forged(end=u64(2**48 + 1)), "are not of a maze"),
        (forged(row=2**48 + 1), "are not of a maze"),
        (forged(MazeSpec(9, seed=1, algorithm="dfs", height=6).to_data()), "end None are not of a maze of height 6"),
        (forged(MazeSpec(9, seed=1).to_data()), "a BandStream has an algorithm that carves bands, not eller"),
        (forged({}), "a spec is a map"),
        (forged(5), "a spec is a map"),
        (forged(end=b"\xc3"), "its end and its row"),
        (forged(end=b"\x09"), "fixed widths"),
        (forged(kind="eller-snapshot"), "begins with band-snapshot"),
        (sealed(forged()[:-14]), "not an array|no snapshot"),
        (forged()[:-1] + b"\0", "checksum"),
        (sealed(b"\x97" + forged()[1:-5] + b"\xc0"), "a snapshot has 6 fields, not 7"),
        (b"", "no snapshot"),
        (b"\xdd\xff\xff\xff\xff", "no snapshot"),
        (b"\x91" * 10_000, "no snapshot"),
    ],
)
def test_forged_snapshots(data, message):
    with pytest.raises(FormatError, match=message):
        BandStream.restore(data)


def test_newer_snapshots():
    with pytest.raises(VersionError, match="of version 2, and this program reads 1"):
        BandStream.restore(forged(version=2))


@given(st.binary(max_size=60))
def test_arbitrary_bytes_raise_format_error_only(data):
    for body in (data, sealed(data), sealed(forged()[:20] + data)):
        with pytest.raises(FormatError):
            BandStream.restore(body)


# ---- files -------------------------------------------------------------------------------------------------------


@for_all
def test_a_file_gives_the_rows_back(backend, algorithm, tmp_path):
    spec = MazeSpec(40, algorithm=algorithm, seed=9, height=150, loops=0.03)
    expected = whole(spec)
    with MazeWriter(tmp_path / "maze.emz", BandStream.from_spec(spec), rows_per_frame=16) as writer:
        while writer.write(50):
            pass
    with MazeFile(tmp_path / "maze.emz") as maze:
        assert (maze.spec, maze.header.checkpoint_every) == (spec, 0)
        blocks = list(maze.blocks())
        assert answer(spec, blocks) in (PERFECT, CONNECTED)
        for block in blocks:
            assert block == expected[block.start : block.stop]


def test_rows_of_walls_do_not_end_a_file(tmp_path):
    """A map whose tunnels leave frames of walls alone above and below."""
    spec = MazeSpec(60, algorithm="random_walk", seed=1, height=400, band=400, max_tunnels=3)
    with MazeWriter(tmp_path / "maze.emz", BandStream.from_spec(spec), rows_per_frame=4) as writer:
        while writer.write(7):
            pass
    with MazeFile(tmp_path / "maze.emz") as maze:
        blocks = list(maze.blocks())
        assert maze.end.finished
    assert sum(block.ends for block in blocks) > 50
    assert sum(map(len, blocks)) == 400
    assert verify(blocks).answer == CONNECTED
