"""What is measured, in a process of its own: prints its rows, its seconds and the bytes of the stream's state.

    python -m eller_stream.bench.worker WHAT BACKEND WIDTH ROWS AT_ONCE SECONDS FILE

The backends are the two row kernels, `c` and `python`, which ELLER_STREAM_KERNEL must have chosen, and `micro`, the
stream for MicroPython, which needs no numpy. The state is a snapshot: all that goes on from there.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..stream import EllerStream

SEED = 20_261_130
MICRO = "micro"


class Task(NamedTuple):
    """What to do: at least so many rows, for at least so many seconds, a number of them at a time."""

    what: str
    backend: str
    width: int
    rows: int
    at_once: int
    seconds: float
    file: str


class Done(NamedTuple):
    """What was done: rows in seconds, once warm; bytes of the state, 0 where it was not asked."""

    rows: int
    seconds: float
    state_bytes: int = 0


def carve(task: Task) -> Done:
    """Carve rows and forget them."""
    stream = _stream(task)
    take = _taker(stream)
    take(task.at_once)
    rows, start, taken = 0, time.perf_counter(), 0.0
    while rows < task.rows or taken < task.seconds:
        take(task.at_once)
        rows, taken = rows + task.at_once, time.perf_counter() - start
    return Done(rows, taken, len(stream.snapshot()))


def fit(task: Task) -> Done:
    """Carve rows, once: does the width find room?"""
    start = time.perf_counter()
    take = _taker(_stream(task))
    for _ in range(task.rows):
        take(1)
    return Done(task.rows, time.perf_counter() - start)


def write(task: Task) -> Done:
    """Write rows to a file, until they are safe on the disk."""
    from ..store import MazeWriter

    start = time.perf_counter()
    with MazeWriter(task.file, _stream(task)) as writer:
        while writer.rows < task.rows:
            writer.write(min(task.at_once, task.rows - writer.rows))
    return Done(writer.rows, time.perf_counter() - start)


def read(task: Task) -> Done:
    """Read a file, checksums included."""
    from ..store import MazeFile

    start = time.perf_counter()
    with MazeFile(task.file) as maze:
        rows = sum(len(block) for block in maze.blocks())
    return Done(rows, time.perf_counter() - start)


TASKS: dict[str, Callable[[Task], Done]] = {"carve": carve, "fit": fit, "write": write, "read": read}


def _stream(task: Task) -> EllerStream:
    """Return the stream that is measured; micro's can do what is asked of it here."""
    home = import_module("eller_stream.micro" if task.backend == MICRO else "eller_stream.stream")
    stream: EllerStream = home.EllerStream(task.width, seed=SEED)
    return stream


def _taker(stream: EllerStream) -> Callable[[int], object]:
    """Return what takes a number of rows; micro's stream gives them one by one."""
    return getattr(stream, "read", None) or (lambda rows: [None for _ in range(rows) if next(stream) is None])


def main(what: str, backend: str, width: str, rows: str, at_once: str, seconds: str, file: str) -> None:
    """Do one task and print what was done."""
    print(*TASKS[what](Task(what, backend, int(width), int(rows), int(at_once), float(seconds), file)))


if __name__ == "__main__":
    main(*sys.argv[1:])
