"""What `eller-stream bench` runs, one process a figure, and what came of it.

Three things are asked of each backend: its rate and memory at a range of widths; its memory at numbers of rows a
hundredfold apart, carving, writing and reading, which must stay the same; and, under a limit of memory, the widest
maze that fits, which may take half of the time. Peaks are compared at the same number of rows at a time, whatever
their number in all; those of two equal runs differ by a few pages, so growth counts from 2 % of them on.

Nothing is begun when the time is over; what was left out is told by name.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..spec import MAX_WIDTH
from .child import Child, Confines, launch
from .limits import Limit
from .machine import lanes
from .worker import MICRO, Done, Task

BACKENDS = ("c", "python", MICRO)
WIDTHS = (64, 1_000, 10_000, 100_000, 1_000_000)
NARROW = 100
HEIGHTS = {"c": 10_000, "python": 500, MICRO: 50}
FILE_WIDTH = 1_000
FILE_HEIGHTS = {"c": 1_000, "python": 300}
FOLD = 100
FLAT = 1.02
SEARCH_SHARE = 0.5

_CELLS_AT_ONCE = 2**18
_MICRO_CELLS_AT_ONCE = 2**13
_SECONDS = 0.4
_SECONDS_TO_FIT = 3.0
_FIRST_WIDTH, _STEPS_AN_OCTAVE = 64, 8
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # threads that mazes never use reserve memory


@dataclass(frozen=True)
class Measured:
    """One figure: what was done, and the peak of the process that did it."""

    what: str
    backend: str
    width: int
    rows: int
    seconds: float
    state_bytes: int
    peak_bytes: int

    @property
    def rows_a_second(self) -> float:
        """Rows a second."""
        return self.rows / max(self.seconds, 1e-9)

    @property
    def cells_a_second(self) -> float:
        """Cells a second."""
        return self.rows_a_second * self.width

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        rates = {"rows_a_second": self.rows_a_second, "cells_a_second": self.cells_a_second}
        return asdict(self) | rates


@dataclass(frozen=True)
class Widest:
    """The widest maze of a backend that fits under a limit; None if the backend does not even start.

    `in_time` is False where a wider one might fit but took too long to try.
    """

    backend: str
    limit: str
    width: int | None
    in_time: bool


@dataclass
class Survey:
    """All that was measured; `confined` tells the limits under which each backend ran."""

    rates: list[Measured] = field(default_factory=list)
    heights: list[Measured] = field(default_factory=list)
    files: list[Measured] = field(default_factory=list)
    widest: list[Widest] = field(default_factory=list)
    confined: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        told: dict[str, Any] = {
            name: [figure.to_json() for figure in getattr(self, name)] for name in ("rates", "heights", "files")
        }
        told["growth"] = [asdict(growth) for growth in growths([*self.heights, *self.files])]
        told["widest"] = [asdict(widest) for widest in self.widest]
        return told | {"confined": self.confined, "left_out": self.left_out}


@dataclass(frozen=True)
class Growth:
    """The peaks at the fewest and at the most rows of one thing done."""

    what: str
    backend: str
    width: int
    few_rows: int
    many_rows: int
    few_bytes: int
    many_bytes: int
    flat: bool


def growths(measured: list[Measured]) -> list[Growth]:
    """Return how the memory of each thing done grew with its rows."""
    found = []
    for key in dict.fromkeys((m.what, m.backend, m.width) for m in measured):
        same = sorted((m for m in measured if (m.what, m.backend, m.width) == key), key=lambda m: m.rows)
        few, many = same[0], same[-1]
        if many.rows > few.rows:
            flat = many.peak_bytes <= FLAT * few.peak_bytes
            found.append(Growth(*key, few.rows, many.rows, few.peak_bytes, many.peak_bytes, flat))
    return found


def backends_here() -> list[str]:
    """Return the backends that this machine has: all, or all but the one in C."""
    return [backend for backend in BACKENDS if backend != "c" or lanes() is not None]


class Surveyor:
    """Runs everything, until the time is over; files go to `folder`, `limits` hold for every process."""

    def __init__(self, folder: Path, limits: list[Limit], seconds: float) -> None:
        self.survey = Survey()
        self._folder, self._limits = folder, limits
        self._until = time.monotonic() + seconds
        self._search_until = time.monotonic() + SEARCH_SHARE * seconds
        self._confines: dict[str, Confines] = {}

    def run(self) -> Survey:
        """Measure everything and return what came of it."""
        for backend in backends_here():
            self._confine(backend)
        self._search()
        for backend in backends_here():
            self._measure(backend)
        return self.survey

    def _confine(self, backend: str) -> None:
        """Find the limits under which a backend starts, and put it under all of them."""
        tiny = Task("fit", backend, _FIRST_WIDTH, 2, 1, 0.0, "")
        ran = {limit: self._launch(tiny, limit.confines) for limit in self._limits}
        held = [limit for limit in ran if not ran[limit].code]
        self.survey.confined[backend] = [limit.name for limit in held]
        self.survey.left_out += (
            f"{backend}: it does not start under a limit on {limit.name}: {_reason(ran[limit])}"
            for limit in ran
            if limit not in held
        )
        space = max((limit.confines.address_space for limit in held), default=0)
        self._confines[backend] = Confines(space, max((limit.confines.cgroup for limit in held), default=""))

    def _measure(self, backend: str) -> None:
        if self._limits and not self.survey.confined[backend]:
            return
        keep = self.survey
        for task in _heights(backend):
            keep.heights += self._measured(task)
        for task in _rates(backend):
            keep.rates += self._measured(task)
        for task in self._file_tasks(backend):
            keep.files += self._measured(task)

    def _file_tasks(self, backend: str) -> Iterator[Task]:
        """Yield the writing and the reading of a small file and of a large one."""
        for rows in _fold(FILE_HEIGHTS.get(backend, 0)):
            file = self._folder / f"{backend}-{rows}.emz"
            at_once = FILE_HEIGHTS[backend]
            yield Task("write", backend, FILE_WIDTH, rows, at_once, 0.0, str(file))
            if file.exists():
                yield Task("read", backend, FILE_WIDTH, rows, at_once, 0.0, str(file))
                file.unlink()

    def _measured(self, task: Task) -> list[Measured]:
        """Return the figure of a task, or none and the reason in `left_out`."""
        left = self._until - time.monotonic()
        name = f"{task.backend}, {task.what}, width {task.width:,}" + (f", {task.rows:,} rows" if task.rows else "")
        if left <= 0:
            self.survey.left_out.append(f"{name}: the time was over")
            return []
        ran = self._launch(task, self._confines[task.backend]._replace(seconds=left))
        if ran.code:
            self.survey.left_out.append(f"{name}: {_reason(ran)}")
            return []
        done = _done(ran)
        return [
            Measured(task.what, task.backend, task.width, done.rows, done.seconds, done.state_bytes, ran.peak_bytes)
        ]

    def _search(self) -> None:
        """Search the widest maze of each backend under each limit; each search may take its share of the time left."""
        searches = [(backend, limit) for backend in backends_here() for limit in self._limits]
        for left, (backend, limit) in zip(range(len(searches), 0, -1), searches, strict=True):
            now = time.monotonic()
            self.survey.widest.append(self._widest(backend, limit, now + (self._search_until - now) / left))

    def _widest(self, backend: str, limit: Limit, until: float) -> Widest:
        """Search the widest maze under a limit, by trying, between one that fits and one that does not."""
        if limit.name not in self.survey.confined[backend]:
            return Widest(backend, limit.name, None, True)
        in_time = True

        def fits(step: int) -> bool:
            nonlocal in_time
            task = Task("fit", backend, _width(step), 1 if backend == MICRO else 2, 1, 0.0, "")
            ran = self._launch(task, limit.confines._replace(seconds=_SECONDS_TO_FIT))
            in_time = in_time and not (ran.code and ran.seconds >= _SECONDS_TO_FIT)
            return not ran.code

        low, high = 0, _last_step() + 1  # the narrowest fits: the backend started with it
        while high - low > 1:
            if time.monotonic() >= until:
                return Widest(backend, limit.name, _width(low), False)
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return Widest(backend, limit.name, _width(low), in_time)

    def _launch(self, task: Task, confines: Confines) -> Child:
        kernel = {} if task.backend == MICRO else {"ELLER_STREAM_KERNEL": task.backend}
        command = (sys.executable, "-P", "-m", f"{__package__}.worker", *task)
        return launch(*command, out="", confines=confines, environment=_ENVIRONMENT | kernel)


def _rates(backend: str) -> Iterator[Task]:
    cells = _MICRO_CELLS_AT_ONCE if backend == MICRO else _CELLS_AT_ONCE
    for width in WIDTHS:
        yield Task("carve", backend, width, 0, max(1, cells // width), _SECONDS, "")


def _heights(backend: str) -> Iterator[Task]:
    for rows in _fold(HEIGHTS[backend], 10):
        yield Task("carve", backend, NARROW, rows, HEIGHTS[backend] // 5, 0.0, "")


def _fold(rows: int, step: int = FOLD) -> list[int]:
    """Return numbers of rows up to a hundredfold; none for 0."""
    return [rows * step**k for k in range(3) if step**k <= FOLD] if rows else []


def _width(step: int) -> int:
    return min(round(_FIRST_WIDTH * 2 ** (step / _STEPS_AN_OCTAVE)), MAX_WIDTH)


def _last_step() -> int:
    return (MAX_WIDTH // _FIRST_WIDTH).bit_length() * _STEPS_AN_OCTAVE


def _done(ran: Child) -> Done:
    rows, seconds, state = ran.output.split()
    return Done(int(rows), float(seconds), int(state))


def _reason(ran: Child) -> str:
    """Return why a process failed: the signal that killed it, or the last line that it said."""
    if ran.code < 0:
        return "it ran out of memory or time, and was killed"
    said = ran.error.strip().splitlines()
    return said[-1] if said else f"exit code {ran.code}"
