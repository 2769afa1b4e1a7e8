"""Frames from anything that bytes can be read from, a file or a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ..frames import Event, FrameDecoder

MAX_READ = 2**20


class Source(Protocol):
    """What frames are read from: a binary file or a pipe, blocking; `read1` is used where there is one."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""


def read_events(source: Source, max_frame: int | None = None) -> Iterator[Event]:
    """Yield the events of a maze's bytes as they come from `source`, a blocking file or pipe.

    `max_frame` bounds a frame, in bytes (None: 64 MiB, or one row where that is more).
    Raises FormatError, CutShortError after all whole rows, and what the source raises.
    """
    return events_of(source, FrameDecoder(max_frame))


def events_of(source: Source, decoder: FrameDecoder) -> Iterator[Event]:
    """Yield the events that a decoder makes of the bytes of `source`, up to their end."""
    read = getattr(source, "read1", source.read)
    while data := read(min(decoder.wanted, MAX_READ)):
        decoder.feed(data)
        yield from decoder.events()
    decoder.close()
