"""The byte format: its vectors, a second encoder in plain bytes, and all that can be wrong with bytes."""

import json
import re
import tracemalloc
import zlib
from itertools import pairwise
from pathlib import Path

import msgpack
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from eller_stream import errors, frames
from eller_stream.block import Block, row_bytes
from eller_stream.errors import BlockError, CutShortError, FormatError, VersionError
from eller_stream.frames import Checkpoint, End, FrameDecoder, Header, Rows
from eller_stream.spec import MazeSpec

DOCS = Path(__file__).parent.parent / "docs"
VECTORS = json.loads((DOCS / "vectors" / "format-v1.json").read_text())


# ---- the format once more, in plain bytes ----


def u32(number):
    return b"\xce" + number.to_bytes(4, "big")


def u64(number):
    return b"\xcf" + number.to_bytes(8, "big")


def boolean(value):
    return b"\xc3" if value else b"\xc2"


def bin32(data):
    return b"\xc6" + len(data).to_bytes(4, "big") + data


def sealed(*fields):
    body = b"".join(fields)
    return body + u32(zlib.crc32(body))


def plain_header(spec, rows_per_frame, checkpoint_every, first_row):
    """A header of the spec as plain data."""
    numbers = u32(rows_per_frame), u32(checkpoint_every), u64(first_row)
    return sealed(b"\x97\xaceller-stream\x01", msgpack.packb(spec), *numbers)


def plain_rows(start, count, last, north, east, south, floor=None):
    fields = [b"\x99\xa4rows", u64(start), u32(count), boolean(last), bin32(north), bin32(east), bin32(south)]
    return sealed(*fields, b"\xc0" if floor is None else bin32(floor))


def plain_checkpoint(row, snapshot):
    return sealed(b"\x94\xaacheckpoint", u64(row), bin32(snapshot))


def plain_end(rows, finished):
    return sealed(b"\x94\xa3end", u64(rows), boolean(finished))


PLAIN = {"header": plain_header, "rows": plain_rows, "checkpoint": plain_checkpoint, "end": plain_end}


def plain_event(event):
    """The event as the vectors tell it: its kind and plain values, planes as bytes."""
    match event:
        case Header():
            return {"kind": "header", "spec": event.spec.to_data()} | {
                name: getattr(event, name) for name in ("rows_per_frame", "checkpoint_every", "first_row")
            }
        case Rows():
            planes = {name: getattr(event.block, name) for name in ("north", "east", "south", "floor")}
            told = {name: None if plane is None else plane.tobytes() for name, plane in planes.items()}
            return {"kind": "rows", "start": event.block.start, "count": len(event.block), "last": event.last} | told
        case Checkpoint():
            return {"kind": "checkpoint", "row": event.row, "snapshot": event.snapshot}
    return {"kind": "end", "rows": event.rows, "finished": event.finished}


def plain_bytes(event):
    fields = plain_event(event)
    return PLAIN[fields.pop("kind")](**fields)


def from_json(event):
    """An event of the vectors' file, with bytes for hexadecimal digits and a number for the seed."""
    event = {
        name: bytes.fromhex(value) if name in HEX and value is not None else value for name, value in event.items()
    }
    if event["kind"] == "header":
        event["spec"] = event["spec"] | {"seed": int(event["spec"]["seed"])}
    return event


HEX = {"north", "east", "south", "floor", "snapshot"}

# ---- decoding and encoding ----


def decode(*pieces, max_frame=None):
    """All events of bytes that come in pieces and are complete."""
    decoder, events = FrameDecoder(max_frame), []
    for piece in pieces:
        decoder.feed(piece)
        events += decoder.events()
    decoder.close()
    return events


def one_by_one(data):
    return [data[i : i + 1] for i in range(len(data))]


ENCODERS = {
    Header: frames.encode_header,
    Rows: frames.encode_rows,
    Checkpoint: frames.encode_checkpoint,
    End: frames.encode_end,
}


def encode(*events):
    return b"".join(b"".join(ENCODERS[type(event)](event)) for event in events)


@st.composite
def planes(draw, count, width):
    """Two planes and a north row of any bits, as bytes, spare bits 0; no final row without a passage south."""
    packed = row_bytes(width)
    data = np.frombuffer(
        draw(st.binary(min_size=(2 * count + 1) * packed, max_size=(2 * count + 1) * packed)), np.uint8
    )
    rows = data.reshape(2 * count + 1, packed).copy()
    rows[:, -1] &= 255 >> -width % 8
    rows[2 * count, 0] |= not rows[2 * count].any()
    return rows[0], rows[1 : count + 1], rows[count + 1 :]


@st.composite
def files(draw):
    """The events of a whole file: any planes, any frames, in the order that the format asks for."""
    width, rows, every = draw(st.integers(1, 20)), draw(st.integers(1, 4)), draw(st.integers(0, 3))
    first, total = draw(st.sampled_from([0, 2**40])) + draw(st.integers(0, 9)), draw(st.integers(0, 9))
    with_floor = draw(st.booleans())
    finished = draw(st.booleans()) and total > 0
    height = first + total if finished and draw(st.booleans()) else None
    header = Header(MazeSpec(width, seed=draw(st.integers(0, 2**64 - 1)), height=height), rows, every, first)
    events, row = [header], first
    while row < first + total:
        if every and row != first and row // rows % every == 0:
            events.append(Checkpoint(row, b"the state at %20d" % row))
        count = min(rows - row % rows, first + total - row)
        north, east, south = draw(planes(count, width))
        last = finished and row + count == first + total
        if last:
            south[-1] = 0
        block = Block(row, width, east, south, north * (row > 0), east if with_floor else None)
        events.append(Rows(block, last))
        row += count
    return [*events, End(total, finished)]


SPEC = MazeSpec(10, seed=1)
SPEC_DATA = SPEC.to_data()
HEADER = plain_header(SPEC_DATA, 2, 2, 0)
NORTH, EAST, SOUTH = b"\0\0", b"\x0f\x01\xf0\x02", b"\x01\x00\xff\x03"
LAST = b"\x01\x00\x00\x00"
FRAME_0 = plain_rows(0, 2, False, NORTH, EAST, SOUTH)
FRAME_1 = plain_rows(2, 2, False, SOUTH[2:], EAST, SOUTH)
FRAME_2 = plain_rows(4, 2, True, SOUTH[2:], EAST, LAST)
STATE = plain_checkpoint(4, b"state")
END = plain_end(6, True)
FRAMES = {"header": HEADER, "first": FRAME_0, "second": FRAME_1, "state": STATE, "third": FRAME_2, "end": END}
WHOLE = b"".join(FRAMES.values())

# ---- vectors ----


@pytest.mark.parametrize("vector", VECTORS["good"], ids=lambda vector: vector["name"])
class TestGoodVectors:
    def test_decoded(self, vector):
        data, events = bytes.fromhex("".join(vector["frames"])), [from_json(event) for event in vector["events"]]
        assert [plain_event(event) for event in decode(data)] == events
        assert [plain_event(event) for event in decode(*one_by_one(data))] == events

    def test_encoded_again(self, vector):
        for data, event in zip(vector["frames"], decode(bytes.fromhex("".join(vector["frames"]))), strict=True):
            assert encode(event).hex() == data

    def test_plain_encoder_agrees(self, vector):
        for data, event in zip(vector["frames"], map(from_json, vector["events"]), strict=True):
            assert PLAIN[event.pop("kind")](**event).hex() == data


@pytest.mark.parametrize("vector", VECTORS["bad"], ids=lambda vector: vector["name"])
def test_bad_vectors_are_refused_however_they_come(vector):
    data, error = bytes.fromhex("".join(vector["frames"])), getattr(errors, vector["error"])
    for pieces in ([data], one_by_one(data)):
        with pytest.raises(FormatError) as caught:
            decode(*pieces)
        assert type(caught.value) is error


def test_vectors_show_every_kind_and_error():
    kinds = {event["kind"] for vector in VECTORS["good"] for event in vector["events"]}
    assert kinds == set(PLAIN)
    assert {vector["error"] for vector in VECTORS["bad"]} == {"FormatError", "VersionError", "CutShortError"}


def documented_reader():
    """The reader that docs/FORMAT.md shows, which uses msgpack and nothing of ours."""
    code = re.search(r"```python\n(.*?)```", (DOCS / "FORMAT.md").read_text(), re.S)[1]
    names = {}
    exec(code, names)
    return names["read_rows"]


@given(files())
def test_the_documented_reader_reads_every_file(events):
    data = b"".join(map(plain_bytes, events))
    came = list(documented_reader()(data))
    expected = [
        (event.block.start + i, event.block.east[i].tobytes(), event.block.south[i].tobytes())
        for event in events
        if isinstance(event, Rows)
        for i in range(len(event.block))
    ]
    assert came == expected


def test_the_documented_reader_reads_the_vectors():
    for vector in VECTORS["good"]:
        rows = sum(event["count"] for event in vector["events"] if event["kind"] == "rows")
        assert len(list(documented_reader()(bytes.fromhex("".join(vector["frames"]))))) == rows


def test_the_annotated_example_of_the_document_is_the_vector():
    example = re.search(r"```hex\n(.*?)```", (DOCS / "FORMAT.md").read_text(), re.S)[1]
    digits = "".join(re.sub(r"  .*", "", line).replace(" ", "") for line in example.splitlines())
    assert digits == "".join(VECTORS["good"][0]["frames"])


# ---- round trips ----


@given(files(), st.data())
def test_what_is_encoded_is_decoded_in_any_pieces(events, data):
    whole = encode(*events)
    assert whole == b"".join(map(plain_bytes, events))
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(whole))))), len(whole)]
    assert decode(whole) == events
    assert decode(*one_by_one(whole)) == events
    assert decode(*(whole[a:b] for a, b in pairwise(cuts))) == events


@given(files())
def test_each_event_comes_with_its_last_byte(events):
    decoder = FrameDecoder()
    for event in events:
        data = encode(event)
        decoder.feed(data[:-1])
        assert list(decoder.events()) == []
        decoder.feed(data[-1:])
        assert list(decoder) == [event]
        assert decoder.wanted >= 1
    decoder.close()
    assert decoder.end == events[-1]


@given(files())
def test_sizes_and_places_are_computed(events):
    header, place, floor = events[0], 0, False
    for event in events:
        if isinstance(event, Rows):
            floor = event.block.floor is not None
            assert len(encode(event)) == frames.rows_frame_size(header.spec.width, len(event.block), floor)
        if isinstance(event, Checkpoint):
            assert len(encode(event)) == frames.checkpoint_frame_size(len(event.snapshot))
    begins = None
    for event in events:
        if isinstance(event, Checkpoint):
            begins = place
        if isinstance(event, Rows):
            for row in range(event.block.start, event.block.stop):
                found = header.place(row, floor=floor, snapshot_size=len(b"the state at %20d" % 0))
                assert found == (place if begins is None else begins)
            begins = None
        place += len(encode(event))
    assert frames.header_size(header) == len(encode(header))
    assert len(encode(events[-1])) == frames.END_FRAME_SIZE
    assert frames.decode_end(encode(*events)[-frames.END_FRAME_SIZE :]) == events[-1]


@given(st.integers(1, 2**31 - 1), st.integers(1, 2**32 - 1))
def test_sizes_are_those_of_the_document(width, n):
    p = row_bytes(width)
    assert frames.rows_frame_size(width, n) == 42 + p + 2 * n * p
    assert frames.rows_frame_size(width, n, floor=True) == 46 + p + 3 * n * p
    assert frames.default_max_frame(width) == max(2**26, 46 + 4 * p)
    assert (frames.default_max_frame(width) > 2**26) == (width > 134_217_632)
    assert frames.checkpoint_frame_size(n) == 31 + n


def test_no_place_before_the_first_row():
    with pytest.raises(ValueError, match="the first row is 5, there is no row 4"):
        Header.of(SPEC, 5).place(4)


def test_planes_are_not_copied():
    block = decode(WHOLE)[1].block
    pieces = frames.encode_rows(Rows(block, False))
    for plane in (block.east, block.south):
        assert any(np.shares_memory(np.frombuffer(piece, np.uint8), plane) for piece in pieces)
    data = np.frombuffer(WHOLE, np.uint8)
    for plane in (block.north, block.east, block.south):
        assert np.shares_memory(plane, data)
        assert not plane.flags.writeable


def test_planes_with_gaps_in_memory_are_written_too():
    wide = np.full((3, 4), 3, np.uint8)
    block = Block(0, 9, wide[:, ::2] & 1, np.asfortranarray(wide[:, :2] & 1), np.zeros(4, np.uint8)[::2])
    header = Header.of(MazeSpec(9, seed=1), 0, 3)
    assert decode(encode(header, Rows(block, False), End(3, False)))[1].block == block


@pytest.mark.parametrize("copy", [bytearray, memoryview, lambda data: memoryview(bytearray(data))])
def test_any_buffer_may_be_fed_and_changed_afterwards(copy):
    buffer = copy(WHOLE)
    decoder = FrameDecoder()
    decoder.feed(buffer)
    before = list(decoder.events())
    if not memoryview(buffer).readonly:
        buffer[:] = bytes(len(WHOLE))
    assert before == decode(WHOLE)


def test_a_frame_holds_a_row_at_least():
    with pytest.raises(BlockError, match="at least one row"):
        frames.encode_rows(Rows(Block.empty(0, 8, np.zeros(1, np.uint8)), False))


# ---- how many rows a frame, and how large a frame ----


@pytest.mark.parametrize(
    ("width", "rows"),
    [(1, 4096), (64, 4096), (256, 4096), (257, 2048), (1000, 1024), (1024, 1024), (1025, 512), (2**18, 4), (2**20, 4)],
)
def test_rows_per_frame(width, rows):
    assert frames.rows_per_frame(width) == rows


@pytest.mark.parametrize("width", [1, 1000, 2**20, 41_297_760, 45_000_000, 2**26, 2**27, 2**28, 2**31 - 1])
def test_default_frames_fit_the_default_bound(width):
    rows = frames.rows_per_frame(width)
    assert rows & rows - 1 == 0
    assert frames.rows_frame_size(width, rows, floor=True) <= frames.default_max_frame(width)
    if rows < 4:
        assert frames.rows_frame_size(width, 2 * rows, floor=True) > frames.DEFAULT_MAX_FRAME


@pytest.mark.parametrize("floor", [None, EAST])
def test_the_bound_is_met_exactly(floor):
    frame = plain_rows(0, 2, False, NORTH, EAST, SOUTH, floor)
    data = HEADER + frame + plain_end(2, False)
    assert len(decode(data, max_frame=len(frame))) == 3
    with pytest.raises(FormatError, match=rf"have {len(frame)} bytes each; this reader takes {len(frame) - 1}"):
        decode(data, max_frame=len(frame) - 1)


def test_the_bound_holds_for_checkpoints():
    large = plain_checkpoint(4, bytes(200))
    data = HEADER + FRAME_0 + FRAME_1 + large + FRAME_2 + END
    assert len(decode(data, max_frame=len(large))) == 6
    with pytest.raises(FormatError, match=f"has {len(large)} bytes, at most {len(large) - 1} were expected"):
        decode(data, max_frame=len(large) - 1)


def test_a_row_larger_than_the_bound_is_read_by_default_only():
    header = encode(Header.of(MazeSpec(2**31 - 1, seed=1)))
    decoder = FrameDecoder()
    decoder.feed(header)
    assert len(list(decoder)) == 1
    decoder = FrameDecoder(frames.DEFAULT_MAX_FRAME)
    decoder.feed(header)
    with pytest.raises(FormatError, match="this reader takes 67108864"):
        list(decoder)


def test_no_bound_lets_a_plane_pass_its_length_field():
    largest = encode(Header(MazeSpec(8, seed=1), 2**32 - 1, 0), End(0, False))
    assert len(decode(largest, max_frame=2**40)) == 2
    with pytest.raises(
        FormatError, match="a plane of 2147483648 rows has 4294967296 bytes, a length field tells at most 4294967295"
    ):
        decode(encode(Header(MazeSpec(9, seed=1), 2**31, 0)), max_frame=2**40)


# ---- cut, lengthened, flipped ----


@given(files())
def test_cut_short_at_every_byte(events):
    whole = encode(*events)
    stops = np.cumsum([len(encode(event)) for event in events])
    for size in range(len(whole)):
        decoder = FrameDecoder()
        decoder.feed(whole[:size])
        assert len(list(decoder)) == np.searchsorted(stops, size, "right")
        with pytest.raises(CutShortError, match="cut short"):
            decoder.close()


@given(files(), st.binary(min_size=1))
def test_nothing_may_follow_the_end(events, more):
    whole = encode(*events)
    for pieces in ([whole + more], [whole, more], one_by_one(whole + more)):
        with pytest.raises(FormatError, match="behind the end frame, nothing may follow"):
            decode(*pieces)


def test_bytes_behind_the_end_are_told_by_close_too():
    decoder = FrameDecoder()
    decoder.feed(WHOLE + b"x")
    for event in decoder.events():
        if isinstance(event, End):
            break
    with pytest.raises(FormatError, match="1 bytes or more came behind the end"):
        decoder.close()


@pytest.mark.parametrize("vector", VECTORS["good"], ids=lambda vector: vector["name"])
def test_every_flipped_bit_is_caught(vector):
    whole = bytes.fromhex("".join(vector["frames"]))
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(FormatError):
            decode(flipped)


def test_an_error_is_told_again_for_ever():
    decoder = FrameDecoder()
    decoder.feed(HEADER + FRAME_1)
    events = decoder.events()
    next(events)
    for again in (lambda: next(events), lambda: list(decoder.events()), decoder.close, lambda: list(decoder)):
        with pytest.raises(FormatError, match="it says it begins at row 2"):
            again()
        decoder.feed(FRAME_0)


# ---- versions and other kinds ----


@pytest.mark.parametrize("version", [2, 3, 127])
def test_newer_version(version):
    newer = sealed(b"\x98\xaceller-stream" + bytes([version]), b"\xc0" * 5)
    with pytest.raises(VersionError, match=f"version {version} of the format, this program reads version 1"):
        decode(newer)


OTHERS = [b"\x89PNG\r\n\x1a\n", b"\x1b[31mred", b"{}", b"\x97\xaceller-cream\x01...", b"\x97\xad", b"\0" * 99]


@pytest.mark.parametrize("start", OTHERS)
def test_other_kinds_of_files(start):
    for pieces in ([start], one_by_one(start)):
        with pytest.raises(FormatError, match="not a maze file: it begins with") as caught:
            decode(*pieces)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "frame", [b"\x93\xa4news", b"\x94\xaacheckpoinT", b"\xc1", b"\x99\xa4rowz" + bytes(99), b"\x90"]
)
def test_unknown_frames(frame):
    with pytest.raises(FormatError, match="unknown frame: it begins with"):
        decode(HEADER + FRAME_0 + frame)


# ---- lengths that lie ----

MOST = (2**32 - 1).to_bytes(4, "big")
BEGINNING = b"\x97\xaceller-stream\x01"
ONE_KEY = BEGINNING + b"\x81\xa1a"


@pytest.mark.parametrize(
    "data",
    [
        b"\xdd" + MOST,
        BEGINNING + b"\xdf" + MOST,
        BEGINNING + b"\xdd" + MOST,
        BEGINNING + b"\x81\xdb" + MOST,
        ONE_KEY + b"\xdb" + MOST,
        ONE_KEY + b"\xdd" + MOST,
        ONE_KEY + b"\xdf" + MOST,
        ONE_KEY + b"\xdd\x00\x10\x00\x00",
        ONE_KEY + b"\xdf\x00\x10\x00\x00",
        ONE_KEY + b"\xc6" + MOST,
        ONE_KEY + b"\xc9" + MOST + b"\x05",
        ONE_KEY + b"\xdc\x00\xff" * 600,
        ONE_KEY + b"\x91" * 60_000,
        HEADER + FRAME_0[:16] + MOST,
        HEADER + FRAME_0[:22] + MOST,
        HEADER + FRAME_0[:29] + MOST,
        HEADER + FRAME_0[:38] + MOST,
        HEADER + FRAME_0[:46] + b"\xc6" + MOST,
        HEADER + FRAME_0 + FRAME_1 + STATE[:22] + MOST,
        plain_header(SPEC_DATA | {"width": 2**31 - 1, "key_interval": 0}, 2**32 - 1, 0, 0),
        plain_header(SPEC_DATA, 2**32 - 1, 0, 0),
    ],
    ids=lambda data: f"{data[-12:].hex()}-{len(data)}",
)
def test_no_length_field_takes_memory(data):
    tracemalloc.start()
    try:
        with pytest.raises(FormatError):
            decode(data, bytes(200), *[b"\0" * 100] * 700)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * 2**20


def test_a_header_without_end_is_given_up():
    decoder = FrameDecoder()
    decoder.feed(ONE_KEY + (b"\xdc\x01\x00" + (b"\xdc\x00\xff" + b"\x01" * 255) * 256)[: 2**16 - 19])
    assert list(decoder) == []
    assert decoder.wanted > 0
    decoder.feed(b"\x01")
    with pytest.raises(FormatError, match="header: longer than the 65536 bytes"):
        list(decoder)


def test_a_broken_decoder_keeps_nothing():
    decoder = FrameDecoder()
    decoder.feed(OTHERS[0] + bytes(100))
    with pytest.raises(FormatError, match="not a maze file"):
        list(decoder)
    assert len(decoder._bytes) == 0
    tracemalloc.start()
    for _ in range(1000):
        decoder.feed(bytes(1000))
    assert tracemalloc.get_traced_memory()[0] < 10_000
    tracemalloc.stop()


def test_the_largest_header_is_read():
    pairs = [(row * 2**39, row % 2 / 2) for row in range(256)]
    height = 2**48
    spec = MazeSpec(2**20, seed=2**64 - 1, height=height, p_east=pairs, p_south=pairs, loops=pairs, key_interval=0)
    data = encode(Header.of(spec, height), End(0, False))
    assert decode(*one_by_one(data)) == [Header.of(spec, height), End(0, False)]


# ---- forged: checksums right, fields wrong ----


def reseal(frame):
    return sealed(frame[:-5])


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_every_forged_byte_is_refused_or_read_as_it_is(frame):
    """A frame with another byte, sealed again, is taken only if encoding its events gives that very byte."""
    at, accepted = WHOLE.index(frame), set()
    for i in range(len(frame) - 5):
        for value in {0, 1, 0x7F, 0xC4, 0xFF, *(frame[i] ^ 1 << bit for bit in range(8))} - {frame[i]}:
            data = WHOLE[:at] + reseal(frame[:i] + bytes([value]) + frame[i + 1 :]) + WHOLE[at + len(frame) :]
            try:
                events = decode(data)
            except FormatError:
                continue
            assert encode(*events) == data
            accepted.add(i)
    assert accepted == set(free_bytes(frame))


def free_bytes(frame):
    """Where a frame of WHOLE holds bytes that may be others: values of the spec, passages, snapshots."""
    if frame == HEADER:
        one_byte = [b"width", b"seed", b"height", b"loops\x91\x92\x00", b"braid"]
        two_bytes = [b"p_east\x91\x92\x00\xcd", b"p_south\x91\x92\x00\xcd", b"key_interval\xcd"]
        ends = [(frame.index(name) + len(name), name) for name in one_byte + two_bytes]
        return [end + i for end, name in ends for i in range(1 + (name in two_bytes))]
    if frame == STATE:
        return range(26, 31)
    if frame == END:
        return []
    north = [] if frame == FRAME_0 else [26, 27]
    return [*north, *range(33, 37), *(range(42, 46) if frame != FRAME_2 else range(42, 44))]


WIDER = [
    (HEADER, u32(2) + u32(2), b"\x02" + u32(2)),
    (HEADER, u32(2) + u32(2), u32(2) + b"\xcd\x00\x02"),
    (HEADER, u64(0), b"\x00"),
    (HEADER, u64(0), u32(0)),
    (HEADER, u64(0), b"\xd3" + bytes(8)),
    (HEADER, u64(0), b"\xc2"),
    (HEADER, u64(0), b"\xa1x"),
    (HEADER, b"\x0a\xa4seed", b"\xcc\x0a\xa4seed"),
    (HEADER, b"\x89\xa9", b"\xde\x00\x09\xa9"),
    (HEADER, b"\x89\xa9algorithm", b"\x89\xd9\x09algorithm"),
    (HEADER, b"\x89\xa9algorithm", b"\x89\xc4\x09algorithm"),
    (HEADER, b"\xa4seed\x01", b"\xa4seed\xa11"),
    (HEADER, b"\xa4seed\x01\xa6height\xc0", b"\xa6height\xc0\xa4seed\x01"),
    (HEADER, b"\xa4seed\x01", b"\xa4seed\xcb?\xf0\0\0\0\0\0\0"),
    (HEADER, b"\x91\x92\x00\x00", b"\x92\x92\x00\x00\x92\x01\x00"),
    (HEADER, b"\x89\xa9algorithm", b"\x8a\xa5extra\xc0\xa9algorithm"),
    (FRAME_0, u64(0), u32(0)),
    (FRAME_0, u32(2), b"\x02"),
    (FRAME_0, u32(2), b"\xd2\x00\x00\x00\x02"),
    (FRAME_0, bin32(NORTH), b"\xc4\x02" + NORTH),
    (FRAME_0, bin32(NORTH), b"\xc4\x05" + NORTH + bytes(3)),
    (FRAME_0, bin32(NORTH), b"\xdb\x00\x00\x00\x02" + NORTH),
    (FRAME_0, bin32(EAST), bin32(EAST[:2])),
    (FRAME_0, bin32(EAST), bin32(EAST + EAST)),
    (FRAME_0, bin32(EAST) + bin32(SOUTH), bin32(EAST + b"\0\0") + bin32(SOUTH[:2])),
    (FRAME_0, b"\xc0", b"\xc2"),
    (FRAME_0, b"\xc0", bin32(b"")),
    (FRAME_0, b"\xc0", bin32(NORTH)),
    (STATE, u64(4), u32(4)),
    (STATE, bin32(b"state"), b"\xc4\x05state"),
    (STATE, bin32(b"state"), b"\xa5state"),
    (END, u64(6), b"\x06"),
    (END, u64(6), b"\xd3" + bytes(7) + b"\x06"),
    (END, b"\xc3", b"\x01"),
    (END, b"\xc3", b"\xc0"),
]


@pytest.mark.parametrize(("frame", "field", "other"), WIDER)
def test_other_forms_of_the_same_values_are_refused(frame, field, other):
    assert frame.count(field) >= 1
    forged = reseal(frame.replace(field, other, 1))
    with pytest.raises(FormatError):
        decode(WHOLE.replace(frame, forged) + bytes(40))


SHORT = plain_rows(0, 1, False, NORTH, EAST[:2], SOUTH[2:])
FLOORED = plain_rows(2, 2, False, SOUTH[2:], EAST, SOUTH, EAST)
TALL = plain_header(SPEC_DATA | {"height": 6}, 2, 2, 0)
CLOSED = HEADER + FRAME_0 + plain_rows(2, 2, True, SOUTH[2:], EAST, LAST)
OPEN_END = plain_rows(4, 2, False, SOUTH[2:], EAST, SOUTH)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (HEADER + FRAME_0 + FRAME_0, "rows frame at row 2: it says it begins at row 0"),
        (HEADER + FRAME_0 + plain_rows(2, 3, False, NORTH, EAST * 2, SOUTH * 2), "it says it has 3 rows, from 1 to 2"),
        (HEADER + plain_rows(0, 0, False, NORTH, b"", b""), "it says it has 0 rows, from 1 to 2 were expected"),
        (HEADER + SHORT + plain_rows(1, 1, False, NORTH, EAST[:2], SOUTH[2:]), "the frame before is not full"),
        (HEADER + FRAME_0 + FRAME_1 + FRAME_2, "a checkpoint has to come before it"),
        (HEADER + FRAME_0 + FRAME_1 + STATE + FRAME_2 + plain_rows(6, 2, False, NORTH, EAST, SOUTH), "maze's last"),
        (HEADER + FRAME_0 + FRAME_1 + STATE + STATE, "checkpoint at row 4: none was due there"),
        (HEADER + plain_checkpoint(0, b"state") + FRAME_0, "checkpoint at row 0: none was due there"),
        (HEADER + FRAME_0 + plain_checkpoint(2, b"state"), "checkpoint at row 2: none was due there"),
        (HEADER + FRAME_0 + FRAME_1 + plain_checkpoint(3, b"state"), "checkpoint at row 4: it says it stands at row 3"),
        (HEADER + FRAME_0 + FRAME_1 + STATE + plain_end(4, False), "end frame: it follows the checkpoint at row 4"),
        (HEADER + FRAME_0 + FLOORED + plain_end(4, False), "rows frame at row 2: the checksum"),
        (HEADER + plain_rows(0, 2, True, NORTH, EAST, SOUTH), "last is True, but its final row opens passages south"),
        (HEADER + plain_rows(0, 2, False, NORTH, EAST, LAST), "last is False, but its final row opens nothing south"),
        (HEADER + plain_rows(0, 2, False, b"\1\0", EAST, SOUTH), "there is no row above row 0"),
        (HEADER + plain_rows(0, 2, False, NORTH, b"\0\4\0\0", SOUTH), "the plane east has bits set beyond column 9"),
        (HEADER + plain_rows(0, 2, False, NORTH, EAST, b"\0\4\1\0"), "the plane south has bits set beyond column 9"),
        (HEADER + plain_rows(0, 2, False, NORTH, EAST, SOUTH, b"\0\4\1\0"), "floor has bits set beyond column 9"),
        (HEADER + FRAME_0 + plain_rows(2, 2, False, b"\0\4", EAST, SOUTH), "north has bits set beyond column 9"),
        (TALL + FRAME_0 + FRAME_1 + STATE + OPEN_END, "last is False, but its final row completes the maze's height"),
        (plain_header(SPEC_DATA | {"height": 3}, 2, 2, 0) + FRAME_0 + FRAME_1, "2 rows pass the maze's height, 3"),
        (
            plain_header(SPEC_DATA, 3, 0, 2**48 - 1) + plain_rows(2**48 - 1, 2, True, NORTH, EAST, LAST),
            f"2 rows pass the maze's height, {2**48}",
        ),
        (CLOSED + plain_checkpoint(4, b"state"), "checkpoint at row 4: the row before is the maze's last"),
        (HEADER[:-1] + b"\0", "header: the checksum does not fit"),
        (reseal(b"\x98" + HEADER[1:-5] + b"\xc0" * 6), "header: it begins with"),
        (reseal(HEADER.replace(b"m\x01", b"m\x00")), "header: it begins with"),
        (HEADER + FRAME_0 + plain_end(3, False), "it tells 3 rows, finished False; 2 rows came, finished False"),
        (HEADER + FRAME_0 + plain_end(2, True), "it tells 2 rows, finished True; 2 rows came, finished False"),
        (HEADER + plain_end(0, True), "it tells 0 rows, finished True; 0 rows came, finished False"),
        (HEADER + plain_end(0, False) * 2, "behind the end frame"),
        (plain_header(SPEC_DATA, 0, 0, 0), "header: 0 rows a frame"),
        (plain_header(SPEC_DATA, 2, 0, 2**48 + 1), f"its first row is {2**48 + 1}, the maze has {2**48}"),
        (plain_header(SPEC_DATA | {"height": 6}, 2, 0, 7), "its first row is 7, the maze has 6"),
        (plain_header(SPEC_DATA | {"width": 0}, 2, 0, 0), "header: width is from 1"),
        (plain_header(SPEC_DATA | {"algorithm": "\x1b[2J"}, 2, 0, 0), "header: algorithm is one of"),
        (plain_header([1], 2, 0, 0), "header: a spec is a map"),
        (sealed(HEADER[:-6] + b"\xd3" + bytes(7) + b"\xff"), "header"),
    ],
)
def test_forged_frames(data, says):
    with pytest.raises(FormatError, match=re.escape(says)) as caught:
        decode(data)
    assert str(caught.value).isprintable()


def test_all_snapshots_have_one_size():
    """Places are computed from it."""
    start = plain_header(SPEC_DATA, 2, 1, 0) + FRAME_0 + plain_checkpoint(2, b"state") + FRAME_1
    last = plain_rows(4, 1, True, SOUTH[2:], EAST[:2], NORTH) + plain_end(5, True)
    assert decode(start + plain_checkpoint(4, b"other") + last)[-1] == End(5, True)
    with pytest.raises(FormatError, match="its snapshot has 6 bytes, 5 were expected"):
        decode(start + plain_checkpoint(4, b"longer") + last)


@given(st.sampled_from(list(FRAMES.values())), st.data())
def test_forged_frames_of_any_bytes_are_refused_or_read_as_they_are(frame, data):
    """Any stretch of a frame is replaced by anything and sealed again."""
    at = WHOLE.index(frame)
    a = data.draw(st.integers(0, len(frame) - 5))
    b = data.draw(st.integers(a, min(a + 12, len(frame) - 5)))
    forged = WHOLE[:at] + sealed(frame[:a], data.draw(st.binary(max_size=12)), frame[b:-5]) + WHOLE[at + len(frame) :]
    assume(forged != WHOLE)
    try:
        events = decode(forged)
    except FormatError:
        return
    assert encode(*events) == forged


# ---- anything at all ----


@given(st.binary(max_size=300), st.integers(0, len(WHOLE)))
@example(b"\xc1", 15)
@example(b"\xc7\x03\xff\0\0\0", 15)
def test_any_bytes_behind_a_good_beginning(noise, kept):
    assume(WHOLE[:kept] + noise != WHOLE)
    for pieces in ([WHOLE[:kept] + noise], one_by_one(WHOLE[:kept] + noise)):
        with pytest.raises(FormatError):
            decode(*pieces)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=9)
    | st.binary(max_size=9),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(max_size=9), values, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(list(SPEC_DATA)), VALUES), VALUES, VALUES, VALUES)
def test_headers_of_any_values(changes, rows, every, first):
    fields = map(msgpack.packb, (SPEC_DATA | changes, rows, every, first))
    data = sealed(BEGINNING, *fields)
    with pytest.raises(FormatError):
        decode(data)


@given(VALUES)
def test_headers_of_any_spec_are_refused_or_read_as_they_are(value):
    data = plain_header(SPEC_DATA | {"p_east": value}, 2, 0, 0) + plain_end(0, False)
    try:
        events = decode(data)
    except FormatError:
        return
    assert encode(*events) == data


@given(st.binary(max_size=40))
def test_any_bytes_are_no_end_frame(data):
    with pytest.raises(FormatError, match="an end frame has 20 bytes"):
        frames.decode_end(data)


def test_only_bytes_may_be_fed():
    decoder = FrameDecoder()
    for wrong in (5, "text", None):
        with pytest.raises(TypeError):
            decoder.feed(wrong)
    decoder.feed(WHOLE[:3])
    for wrong in (5, "text", None):
        with pytest.raises(TypeError):
            decoder.feed(wrong)
