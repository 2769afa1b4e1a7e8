"""`MazeSpec`: everything that determines a maze, and nothing else.

Two equal specs give the same rows, bit for bit, on every machine; so a spec holds no
float. A probability is a whole number n of 65,536ths (the nearest to the value given, ties
to even), a schedule is a list of (first row, n). Values are put into one normal form, so
that equal mazes have equal specs.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from numbers import Rational, Real
from operator import index
from typing import Any, TypeAlias

from .errors import SpecError

MAX_WIDTH = 2**31 - 1
MAX_ROW = 2**48
MAX_SEED = 2**64 - 1
MAX_KEY_CELLS = 2**34
MAX_SCHEDULE = 256
DEFAULT_KEY_INTERVAL = 1024
ALGORITHMS = ("eller",)

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 80

Number: TypeAlias = float | Rational


@dataclass(frozen=True, order=True)
class Probability:
    """A probability of `n` / 65,536, 0 <= n <= 65,536; SpecError for another n."""

    n: int

    ONE = 65_536

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", _in_range("a probability in 65,536ths", self.n, 0, self.ONE))

    @classmethod
    def of(cls, value: Number | Probability, name: str = "a probability") -> Probability:
        """Return the nearest 65,536th to `value` (0..1), ties to even.

        A value above 0 never becomes 0 and one below 1 never becomes 1.
        Raises SpecError for anything that is not a number from 0 to 1.
        """
        if isinstance(value, Probability):
            return value
        number = _exactly(value)
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


@dataclass(frozen=True, init=False)
class MazeSpec:
    """Everything that determines a maze: its rows follow from this and from nothing else.

    algorithm     "eller"
    width         cells in a row, 1 to 2**31 - 1
    seed          0 to 2**64 - 1; None draws one from the operating system
    height        rows of the whole maze, 1 to 2**48; None: endless until `finalize()`
    p_east        probability that two neighbours of different sets are joined; number or schedule
    p_south       probability that a cell keeps its passage south; number or schedule
    key_interval  a key row every so many rows, even; 0 for none; None for the default: 1,024,
                  or 0 for widths above 2**24
    loops         probability that a closed inner wall opens after all; number or schedule
    braid         probability that a dead end gets one more passage

    Probabilities are numbers from 0 to 1 and are held as 65,536ths. A schedule is a sequence of
    (first row, probability), from row 0 on, rows rising, at most 256 pairs.
    Every wrong value raises SpecError. Specs are immutable, hashable, comparable and picklable.
    """

    algorithm: str
    width: int
    seed: int
    height: int | None
    p_east: Schedule
    p_south: Schedule
    key_interval: int
    loops: Schedule
    braid: Probability

    def __init__(
        self,
        width: int,
        *,
        algorithm: str = "eller",
        seed: int | None = None,
        height: int | None = None,
        p_east: ScheduleLike = 0.5,
        p_south: ScheduleLike = 0.5,
        key_interval: int | None = None,
        loops: ScheduleLike = 0.0,
        braid: Number | Probability = 0.0,
    ) -> None:
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
            raise SpecError(f"algorithm is one of {', '.join(ALGORITHMS)}, not {shown(algorithm)}")
        width = _in_range("width", width, 1, MAX_WIDTH)
        values = {
            "algorithm": algorithm,
            "width": width,
            "seed": _seed(seed),
            "height": None if height is None else _in_range("height", height, 1, MAX_ROW),
            "p_east": Schedule.of(p_east, "p_east"),
            "p_south": Schedule.of(p_south, "p_south"),
            "key_interval": _key_interval(key_interval, width),
            "loops": Schedule.of(loops, "loops"),
            "braid": Probability.of(braid, "braid"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def to_data(self) -> dict[str, Any]:
        """Return the spec as plain data: strings, integers, None and lists, for msgpack.

        Probabilities are 65,536ths; a schedule is a list of [first row, 65,536ths].
        """
        data: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("p_east", "p_south", "loops"):
            data[name] = [list(pair) for pair in data[name].pairs]
        data["braid"] = self.braid.n
        return data

    def to_json(self) -> dict[str, Any]:
        """Return `to_data()` with the seed as a string of digits, since JSON's readers round large numbers."""
        return self.to_data() | {"seed": str(self.seed)}

    @classmethod
    def from_data(cls, data: object) -> MazeSpec:
        """Return the spec that `to_data()` or `to_json()` wrote; SpecError if it is none."""
        names = [field.name for field in fields(cls)]
        if not isinstance(data, Mapping) or set(data) != set(names):
            raise SpecError(f"a spec is a map with the keys {', '.join(names)}, not {shown(data)}")
        values = dict(data)
        if isinstance(values["seed"], str):
            values["seed"] = _seed_from_digits(values["seed"])
        if values["seed"] is None or values["key_interval"] is None:
            raise SpecError("a stored spec tells its seed and its key interval")
        for name in ("p_east", "p_south", "loops"):
            values[name] = Schedule(values[name])
        values["braid"] = Probability(values["braid"])
        return cls(**values)


def seed_from_text(text: str) -> int:
    """Return the seed that a text stands for: SHA-256 of its UTF-8 bytes, the first eight, big-endian."""
    import hashlib  # not at the top: it loads OpenSSL, 3 MB of memory that a stream has no use for

    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _seed(seed: int | None) -> int:
    if seed is None:
        return int.from_bytes(os.urandom(8), "big")
    return _in_range("seed", seed, 0, MAX_SEED)


def _seed_from_digits(digits: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(MAX_SEED))):
        raise SpecError(f"a seed is a string of digits up to {MAX_SEED}, not {shown(digits)}")
    return int(digits)


def _key_interval(interval: int | None, width: int) -> int:
    if interval is None:
        return DEFAULT_KEY_INTERVAL if width * DEFAULT_KEY_INTERVAL <= MAX_KEY_CELLS else 0
    interval = _in_range("key_interval", interval, 0, MAX_ROW)
    if interval % 2:
        raise SpecError(f"key_interval is an even number of rows, or 0 for no key rows, not {interval}")
    if interval * width > MAX_KEY_CELLS:
        raise SpecError(f"key_interval * width is at most {MAX_KEY_CELLS} cells, not {interval} * {width}")
    return interval


def _in_range(name: str, value: object, low: int, high: int) -> int:
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


def _exactly(value: object) -> Fraction | None:
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
