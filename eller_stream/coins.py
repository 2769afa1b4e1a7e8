"""The random coins: counter-based, integer-only, the same on every machine.

A seed has numbered lanes; lane L is an endless row of 64-bit words, and word i is found at once
from (seed, L, i) by SplitMix64's output function (Steele, Lea, Flood 2014), so that any row's coins can
be had without those before. Word k of row r is the lane's word r * ceil(width / 64) + k, and column c of
the row is bit c % 64 of word c // 64.

A coin that falls with n of 65,536 is built from one word for each bit of n from its lowest set bit to
bit 15: starting with no bits, a 1 of n ORs the next word in, a 0 ANDs it. An even coin (n = 32,768) so
takes one word. docs/STREAM.md has the definition and vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words: TypeAlias = NDArray[np.uint64]
    Packed: TypeAlias = NDArray[np.uint8]

EAST, SOUTH, LOOPS_EAST, LOOPS_SOUTH, BRAID = 0, 16, 32, 48, 64
BRAID_THIRD, BRAID_EVEN = 80, 96
THIRD = 21_845
EVEN = 32_768
ALWAYS = 65_536

_WORDS_AT_ONCE = 1024
_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB


def mix(z: int) -> int:
    """Return SplitMix64's output function of a 64-bit word."""
    z = (z ^ z >> 30) * _MIX_1 & _MASK
    z = (z ^ z >> 27) * _MIX_2 & _MASK
    return z ^ z >> 31


def lane_key(seed: int, lane: int) -> int:
    """Return the key of a lane of a seed."""
    return mix(seed ^ mix(lane + 1))


def numbered_key(seed: int, lane: int, number: int) -> int:
    """Return the key that a lane of a seed has for a band or a row of that number."""
    return mix(lane_key(seed, lane) ^ mix(number + 1))


def lane_words(seed: int, lane: int, first: int, count: int) -> Words:
    """Return words `first` to `first + count - 1` of a lane: uint64 of shape (count,)."""
    return key_words(lane_key(seed, lane), first, count)


def key_words(key: int, first: int, count: int) -> Words:
    """Return words `first` to `first + count - 1` of a key: uint64 of shape (count,)."""
    offset = (key + (first + 1) * _GOLDEN) & _MASK
    z = np.arange(count, dtype=np.uint64)
    z *= np.uint64(_GOLDEN)
    z += np.uint64(offset)
    z ^= z >> np.uint64(30)
    z *= np.uint64(_MIX_1)
    z ^= z >> np.uint64(27)
    z *= np.uint64(_MIX_2)
    z ^= z >> np.uint64(31)
    return z


def endless_words(key: int) -> Iterator[int]:
    """Yield the words of a key, one after another."""
    for first in count(0, _WORDS_AT_ONCE):
        yield from key_words(key, first, _WORDS_AT_ONCE).tolist()


def coin_words(seed: int, base: int, n: int, first: int, count: int) -> Words:
    """Return `count` words of coins that fall with n of 65,536, from the lanes above `base`."""
    if n == ALWAYS:
        return np.full(count, _MASK, np.uint64)
    coins = np.zeros(count, np.uint64)
    if n == 0:
        return coins
    lowest = (n & -n).bit_length() - 1
    for bit in range(lowest, 16):
        words = lane_words(seed, base + bit, first, count)
        if n >> bit & 1:
            coins |= words
        else:
            coins &= words
    return coins


def row_coins(seed: int, base: int, n: int, width: int, row: int, rows: int) -> Packed:
    """Return the coins of `rows` rows from `row` on, packed like planes: uint8 of shape (rows, ceil(width / 8))."""
    words = (width + 63) // 64
    drawn = coin_words(seed, base, n, row * words, rows * words).astype("<u8").view(np.uint8)
    packed = np.ascontiguousarray(drawn.reshape(rows, 8 * words)[:, : (width + 7) // 8])
    if width % 8:
        packed[:, -1] &= (1 << width % 8) - 1
    return packed
