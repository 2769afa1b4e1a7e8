"""What all snapshots have in common: a kind, a version, the spec, the end and the row to come, sealed.

docs/FORMAT.md, "Snapshot", has the bytes. The streams of an algorithm add what else their state is (`state.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgpack  # type: ignore[import-untyped]

from .errors import FormatError, SpecError, VersionError
from .sealed import check_seal, seal, uint64
from .spec import MAX_ROW, MazeSpec, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

SNAPSHOT_VERSION = 1
_FIXARRAY = 0x90
_COMMON_FIELDS = 6


def pack(kind: str, spec: MazeSpec, end: int | None, row: int, *fields: Sequence[bytes]) -> bytes:
    """Return the bytes of a snapshot; each of `fields` is a field's bytes, in pieces. Integers have fixed widths."""
    pieces = [bytes([_FIXARRAY + _COMMON_FIELDS + len(fields)])]
    pieces += [*map(msgpack.packb, (kind, SNAPSHOT_VERSION, spec.to_data())), uint64(end or 0), uint64(row)]
    pieces += [piece for field in fields for piece in field]
    return b"".join([*pieces, seal(pieces)])


def unpack(kind: str, data: bytes, more: int = 0) -> tuple[MazeSpec, int | None, int, list[Any]]:
    """Return the spec, the end, the row and `more` fields of a snapshot.

    Raises FormatError for bytes that are no snapshot of this kind, damaged, or of no place in the spec's maze;
    VersionError for a newer one. Whether packing them again gives these bytes is for the caller to look at.
    """
    spec_data, end, row, *fields, _ = _fields(kind, data, _COMMON_FIELDS + more)
    check_seal(data, "the snapshot")
    try:
        spec = MazeSpec.from_data(spec_data)
    except SpecError as error:
        raise FormatError(f"the snapshot's spec: {error}") from None
    if type(end) is not int or type(row) is not int:
        raise FormatError("a snapshot holds its end and its row as integers")
    most = MAX_ROW if spec.height is None else spec.height
    fits = 0 <= end <= most if spec.height is None else 1 <= end <= most
    if not fits or not 0 <= row <= (end or most):
        raise FormatError(f"the snapshot's row {row} and end {end or None} are not of a maze of height {spec.height}")
    return spec, end or None, row, fields


def _fields(kind: str, data: bytes, count: int) -> list[Any]:
    """Return the fields of a snapshot behind its version."""
    limits = {"max_array_len": 512, "max_map_len": 64, "max_str_len": 256, "max_ext_len": 0}
    try:
        fields = msgpack.unpackb(data, max_bin_len=len(data), **limits)
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        raise FormatError(f"the bytes are no snapshot: {shown(str(error) or type(error).__name__)}") from None
    if not isinstance(fields, list) or len(fields) < 2 or fields[0] != kind:
        raise FormatError(f"the bytes are no snapshot: an array that begins with {kind} was expected")
    if fields[1] != SNAPSHOT_VERSION:
        raise VersionError(f"the snapshot is of version {shown(fields[1])}, and this program reads {SNAPSHOT_VERSION}")
    if len(fields) != count:
        raise FormatError(f"a snapshot has {count} fields, not {len(fields)}")
    return fields[2:]


def check_canonical(packed: bytes, data: bytes) -> None:
    """Raise FormatError unless a snapshot's bytes are the ones that its fields are packed as."""
    if packed != data:
        raise FormatError("the snapshot's numbers are not written in their fixed widths")
