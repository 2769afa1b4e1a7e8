"""`FrameFile`: the frames of a regular maze file, from any row on.

The place of a row in a file is computed (docs/FORMAT.md, "Places"), so any rows are read without those before them.
What the formula wants to know beyond the header stands in the file's beginning: whether the frames have a floor plane
in the first of them, a snapshot's size in the first checkpoint. A file may grow while it is read, so nothing
that depends on its size is kept.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ..block import Block
from ..errors import CutShortError, FormatError
from ..frames import END_FRAME_SIZE, Checkpoint, End, Event, FrameDecoder, Header, Rows, decode_end, rows_frame_size
from ..spec import MAX_ROW
from .events import events_of, read_events
from .part import names_of


class FrameFile:
    """A regular file of frames, opened; several threads may read it.

    `kept` is the full frame that was read last. Raises FormatError for bytes that are no maze, with the path.
    """

    def __init__(self, path: Path, file: BinaryIO, max_frame: int | None) -> None:
        self.kept: Block | None = None
        self.path, self._file, self._max_frame = path, file, max_frame
        self._lock = threading.Lock()
        self._floor: bool | None = None
        self._snapshot_size: int | None = None
        header = next(self._named(read_events(_Cursor(file, self._lock, 0), max_frame)))
        assert isinstance(header, Header)
        self.header = header

    def events(self, row: int) -> Iterator[Event]:
        """Yield the events from the frame that holds `row` on, its checkpoint among them.

        Raises CutShortError after all whole frames if the end is missing, or if the file is not so long.
        """
        decoder = self._decoder_at(row)
        return self._named(events_of(_Cursor(self._file, self._lock, decoder.position), decoder))

    def end(self) -> End | None:
        """Return the end frame, if the file's last bytes are one."""
        with self._lock:
            self._file.seek(max(self._file.seek(0, os.SEEK_END) - END_FRAME_SIZE, 0))
            tail = self._file.read(END_FRAME_SIZE)
        with suppress(FormatError):
            return decode_end(tail)
        return None

    def last_full_frame(self) -> int:
        """Return the row at which the last full frame begins that a file without an end has room for.

        It may not be one: a last frame that is not full and a piece of the end frame take as many bytes.
        """
        header, rows = self.header, self.header.rows_per_frame
        last = MAX_ROW // rows + 1
        try:
            floor, snapshot_size = self._has_floor(), 0
        except CutShortError:
            return header.first_row
        try:
            snapshot_size = self._size_of_snapshot() if header.checkpoint_every else 0
        except CutShortError:
            last = self._first_checkpoint() // rows

        def place(frame: int) -> int:
            row = max(frame * rows, header.first_row)
            return header.place(row, floor=floor, snapshot_size=snapshot_size)

        first, size = header.first_row // rows, os.fstat(self._file.fileno()).st_size
        most = size // rows_frame_size(header.spec.width, rows, floor) + 2  # full frames, and one in part at either end
        frames = range(first, min(first + most, last) + 1)
        begun = bisect_right(frames, size, key=place)
        return max(frames[max(begun - 2, 0)] * rows, header.first_row)

    def is_for_good(self, rows: Rows) -> bool:
        """Return whether a frame is full and not the maze's last, so that a resumed run keeps it."""
        return rows.block.stop % self.header.rows_per_frame == 0 and not rows.last

    def check_is_there(self) -> None:
        """Raise CutShortError if the file was removed or replaced; being renamed changes nothing."""
        facts = os.fstat(self._file.fileno())
        part, path = names_of(self.path)
        if not any(_stands(facts, name) for name in (path, part, path)):
            raise CutShortError(f"{self.path}: the file was removed or replaced before its end was written")

    def _named(self, events: Iterator[Event]) -> Iterator[Event]:
        """Yield events; keep the last full frame, and let errors say which file it was."""
        try:
            for event in events:
                if isinstance(event, Rows) and self.is_for_good(event):
                    self.kept = event.block
                yield event
        except FormatError as error:
            raise type(error)(f"{self.path}: {error}") from error

    def _decoder_at(self, row: int) -> FrameDecoder:
        header, rows = self.header, self.header.rows_per_frame
        is_first = row // rows == header.first_row // rows
        size = None
        if header.checkpoint_every and row >= self._first_checkpoint() + rows:
            size = self._size_of_snapshot()
        floor = None if is_first else self._has_floor()
        return FrameDecoder.at(header, row, floor=floor, snapshot_size=size, max_frame=self._max_frame)

    def _has_floor(self) -> bool:
        if self._floor is None:
            first = next((event for event in self.events(self.header.first_row) if isinstance(event, Rows)), None)
            self._floor = first is not None and first.block.floor is not None
        return self._floor

    def _first_checkpoint(self) -> int:
        """Return the row of the first checkpoint that there may be."""
        rows = self.header.rows_per_frame * self.header.checkpoint_every
        return (self.header.first_row // rows + 1) * rows

    def _size_of_snapshot(self) -> int:
        if self._snapshot_size is None:
            checkpoint = next(self.events(self._first_checkpoint()))
            assert isinstance(checkpoint, Checkpoint)
            self._snapshot_size = len(checkpoint.snapshot)
        return self._snapshot_size


def _stands(facts: os.stat_result, name: Path) -> bool:
    """Return whether the file that the facts are of has this name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(facts, name.stat())
    return False


class _Cursor:
    """A place of its own in a shared file, so that several readers do not move each other."""

    def __init__(self, file: BinaryIO, lock: threading.Lock, at: int) -> None:
        self._file, self._lock, self._at = file, lock, at

    def read(self, size: int) -> bytes:
        with self._lock:
            self._file.seek(self._at)
            data = self._file.read(size)
        self._at += len(data)
        return data
