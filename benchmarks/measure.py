"""How things are timed: contestants run by turns in one process, again and again; ratios are taken turn by turn.

A machine that others use is now faster, now slower, for seconds at a time. So each *round* runs every
contestant once, in an order that is turned around from round to round, after one round to warm up that does not
count. A ratio is taken within each round, where both sides had the same weather, and the median of the
rounds is what a figure has *reached*; the least and the greatest are kept beside it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Sampler: TypeAlias = Callable[[], float]

LONG_ROUNDS = 5

CELLS, MEGABYTES, MEGABYTES_A_SECOND = "million cells/s", "MB", "MB/s"
TIMES_C, TIMES_PYTHON = "times textbook C", "times textbook Python"


class NotHereError(Exception):
    """Something that a job needs is not on this machine."""


@dataclass(frozen=True)
class Options:
    """How much is run: `quick` is for a look and for tests, not for figures."""

    quick: bool = False

    @property
    def rounds(self) -> int:
        """Rounds of work that takes a moment; LONG_ROUNDS are for what takes seconds."""
        return self.pick(21, LONG_ROUNDS)

    def pick(self, full: int, quick: int) -> int:
        return quick if self.quick else full


@dataclass(frozen=True)
class Contestant:
    """One way to do a job; `sample` does it once and returns what was measured, in `unit`."""

    name: str
    sample: Sampler
    unit: str = CELLS


@dataclass(frozen=True)
class Samples:
    """What was measured, one value a round."""

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "unit": self.unit, **spread(self.values), "values": list(self.values)}


@dataclass(frozen=True)
class Figure:
    """What is stated: the median of `values` against a target, which may be one to stay under, or none."""

    name: str
    unit: str
    values: tuple[float, ...]
    target: float | None = None
    at_most: bool = False

    @property
    def reached(self) -> float:
        return statistics.median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None if there is none."""
        if self.target is None:
            return None
        return self.reached <= self.target if self.at_most else self.reached >= self.target

    def to_json(self) -> dict[str, Any]:
        aim = {"target": self.target, "at_most": self.at_most, "met": self.met}
        return {"name": self.name, "unit": self.unit, "reached": self.reached, **spread(self.values), **aim}


@dataclass(frozen=True)
class Result:
    """What a job has found; `settings` tells what was run."""

    settings: dict[str, Any]
    samples: list[Samples]
    figures: list[Figure] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "settings": self.settings,
            "figures": [figure.to_json() for figure in self.figures],
            "samples": [samples.to_json() for samples in self.samples],
        }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the median, the least and the greatest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def seconds_of(work: Callable[[], object]) -> float:
    """Return how long some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def millions_a_second(amount: int, work: Callable[[], object]) -> Sampler:
    """Return the sampler of work that does `amount` of something: millions of it a second."""
    return lambda: amount / seconds_of(work) / 1e6


def race(contestants: Sequence[Contestant], rounds: int) -> list[Samples]:
    """Run all contestants once to warm up, then `rounds` times by turns."""
    values: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for number in range(-1, rounds):
        for contestant in contestants if number % 2 else reversed(contestants):
            value = contestant.sample()
            if number >= 0:
                values[contestant.name].append(value)
    return [Samples(contestant.name, contestant.unit, tuple(values[contestant.name])) for contestant in contestants]


def ratios(samples: Samples, yardsticks: Samples | Iterable[float]) -> tuple[float, ...]:
    """Return the ratio of each round."""
    below = yardsticks.values if isinstance(yardsticks, Samples) else yardsticks
    return tuple(a / b for a, b in zip(samples.values, below, strict=True))
