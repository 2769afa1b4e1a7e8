"""What each side of a socket lets the other one ask of it: frozen, with defaults.

A server answers strangers, so nothing that a request names may cost it more memory or more work at a time than is said
here. A client takes a server's word for nothing either. `None` means no bound.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

from ..errors import NetError
from ..frames import DEFAULT_MAX_FRAME, rows_frame_size
from ..spec import MazeSpec

_STEPS_A_CELL = 32


@dataclass(frozen=True)
class Limits:
    """What both sides bound.

    max_frame   bytes of a frame
    max_width   cells in a row
    idle        seconds without any progress before the other side is given up
    """

    max_frame: int = DEFAULT_MAX_FRAME
    max_width: int = 2**24
    idle: float = 60.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name in ("attempts", "pause") else 1e-3
            if value is not None and not least <= value < float("inf"):
                raise NetError(f"the limit {field.name} is a number above 0, not {value}")

    def check_frame(self, width: int, rows: int, floor: bool = False) -> None:
        """Raise NetError for a width, or for frames of so many rows, beyond the limits."""
        if width > self.max_width:
            raise NetError(f"a row has {width} cells, the limit is {self.max_width} (width)")
        size = rows_frame_size(width, rows, floor)
        if size > self.max_frame:
            raise NetError(f"a frame of {rows} rows of {width} cells has {size} bytes, the limit is {self.max_frame}")


@dataclass(frozen=True)
class ServerLimits(Limits):
    """What a server bounds besides.

    A client costs it the frames of two turns, each of 1 MiB of rows or of one frame where that has more, and
    `ahead` + 2 states of three packed rows each; where it asks for bands, two of them besides.

    max_band_cells  cells of a band: band * width. A band of the default takes half a second at most, and 4 MiB.
                    One of Wilson's, whose first walk may go from end to end and back, counts as a 32nd of the square
                    of its longer side where that is more. Key intervals are bounded by `max_seek_cells` alone
    max_schedule    pairs of a schedule
    max_seek_cells  cells that are carved on the way to the row asked for
    clients         conversations at a time; one more is told that the server is busy
    greeting        seconds until a client has said who it is
    rate            bytes a second to each client
    ahead           frames behind what was sent to which a client can go back at no cost; a state is kept for each
    workers         threads that carve; each client has one turn after another
    """

    max_width: int = 2**20
    max_band_cells: int = 2**22
    max_schedule: int = 256
    max_seek_cells: int = 2**32
    clients: int = 64
    greeting: float = 10.0
    rate: float | None = None
    ahead: int = 16
    workers: int = os.cpu_count() or 1

    def check_spec(self, spec: MazeSpec) -> None:
        """Raise NetError for a spec that is too much to ask."""
        rows = spec.band or 0
        if rows * spec.width > self.max_band_cells:
            raise NetError(f"band * width is {rows} * {spec.width}, the limit is {self.max_band_cells} cells")
        steps, most = max(rows, spec.width) ** 2, _STEPS_A_CELL * self.max_band_cells
        if spec.algorithm == "wilson" and steps > most:
            raise NetError(
                f"a walk through {rows} rows of {spec.width} cells has about {steps} steps, the limit is {most} "
                f"({_STEPS_A_CELL} times that of band cells)"
            )
        tunnels, length = spec.max_tunnels or 0, min(spec.max_length or 0, max(rows, spec.width))
        if tunnels * length > self.max_band_cells:
            raise NetError(f"{tunnels} tunnels of {length} cells at most pass the limit of {self.max_band_cells} cells")
        for name in ("p_east", "p_south", "loops"):
            schedule = getattr(spec, name)
            pairs = len(schedule.pairs) if schedule else 0
            if pairs > self.max_schedule:
                raise NetError(f"{name} has {pairs} pairs, the limit is {self.max_schedule} (schedule)")

    def check_seek(self, rows: int, width: int) -> None:
        """Raise NetError if the way to a row is too long."""
        if rows * width > self.max_seek_cells:
            raise NetError(
                f"{rows} rows of {width} cells would be carved on the way there, the limit is {self.max_seek_cells} "
                "cells (seek); a key interval makes the way short"
            )


@dataclass(frozen=True)
class ClientLimits(Limits):
    """What a client bounds besides, and how it goes about a connection that is lost.

    connect   seconds to reach the server
    attempts  times in a row that it tries to reach a server that went away, without a row between; 0 for none
    pause     seconds before the second attempt; each later pause is twice as long, up to 5 seconds
    ahead     frames that may wait here before their rows are taken, from 1
    """

    connect: float = 10.0
    attempts: int = 8
    pause: float = 0.1
    ahead: int = 16
