"""The field: maze generators from PyPI and npm beside eller_stream, each maze in a process of its own.

Rates count the making of the maze in memory, not the start of the interpreter; the peak is that of the whole process.
The algorithms differ, and so do the mazes: this compares what it costs to get a perfect maze of a size. The passages
of each are counted: one less than cells. A generator that fails, makes another maze or passes the time limit at one
size is named, and not tried at larger ones.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from eller_stream.bench.child import Child, Confines, launch
from eller_stream.bench.plot import Panel

from ..field.install import OURS, Generator, commands
from ..measure import CELLS, MEGABYTES, Figure, Options, Result, Samples

TITLE = "field: generators from PyPI and npm"
SIZES = (100, 300, 1000)
SECONDS, ROUNDS, ENOUGH = 12.0, 3, 3.0


def run(options: Options) -> Result:
    sizes = SIZES[: options.pick(3, 1)]
    with TemporaryDirectory() as folder:
        found, left_out = commands(Path(folder))
        samples: list[Samples] = []
        for size in sizes:
            for generator, command in list(found.items()):
                ran = _launched(command, size, options.pick(ROUNDS, 1))
                if reason := next(filter(None, (_reason(child, size) for child in ran)), None):
                    left_out.append(f"{generator.name}, {size} x {size}: {reason}")
                    del found[generator]
                else:
                    samples += _samples(generator, size, ran)
    settings = {"sizes": list(sizes), "rounds": ROUNDS, "seconds": SECONDS, "left_out": left_out}
    return Result(settings, samples, _figures(samples))


def panels(result: Result) -> list[Panel]:
    """Return the plots of a result: rate and memory of those that run Eller's algorithm, against cells."""
    return [
        _panel(result, "Rate, Eller", CELLS, "million cells a second"),
        _panel(result, "Memory, Eller", MEGABYTES, "peak resident memory, MB"),
    ]


def _launched(command: list[str], size: int, rounds: int) -> list[Child]:
    """Make a maze several times, fewer where that takes long; stop at a failure."""
    ran: list[Child] = []
    while len(ran) < rounds and sum(child.seconds for child in ran) < ENOUGH and not (ran and ran[-1].code):
        ran.append(launch(*command, size, size, out="", confines=Confines(seconds=SECONDS)))
    return ran


def _samples(generator: Generator, size: int, ran: list[Child]) -> list[Samples]:
    rates = tuple(size * size / float(child.output.split()[0]) / 1e6 for child in ran)
    name = f"{generator.name}, {size} x {size}"
    return [Samples(name, CELLS, rates), Samples(name, MEGABYTES, tuple(child.peak_bytes / 1e6 for child in ran))]


def _figures(samples: list[Samples]) -> list[Figure]:
    """Return how many times as fast as each generator eller_stream is, at the largest size that it made."""
    rates = {s.name: s for s in samples if s.unit == CELLS}
    last = {name.rpartition(", ")[0]: s for name, s in rates.items() if not name.startswith(OURS.name)}
    return [_figure(s, rates[f"{OURS.name}, {s.name.rpartition(', ')[2]}"]) for s in last.values()]


def _figure(samples: Samples, ours: Samples) -> Figure:
    return Figure(f"eller_stream against {samples.name}", "times", tuple(mine / samples.median for mine in ours.values))


def _panel(result: Result, title: str, unit: str, y: str) -> Panel:
    lines: dict[str, list[tuple[float, float]]] = {}
    for samples in result.samples:
        name, _, size = samples.name.rpartition(", ")
        package, _, algorithm = name.partition(", ")
        if (samples.unit, algorithm) == (unit, OURS.algorithm):
            lines.setdefault(package, []).append((float(size.split()[0]) ** 2, samples.median))
    return Panel(title, "cells", y, lines, log_y=True)


def _reason(child: Child, size: int) -> str | None:
    """Return why a maze does not count, if it does not."""
    if child.code < 0:
        return f"not done in {SECONDS:g} seconds"
    if child.code:
        return (child.error.strip().splitlines() or [f"exit code {child.code}"])[-1][:200]
    passages = int(child.output.split()[1])
    return None if passages == size * size - 1 else f"{passages} passages, where a perfect maze has {size * size - 1}"
