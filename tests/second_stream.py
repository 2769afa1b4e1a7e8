"""A second implementation of the stream, written from docs/STREAM.md alone.

It judges the package and makes the vectors. So it shares no code with the package, and it does everything in the
plainest way: a list of 0 and 1 per row, a set number per cell, one cell after the other. A spec is a dict as in the
vectors. `rows(spec, first, count)` gives rows.
"""

from collections import Counter
from typing import NamedTuple

JOIN, KEEP, LOOP_EAST, LOOP_SOUTH, BRAID, THIRD, EVEN = 0, 16, 32, 48, 64, 80, 96
ALL = 2**64 - 1
G = 0x9E3779B97F4A7C15


class Rows(NamedTuple):
    """Some rows as given out, a list of 0 and 1 for each, and the set numbers of the row behind them."""

    east: list
    south: list
    sets: list | None  # None where the maze has ended


# Words and coins


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & ALL
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ALL
    return z ^ (z >> 31)


def key(seed, lane):
    return mix(seed ^ mix(lane + 1))


def word(seed, lane, i):
    return mix((key(seed, lane) + (i + 1) * G) & ALL)


def coin_word(seed, base, n, i):
    """Word number `i` of the coins with `n` and `base`."""
    if n == 0:
        return 0
    if n == 65536:
        return ALL
    x = 0
    lowest = min(b for b in range(16) if n >> b & 1)
    for b in range(lowest, 16):
        w = word(seed, base + b, i)
        x = w | x if n >> b & 1 else w & x
    return x


def coins(spec, row, base, n):
    """The coins of a row, one for each column."""
    width = spec["width"]
    words_per_row = (width + 63) // 64
    found = []
    for c in range(width):
        if c % 64 == 0:
            i = (row * words_per_row + c // 64) % 2**64
            x = coin_word(int(spec["seed"]), base, n, i)
        found.append(x >> (c % 64) & 1)
    return found


def n_at(schedule, row):
    return [n for first_row, n in schedule if first_row <= row][-1]


# A row


def in_scan_order(row, count):
    return range(count) if row % 2 == 0 else range(count - 1, -1, -1)


def is_key_row(spec, row):
    return spec["key_interval"] > 0 and (row + 1) % spec["key_interval"] == 0


def scan_east(row, joins, sets, east):
    """Open boundaries: both `east` and `sets` change."""
    for c in in_scan_order(row, len(sets) - 1):
        a, b = sets[c], sets[c + 1]
        if joins[c] and a != b:
            east[c] = 1
            sets[:] = [a if s == b else s for s in sets]


def carve_east(spec, row, sets, merges):
    """The passages east; `sets` becomes that of the row when it is joined."""
    east = [0] * len(sets)
    scan_east(row, coins(spec, row, JOIN, n_at(spec["p_east"], row)), sets, east)
    if merges:
        scan_east(row, [1] * len(sets), sets, east)
    return east


def carve_south(row, keeps, sets):
    left = Counter(sets)
    south = [0] * len(sets)
    for c in in_scan_order(row, len(sets)):
        if keeps[c] or left[sets[c]] == 1:
            south[c] = 1
        else:
            left[sets[c]] -= 1
    return south


def sets_below(south, sets):
    """The sets of the next row, each numbered by its smallest column."""
    kept = [("kept", sets[c]) if south[c] else ("new", c) for c in range(len(sets))]
    return [kept.index(s) for s in kept]


# Braid and loops


def passages(c, north, east, south):
    """The passages of cell `c`."""
    sides = {"north": north[c], "west": c > 0 and east[c - 1], "east": east[c], "south": south[c]}
    return {side for side, is_open in sides.items() if is_open}


def choose(possible, third, even):
    """The side on which a dead end is opened, of those that are possible; None if there are none."""
    if not possible:
        return None
    if len(possible) == 1:
        return min(possible)
    if possible == {"west", "east"} or (possible == {"west", "east", "south"} and not third):
        return "west" if even else "east"
    if possible == {"west", "south"}:
        return "west" if even else "south"
    if possible == {"east", "south"}:
        return "east" if even else "south"
    return "south"


def braided(spec, row, merges, north, east, south):
    """`east` and `south` of a row after its braid."""
    width = spec["width"]
    wanted = coins(spec, row, BRAID, spec["braid"])
    thirds = coins(spec, row, THIRD, 21845)
    evens = coins(spec, row, EVEN, 32768)
    more_east, more_south = east[:], south[:]
    for c in range(width):
        has = passages(c, north, east, south)
        if len(has) != 1 or not wanted[c]:
            continue
        inside = {"west": c > 0, "east": c < width - 1, "south": not merges}
        side = choose({s for s, fits in inside.items() if fits} - has, thirds[c], evens[c])
        if side == "west":
            more_east[c - 1] = 1
        if side == "east":
            more_east[c] = 1
        if side == "south":
            more_south[c] = 1
    return more_east, more_south


def looped(spec, row, is_last, east, south):
    """`east` and `south` of a row after its loops."""
    n = n_at(spec["loops"], row)
    loop_east = coins(spec, row, LOOP_EAST, n)
    loop_south = [0] * len(south) if is_last else coins(spec, row, LOOP_SOUTH, n)
    loop_east[-1] = 0
    return either(east, loop_east), either(south, loop_south)


def either(row, other):
    return [a | b for a, b in zip(row, other, strict=True)]


# The stream


def start(spec, row):
    """The last row up to `row` that needs no row above it but a key row's coins, its sets, and its passages north."""
    width, interval = spec["width"], spec["key_interval"]
    first = row - row % interval if interval else 0
    if first == 0:
        return 0, list(range(width)), [0] * width
    north = coins(spec, first - 1, KEEP, n_at(spec["p_south"], first - 1))
    if 1 not in north:
        north[0] = 1
    return first, sets_below(north, [0] * width), north


def one_row(spec, row, is_last, sets, north):
    """A row as given out (east, south), the sets below it, and its passages south without loops."""
    merges = is_last or is_key_row(spec, row)
    keeps = coins(spec, row, KEEP, n_at(spec["p_south"], row))
    sets = sets[:]
    east = carve_east(spec, row, sets, merges)
    south = [0] * len(sets) if is_last else carve_south(row, keeps, sets)
    below = None if is_last else sets_below(south, sets)
    east, south = braided(spec, row, merges, north, east, south)
    return *looped(spec, row, is_last, east, south), below, south


def rows(spec, first, count, finalized=False):
    """`count` rows from row `first` on; `finalized`: the stream was finalized before the last of them."""
    end = first + count if finalized else spec["height"]
    row, sets, north = start(spec, first)
    given = Rows([], [], None)
    while row < first + count:
        east, south, sets, north = one_row(spec, row, row + 1 == end, sets, north)
        if row >= first:
            given.east.append(east)
            given.south.append(south)
        row += 1
    return given._replace(sets=sets)


def packed(bits):
    """A list of 0 and 1 as bytes, little-endian: column c is bit c mod 8 of byte floor(c / 8)."""
    data = bytearray((len(bits) + 7) // 8)
    for c, bit in enumerate(bits):
        data[c // 8] |= bit << (c % 8)
    return bytes(data)
