"""The protocol as bytes: the document's vectors, every message there and back, garbage and hostile lengths."""

import json
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from net_helpers import ByHand, serving, small

from eller_stream import EllerStream
from eller_stream.errors import NetError
from eller_stream.frames import Header, Rows, encode_header, encode_rows
from eller_stream.net import protocol
from eller_stream.net.conversation import Conversation
from eller_stream.net.limits import ClientLimits
from eller_stream.net.protocol import PacketDecoder, decode, encode, is_frame
from eller_stream.spec import MAX_ROW

DOCS = Path(__file__).parents[1] / "docs"
VECTORS = json.loads((DOCS / "vectors" / "protocol-v1.json").read_text())
SIDES = {"client": protocol.FROM_CLIENT, "server": protocol.FROM_SERVER}
MOST = 2**16


def packet(*pieces):
    return b"".join(protocol.packet(*pieces))


def content_of(data, most=MOST):
    """Return the content of the only packet in the bytes."""
    decoder = PacketDecoder(most)
    (content,) = decoder.feed(data)
    assert decoder.empty
    return content


# ---- vectors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", VECTORS["messages"], ids=lambda v: v["fields"][0])
def test_the_documents_messages(vector):
    data = bytes.fromhex(vector["packet"])
    message = decode(content_of(data), SIDES[vector["from"]])
    fields = [bytes.fromhex(f["bin"]) if isinstance(f, dict) and "bin" in f else f for f in vector["fields"]]
    assert list(astuple(message)) == fields[1:]
    assert encode(message) == data
    other = SIDES["client" if vector["from"] == "server" else "server"]
    with pytest.raises(NetError, match=f"of the kind '{fields[0]}' came"):
        decode(content_of(data), other)


@pytest.mark.parametrize("vector", VECTORS["bad"], ids=lambda v: v["why"])
def test_the_documents_bad_packets(vector):
    with pytest.raises(NetError):
        decode(content_of(bytes.fromhex(vector["packet"])), SIDES[vector["from"]])


@pytest.fixture(scope="module")
def served():
    with serving() as server:
        yield server


@pytest.mark.parametrize("talk", VECTORS["conversations"], ids=lambda v: v["name"])
def test_the_documents_conversations(served, talk):
    with ByHand(served.port) as client:
        for turn in talk["turns"]:
            client.say(*map(bytes.fromhex, turn["client"]))
            for data in turn["server"]:
                assert client.packet() == bytes.fromhex(data)[5:]


def test_the_vectors_are_those_that_the_script_writes(tmp_path):
    """The script builds them with msgpack and zlib alone."""
    script = Path(__file__).with_name("make_protocol_vectors.py")
    code = f"import pathlib, runpy; m = runpy.run_path({str(script)!r}); m['main'].__globals__['OUT'] = "
    code += f"pathlib.Path({str(tmp_path / 'v.json')!r}); m['main']()"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert json.loads((tmp_path / "v.json").read_text()) == VECTORS


# ---- messages --------------------------------------------------------------------------------

rows = st.integers(0, MAX_ROW)
numbers = st.integers(0, 2**32 - 1)
messages = st.one_of(
    st.builds(protocol.Hello, numbers, st.none() | st.binary(max_size=1024)),
    st.builds(protocol.Open, numbers, st.none() | st.just(small(65).to_data()), st.none() | rows, st.none() | rows),
    st.builds(protocol.Jump, numbers, rows),
    st.builds(protocol.Finalize, numbers, rows),
    st.builds(protocol.State, numbers, rows),
    st.builds(protocol.More, rows),
    st.builds(protocol.Welcome, numbers),
    st.builds(protocol.Answer, numbers, rows, st.none() | rows),
    st.builds(protocol.Snapshot, numbers, rows, st.binary(max_size=3000)),
    st.builds(protocol.Wait, rows),
    st.builds(protocol.Refusal, st.text(max_size=32), st.text(max_size=500)),
)
BOTH = (*protocol.FROM_CLIENT, *protocol.FROM_SERVER)


@given(st.lists(messages, min_size=1, max_size=5), st.data())
def test_messages_there_and_back_in_any_pieces(said, data):
    decoder, whole, came = PacketDecoder(MOST), b"".join(map(encode, said)), []
    while whole:
        size = data.draw(st.sampled_from([1, 2, 5, 7, len(decoder.space()), len(whole)]))
        came += [decode(content, BOTH) for content in decoder.feed(whole[:size])]
        whole = whole[size:]
    assert came == said
    assert decoder.empty


@given(messages, st.data())
def test_a_changed_byte_is_seen(message, data):
    content = bytearray(encode(message)[5:])
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(NetError):
        decode(bytes(content), BOTH)


@given(st.binary(max_size=60))
def test_garbage_is_told(garbage):
    with pytest.raises(NetError):
        decode(garbage, BOTH)
    if garbage and garbage[0] != 0xC6:
        with pytest.raises(NetError, match="no packet"):
            list(PacketDecoder(MOST).feed(garbage))


@pytest.mark.parametrize("size", [MOST + 1, 2**31, 2**32 - 1])
def test_a_hostile_length_is_told_before_it_is_waited_for(size):
    with pytest.raises(NetError, match=f"{size} bytes, at most {MOST} were expected"):
        list(PacketDecoder(MOST).feed(b"\xc6" + size.to_bytes(4, "big")))


def test_the_longest_packet():
    assert list(PacketDecoder(MOST).feed(packet(bytes(MOST)))) == [bytes(MOST)]


@pytest.mark.parametrize("content", [b"\x92\xa1a", b"\xc1" * 20, b"\xdd\xff\xff\xff\xff", b"\x91" * 1000])
def test_msgpack_bombs_are_told(content):
    """Closed with a fitting checksum, so that they are looked into."""
    from eller_stream.sealed import seal

    with pytest.raises(NetError):
        decode(content + seal([content]), BOTH)


def test_frames_and_messages_are_told_apart():
    header = b"".join(encode_header(Header.of(small())))
    assert is_frame(header)
    assert not is_frame(encode(protocol.More(1))[5:])
    assert not is_frame(b"")


# ---- a server that says wrong things ---------------------------------------------------------


def conversation(spec=None, **limits):
    talk = Conversation(small() if spec is None else spec, None, None, None, ClientLimits(**limits))
    talk.begin()
    talk.outgoing()
    return talk


def header(spec, first=0, rows=4096):
    return packet(*encode_header(Header(spec, rows, 0, first)))


def answer(row=0, number=1):
    return encode(protocol.Answer(number, row, None))


WELCOME = encode(protocol.Welcome(16))
WRONG = {
    "no welcome": (answer(), "kind 'answer' came; welcome, refused was expected"),
    "a second welcome": (WELCOME + WELCOME, "kind 'welcome' came"),
    "another row": (WELCOME + answer(5), "answers from row 5, row 0 was asked for"),
    "another maze": (WELCOME + answer() + header(small(65)), "width=65.* was asked for"),
    "another first row": (WELCOME + answer() + header(small(), 4), "begin at 4, not at 0"),
    "frames too long": (WELCOME + answer() + header(small(), rows=2**24), "damaged frame: .*this reader takes"),
    "a damaged frame": (
        WELCOME + answer() + packet(header(small())[5:-1] + b"x"),
        "damaged frame: header: the checksum",
    ),
    "what a client says": (WELCOME + encode(protocol.More(1)), "kind 'more' came"),
    "refused": (encode(protocol.Refusal("token", "no")), r"the server ended it: no \(token\)"),
    "garbage": (b"HTTP/1.1 400 Bad Request", "no packet: it begins with b'H"),
    "a hostile length": (b"\xc6\xff\xff\xff\xff", "4294967295 bytes, at most 67108864"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("size", [1, 10**6])
def test_a_client_tells_what_is_wrong(name, size):
    said, message = WRONG[name]
    talk = conversation()
    with pytest.raises(NetError, match=message):
        receive_all(talk, [said[at : at + size] for at in range(0, len(said), size)])


def receive_all(talk, pieces):
    for piece in map(memoryview, pieces):
        while piece:
            space = talk.space()
            count = min(len(space), len(piece))
            space[:count] = piece[:count]
            talk.filled(count)
            piece = piece[count:]


def test_a_client_refuses_rows_it_has_no_room_for():
    """The rows are good, but the client has told of room for one frame only."""
    stream = EllerStream(64, seed=1)
    frames = [packet(*encode_rows(Rows(stream.read(4096), False))) for _ in range(2)]
    talk = conversation(ahead=1)
    receive_all(talk, [WELCOME + answer() + header(small()), frames[0]])
    talk.outgoing()
    with pytest.raises(NetError, match="sent row 4096, which was not asked for yet"):
        receive_all(talk, [frames[1]])


def test_a_new_connection_asks_again_for_all_that_has_not_come():
    talk = conversation()
    receive_all(talk, [WELCOME + answer() + header(small())])
    talk.finalize()
    talk.ask_state()
    talk.begin()
    said = [decode(content, protocol.FROM_CLIENT) for content in PacketDecoder(MOST).feed(talk.outgoing())]
    assert [message for message in said if not isinstance(message, protocol.More)] == [
        protocol.Hello(1, None),
        protocol.Open(4, small().to_data(), 0, None),
        protocol.Finalize(5, 0),
        protocol.State(6, 0),
    ]
