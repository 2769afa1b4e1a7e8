"""The state of a stream between two rows, and its snapshot: `State`, `pack_snapshot`, `unpack_snapshot`.

A state is the sets of the row to come, two bits a cell (`partition.py`), and what the row above opens south. That is
all that an Eller stream and a uniform one need besides their spec. docs/FORMAT.md, "Snapshot", has the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgpack  # type: ignore[import-untyped]
import numpy as np

from .block import pack_bits, row_bytes, unpack_bits
from .errors import FormatError, SpecError, VersionError
from .partition import is_row
from .sealed import bin_head, check_seal, seal, uint64
from .spec import MAX_ROW, MazeSpec, shown

if TYPE_CHECKING:
    from .block import Plane

SNAPSHOT_VERSION = 1
_SNAPSHOT_FIELDS = 9


@dataclass(frozen=True)
class State:
    """What determines the rows from `row` on: has_next, has_prev, and the passages south of the row above.

    `planes` holds the three packed planes one after another. `above` is as carved and braided, loops aside.
    """

    row: int
    planes: bytes

    @classmethod
    def at_top(cls, width: int) -> State:
        """Return the state of row 0: every cell is a set of its own."""
        return cls(0, bytes(3 * row_bytes(width)))

    def plane(self, k: int) -> Plane:
        """Return plane k: 0 has_next, 1 has_prev, 2 above."""
        size = len(self.planes) // 3
        return np.frombuffer(self.planes, np.uint8, size, k * size)


def snapshot_kind(algorithm: str) -> str:
    """Return what the snapshots of an algorithm's states begin with."""
    return f"{algorithm}-snapshot"


def pack_snapshot(spec: MazeSpec, end: int | None, state: State) -> bytes:
    """Return the bytes of a snapshot: all snapshots of a spec have one length."""
    pieces = [b"\x99", *map(msgpack.packb, (snapshot_kind(spec.algorithm), SNAPSHOT_VERSION, spec.to_data()))]
    pieces += [uint64(end or 0), uint64(state.row)]
    for k in range(3):
        plane = state.plane(k).tobytes()
        pieces += [bin_head(len(plane)), plane]
    return b"".join([*pieces, seal(pieces)])


def unpack_snapshot(algorithm: str, data: bytes) -> tuple[MazeSpec, int | None, State]:
    """Return what a snapshot of an algorithm's state says: spec, end and state.

    Raises FormatError unless it is, byte for byte, one that could have been packed; VersionError for a newer one.
    """
    spec_data, told_end, row, *planes, _ = _snapshot_fields(snapshot_kind(algorithm), data)
    try:
        spec = MazeSpec.from_data(spec_data)
    except SpecError as error:
        raise FormatError(f"the snapshot's spec: {error}") from None
    if spec.algorithm != algorithm:
        raise FormatError(f"the snapshot's spec: its algorithm is {spec.algorithm}, {algorithm} was expected")
    if type(told_end) is not int or type(row) is not int or not all(type(p) is bytes for p in planes):
        raise FormatError("a snapshot holds its end, its row and three planes")
    end, state = told_end or None, State(row, b"".join(planes))
    check_seal(data, "the snapshot")
    _check_state(spec, end, state, planes)
    if pack_snapshot(spec, end, state) != data:
        raise FormatError("the snapshot's numbers are not written in their fixed widths")
    return spec, end, state


def _snapshot_fields(kind: str, data: bytes) -> list[Any]:
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
    if len(fields) != _SNAPSHOT_FIELDS:
        raise FormatError(f"a snapshot has {_SNAPSHOT_FIELDS} fields, not {len(fields)}")
    return fields[2:]


def _check_state(spec: MazeSpec, end: int | None, state: State, planes: list[bytes]) -> None:
    """Raise FormatError unless the state is one of a row that a maze of this spec can have."""
    most = MAX_ROW if spec.height is None else spec.height
    fits = spec.height is None if end is None else 1 <= end <= most
    if not fits or not 0 <= state.row <= (most if end is None else end):
        raise FormatError(f"the snapshot's row {state.row} and end {end} are not of a maze of height {spec.height}")
    if any(len(plane) != row_bytes(spec.width) for plane in planes):
        raise FormatError(f"a plane of {spec.width} cells has {row_bytes(spec.width)} bytes")
    packed = [np.frombuffer(plane, np.uint8) for plane in planes]
    has_next, has_prev, above = (unpack_bits(plane, spec.width) for plane in packed)
    if any(pack_bits(unpack_bits(plane, spec.width)).tobytes() != plane.tobytes() for plane in packed):
        raise FormatError(f"the snapshot has bits beyond column {spec.width - 1}")
    at_edge = state.row in (0, end)
    if not is_row(has_next, has_prev) or np.any((has_next | has_prev) & ~above) or above.any() == at_edge:
        raise FormatError("the snapshot's state is not the sets of a row")
