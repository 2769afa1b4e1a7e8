"""Probabilities as whole numbers of 65,536ths, schedules of them by row, and the reading of numbers that people give.

A probability is the nearest 65,536th to the value given, ties to even; a schedule is a list of
(first row, 65,536ths) in one normal form. Whatever is no such number raises SpecError, with what came and what
was expected.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from numbers import Rational, Real
from operator import index
from typing import Any, TypeAlias

from .errors import SpecError

MAX_ROW = 2**48
MAX_SCHEDULE = 256

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 80

Number: TypeAlias = float | Rational


@dataclass(frozen=True, order=True)
class Probability:
    """A probability of `n` / 65,536, 0 <= n <= 65,536; SpecError for another n."""

    n: int

    ONE = 65_536

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", in_range("a probability in 65,536ths", self.n, 0, self.ONE))

    @classmethod
    def of(cls, value: Number | Probability, name: str = "a probability") -> Probability:
        """Return the nearest 65,536th to `value` (0..1), ties to even.

        A value above 0 never becomes 0 and one below 1 never becomes 1.
        Raises SpecError for anything that is not a number from 0 to 1.
        """
        if isinstance(value, Probability):
            return value
        number = exactly(value)
        if number is None or not 0 <= number <= 1:
            raise SpecError(f"{name} is a number from 0 to 1, not {shown(value)}")
        n = round(number * cls.ONE)
        if 0 < number < 1:
            n = min(max(n, 1), cls.ONE - 1)
        return cls(n)

    def __float__(self) -> float:
        return self.n / self.ONE

    def __str__(self) -> str:
        return f"{float(self):g}"


@dataclass(frozen=True)
class Schedule:
    """A probability that changes with the rows: 1 to 256 pairs (first row, 65,536ths), the first at row 0.

    Each value holds from its first row until the next pair's; first rows rise, up to 2**48. A pair that repeats the
    value before it says nothing and is left out. SpecError for other pairs.
    """

    pairs: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", _normal_pairs(_as_pairs(self.pairs, "a schedule")))

    @classmethod
    def of(cls, value: ScheduleLike, name: str = "a schedule") -> Schedule:
        """Return the schedule of a number, or of pairs (first row, number); SpecError for anything else."""
        if isinstance(value, Schedule):
            return value
        if isinstance(value, (Real, Probability)):
            return cls(((0, Probability.of(value, name).n),))
        pairs = [(row, Probability.of(number, name).n) for row, number in _as_pairs(value, name)]
        try:
            return cls(tuple(pairs))
        except SpecError as error:
            raise SpecError(f"{name}: {error}") from None

    def at(self, row: int) -> int:
        """Return the 65,536ths that hold at `row`."""
        return next(n for first, n in reversed(self.pairs) if first <= row)

    def changes_after(self, row: int) -> int | None:
        """Return the first row after `row` at which the value changes, None if it never does."""
        return next((first for first, _ in self.pairs if first > row), None)

    def __str__(self) -> str:
        if len(self.pairs) == 1:
            return f"{self.pairs[0][1] / Probability.ONE:g}"
        return ",".join(f"{row}:{n / Probability.ONE:g}" for row, n in self.pairs)


ScheduleLike: TypeAlias = Number | Probability | Schedule | Iterable[tuple[int, Number]]


def written_schedule(text: str) -> float | list[tuple[int, float]]:
    """Return a number, or the pairs of a schedule written 0:0.5,1000:0.6; ValueError for a text that is neither."""
    if ":" not in text:
        return float(text)
    pairs = [pair.split(":") for pair in text.split(",")]
    return [(int(row), float(p)) for row, p in pairs]


def in_range(name: str, value: object, low: int, high: int) -> int:
    """Return an integer of any kind as int; SpecError if it is none, or not from `low` to `high`."""
    number = integer(name, value)
    _check_range(name, number, low, high)
    return number


def integer(name: str, value: object) -> int:
    """Return an integer of any kind (numpy's too) as int; booleans and floats are none."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise SpecError(f"{name} is an integer, not {shown(value)}")
    try:
        return index(value)
    except TypeError:
        raise SpecError(f"{name} is an integer, not {shown(value)}") from None


def _check_range(name: str, number: int, low: int, high: int) -> None:
    if not low <= number <= high:
        raise SpecError(f"{name} is from {low} to {high}, not {shown(number)}")


def _as_pairs(value: object, name: str) -> list[tuple[Any, Any]]:
    """Return a bounded list of pairs; what is no iterable of pairs is refused."""
    pairs: list[tuple[Any, Any]] = []
    try:
        for pair in value:  # type: ignore[attr-defined]
            first, second = pair
            pairs.append((first, second))
            if len(pairs) > MAX_SCHEDULE:
                raise SpecError(f"{name} has from 1 to {MAX_SCHEDULE} pairs, not more")
    except (TypeError, ValueError) as error:
        if isinstance(error, SpecError):
            raise
        raise SpecError(f"{name} is a number from 0 to 1 or pairs (first row, number), not {shown(value)}") from None
    return pairs


def _normal_pairs(given: list[tuple[Any, Any]]) -> tuple[tuple[int, int], ...]:
    """Return a schedule's pairs in normal form; SpecError if they are no schedule's."""
    if not given:
        raise SpecError(f"a schedule has from 1 to {MAX_SCHEDULE} pairs, not 0")
    pairs = [(integer("a first row", row), Probability(n).n) for row, n in given]
    rows = [row for row, _ in pairs]
    if rows[0] != 0:
        raise SpecError(f"a schedule starts at row 0, not at row {shown(rows[0])}")
    if any(after <= before for before, after in pairwise(rows)):
        raise SpecError(f"a schedule has rising first rows, not {shown(rows)}")
    _check_range("a first row", rows[-1], 0, MAX_ROW)
    changes = [pair for before, pair in pairwise(pairs) if pair[1] != before[1]]
    return (pairs[0], *changes)


def exactly(value: object) -> Fraction | None:
    """Return a real number as the fraction it is; None for what is none, booleans and infinities among it."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    if isinstance(value, Rational):
        return Fraction(index(value.numerator), index(value.denominator))
    number = float(value)
    return Fraction(number) if isfinite(number) else None


def shown(value: object) -> str:
    """Return a value's repr for a message: never long, never costly."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    try:
        return _REPR.repr(value)
    except ValueError:  # somewhere in it is an integer that Python does not print
        return f"a {type(value).__name__} of very large numbers"
