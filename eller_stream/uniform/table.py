"""The table of jumps: how a walk comes back from the rows below. docs/STREAM.md, "The table of jumps".

Seen from its first row, the strip of rows below is a resistor between every two of that row's cells. The strip's
sides are free, so it is half of a ring of twice the width, folded over: a ring looks the same from each of its
columns, and therefore one list of 2 * width chances, one for each distance around the ring, serves all cells.

Each wave cos(pi k x / width) across the strip meets a conductance of its own, lambda_k. With mu_k = 4 sin^2(pi k /
2 width) and L_k = (mu_k + sqrt(mu_k^2 + 4 mu_k)) / 2 it is L_k for an endless strip, and for n rows, with s_k = (1
+ L_k)^(-2n),

    lambda_k(n) = L_k - c_k,   c_k = L_k s_k (2 + L_k) / (1 + s_k (1 + L_k)).

The sum of the waves, each with its lambda_k, is the conductance at each distance. s_k falls fast with k, so a strip
that ends needs its sum corrected by a few waves only: about 7 * width / n of them, and none beyond 7 * width rows.

Floats decide the table and integers all that follows. They are added, multiplied, divided and rooted in a fixed
order, never by a library's sum, sine or power, so that every machine with IEEE doubles has the same table. numpy's
operations on whole arrays are used where each element is by itself.

The chances are rounded to 2**-64 and put into an alias table: the lowest bits of a word choose a bucket, and the
bits above tell whether it means the bucket's own number or its other.

Sources: A. J. Walker, *An efficient method for generating discrete random variables with general distributions*,
1977; the order of M. D. Vose, 1991. The response of a strip is the Dirichlet-to-Neumann map of a rectangle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..coins import Words

    Floats: TypeAlias = NDArray[np.float64]

ENDLESS = 2**64 - 1
NEGLIGIBLE = 2.0**-64
_ONE = 2**64
_TABLES_KEPT = 8


@dataclass(frozen=True, eq=False)
class Strip:
    """What all tables of a width are made of.

    cosine   float64 of shape (2 * width,): cos(pi i / width)
    tops     float64 of shape (width + 1,): L_k, the conductance of wave k in an endless strip
    sums     float64 of shape (width + 1,): for each distance, the sum of the waves of an endless strip
    """

    width: int
    cosine: Floats
    tops: Floats
    sums: Floats


@lru_cache(_TABLES_KEPT)
def strip(width: int) -> Strip:
    """Return what all tables of a width are made of, in width**2 steps."""
    cosine = np.array([_cosine(min(i, 2 * width - i), width) for i in range(2 * width)])
    tops = np.array([0.0, *(_top(k, width) for k in range(1, width + 1))])
    sums = np.zeros(width + 1)
    for k in range(1, width + 1):
        _add_wave(sums, cosine, k, _weight(k, width) * float(tops[k]))
    return Strip(width, cosine, tops, sums)


def is_endless(strip: Strip, below: int) -> bool:
    """Return whether `below` rows below are so many that their end cannot be seen in the table."""
    return below == ENDLESS or _fading(strip, 1, below) < NEGLIGIBLE


def table(strip: Strip, below: int) -> Words:
    """Return the alias table for `below` >= 1 rows below, ENDLESS for no end: uint64, a power of two of buckets.

    A bucket's lowest bits are the number of its other, as many as a bucket's number has; above them stands its cut.
    """
    return _aliased(_chances(strip, below))


@lru_cache(_TABLES_KEPT)
def endless_table(width: int) -> Words:
    """Return the alias table of an endless strip, made once."""
    return table(strip(width), ENDLESS)


def _chances(strip: Strip, below: int) -> list[int]:
    """Return the chance of each jump, in 2**-64: 0 stands for going up, j for j columns around the ring."""
    ring = 2 * strip.width
    sums = _sums(strip, below)
    jumps = np.maximum(-sums[1:], 0.0) / (float(ring) + sums[0]) * float(_ONE)
    half = jumps.astype(np.uint64).tolist()
    chances = [0, *half, *half[-2::-1]]
    chances[0] = _ONE - sum(chances)
    return chances


def _sums(strip: Strip, below: int) -> Floats:
    """Return, for each distance, the sum of the waves of a strip of `below` rows."""
    sums = strip.sums.copy()
    if is_endless(strip, below):
        return sums
    for k in range(1, strip.width + 1):
        top, s = float(strip.tops[k]), _fading(strip, k, below)
        if s < NEGLIGIBLE:
            break
        correction = top * s * (2.0 + top) / (1.0 + s * (1.0 + top))
        _add_wave(sums, strip.cosine, k, -(_weight(k, strip.width) * correction))
    return sums


def _fading(strip: Strip, k: int, below: int) -> float:
    """Return s_k: how much of wave k comes back from the end of `below` rows."""
    up = 1.0 / (1.0 + float(strip.tops[k]))
    return _power(up * up, below)


def _weight(k: int, width: int) -> float:
    """Return how often wave k is there in the ring: waves k and 2 * width - k are the same."""
    return 2.0 if k < width else 1.0


def _add_wave(sums: Floats, cosine: Floats, k: int, weight: float) -> None:
    """Add a wave to the sums of all distances."""
    places = np.arange(len(sums), dtype=np.uint32) * np.uint32(k) % np.uint32(len(cosine))
    sums += weight * cosine[places]


def _top(k: int, width: int) -> float:
    sine = _sine(k, 2 * width)
    mu = 4.0 * sine * sine
    return (mu + sqrt(mu * mu + 4.0 * mu)) / 2.0


def _cosine(i: int, width: int) -> float:
    """Return cos(pi i / width) for 0 <= i <= width."""
    return _sine(width - 2 * i, 2 * width) if 2 * i <= width else -_sine(2 * i - width, 2 * width)


def _sine(a: int, b: int) -> float:
    """Return sin(pi a / b) for 0 <= a / b <= 1/2, by Taylor's series up to pi / 4 and that of the cosine behind it."""
    behind = 4 * a > b
    if behind:
        a, b = b - 2 * a, 2 * b
    x = 3.14159265358979323846 * float(a) / float(b)
    s = 1.0
    for k in range(19 if behind else 20, 0, -2):
        s = 1.0 - x * x / float(k * (k + 1)) * s
    return s if behind else x * s


def _power(base: float, n: int) -> float:
    result = 1.0
    while n:
        if n & 1:
            result *= base
        base *= base
        n >>= 1
    return result


def _aliased(chances: list[int]) -> Words:
    """Return the alias table of chances that sum to 2**64."""
    bits = max(1, (len(chances) - 1).bit_length())
    room = 1 << 64 - bits
    cuts = chances + [0] * ((1 << bits) - len(chances))
    others = list(range(1 << bits))
    small = [j for j in others if cuts[j] < room]
    large = [j for j in others if cuts[j] >= room]
    while small and large:
        a, b = small.pop(), large[-1]
        others[a] = b
        cuts[b] -= room - cuts[a]
        if cuts[b] < room:
            small.append(large.pop())
    return np.array([cut % room << bits | other for cut, other in zip(cuts, others, strict=True)], np.uint64)
