"""Snapshots: a restored stream goes on as if nothing had happened, and no other bytes are taken."""

import json
import struct
import zlib
from dataclasses import replace

import msgpack
import numpy as np
import pytest
from helpers import bits_of_labels, packed, seeds, specs
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eller_stream.errors import FormatError, StreamError, VersionError
from eller_stream.spec import MAX_ROW, MazeSpec
from eller_stream.stream import EllerStream

STEPS = st.lists(
    st.tuples(st.sampled_from(["next", "read", "seek", "finalize", "sets"]), st.integers(0, 40)), max_size=5
)


def go(stream, steps):
    """Take some steps; return what they gave, as plain values."""
    seen = []
    for step, number in steps:
        end = stream.height
        if step == "next":
            seen += [(row.index, row.cells().tolist()) for row, _ in zip(stream, range(number), strict=False)]
        elif step == "read":
            block = stream.read(number)
            seen.append((block.start, block.north.tolist(), block.cells().tolist()))
        elif step == "seek":
            stream.seek(number if end is None else min(number, end))
        elif step == "sets":
            seen.append(stream.sets.tolist())
        else:
            seen.append(finalized(stream))
    return seen, stream.position, stream.height


def finalized(stream):
    """Finalize; return whether the stream took it."""
    try:
        stream.finalize()
    except StreamError:
        return False
    return True


def refused(data, error=FormatError):
    with pytest.raises(error) as caught:
        EllerStream.restore(data)
    assert type(caught.value) in (FormatError, VersionError)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


# ---- the same as if it had gone on -------------------------------------------------------------------


@given(spec=specs(heights=(None, 1, 30)), before=STEPS, after=STEPS)
@settings(max_examples=150)
@example(spec=MazeSpec(9, seed=1, key_interval=0, loops=0.5, braid=1), before=[("next", 9)], after=[("read", 9)])
@example(spec=MazeSpec(9, seed=1, height=30), before=[("next", 40)], after=[("next", 1), ("seek", 3), ("read", 40)])
@example(spec=MazeSpec(9, seed=1), before=[], after=[("read", 40)])
def test_a_snapshot_changes_nothing(backend, spec, before, after):
    stream = EllerStream.from_spec(spec)
    go(stream, before)
    snapshot = stream.snapshot()
    restored = EllerStream.restore(snapshot)
    assert (restored.spec, restored.position, restored.height) == (spec, stream.position, stream.height)
    assert restored.snapshot() == stream.snapshot() == snapshot
    assert go(restored, after) == go(stream, after)
    assert restored.snapshot() == stream.snapshot()


@given(spec=specs(), row=st.integers(0, 60), taken=st.integers(0, 9))
@settings(max_examples=60)
def test_a_snapshot_tells_the_row_and_not_the_way_to_it(backend, spec, row, taken):
    streams = [EllerStream.from_spec(spec) for _ in range(3)]
    streams[0].read(row + taken)
    streams[1].seek(row)
    for _ in range(taken):
        next(streams[1])
    for _ in range(row + taken):
        next(streams[2])
    assert len({stream.snapshot() for stream in streams}) == 1


@pytest.mark.parametrize("height", [None, 5, 40])
def test_what_was_finalized_stays_so(backend, height):
    """Also where the last row is the one that was planned anyway."""
    stream = EllerStream(5, seed=1, height=height)
    stream.read(4)
    stream.finalize()
    restored = EllerStream.restore(stream.snapshot())
    assert restored.height == stream.height == 5
    assert finalized(restored) == finalized(stream)


def test_far_rows(backend):
    stream = EllerStream(70, seed=1, loops=0.5, braid=0.5)
    for row in (2**32 - 1, 2**48 - 5, 2**48):
        stream.seek(row)
        restored = EllerStream.restore(stream.snapshot())
        assert restored.position == row
        assert row == MAX_ROW or restored.read(3) == stream.read(3)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_are_taken(backend, kind):
    stream = EllerStream(5, seed=1)
    stream.read(3)
    assert EllerStream.restore(kind(stream.snapshot())).read(2) == stream.read(2)


def test_snapshots_cross_from_one_backend_to_the_other(request):
    from eller_stream import kernel

    if request.config.getoption("--without-c"):
        pytest.skip("the C backend is left out")
    snapshots = {}
    for backend in ("c", "python"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernel, "carve", kernel.carver(backend))
            stream = EllerStream(300, seed=1, key_interval=0, loops=0.2, braid=0.2)
            stream.read(77)
            snapshots[backend] = stream.snapshot()
    assert snapshots["c"] == snapshots["python"]


# ---- the bytes, written once more ----------------------------------------------------------------------

SPEC = MazeSpec(11, seed=7, height=40, p_east=[(0, 0.5), (9, 0.25)], key_interval=0, loops=0.1, braid=0.2)
ENDLESS = replace(SPEC, height=None)
LABELS = [0, 0, 2, 3, 3, 5, 0, 7, 8, 7, 10]


def u64(number):
    return b"\xcf" + struct.pack(">Q", number) if type(number) is int and number >= 0 else msgpack.packb(number)


def bin32(plane):
    return b"\xc6" + struct.pack(">I", len(plane)) + plane if isinstance(plane, bytes) else msgpack.packb(plane)


def sealed(body):
    return body + b"\xce" + struct.pack(">I", zlib.crc32(body))


def planes_of(labels, above=None):
    has_next, has_prev = bits_of_labels(labels)
    above = [a or b for a, b in zip(has_next, has_prev, strict=True)] if above is None else above
    return [packed(bits) for bits in (has_next, has_prev, above)]


def forged(spec=SPEC, end=40, row=20, planes=None, *, kind="eller-snapshot", version=1, more=()):
    """Return a snapshot with a right checksum, of whatever fields."""
    data = spec.to_data() if isinstance(spec, MazeSpec) else spec
    fields = [*map(msgpack.packb, (kind, version, data)), u64(0 if end is None else end), u64(row)]
    fields += [bin32(plane) for plane in (planes_of(LABELS) if planes is None else planes)]
    fields += [msgpack.packb(field) for field in more]
    return sealed(bytes([0x91 + len(fields)]) + b"".join(fields))


@pytest.mark.parametrize(("spec", "end"), [(SPEC, 40), (ENDLESS, None), (SPEC, 25), (ENDLESS, 25)])
def test_the_bytes_by_hand(backend, spec, end):
    stream = EllerStream.restore(forged(spec, end))
    assert (stream.spec, stream.height, stream.position) == (spec, end, 20)
    assert stream.sets.tolist() == LABELS
    assert stream.snapshot() == forged(spec, end)
    read = EllerStream.from_spec(spec)
    read.read(20)
    state = [np.frombuffer(plane, np.uint8) for plane in msgpack.unpackb(read.snapshot())[5:8]]
    assert read.snapshot() == forged(spec, spec.height, planes=[plane.tobytes() for plane in state])


# ---- damaged --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def snapshot():
    stream = EllerStream.from_spec(SPEC)
    stream.read(12)
    return stream.snapshot()


def test_every_flipped_bit_is_seen(snapshot):
    for i in range(8 * len(snapshot)):
        damaged = bytearray(snapshot)
        damaged[i // 8] ^= 1 << i % 8
        refused(damaged)


def test_every_cut_is_seen(snapshot):
    for size in range(len(snapshot)):
        refused(snapshot[:size])
        refused(snapshot[size + 1 :])


def test_a_changed_plane_is_told_by_the_checksum(snapshot):
    damaged = bytearray(snapshot)
    damaged[-7] ^= 1
    with pytest.raises(FormatError, match="checksum"):
        EllerStream.restore(damaged)


@pytest.mark.parametrize("more", [b"\0", b"\xc0", b"\x99", b"\xff" * 9])
def test_trailing_bytes_are_seen(snapshot, more):
    refused(snapshot + more)
    refused(more + snapshot)
    refused(snapshot + snapshot)


@given(i=st.integers(0, 400), byte=st.integers(0, 255), seal=st.booleans())
@settings(max_examples=300)
def test_changed_bytes_with_a_right_checksum_are_refused_or_another_snapshot(i, byte, seal):
    damaged = bytearray(forged())
    i %= len(damaged) - 5
    damaged[i] = byte
    data = sealed(bytes(damaged[:-5])) if seal else bytes(damaged)
    accepted_or_refused(data)


def accepted_or_refused(data):
    """What is taken is, byte for byte, what the restored stream would write."""
    try:
        stream = EllerStream.restore(data)
    except FormatError:
        return
    assert stream.snapshot() == data
    assert stream.spec.width > 4096 or (stream.read(3), stream.sets) is not None


# ---- forged ----------------------------------------------------------------------------------------------

OTHER_SPECS = {
    "no spec": None,
    "a list": [],
    "a map of nothing": {},
    "no seed": {name: value for name, value in SPEC.to_data().items() if name != "seed"},
    "one thing more": SPEC.to_data() | {"more": 1},
    "another order": dict(reversed(SPEC.to_data().items())),
    "JSON's seed": SPEC.to_json(),
    "JSON": json.dumps(SPEC.to_json()),
    "width 0": SPEC.to_data() | {"width": 0},
    "another width": SPEC.to_data() | {"width": 17},
    "an enormous width": SPEC.to_data() | {"width": 2**31 - 1},
    "a float": SPEC.to_data() | {"height": 40.0},
    "another algorithm": SPEC.to_data() | {"algorithm": "wilson"},
    "repeated values": SPEC.to_data() | {"p_south": [[0, 32_768], [3, 32_768]]},
    "no probability": SPEC.to_data() | {"braid": 65_537},
    "an odd key interval": SPEC.to_data() | {"key_interval": 3},
    "300 pairs": SPEC.to_data() | {"loops": [[i, i % 2] for i in range(300)]},
    "600 pairs": SPEC.to_data() | {"loops": [[i, i % 2] for i in range(600)]},
}


@pytest.mark.parametrize("name", OTHER_SPECS)
def test_other_specs(name):
    refused(forged(OTHER_SPECS[name]))


@pytest.mark.parametrize(
    ("spec", "end", "row"),
    [
        (SPEC, 40, 41),
        (SPEC, 41, 20),
        (SPEC, 41, 41),
        (SPEC, 19, 20),
        (SPEC, None, 20),
        (SPEC, 0, 0),
        (SPEC, MAX_ROW + 1, 20),
        (ENDLESS, MAX_ROW + 1, 20),
        (ENDLESS, None, MAX_ROW + 1),
        (ENDLESS, None, 2**64 - 1),
        (ENDLESS, 2**64 - 1, 20),
        (SPEC, 40, -1),
        (SPEC, -1, 20),
        (SPEC, 40, 20.0),
        (SPEC, 40.0, 20),
        (SPEC, 40, None),
        (SPEC, 40, "20"),
        (SPEC, "40", 20),
        (SPEC, 40, b"20"),
        (ENDLESS, None, True),
        (SPEC, True, 1),
        (SPEC, False, 0),
        (SPEC, 40, [20]),
        (SPEC, [40], 20),
        (SPEC, 40, {}),
    ],
)
def test_other_rows_and_ends(spec, end, row):
    nothing = [bytes(2)] * 3
    for planes in (None, nothing):
        refused(forged(spec, end, row, planes))


@pytest.mark.parametrize(
    "planes",
    [
        planes_of(LABELS)[:2],
        [*planes_of(LABELS), b"\0\0"],
        [*planes_of(LABELS)[:2], None],
        [*planes_of(LABELS)[:2], "\0\0"],
        [*planes_of(LABELS)[:2], 0],
        [*planes_of(LABELS)[:2], [0, 0]],
        [plane + b"\0" for plane in planes_of(LABELS)],
        [plane[:1] for plane in planes_of(LABELS)],
        [b"", *planes_of(LABELS)[1:]],
        [b"\0" * 1, b"\0" * 3, b"\xff\x07"],
        [b"\0\0", b"\0\0", b"\xff\x0f"],
        [b"\0\x08", b"\0\0", b"\xff\x07"],
        [b"\0\0", b"\0\x80", b"\xff\x07"],
        [b"\1\0", b"\0\0", b"\xff\x07"],
        [b"\0\0", b"\1\0", b"\xff\x07"],
        [b"\0\x04", b"\0\0", b"\xff\x07"],
        [b"\2\0", b"\1\0", b"\xff\x07"],
        [b"\3\0", b"\xf0\0", b"\xff\x07"],
        [b"\1\0", b"\2\0", b"\2\0"],
        [b"\1\0", b"\2\0", b"\1\0"],
        [b"\1\0", b"\4\0", b"\6\0"],
        [b"\0\0", b"\0\0", b"\0\0"],
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_planes(planes):
    """Too few or many, no bytes, other sizes, spare bits, brackets that do not balance, sets with nothing above."""
    refused(forged(planes=planes))


def test_a_state_at_the_edges_of_the_maze():
    """Above row 0 and below the last row there is nothing."""
    nothing, above, sets = [bytes(2)] * 3, [bytes(2), bytes(2), b"\1\0"], [b"\1\0", b"\2\0", b"\3\0"]
    for row, end in ((0, 40), (40, 40), (0, None), (1, 1)):
        spec = SPEC if end == 40 else ENDLESS
        assert EllerStream.restore(forged(spec, end, row, nothing)).position == row
        refused(forged(spec, end, row, above))
        refused(forged(spec, end, row, sets))


@pytest.mark.parametrize(
    "kind", ["eller-stream", "Eller-snapshot", "eller-snapshot ", "", b"eller-snapshot", None, 1, ["eller-snapshot"]]
)
def test_other_kinds(kind):
    refused(forged(kind=kind))


@pytest.mark.parametrize("version", [2, 127, 2**64 - 1])
def test_newer_versions(version):
    refused(forged(version=version), VersionError)


def test_a_newer_version_may_have_other_fields():
    """So its beginning alone must tell."""
    refused(forged(version=2, more=["what we do not know"]), VersionError)


@pytest.mark.parametrize("version", [0, -1, True, 1.0, "1", None, [1], {}])
def test_no_versions(version):
    refused(forged(version=version))


def test_another_number_of_fields():
    refused(forged(more=[None]))
    refused(sealed(b"\x91"))
    refused(sealed(b"\x92" + msgpack.packb("eller-snapshot")))
    refused(sealed(b"\xdc\x00\x09" + forged()[1:-5]))


def swapped(old, new):
    body = forged()[:-5]
    assert body.count(old) >= 1
    return sealed(body.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (u64(40), b"\x28"),
        (u64(40), b"\xcc\x28"),
        (u64(40), b"\xd3" + struct.pack(">q", 40)),
        (u64(20), b"\x14"),
        (u64(20), b"\xcd\x00\x14"),
        (u64(20), b"\xd3" + struct.pack(">q", 20)),
        (u64(20), b"\xcb" + struct.pack(">d", 20)),
        (b"\xc6\0\0\0\2", b"\xc4\2"),
        (b"\xc6\0\0\0\2", b"\xc5\0\2"),
        (b"\xc6\0\0\0\2", b"\xa2"),
        (b"\xc6\0\0\0\2", b"\xd7\0"),
        (b"\xaeeller-snapshot\x01", b"\xaeeller-snapshot\xcc\x01"),
        (b"\xaeeller-snapshot\x01", b"\xaeeller-snapshot\xc3"),
        (b"\xaeeller-snapshot", b"\xd9\x0eeller-snapshot"),
        (b"\xa5width\x0b", b"\xa5width\xcc\x0b"),
        (b"\xa5width\x0b", b"\xc4\x05width\x0b"),
        (b"\xa4seed\x07", b"\xa4seed\xcf" + bytes(7) + b"\x07"),
        (b"\xa4seed\x07", b"\xa4seed\xa17"),
    ],
)
def test_other_encodings_of_the_same(old, new):
    refused(swapped(old, new))


def test_the_checksum_has_one_encoding(snapshot):
    crc = struct.unpack(">I", snapshot[-4:])[0]
    refused(snapshot[:-5] + b"\xcf" + struct.pack(">Q", crc))
    refused(snapshot[:-5] + b"\xd3" + struct.pack(">q", crc))
    refused(snapshot[:-5] + b"\xc0")
    refused(snapshot[:-5] + b"\xce" + struct.pack("<I", crc))


# ---- anything ------------------------------------------------------------------------------------------------


@given(data=st.binary(max_size=200))
@example(data=b"")
@example(data=b"\x91" * 100_000)
@example(data=b"\x81" * 100_000)
@example(data=b"\xdd\xff\xff\xff\xff")
@example(data=b"\xdf\xff\xff\xff\xff")
@example(data=b"\xc6\xff\xff\xff\xff")
@example(data=b"\x99\xc6\xff\xff\xff\xff")
@example(data=b"\x99\xdb\xff\xff\xff\xff")
@example(data=b"\x99\xc9\xff\xff\xff\xff\x01")
@example(data=b"\x99\xd6\xff\0\0\0\0")
@example(data=b"\x99\x81\x90\x00")
@example(data=b"\x99\x81\xc0\x00")
@example(data=b"\x99\xae\xff\xff")
@example(data=b"\xc1")
def test_arbitrary_bytes_raise_format_error_only(data):
    refused(data)
    refused(sealed(data))
    refused(sealed(b"\x99\xaeeller-snapshot\x01" + data))


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=9)
    | st.binary(max_size=9)
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=8,
)


@given(data=ANYTHING)
def test_arbitrary_data_raises_format_error_only(data):
    refused(msgpack.packb(data))
    refused(sealed(msgpack.packb(data)))


@given(
    spec=ANYTHING | st.just(SPEC.to_data()),
    end=ANYTHING | st.just(40),
    row=ANYTHING | st.integers(0, 40),
    planes=st.lists(ANYTHING | st.binary(min_size=2, max_size=2), min_size=3, max_size=3),
)
@settings(max_examples=200)
def test_arbitrary_fields_raise_format_error_only(spec, end, row, planes):
    accepted_or_refused(forged(spec, end, row, planes))


@given(seed=seeds, planes=st.lists(st.binary(min_size=2, max_size=2), min_size=3, max_size=3), row=st.integers(0, 40))
@settings(max_examples=300)
def test_arbitrary_planes_raise_format_error_only(seed, planes, row):
    spare = [bytes([plane[0], plane[1] & 7]) for plane in planes]
    accepted_or_refused(forged(replace(SPEC, seed=seed), 40, row, spare))


@pytest.mark.parametrize("data", ["text", None, 5, 3.5, 2**60, object()], ids=lambda value: type(value).__name__)
def test_what_is_no_bytes_at_all(data):
    with pytest.raises((TypeError, FormatError)):
        EllerStream.restore(data)


def test_an_enormous_width_is_refused_before_any_memory_is_taken():
    data = ENDLESS.to_data() | {"width": 2**31 - 1, "key_interval": 0}
    refused(forged(data, None, 20))
