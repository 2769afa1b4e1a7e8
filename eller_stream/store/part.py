"""Files that take their name when they are whole.

A file is written under the name `.part` and takes its own name when it is complete and on disk: what stands under
that name is whole, and what stood there before stays until then. Whoever writes a .part holds a lock on it, which
ends with the process: so one writes at a time, and what a killed process left can be told from what is being
written. A link that stands at the .part's name is never followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self, cast

from ..errors import StoreError
from .flusher import Flusher
from .lock import lock
from .output import STDIO, StandardOutput, WholeOrNot, naming, write_all

PART = ".part"

_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.EACCES}


class PartFile(WholeOrNot):
    """A file that takes its name when it is whole: the bytes go to `path` + ".part" until then.

    Use it in a `with` statement: when the body ends well the file goes to disk and takes the name `path`, at
    once; when it fails, `path` stays as it was and the .part stays with what was written. With `force`, a `path`
    and a .part that exist are replaced. `reopen` goes on with a file that was written before.

    Raises StoreError for a file or .part that exists (without force), for a .part that another run is writing, and for
    a `path` that is no regular file; OSError for what the operating system refuses.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        self._begin(Path(path), force)
        self._use(_create(self.part, force))

    def _begin(self, path: Path, force: bool) -> None:
        self.path = path
        _check_target(path, force)
        self.part = self.stands_as = part_of(path)
        self._force = force
        self._complete = False

    def _use(self, file: BinaryIO) -> None:
        self._file = file
        self._flusher = Flusher(file)

    @classmethod
    def reopen(cls, path: str | os.PathLike[str]) -> Self | None:
        """Return the file as it stands, as .part or under its own name; None if there is neither.

        It stays as it is until `go_back`. Raises StoreError for a link, and for a .part beside a complete file.
        """
        file = cls.__new__(cls)
        file._begin(Path(path), force=True)
        file._force = False
        stands = [name for name in (file.part, file.path) if _exists(name)]
        if not stands:
            return None
        file.stands_as = stands[0]
        file._use(_open_again(stands[0]))
        if len(stands) == 2:
            file._leave_one_name()
        file._check_it_has_one_name()
        return file

    def _leave_one_name(self) -> None:
        """Let go of the .part if it is a second name of the complete file: a run was killed between the two."""
        if not self.part.samefile(self.path):
            self.abandon()
            raise StoreError(f"{self.path}: the file exists, and so does {self.part}; remove one of them")
        self.part.unlink()
        self.stands_as = self.path

    def _check_it_has_one_name(self) -> None:
        if os.fstat(self._file.fileno()).st_nlink > 1:
            self.abandon()
            raise StoreError(f"{self.stands_as}: the file has other names too, and would change under them")

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes of a reopened file, from where the last read ended; none at its end."""
        return self._file.read(size)

    @property
    def is_part(self) -> bool:
        """Whether it stands as .part, not under its own name."""
        return self.stands_as == self.part

    def go_back(self, size: int) -> None:
        """Drop what a reopened file holds beyond `size` bytes, and go on there, as .part."""
        with naming(self.stands_as):
            if not self.is_part:
                self._become_part()
            self._file.truncate(size)
            self._file.seek(size)

    def _become_part(self) -> None:
        if os.name == "nt":  # an open file cannot be renamed there
            self._file.close()
        _take_name(self.path, self.part, force=False)
        self.stands_as = self.part
        if os.name == "nt":
            self._use(_open_again(self.part))

    def write(self, data: bytes | memoryview, /) -> int:
        """Take bytes, and return how many of them were taken."""
        return self._put(lambda: self._file.write(data))

    def write_pieces(self, pieces: list[memoryview]) -> int:
        """Take bytes of several pieces, in one call where the system can, and return how many were taken."""
        if not hasattr(os, "writev"):
            return self.write(pieces[0])
        return self._put(lambda: os.writev(self._file.fileno(), pieces))

    def _put(self, write: Callable[[], int]) -> int:
        self._check_open()
        with naming(self.part):
            taken = write()
            self._flusher.wrote(taken)
        return taken

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
                self._flusher.wait()
                os.fsync(self._file.fileno())
            self._take_name()
        finally:
            self.abandon()
        self._complete = True
        _sync_folder(self.path.parent)

    def _take_name(self) -> None:
        """Take the name while the lock is held, where an open file can be renamed."""
        if os.name == "nt":
            self._file.close()
        _take_name(self.part, self.path, self._force)

    def abandon(self) -> None:
        """Close the .part as it is; `path` stays as it was."""
        with suppress(OSError):
            self._flusher.wait()
        with suppress(OSError):
            self._file.close()

    def remove(self) -> None:
        """Close and remove the .part; `path` stays as it was."""
        self.abandon()
        self.part.unlink()

    def _check_open(self) -> None:
        if self._file.closed:
            raise StoreError(f"{self.path if self._complete else self.part}: closed, nothing more can be written")


def part_of(path: Path) -> Path:
    """Return the name under which the file `path` is written."""
    return path.with_name(path.name + PART)


def names_of(path: Path) -> tuple[Path, Path]:
    """Return the two names of a file that is known by one of them: as .part, and its own."""
    own = path.with_name(path.name.removesuffix(PART)) if path.name.endswith(PART) else path
    return part_of(own), own


def open_output(path: str | os.PathLike[str], *, force: bool = False) -> PartFile | StandardOutput:
    """Return what to write a new file to: a PartFile, or standard output for "-"."""
    return StandardOutput() if os.fspath(path) == STDIO else PartFile(path, force=force)


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _check_target(path: Path, force: bool) -> None:
    """Raise StoreError for a name that a file must not take."""
    if not path.name:
        raise StoreError(f"{path}: it names no file")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path}: it exists and is no regular file, so it is not replaced")
    if _exists(path) and not force:
        raise StoreError(f"{path}: the file exists already; force replaces it")


def _create(part: Path, force: bool) -> BinaryIO:
    """Return the new .part, opened and locked; what stood there is not followed and, with force, removed."""
    if force and _exists(part):
        _remove_left(part)
    try:
        file = _open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, "wb")
    except FileExistsError:
        raise StoreError(
            f"{part}: the file exists already; another run writes it, or one was broken off; "
            "resume goes on with it, force starts anew"
        ) from None
    _lock_or_refuse(file, part)
    return file


def _remove_left(part: Path) -> None:
    """Remove what a broken-off run left; StoreError if it is being written."""
    if not part.is_symlink():
        with _open(part, os.O_RDWR, "r+b") as file:
            _lock_or_refuse(file, part)
            part.unlink()
    else:
        part.unlink()


def _open_again(name: Path) -> BinaryIO:
    """Return a file that stands under `name` and no other, opened and locked; StoreError for a link."""
    if name.is_symlink():
        raise StoreError(f"{name}: it is a link, and links are not followed")
    file = _open(name, os.O_RDWR, "r+b")
    try:
        _lock_or_refuse(file, name)
        _check_is_still(file, name)
    except BaseException:
        file.close()
        raise
    return file


def _check_is_still(file: BinaryIO, name: Path) -> None:
    """Raise StoreError if the open file is none to write over, or lost its name before it was locked."""
    facts = os.fstat(file.fileno())
    if not stat.S_ISREG(facts.st_mode):
        raise StoreError(f"{name}: it is no regular file")
    if not _exists(name) or not os.path.samestat(facts, name.lstat()):
        raise StoreError(f"{name}: another run has just taken it")


def _open(name: Path, flags: int, mode: str) -> BinaryIO:
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    return cast(BinaryIO, os.fdopen(os.open(name, flags, 0o666), mode, buffering=0))


def _lock_or_refuse(file: BinaryIO, name: Path) -> None:
    if not lock(file):
        file.close()
        raise StoreError(f"{name}: another run is writing it")


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
