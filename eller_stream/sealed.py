"""One msgpack array closed by a CRC-32: the outer shape of every frame and every snapshot.

The last field is the CRC-32 (zlib's) of all the bytes before it, as a msgpack uint32 of fixed
width: the array's head and every other field are covered, whatever they hold. Here too are the fields of fixed
width that both are made of.

Where the package isal is there (the extra `fast`), its CRC-32 is taken: the same number, at memory speed.
"""

from __future__ import annotations

from collections.abc import Iterable

from .errors import FormatError

try:
    from isal.isal_zlib import crc32
except ImportError:
    from zlib import crc32

SEAL_SIZE = 5
BIN_HEAD_SIZE = 5
_UINT32 = b"\xce"
_UINT64, _BIN32 = b"\xcf", b"\xc6"


def seal(pieces: Iterable[bytes | bytearray | memoryview]) -> bytes:
    """Return the closing field for an array whose bytes so far are `pieces`."""
    crc = 0
    for piece in pieces:
        crc = crc32(piece, crc)
    return _UINT32 + crc.to_bytes(4, "big")


def check_seal(sealed: bytes | bytearray | memoryview, what: str) -> None:
    """Raise FormatError unless the array's last field is the CRC-32 of the rest."""
    view = memoryview(sealed)
    if len(view) < SEAL_SIZE or bytes(view[-SEAL_SIZE:]) != seal([view[:-SEAL_SIZE]]):
        raise FormatError(f"{what}: the checksum does not fit the bytes, so some were changed or lost")


def uint64(number: int) -> bytes:
    """Return a msgpack integer of fixed width, 9 bytes."""
    return _UINT64 + number.to_bytes(8, "big")


def bin_head(size: int) -> bytes:
    """Return what stands before `size` bytes of msgpack bin: 5 bytes, whatever the size."""
    return _BIN32 + size.to_bytes(4, "big")
