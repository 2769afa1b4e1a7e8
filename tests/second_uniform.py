"""Uniform rows once more, written from docs/STREAM.md alone, in the plainest way.

It judges the package and makes the vectors. A spec is a dict as in the vectors. `rows(spec, ...)` gives rows.
"""

from functools import cache
from math import sqrt
from typing import NamedTuple

import second_stream as base

LANE = 133


class Rows(NamedTuple):
    """Some rows as given out, and the set numbers of the row behind them, None where the maze has ended."""

    east: list
    south: list
    sets_below: list | None


# The table of jumps


def sine(a, b):
    first = 20
    if 4 * a > b:
        a, b, first = b - 2 * a, 2 * b, 19
    x = 3.14159265358979323846 * a / b
    s = 1.0
    for k in range(first, 0, -2):
        s = 1.0 - x * x / (k * (k + 1)) * s
    return s if first == 19 else x * s


def cosine(i, width):
    i = min(i, 2 * width - i)
    return sine(width - 2 * i, 2 * width) if 2 * i <= width else -sine(2 * i - width, 2 * width)


def conductance(k, width):
    z = sine(k, 2 * width)
    m = 4.0 * z * z
    return (m + sqrt(m * m + 4.0 * m)) / 2.0


def power(b, n):
    s = 1.0
    while n:
        if n % 2:
            s = s * b
        b = b * b
        n //= 2
    return s


@cache
def waves(width):
    return [cosine(i, width) for i in range(2 * width)], [0.0, *(conductance(k, width) for k in range(1, width + 1))]


def sums(width, below):
    c, top = waves(width)
    f = [0.0] * (width + 1)
    for k in range(1, width + 1):
        add(f, c, k, (2.0 if k < width else 1.0) * top[k])
    for k in range(1, width + 1) if below is not None else ():
        g = 1.0 / (1.0 + top[k])
        s = power(g * g, below)
        if s < 2.0**-64:
            break
        correction = top[k] * s * (2.0 + top[k]) / (1.0 + s * (1.0 + top[k]))
        add(f, c, k, -((2.0 if k < width else 1.0) * correction))
    return f


def add(f, c, k, weight):
    for j in range(len(f)):
        f[j] = f[j] + weight * c[j * k % len(c)]


def chances(width, below):
    f = sums(width, below)
    q = [0] * (2 * width)
    for j in range(1, width + 1):
        q[j] = q[2 * width - j] = int(max(0.0, -f[j]) / (2 * width + f[0]) * 2.0**64)
    q[0] = 2**64 - sum(q)
    return q


@cache
def entries(width, below):
    bits = 1
    while 2**bits < 2 * width:
        bits += 1
    size, room = 2**bits, 2 ** (64 - bits)
    cut = chances(width, below) + [0] * (size - 2 * width)
    other = list(range(size))
    less, rest = ([b for b in range(size) if (cut[b] < room) == is_less] for is_less in (True, False))
    while less and rest:
        a, b = less.pop(), rest[-1]
        other[a] = b
        cut[b] += cut[a] - room
        if cut[b] < room:
            less.append(rest.pop())
    return [(0 if c == room else c) * size + o for c, o in zip(cut, other, strict=True)]


def jump(table, word):
    bucket = word % len(table)
    entry = table[bucket]
    return bucket if word - bucket + len(table) - 1 < entry else entry % len(table)


# A row. The walker's places are ("set", number) and ("cell", column).


def exits_of(sets, is_last):
    exits = {a: [] for a in sorted(set(sets))}
    for c, a in enumerate(sets):
        if c > 0 and sets[c - 1] != a:
            exits[a].append((("set", sets[c - 1]), ("east", c - 1)))
        if c < len(sets) - 1 and sets[c + 1] != a:
            exits[a].append((("set", sets[c + 1]), ("east", c)))
        if not is_last:
            exits[a].append((("cell", c), ("south", c)))
    return exits


def step(place, word, sets, exits, table):
    kind, number = place
    if kind == "set":
        return exits[number][word * len(exits[number]) // 2**64]
    width, j = len(sets), jump(table, word)
    if j == 0:
        return ("set", sets[number]), ("south", number)
    x = (number + j) % (2 * width)
    return ("cell", x if x < width else 2 * width - 1 - x), None


def carve(spec, row, below, sets):
    """East and south of a row, before its braid and loops; `below` rows come behind it, None for no end."""
    width, is_last = spec["width"], below == 0
    key = base.mix(base.key(int(spec["seed"]), LANE) ^ base.mix(row + 1))
    exits, table = exits_of(sets, is_last), None if is_last else entries(width, below)
    tree = {("set", max(exits, key=lambda a: (len(exits[a]), -a)))}
    opened, used = set(), 0
    starts = [("set", a) for a in exits] + [("cell", c) for c in range(0 if is_last else width)]
    for start in starts:
        place, left = start, {}
        while place not in tree:
            used += 1
            left[place] = step(place, base.mix((key + used * base.G) & base.ALL), sets, exits, table)
            place = left[place][0]
        place = start
        while place not in tree:
            tree.add(place)
            place, boundary = left[place]
            opened.add(boundary)
    return [[int((side, c) in opened) for c in range(width)] for side in ("east", "south")]


def sets_below(sets, east, south):
    joined = sets[:]
    for c in range(len(sets) - 1):
        if east[c]:
            joined = [joined[c] if a == joined[c + 1] else a for a in joined]
    below = [("set", a) if south[c] else ("cell", c) for c, a in enumerate(joined)]
    return [below.index(a) for a in below]


def rows(spec, end, row, sets, above, count):
    """`count` rows from `row` on, given its sets, what the row above opens south, and the end of the maze or None."""
    given = Rows([], [], None)
    for r in range(row, row + count):
        below = None if end is None else end - 1 - r
        carved = carve(spec, r, below, sets)
        east, south = base.braided(spec, r, below == 0, above, *carved)
        sets, above = sets_below(sets, *carved), south
        east, south = base.looped(spec, r, below == 0, east, south)
        given.east.append(east)
        given.south.append(south)
    return given._replace(sets_below=None if below == 0 else sets)
