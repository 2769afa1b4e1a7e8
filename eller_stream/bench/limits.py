"""Limits of memory that this machine can set on a process: its address space, and a cgroup of its own.

They are not the same. A cgroup (Linux; it takes the right to make one) counts the memory that is used, as a machine
with so much memory would. The address space (RLIMIT_AS) counts what is reserved as well, whole libraries among it:
numpy's alone may reserve a hundred megabytes, of which it uses twenty. So both are tried, and each is told by its
name. Neither is believed: a limit counts only if a process that uses more than it fails.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .child import Confines, launch

ADDRESS_SPACE, CGROUP = "address space", "cgroup"
_MOUNTED, _OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_V1_FILES = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
_V2_FILES = ("memory.max", "memory.swap.max")


@dataclass(frozen=True)
class Limit:
    """A limit that holds here: its name, and what a child has to get on with."""

    name: str
    confines: Confines


@contextmanager
def limits(size: int) -> Iterator[list[Limit]]:
    """Give the limits of `size` bytes that this machine can set; the cgroup is removed in the end."""
    with _cgroup(size) as group:
        offered = [Limit(ADDRESS_SPACE, Confines(address_space=size))]
        if group is not None:
            offered.append(Limit(CGROUP, Confines(cgroup=str(group))))
        yield [limit for limit in offered if _holds(limit, size)]


def _holds(limit: Limit, size: int) -> bool:
    """Return whether a process that uses a little more than the limit fails."""
    code = f"b'x' * {size + size // 8}"
    return launch(sys.executable, "-S", "-E", "-c", code, confines=limit.confines).code != 0


@contextmanager
def _cgroup(size: int) -> Iterator[Path | None]:
    """Give the folder of a new cgroup that holds `size` bytes and no swap; None where none can be made."""
    group = next(filter(None, (_made(parent, files, size) for parent, files in _parents())), None)
    try:
        yield group
    finally:
        if group is not None:
            group.rmdir()


def _made(parent: Path, files: tuple[str, str], size: int) -> Path | None:
    group = parent / f"eller-stream-bench-{os.getpid()}"
    memory, swap = (group / name for name in files)
    try:
        group.mkdir()
    except OSError:
        return None
    try:
        memory.write_text(str(size))
        if swap.exists():
            swap.write_text("0" if files is _V2_FILES else str(size))
    except OSError:
        group.rmdir()
        return None
    return group


def _parents() -> Iterator[tuple[Path, tuple[str, str]]]:
    """Yield the cgroups in which a new one may be possible: this process's own first, then those around it."""
    with suppress(OSError):
        for line in _OWN_GROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            around = [Path(path), *Path(path).parents]
            if controllers == "memory":
                yield from ((_MOUNTED / "memory" / str(p)[1:], _V1_FILES) for p in around)
            elif not controllers:
                yield from ((_MOUNTED / str(p)[1:], _V2_FILES) for p in around if _gives_memory(_MOUNTED / str(p)[1:]))


def _gives_memory(group: Path) -> bool:
    control = group / "cgroup.subtree_control"
    return control.exists() and "memory" in control.read_text().split()
