"""A lock on an open file that ends with the process: one writer at a time."""

from __future__ import annotations

import errno
import sys
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_HELD = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}
_NEVER_READ = 2**62


def lock(file: BinaryIO) -> bool:
    """Lock an open file until it is closed; return whether no other process holds it.

    Where the file system has no locks the file counts as free.
    """
    try:
        _lock_now(file)
    except OSError as error:
        return error.errno not in _HELD
    return True


def _lock_now(file: BinaryIO) -> None:
    """Lock the file, or raise OSError at once; on Windows a byte that no reader comes to."""
    if sys.platform == "win32":
        place = file.tell()
        file.seek(_NEVER_READ)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        file.seek(place)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
