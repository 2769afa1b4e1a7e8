"""Writes docs/vectors/protocol-v1.json, with msgpack and zlib alone: nothing of the package's protocol code is used.

    python tests/make_protocol_vectors.py

Only the rows come from the package, whose own vectors are in stream-v1.json and format-v1.json. Once released the
vectors never change.
"""

import json
import zlib
from pathlib import Path

import msgpack

from eller_stream import EllerStream
from eller_stream.frames import End, Header, Rows, encode_end, encode_header, encode_rows

OUT = Path(__file__).parents[1] / "docs" / "vectors" / "protocol-v1.json"
SPEC = EllerStream(10, seed=1).spec.to_data()


def sealed(*fields, crc=None):
    content = bytes([0x90 + len(fields) + 1]) + b"".join(map(msgpack.packb, fields))
    return content + b"\xce" + (zlib.crc32(content) if crc is None else crc).to_bytes(4, "big")


def packet(content):
    return b"\xc6" + len(content).to_bytes(4, "big") + content


def said(*fields):
    return packet(sealed(*fields))


def frame(pieces):
    return packet(b"".join(pieces))


MESSAGES = {
    "client": [
        ("eller-net", 1, None),
        ("eller-net", 1, b"a secret"),
        ("open", 1, SPEC, 0, None),
        ("open", 2, None, None, None),
        ("open", 2**32 - 1, None, 2**40, 2**48),
        ("jump", 3, 2**33 + 5),
        ("finalize", 4, 77, 1),
        ("state", 5, 0),
        ("more", 4097),
    ],
    "server": [
        ("welcome", 16),
        ("answer", 1, 0, None),
        ("answer", 4, 77, 78),
        ("snapshot", 5, 0, b"\x00\x01\x02"),
        ("wait", 70_000),
        ("refused", "busy", "there are 64 clients already"),
    ],
}
BAD = [
    ("client", "no packet", b"GET / HTTP/1.1\r\n\r\n"),
    ("client", "a length beyond the bound", b"\xc6\xff\xff\xff\xff"),
    ("client", "an empty packet", packet(b"")),
    ("client", "a damaged checksum", packet(sealed("more", 1, crc=0))),
    ("client", "an unknown kind", said("nonsense", 1)),
    ("client", "what only a server says", said("welcome", 16)),
    ("client", "a field too many", said("more", 1, 2)),
    ("client", "a field too few", said("jump", 1)),
    ("client", "a row beyond 2^48", said("more", 2**48 + 1)),
    ("client", "a row below 0", said("more", -1)),
    ("client", "a float", said("more", 1.0)),
    ("client", "a bool", said("more", True)),
    ("client", "a number beyond 2^32 - 1", said("jump", 2**32, 0)),
    ("client", "a token too long", said("eller-net", 1, bytes(1025))),
    ("client", "a token that is a text", said("eller-net", 1, "secret")),
    ("client", "an integer longer than it need be", None),
    ("server", "a snapshot that is a text", said("snapshot", 1, 0, "x")),
    ("server", "a reason too long", said("refused", "busy", "x" * 501)),
]


def long_integer():
    """Return `more 1` with the row in 9 bytes instead of one."""
    content = b"\x93" + msgpack.packb("more") + b"\xcf" + (1).to_bytes(8, "big")
    return packet(content + b"\xce" + zlib.crc32(content).to_bytes(4, "big"))


def rows_from(stream, first, counts):
    """Return the packets of an answer: header, rows frames, and the end if the maze has ended."""
    packets = [frame(encode_header(Header(stream.spec, 4096, 0, first)))]
    stream.seek(first)
    for count in counts:
        block = stream.read(count)
        packets.append(frame(encode_rows(Rows(block, block.ends))))
    if stream.height == stream.position:
        packets.append(frame(encode_end(End(stream.position - first, True))))
    return packets


def conversations():
    """Yield (name, turns): the client says the first packets of a turn, and the server answers with the second."""
    short = EllerStream(10, seed=1, height=6)
    endless = EllerStream(10, seed=1)
    sent_ahead = rows_from(endless, 4090, [6])
    endless.seek(4093)
    endless.finalize()
    state = EllerStream(10, seed=1, height=6)
    state.seek(3)
    hello, welcome = said("eller-net", 1, None), said("welcome", 16)
    yield (
        "a whole maze",
        [
            (
                [hello, said("open", 1, short.spec.to_data(), 0, None), said("more", 1)],
                [welcome, said("answer", 1, 0, 6), *rows_from(short, 0, [6])],
            )
        ],
    )
    yield (
        "finalized at row 4093, within a frame that was sent",
        [
            (
                [hello, said("open", 1, SPEC, 4090, None), said("more", 4091)],
                [welcome, said("answer", 1, 4090, None), *sent_ahead],
            ),
            (
                [said("finalize", 2, 4093, 1), said("more", 4094)],
                [said("answer", 2, 4093, 4094), *rows_from(endless, 4093, [1])],
            ),
        ],
    )
    header, *rest = part(short, 2, 2)
    yield (
        "up to row 4 alone: a state, the rows, a jump",
        [
            ([hello, said("open", 1, short.spec.to_data(), 2, 4)], [welcome, said("answer", 1, 2, 6), header]),
            ([said("state", 2, 3)], [said("snapshot", 2, 3, state.snapshot())]),
            ([said("more", 3)], rest),
            ([said("jump", 3, 3), said("more", 4)], [said("answer", 3, 3, 6), *part(short, 3, 1)]),
        ],
    )
    yield (
        "a client newer than the server",
        [([said("eller-net", 9, None)], [said("refused", "version", "version 9 was asked for, this server speaks 1")])],
    )


def part(stream, first, count):
    return [*rows_from(stream, first, [count]), frame(encode_end(End(count, False)))]


def main():
    bad = [(side, why, long_integer() if data is None else data) for side, why, data in BAD]
    vectors = {
        "messages": [
            {"from": side, "fields": plain(fields), "packet": said(*fields).hex()}
            for side, messages in MESSAGES.items()
            for fields in messages
        ],
        "bad": [{"from": side, "why": why, "packet": data.hex()} for side, why, data in bad],
        "conversations": [
            {"name": name, "turns": [{"client": hexed(client), "server": hexed(server)} for client, server in turns]}
            for name, turns in conversations()
        ],
    }
    OUT.write_text(json.dumps(vectors, indent=1) + "\n")


def hexed(packets):
    return [data.hex() for data in packets]


def plain(fields):
    """Return fields as JSON holds them: bins are hexadecimal digits, as {"bin": ...}."""
    return [{"bin": field.hex()} if isinstance(field, bytes) else field for field in fields]


if __name__ == "__main__":
    main()
