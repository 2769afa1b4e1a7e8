"""The cost curve: the command `eller-stream generate` from ten thousand to a thousand million cells, width 1,000.

The whole process is timed, from its start; what it writes goes to /dev/null. Small mazes take the time of starting, and
less memory than the 2 MiB of rows that are carved at a time in a large one; from there on memory must not grow.
"""

from __future__ import annotations

from eller_stream.bench import child
from eller_stream.bench.plot import Panel

from ..contestants import SEED, WIDTH
from ..measure import MEGABYTES, Contestant, Figure, Options, Result, race, ratios

TITLE = "curve: time and memory against cells, width 1,000"
SECONDS = "s"
ROUNDS = 3


def run(options: Options) -> Result:
    cells = [10**power for power in range(4, options.pick(10, 7))]
    peaks: dict[int, list[float]] = {count: [] for count in cells}
    seconds = race([_generate(count, peaks[count]) for count in cells], options.pick(ROUNDS, 1))
    memory = race([_peak(count, peaks[count]) for count in cells], options.pick(ROUNDS, 1))
    name = f"peak memory, {cells[-1]:,} cells against {cells[-2]:,}"
    growth = Figure(name, "times", ratios(memory[-1], memory[-2]), 1.02, at_most=True)
    return Result({"width": WIDTH, "seed": SEED, "cells": cells}, [*seconds, *memory], [growth])


def panels(result: Result) -> list[Panel]:
    """Return the plots of a result: time and memory against cells."""
    found = []
    for title, unit, log in (("Time", SECONDS, True), ("Memory", MEGABYTES, False)):
        points = [(float(s.name.split()[0].replace(",", "")), s.median) for s in result.samples if s.unit == unit]
        found.append(Panel(title, "cells", unit, {"eller-stream generate": points}, log_y=log))
    return found


def _ran(cells: int, peaks: list[float]) -> float:
    """Generate, keep the peak, and return the seconds."""
    ran = child.eller_stream("generate", "-", "--width", WIDTH, "--rows", cells // WIDTH, "--seed", SEED)
    peaks.append(ran.peak_bytes / 1e6)
    return ran.seconds


def _generate(cells: int, peaks: list[float]) -> Contestant:
    return Contestant(f"{cells:,} cells", lambda: _ran(cells, peaks), SECONDS)


def _peak(cells: int, peaks: list[float]) -> Contestant:
    """Hand out the peaks of the processes that were timed."""
    return Contestant(f"{cells:,} cells", peaks.pop, MEGABYTES)
