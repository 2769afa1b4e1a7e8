"""Reading maze files in bounded memory: `read_events` from anything that gives bytes, `MazeFile` from a file."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, Self

from ..block import Block
from ..errors import FormatError, StoreError
from ..frames import END_FRAME_SIZE, End, Event, FrameDecoder, Header, Rows, decode_end
from .output import STDIO

if TYPE_CHECKING:
    from types import TracebackType

    from ..spec import MazeSpec

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
    decoder = FrameDecoder(max_frame)
    read = getattr(source, "read1", source.read)
    while data := read(min(decoder.wanted, MAX_READ)):
        decoder.feed(data)
        yield from decoder.events()
    decoder.close()


class MazeFile:
    """A maze file, read in bounded memory.

    `path` may be "-" for standard input. `header` and `spec` are there at once. A regular file can be gone
    through any number of times, by several threads too; a pipe only once. `max_frame` bounds a frame, in
    bytes (None: 64 MiB, or one row where that is more).

    Raises FormatError for bytes that are no maze, with the path; OSError for a file that cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_frame: int | None = None) -> None:
        self.path = Path(path)
        self._max_frame = max_frame
        self._lock = threading.Lock()
        self._is_stdin = os.fspath(path) == STDIO
        self._file: BinaryIO = sys.stdin.buffer if self._is_stdin else self.path.open("rb", buffering=0)
        try:
            self._seekable = not self._is_stdin and self._file.seekable()
            self._first_pass: Iterator[Event] | None = self._events()
            header = next(self._first_pass)
            assert isinstance(header, Header)
            self.header = header
            self._end = self._end_at_the_end()
        except BaseException:
            self.close()
            raise

    @property
    def spec(self) -> MazeSpec:
        """The maze's spec."""
        return self.header.spec

    @property
    def end(self) -> End | None:
        """The end frame; None while it is unknown (a pipe), and if there is none.

        In a regular file it is looked up without reading the rows, so it is as good as the file's last bytes.
        """
        return self._end

    def blocks(self) -> Iterator[Block]:
        """Yield the rows, a frame at a time. Blocks are read-only and stay good.

        Raises CutShortError after all whole rows if the end is missing, FormatError at the first frame that is
        damaged, StoreError for a pipe that was read before.
        """
        for event in self._take_events():
            if isinstance(event, Rows):
                yield event.block
            elif isinstance(event, End):
                self._end = event

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if not self._is_stdin:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _take_events(self) -> Iterator[Event]:
        if self._seekable:
            return self._events()
        events, self._first_pass = self._first_pass, None
        if events is None:
            raise StoreError(f"{self.path}: it is a pipe, and was read before")
        return events

    def _events(self) -> Iterator[Event]:
        source = _Cursor(self._file, self._lock) if self._seekable else self._file
        try:
            yield from read_events(source, self._max_frame)
        except FormatError as error:
            raise type(error)(f"{self.path}: {error}") from error

    def _end_at_the_end(self) -> End | None:
        if not self._seekable:
            return None
        with self._lock:
            self._file.seek(max(self._file.seek(0, os.SEEK_END) - END_FRAME_SIZE, 0))
            tail = self._file.read(END_FRAME_SIZE)
        with suppress(FormatError):
            return decode_end(tail)
        return None


class _Cursor:
    """A place of its own in a shared file, so that several readers do not move each other."""

    def __init__(self, file: BinaryIO, lock: threading.Lock) -> None:
        self._file, self._lock, self._at = file, lock, 0

    def read(self, size: int) -> bytes:
        with self._lock:
            self._file.seek(self._at)
            data = self._file.read(size)
        self._at += len(data)
        return data
