"""What maze bytes are written to: anything with a `write`, standard output among it; `part.py` has the files."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, Self

from ..errors import StoreError

if TYPE_CHECKING:
    from types import TracebackType

if sys.platform == "linux":
    import fcntl

STDIO = "-"
_PIPE_SIZE = 2**20


class Output(Protocol):
    """What frames are written to: a binary file, a pipe, a list of one's own.

    `write` takes bytes or a memoryview, and may return how many of them it took; None means all.
    """

    def write(self, data: bytes | memoryview, /) -> int | None:
        """Take bytes."""


def write_all(out: Output, *pieces: bytes | memoryview) -> None:
    """Write all the pieces to what may take only a part at a time; StoreError if it takes nothing."""
    left = [memoryview(piece) for piece in pieces if len(piece)]
    while left:
        taken = _write_some(out, left)
        while left and taken >= len(left[0]):
            taken -= len(left.pop(0))
        if taken:
            left[0] = left[0][taken:]


def _write_some(out: Output, pieces: list[memoryview]) -> int:
    """Offer the pieces, all at once where that is possible, and return how many bytes were taken."""
    gather: Callable[[list[memoryview]], int] | None = getattr(out, "write_pieces", None)
    if gather is not None:
        return gather(pieces)
    taken = out.write(pieces[0])
    if taken is None:
        return len(pieces[0])
    if not 0 < taken <= len(pieces[0]):
        raise StoreError(f"the output took {taken} of {len(pieces[0])} bytes")
    return taken


class WholeOrNot(ABC):
    """Used in a `with` statement: closed when the body ends well, abandoned when it fails."""

    @abstractmethod
    def close(self) -> None:
        """Complete what was written."""

    @abstractmethod
    def abandon(self) -> None:
        """Leave what was written as it is."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


class StandardOutput(WholeOrNot):
    """Standard output in the place of a PartFile: what was written cannot be taken back.

    It is written to without Python's buffer, of which a write that waits for a reader would keep the lock for ever.
    """

    def __init__(self) -> None:
        self._file: BinaryIO = getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)
        _widen(self._file)

    def write(self, data: bytes | memoryview, /) -> int:
        """Take bytes, and return how many of them were taken."""
        with naming("stdout"):
            return self._file.write(data)

    def rewrite_beginning(self, data: bytes) -> bool:
        """Return that it cannot be done."""
        del data
        return False

    def close(self) -> None:
        """Hand on what waits; standard output stays open."""
        with naming("stdout"):
            self._file.flush()

    def abandon(self) -> None:
        """Leave it."""

    remove = abandon


def _widen(file: BinaryIO) -> None:
    """Let a pipe hold some frames, where the system can: both ends are woken less often. All else stays as it is."""
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(file.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_SIZE)


@contextmanager
def naming(file: Path | str) -> Iterator[None]:
    """Let errors of the operating system in the body say which file it was."""
    try:
        yield
    except OSError as error:
        error.filename = str(file)
        raise
