"""Sends what is written to a file to the disk while more is written, so that little is left to wait for at the end."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from .behind import Behind

if TYPE_CHECKING:
    from typing import BinaryIO

EVERY = 2**25
_to_disk = getattr(os, "fdatasync", os.fsync)


class Flusher:
    """Has a file's bytes put on disk whenever 32 MiB more were written, on a thread of its own.

    While the disk is at work nobody waits for it: what is written meanwhile goes with the next time. An error of the
    disk, which the system tells but once, comes out of a later `wrote`, or of `wait`.

    file   open for writing; it must not be closed without a `wait` before
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._unsent = 0
        self._idle = threading.Event()
        self._idle.set()
        self._behind: Behind | None = None

    def wrote(self, size: int) -> None:
        """Take note of bytes that were written."""
        self._unsent += size
        if self._unsent >= EVERY and self._idle.is_set():
            self._behind = self._behind or Behind()
            self._idle.clear()
            self._behind.do(self._send)
            self._unsent = 0

    def _send(self) -> None:
        try:
            _to_disk(self._file.fileno())
        finally:
            self._idle.set()

    def wait(self) -> None:
        """Wait until the disk is idle; OSError for what went wrong there."""
        if self._behind is not None:
            self._behind.wait()
