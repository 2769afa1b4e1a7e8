"""The state of a stream between two rows, and its snapshot: `State`, `pack_snapshot`, `unpack_snapshot`.

A state is the sets of the row to come, two bits a cell (`partition.py`), and what the row above opens south. That is
all that an Eller stream and a uniform one need besides their spec. docs/FORMAT.md, "Snapshot", has the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import snapshot
from .block import pack_bits, row_bytes, unpack_bits
from .errors import FormatError
from .partition import is_row
from .sealed import bin_head

if TYPE_CHECKING:
    from .block import Plane
    from .spec import MazeSpec


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
    planes = [state.plane(k).tobytes() for k in range(3)]
    return snapshot.pack(
        snapshot_kind(spec.algorithm), spec, end, state.row, *((bin_head(len(plane)), plane) for plane in planes)
    )


def unpack_snapshot(algorithm: str, data: bytes) -> tuple[MazeSpec, int | None, State]:
    """Return what a snapshot of an algorithm's state says: spec, end and state.

    Raises FormatError unless it is, byte for byte, one that could have been packed; VersionError for a newer one.
    """
    spec, end, row, planes = snapshot.unpack(snapshot_kind(algorithm), data, 3)
    if spec.algorithm != algorithm:
        raise FormatError(f"the snapshot's spec: its algorithm is {spec.algorithm}, {algorithm} was expected")
    if not all(type(plane) is bytes for plane in planes):
        raise FormatError("a snapshot holds its end, its row and three planes")
    state = State(row, b"".join(planes))
    _check_state(spec, end, state, planes)
    snapshot.check_canonical(pack_snapshot(spec, end, state), data)
    return spec, end, state


def _check_state(spec: MazeSpec, end: int | None, state: State, planes: list[bytes]) -> None:
    """Raise FormatError unless the state is one of a row that a maze of this spec can have."""
    if any(len(plane) != row_bytes(spec.width) for plane in planes):
        raise FormatError(f"a plane of {spec.width} cells has {row_bytes(spec.width)} bytes")
    packed = [np.frombuffer(plane, np.uint8) for plane in planes]
    has_next, has_prev, above = (unpack_bits(plane, spec.width) for plane in packed)
    if any(pack_bits(unpack_bits(plane, spec.width)).tobytes() != plane.tobytes() for plane in packed):
        raise FormatError(f"the snapshot has bits beyond column {spec.width - 1}")
    at_edge = state.row in (0, end)
    if not is_row(has_next, has_prev) or np.any((has_next | has_prev) & ~above) or above.any() == at_edge:
        raise FormatError("the snapshot's state is not the sets of a row")
