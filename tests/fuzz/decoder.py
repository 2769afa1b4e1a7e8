"""A coverage-guided search (atheris, libFuzzer) for bytes that the decoder takes badly; run it as a script.

    pip install -e . atheris
    python tests/fuzz/decoder.py                          # half a minute
    python tests/fuzz/decoder.py -max_total_time=3600     # any of libFuzzer's options

It begins from the vectors of docs/vectors/format-v1.json. Every input is decoded as it is and once more with the
checksums of its frames mended, since no search gets past a CRC-32; each in one piece and in many. What must hold: no
error comes out but the format's; the events and the error are the same whatever the pieces; what was accepted
is, encoded again, the bytes that came; no frame above the bound is waited for. The script ends with an error, and
libFuzzer writes the input to a file, where one of these does not.
"""

import json
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["eller_stream", "msgpack"]):
    import msgpack

    from eller_stream import frames
    from eller_stream.errors import FormatError
    from eller_stream.sealed import SEAL_SIZE, seal

VECTORS = Path(__file__).parents[2] / "docs" / "vectors" / "format-v1.json"
MOST = 2**16
SECONDS = 30
ENCODERS = {
    frames.Header: frames.encode_header,
    frames.Rows: frames.encode_rows,
    frames.Checkpoint: frames.encode_checkpoint,
    frames.End: frames.encode_end,
}


def decoded(data: bytes, piece: int) -> tuple[list[bytes], str]:
    """Return the events of the bytes, encoded again, and the error at the end of them."""
    decoder = frames.FrameDecoder(MOST)
    events: list[bytes] = []
    try:
        for start in range(0, len(data), piece):
            decoder.feed(data[start : start + piece])
            for event in decoder.events():
                events.append(b"".join(ENCODERS[type(event)](event)))
            assert decoder.wanted <= 2 * MOST + 256 * 2**10
        decoder.close()
    except FormatError as error:
        return events, type(error).__name__
    return events, ""


def mended(data: bytes) -> bytes:
    """Return the bytes with a right checksum at the end of each msgpack value that has room for one."""
    unpacker = msgpack.Unpacker(max_buffer_size=0)
    unpacker.feed(data)
    done, begin = b"", 0
    try:
        while True:
            unpacker.skip()
            end = unpacker.tell()
            body = data[begin : max(begin, end - SEAL_SIZE)]
            done, begin = done + body + seal([body]), end
    except Exception:  # no more whole values, or none at all
        return done + data[begin:]


def check(data: bytes) -> None:
    """Decode an input in all ways; AssertionError, or whatever came out, where something does not hold."""
    for case in (data, mended(data)):
        whole = decoded(case, len(case) or 1)
        assert case.startswith(b"".join(whole[0]))
        for piece in (1, 7, 64):
            assert decoded(case, piece) == whole


def seeds(folder: Path) -> None:
    """Write the vectors' bytes into a folder, a file each."""
    vectors = json.loads(VECTORS.read_text())
    for number, case in enumerate(vectors["good"] + vectors["bad"]):
        (folder / str(number)).write_bytes(bytes.fromhex("".join(case["frames"])))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        seeds(Path(folder))
        options = sys.argv[1:] or [f"-max_total_time={SECONDS}"]
        atheris.Setup([sys.argv[0], "-max_len=4096", *options, folder], check)
        atheris.Fuzz()
