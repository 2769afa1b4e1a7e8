"""What maze bytes are written to: a file that takes its name when it is whole, or standard output.

A file is written under the name `.part` and takes its own name when it is complete and on disk: what stands under
that name is whole, and what stood there before stays until then.
"""

from __future__ import annotations

import errno
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, Self

from ..errors import StoreError

if TYPE_CHECKING:
    from types import TracebackType

PART = ".part"
STDIO = "-"

_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.EACCES}


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
    if isinstance(out, PartFile):
        return out.write_pieces(pieces)
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


class PartFile(WholeOrNot):
    """A new file that takes its name when it is whole: the bytes go to `path` + ".part" until then.

    Use it in a `with` statement: when the body ends well the file goes to disk and takes the name `path`, at
    once; when it fails, `path` stays as it was and the .part stays with what was written. With `force`, a `path`
    and a .part that exist are replaced.

    Raises StoreError for a file or .part that exists (without force) and for a `path` that is no regular file;
    OSError for what the operating system refuses.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        self.path = Path(path)
        _check_target(self.path, force)
        self.part = self.path.with_name(self.path.name + PART)
        self._force = force
        self._complete = False
        self._file = _create(self.part, force)

    def write(self, data: bytes | memoryview, /) -> int:
        """Take bytes, and return how many of them were taken."""
        self._check_open()
        with naming(self.part):
            return self._file.write(data)

    def write_pieces(self, pieces: list[memoryview]) -> int:
        """Take bytes of several pieces, in one call where the system can, and return how many were taken."""
        self._check_open()
        with naming(self.part):
            return os.writev(self._file.fileno(), pieces) if hasattr(os, "writev") else self._file.write(pieces[0])

    def rewrite_beginning(self, data: bytes) -> bool:
        """Put `data` over the first bytes; return whether that can be done."""
        self._check_open()
        self._file.seek(0)
        write_all(self, data)
        self._file.seek(0, os.SEEK_END)
        return True

    def close(self) -> None:
        """Give the file its name. Doing it again does nothing.

        Raises StoreError if it was abandoned, or if a file of that name appeared meanwhile.
        """
        if self._complete:
            return
        self._check_open()
        try:
            with naming(self.part):
                os.fsync(self._file.fileno())
                self._file.close()
            _take_name(self.part, self.path, self._force)
        finally:
            self.abandon()
        self._complete = True
        _sync_folder(self.path.parent)

    def abandon(self) -> None:
        """Close the .part as it is; `path` stays as it was."""
        with suppress(OSError):
            self._file.close()

    def remove(self) -> None:
        """Close and remove the .part; `path` stays as it was."""
        self.abandon()
        self.part.unlink()

    def _check_open(self) -> None:
        if self._file.closed:
            raise StoreError(f"{self.path if self._complete else self.part}: closed, nothing more can be written")


class StandardOutput(WholeOrNot):
    """Standard output in the place of a PartFile: what was written cannot be taken back.

    It is written to without Python's buffer, of which a write that waits for a reader would keep the lock for ever.
    """

    def __init__(self) -> None:
        self._file: BinaryIO = getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)

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


def open_output(path: str | os.PathLike[str], *, force: bool = False) -> PartFile | StandardOutput:
    """Return what to write a new file to: a PartFile, or standard output for "-"."""
    return StandardOutput() if os.fspath(path) == STDIO else PartFile(path, force=force)


@contextmanager
def naming(file: Path | str) -> Iterator[None]:
    """Let errors of the operating system in the body say which file it was."""
    try:
        yield
    except OSError as error:
        error.filename = str(file)
        raise


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _check_target(path: Path, force: bool) -> None:
    """Raise StoreError for a name that a maze file must not take."""
    if not path.name:
        raise StoreError(f"{path}: it names no file")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path}: it exists and is no regular file, so it is not replaced")
    if _exists(path) and not force:
        raise StoreError(f"{path}: the file exists already; force replaces it")


def _create(part: Path, force: bool) -> BinaryIO:
    """Return the new .part, opened for writing; what stood there is not followed and, with force, removed."""
    if force:
        part.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.fdopen(os.open(part, flags, 0o666), "wb", buffering=0)
    except FileExistsError:
        raise StoreError(
            f"{part}: the file exists already; another run writes it, or one was broken off; force starts anew"
        ) from None


def _take_name(part: Path, path: Path, force: bool) -> None:
    """Give the .part its name, at once; StoreError if a file of that name appeared meanwhile."""
    try:
        if force:
            part.replace(path)
        else:
            _take_free_name(part, path)
    except FileExistsError:
        raise StoreError(f"{path}: a file of that name appeared meanwhile; the maze is whole in {part}") from None


def _take_free_name(part: Path, path: Path) -> None:
    if os.name == "nt":
        part.rename(path)
        return
    try:
        path.hardlink_to(part)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if _exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        part.replace(path)
    else:
        part.unlink()


def _sync_folder(folder: Path) -> None:
    """Put the folder's names on disk, where the system can: those that cannot say so in many ways."""
    if os.name == "nt":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
