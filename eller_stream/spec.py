"""`MazeSpec`: everything that determines a maze, and nothing else.

Two equal specs give the same rows, bit for bit, on every machine; so a spec holds no
float. Probabilities are whole numbers of 65,536ths (`chance.py`), weights those of a ratio. Values are put into
one normal form, so that equal mazes have equal specs.

Each algorithm has the options that `OPTIONS` lists. A spec has None for those that its algorithm has not, and
refuses to be given one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any, TypeAlias

from .chance import MAX_ROW as MAX_ROW
from .chance import Number as Number
from .chance import Probability as Probability
from .chance import Schedule as Schedule
from .chance import ScheduleLike as ScheduleLike
from .chance import exactly, in_range
from .chance import integer as integer
from .chance import shown as shown
from .errors import SpecError

MAX_WIDTH = 2**31 - 1
MAX_SEED = 2**64 - 1
MAX_KEY_CELLS = 2**34
MAX_BAND_CELLS = 2**34
MAX_DEFAULT_BAND_CELLS = 2**32
MAX_WILSON_SHAPE = 64
MAX_UNIFORM_WIDTH = 2**14
MAX_TUNNELS_PER_CELL = 64
MAX_WEIGHT = 65_536
MAX_PULL = 64
DEFAULT_KEY_INTERVAL = 1024
DEFAULT_BAND = 64
DEFAULT_MAX_LENGTH = 8
COLUMNS_A_DOOR = 16
CELLS_A_TUNNEL = 16
EVEN, AWAY, TOWARD = "even", "away", "toward"

_ALL = ("algorithm", "width", "seed", "height")
_BANDED = ("band", "loops", "braid")
OPTIONS = {
    "eller": ("p_east", "p_south", "key_interval", "loops", "braid"),
    "dfs": (*_BANDED, "start", "goal", "weights", "doors"),
    "prim": (*_BANDED, "start", "goal", "weights"),
    "wilson": _BANDED,
    "random_walk": (*_BANDED, "max_tunnels", "max_length"),
    "uniform": ("loops", "braid"),
}
ALGORITHMS = tuple(OPTIONS)

Cell: TypeAlias = tuple[int, int]
Ratio: TypeAlias = tuple[int, ...]
Pull: TypeAlias = str | tuple[str, Fraction]


@dataclass(frozen=True, init=False, repr=False)
class MazeSpec:
    """Everything that determines a maze: its rows follow from this and from nothing else.

    algorithm     "eller"; one carved in bands: "dfs", "prim", "wilson", "random_walk"; or "uniform"
    width         cells in a row, 1 to 2**31 - 1, of uniform to 2**14
    seed          0 to 2**64 - 1; None draws one from the operating system
    height        rows of the whole maze, 1 to 2**48; None: endless until `finalize()`
    loops         probability that a closed inner wall opens after all; number or schedule
    braid         probability that a dead end gets one more passage

    eller:
    p_east        probability that two neighbours of different sets are joined; number or schedule; 0.5 by default
    p_south       probability that a cell keeps its passage south; number or schedule; 0.5 by default
    key_interval  a key row every so many rows, even; 0 for none; None for the default: 1,024,
                  or 0 for widths above 2**24

    dfs, prim, wilson, random_walk:
    band          rows that are carved at a time; 64 by default, fewer for widths above 2**26; band * width is
                  at most 2**34, Wilson's band at most 64 * width

    dfs, prim:
    start         the cell (row, column) of the first band that the maze grows from; None: a random one
    goal          the cell (row, column) that the weights speak of, anywhere in the maze; None: they speak of none

    dfs:
    weights       of the four directions (north, east, south, west); or, with a goal, of its two kinds of neighbours
                  (nearer, farther). Numbers >= 0, not all 0; even by default
    doors         passages that lead into a band, 1 to width; about one in sixteen columns by default

    prim:
    weights       of the walls, by the distance d of the cell behind them from the goal: "even", the default,
                  ("away", a) for 1 + a * d, or ("toward", a) for 1 / (1 + a * d), 0 < a <= 64

    random_walk:
    max_tunnels   tunnels that are dug in each band, up to 64 for each of its cells; 1 for 16 of them by default
    max_length    the most cells of a tunnel, 1 to 2**31 - 1; 8 by default

    Probabilities are numbers from 0 to 1 and are held as 65,536ths. A schedule is a sequence of
    (first row, probability), from row 0 on, rows rising, at most 256 pairs.
    Every wrong value raises SpecError, and so does an option that the algorithm has not. Specs are immutable,
    hashable, comparable and picklable.
    """

    algorithm: str
    width: int
    seed: int
    height: int | None
    p_east: Schedule | None
    p_south: Schedule | None
    key_interval: int | None
    loops: Schedule
    braid: Probability
    band: int | None
    start: Cell | None
    goal: Cell | None
    weights: Ratio | Pull | None
    doors: int | None
    max_tunnels: int | None
    max_length: int | None

    def __init__(
        self,
        width: int,
        *,
        algorithm: str = "eller",
        seed: int | None = None,
        height: int | None = None,
        p_east: ScheduleLike | None = None,
        p_south: ScheduleLike | None = None,
        key_interval: int | None = None,
        loops: ScheduleLike = 0.0,
        braid: Number | Probability = 0.0,
        band: int | None = None,
        start: Cell | None = None,
        goal: Cell | None = None,
        weights: Iterable[Number] | tuple[str, Number] | str | None = None,
        doors: int | None = None,
        max_tunnels: int | None = None,
        max_length: int | None = None,
    ) -> None:
        given = {
            "p_east": p_east,
            "p_south": p_south,
            "key_interval": key_interval,
            "loops": loops,
            "braid": braid,
            "band": band,
            "start": start,
            "goal": goal,
            "weights": weights,
            "doors": doors,
            "max_tunnels": max_tunnels,
            "max_length": max_length,
        }
        check_options(algorithm, [name for name, value in given.items() if value is not None])
        values: dict[str, Any] = dict.fromkeys(given)
        values["algorithm"] = algorithm
        values["width"] = in_range("width", width, _least_size(algorithm), _most_width(algorithm))
        values["seed"] = _seed(seed)
        values["height"] = None if height is None else in_range("height", height, _least_size(algorithm), MAX_ROW)
        for name in OPTIONS[algorithm]:
            values[name] = _READERS[name](given[name], values)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in (*_ALL, *OPTIONS[self.algorithm]))
        return f"MazeSpec({', '.join(shown)})"

    @property
    def seekable(self) -> bool:
        """Whether any row is found at a bounded price without those above it: by key rows, or in its band."""
        return bool(self.key_interval or self.band)

    @property
    def promises_loops(self) -> bool:
        """Whether the maze may have cycles: by loops or by braid."""
        return self.braid.n > 0 or any(n for _, n in self.loops.pairs)

    def to_data(self) -> dict[str, Any]:
        """Return the spec as plain data, the options of its algorithm alone: texts, integers, None, lists; for msgpack.

        Probabilities are 65,536ths; a schedule is a list of [first row, 65,536ths].
        """
        return {name: _plain(getattr(self, name)) for name in (*_ALL, *OPTIONS[self.algorithm])}

    def to_json(self) -> dict[str, Any]:
        """Return `to_data()` with the seed as a string of digits, since JSON's readers round large numbers."""
        return self.to_data() | {"seed": str(self.seed)}

    @classmethod
    def from_data(cls, data: object) -> MazeSpec:
        """Return the spec that `to_data()` or `to_json()` wrote; SpecError if it is none."""
        if not isinstance(data, Mapping) or "algorithm" not in data:
            raise SpecError(f"a spec is a map with the keys {', '.join(_ALL)} and more, not {shown(data)}")
        names = (*_ALL, *options_of(data["algorithm"]))
        if set(data) != set(names):
            raise SpecError(f"a spec is a map with the keys {', '.join(names)}, not {shown(data)}")
        values = dict(data)
        if isinstance(values["seed"], str):
            values["seed"] = _seed_from_digits(values["seed"])
        for name in names:
            if values[name] is None and name not in ("height", "start", "goal"):
                raise SpecError(f"a stored spec tells its {name}")
            if name in _FROM_DATA:
                values[name] = _FROM_DATA[name](values[name])
        return cls(**values)


def options_of(algorithm: object) -> tuple[str, ...]:
    """Return the names of the options that an algorithm has; SpecError for one that is not known."""
    if not isinstance(algorithm, str) or algorithm not in OPTIONS:
        raise SpecError(f"algorithm is one of {', '.join(ALGORITHMS)}, not {shown(algorithm)}")
    return OPTIONS[algorithm]


def check_options(algorithm: object, names: Iterable[str]) -> None:
    """Raise SpecError if the algorithm is not known or one of the named options is none of its own."""
    known = options_of(algorithm)
    for name in names:
        if name not in known:
            raise SpecError(f"{algorithm} has the options {', '.join(known)}, not {shown(name)}")


def seed_from_text(text: str) -> int:
    """Return the seed that a text stands for: SHA-256 of its UTF-8 bytes, the first eight, big-endian."""
    import hashlib  # not at the top: it loads OpenSSL, 3 MB of memory that a stream has no use for

    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _seed(seed: int | None) -> int:
    if seed is None:
        return int.from_bytes(os.urandom(8), "big")
    return in_range("seed", seed, 0, MAX_SEED)


def _seed_from_digits(digits: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(MAX_SEED))):
        raise SpecError(f"a seed is a string of digits up to {MAX_SEED}, not {shown(digits)}")
    return int(digits)


def _least_size(algorithm: str) -> int:
    """Return the least width and height: a tunnel has to be able to turn."""
    return 2 if algorithm == "random_walk" else 1


def _most_width(algorithm: str) -> int:
    """Return the most that a width can be: the table of uniform takes width**2 steps to make."""
    return MAX_UNIFORM_WIDTH if algorithm == "uniform" else MAX_WIDTH


def _key_interval(interval: int | None, so_far: Mapping[str, Any]) -> int:
    width: int = so_far["width"]
    if interval is None:
        return DEFAULT_KEY_INTERVAL if width * DEFAULT_KEY_INTERVAL <= MAX_KEY_CELLS else 0
    interval = in_range("key_interval", interval, 0, MAX_ROW)
    if interval % 2:
        raise SpecError(f"key_interval is an even number of rows, or 0 for no key rows, not {interval}")
    if interval * width > MAX_KEY_CELLS:
        raise SpecError(f"key_interval * width is at most {MAX_KEY_CELLS} cells, not {interval} * {width}")
    return interval


def _band(band: int | None, so_far: Mapping[str, Any]) -> int:
    algorithm: str = so_far["algorithm"]
    width: int = so_far["width"]
    if band is None:
        return min(DEFAULT_BAND, MAX_DEFAULT_BAND_CELLS // width)
    band = in_range("band", band, _least_size(algorithm), MAX_ROW)
    if band * width > MAX_BAND_CELLS:
        raise SpecError(f"band * width is at most {MAX_BAND_CELLS} cells, not {band} * {width}")
    if algorithm == "wilson" and band > MAX_WILSON_SHAPE * width:
        raise SpecError(
            f"a band of wilson has at most {MAX_WILSON_SHAPE} times its width as rows, not {band} at {width}"
        )
    return band


def _start(start: object, so_far: Mapping[str, Any]) -> Cell | None:
    return _cell("start", start, min(so_far["band"], so_far["height"] or MAX_ROW), so_far["width"])


def _goal(goal: object, so_far: Mapping[str, Any]) -> Cell | None:
    return _cell("goal", goal, so_far["height"] or MAX_ROW, so_far["width"])


def _cell(name: str, cell: object, rows: int, width: int) -> Cell | None:
    """Return a cell inside of `rows` rows, or None."""
    if cell is None:
        return None
    if not isinstance(cell, (tuple, list)) or len(cell) != 2:
        raise SpecError(f"{name} is a cell (row, column), not {shown(cell)}")
    row = in_range(f"the row of {name}", cell[0], 0, rows - 1)
    return row, in_range(f"the column of {name}", cell[1], 0, width - 1)


def _weights(weights: object, so_far: Mapping[str, Any]) -> Ratio | Pull:
    goal = so_far["goal"]
    if so_far["algorithm"] == "dfs":
        found: Ratio | Pull = _ratio(weights, 4 if goal is None else 2)
    else:
        found = _pull(weights)
    if goal is not None and (weights is None or found == EVEN):
        raise SpecError("a goal is for weights that speak of it, and these are even")
    if goal is None and isinstance(found[0], str) and found != EVEN:
        raise SpecError(f"the weights {shown(weights)} need a goal")
    return found


def _ratio(weights: object, count: int) -> Ratio:
    """Return weights as the least whole numbers of their ratio, or those nearest to it that are at most 65,536."""
    if weights is None:
        return (1,) * count
    numbers = [exactly(weight) for weight in weights] if isinstance(weights, (tuple, list)) else []
    known = [number for number in numbers if number is not None and number >= 0]
    if len(known) != count or len(numbers) != count or not any(known):
        kinds = "north, east, south, west" if count == 4 else "nearer, farther"
        raise SpecError(f"weights are {count} numbers ({kinds}) from 0, not all 0, not {shown(weights)}")
    unit = lcm(*(number.denominator for number in known))
    whole = _reduced([int(number * unit) for number in known])
    top = max(whole)
    if top <= MAX_WEIGHT:
        return whole
    return _reduced([max(round(Fraction(n * MAX_WEIGHT, top)), 1) if n else 0 for n in whole])


def _reduced(numbers: list[int]) -> Ratio:
    divisor = gcd(*numbers)
    return tuple(n // divisor for n in numbers)


def _pull(weights: object) -> Pull:
    """Return the weights of walls: "even", or which way they pull and how much, in 65,536ths."""
    if weights is None or (isinstance(weights, str) and weights == EVEN):
        return EVEN
    if not isinstance(weights, (tuple, list)) or len(weights) != 2 or weights[0] not in (AWAY, TOWARD):
        raise SpecError(f'weights are "even", ("away", a) or ("toward", a), not {shown(weights)}')
    a = exactly(weights[1])
    if a is None or not 0 < a <= MAX_PULL:
        raise SpecError(f"the a of weights is a number above 0, at most {MAX_PULL}, not {shown(weights[1])}")
    return str(weights[0]), Fraction(max(round(a * Probability.ONE), 1), Probability.ONE)


def _doors(doors: int | None, so_far: Mapping[str, Any]) -> int:
    width: int = so_far["width"]
    return -(-width // COLUMNS_A_DOOR) if doors is None else in_range("doors", doors, 1, width)


def _max_tunnels(tunnels: int | None, so_far: Mapping[str, Any]) -> int:
    cells: int = so_far["band"] * so_far["width"]
    if tunnels is None:
        return max(1, cells // CELLS_A_TUNNEL)
    return in_range("max_tunnels", tunnels, 1, MAX_TUNNELS_PER_CELL * cells)


def _max_length(length: int | None, _: Mapping[str, Any]) -> int:
    return DEFAULT_MAX_LENGTH if length is None else in_range("max_length", length, 1, MAX_WIDTH)


# In the order in which they are read, each knows what was read before it.
_READERS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "p_east": lambda value, _: Schedule.of(0.5 if value is None else value, "p_east"),
    "p_south": lambda value, _: Schedule.of(0.5 if value is None else value, "p_south"),
    "key_interval": _key_interval,
    "loops": lambda value, _: Schedule.of(value, "loops"),
    "braid": lambda value, _: Probability.of(value, "braid"),
    "band": _band,
    "start": _start,
    "goal": _goal,
    "weights": _weights,
    "doors": _doors,
    "max_tunnels": _max_tunnels,
    "max_length": _max_length,
}


def _plain(value: Any) -> Any:
    """Return an option's value as plain data."""
    if isinstance(value, Schedule):
        return [list(pair) for pair in value.pairs]
    if isinstance(value, Probability):
        return value.n
    if isinstance(value, Fraction):
        return int(value * Probability.ONE)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _weights_from_data(weights: object) -> object:
    if isinstance(weights, list) and len(weights) == 2 and isinstance(weights[0], str):
        return weights[0], Fraction(integer("the a of weights", weights[1]), Probability.ONE)
    return weights


_FROM_DATA: dict[str, Callable[[Any], Any]] = {
    "p_east": Schedule,
    "p_south": Schedule,
    "loops": Schedule,
    "braid": Probability,
    "weights": _weights_from_data,
}
