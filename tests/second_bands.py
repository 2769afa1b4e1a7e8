"""The bands of docs/STREAM.md once more, written from that page alone, in the plainest way.

It judges the package and makes the vectors. A `Band` knows its cells in the maze and their
open passages. A spec is a dict as in the vectors. `rows(spec, first, count)` gives rows.
"""

from itertools import pairwise
from typing import NamedTuple

import second_stream as base

NORTH, EAST, SOUTH, WEST = range(4)
STEPS = [(-1, 0), (0, 1), (1, 0), (0, -1)]
LANES = {"dfs": 128, "prim": 129, "wilson": 130, "random_walk": 131}
GATES = 132


class Rows(NamedTuple):
    """Some rows as given out, a list of 0 and 1 for each; floor is None where every cell is floor."""

    east: list
    south: list
    floor: list | None


class Draws:
    def __init__(self, seed, lane, band):
        self.key = base.mix(base.key(seed, lane) ^ base.mix(band + 1))
        self.used = 0

    def below(self, n):
        if n == 1:
            return 0
        while True:
            self.used += 1
            word = base.mix((self.key + self.used * base.G) & base.ALL)
            if word < 2**64 - 2**64 % n:
                return word % n


class Band:
    """A band that is being carved; `north[r][c]` and `east[r][c]` are passages, `inside` the cells of the maze."""

    def __init__(self, spec, number):
        self.spec, self.number, self.width = spec, number, spec["width"]
        self.first = number * spec["band"]
        self.rows = spec["band"] if spec["height"] is None else min(spec["band"], spec["height"] - self.first)
        self.north, self.east = ([[0] * self.width for _ in range(self.rows)] for _ in range(2))
        self.inside = set()
        self.draws = Draws(int(spec["seed"]), LANES[spec["algorithm"]], number)

    def cells(self):
        return [(r, c) for r in range(self.rows) for c in range(self.width)]

    def random_cell(self):
        return self.cells()[self.draws.below(self.rows * self.width)]

    def has(self, cell):
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.width

    def new_sides(self, cell):
        """The sides on which a neighbour in the band is not in the maze."""
        return [s for s in range(4) if self.has(beside(cell, s)) and beside(cell, s) not in self.inside]

    def open(self, cell, side):
        (r, c), (r2, c2) = cell, beside(cell, side)
        if side in (NORTH, SOUTH):
            self.north[max(r, r2)][c] = 1
        else:
            self.east[r][min(c, c2)] = 1

    def distance(self, cell):
        row, column = self.spec["goal"]
        return abs(self.first + cell[0] - row) + abs(cell[1] - column)


def beside(cell, side):
    return cell[0] + STEPS[side][0], cell[1] + STEPS[side][1]


def first_beyond(weights, x):
    """The first place up to which the weights sum to more than x."""
    return next(i for i in range(len(weights)) if sum(weights[: i + 1]) > x)


# The algorithms


def first_cell(band):
    start = band.spec["start"]
    return band.random_cell() if start is None else tuple(start)


def dfs(band):
    stacks = [[root] for root in dfs_roots(band)]
    while any(stacks):
        for stack in stacks:
            dfs_turn(band, stack)


def dfs_roots(band):
    if band.number == 0:
        roots = [first_cell(band)]
    else:
        doors, width = band.spec["doors"], band.width
        edges = [i * width // doors for i in range(doors + 1)]
        roots = [(0, edges[i] + band.draws.below(edges[i + 1] - edges[i])) for i in range(doors)]
        for root in roots:
            band.open(root, NORTH)
    band.inside.update(roots)
    return roots


def dfs_turn(band, stack):
    while stack:
        cell = stack[-1]
        sides = band.new_sides(cell)
        if not sides:
            stack.pop()
            continue
        weights = [dfs_weight(band, cell, side) for side in sides]
        if sum(weights) == 0:
            weights = [1] * len(sides)
        side = sides[first_beyond(weights, band.draws.below(sum(weights)))]
        band.open(cell, side)
        stack.append(beside(cell, side))
        band.inside.add(stack[-1])
        return


def dfs_weight(band, cell, side):
    weights = band.spec["weights"]
    if band.spec["goal"] is None:
        return weights[side]
    nearer = band.distance(beside(cell, side)) < band.distance(cell)
    return weights[0 if nearer else 1]


def prim(band):
    walls = []

    def enter(cell):
        band.inside.add(cell)
        walls.extend((beside(cell, side), (side + 2) % 4) for side in band.new_sides(cell))

    if band.number == 0:
        enter(first_cell(band))
    else:
        walls += [((0, c), NORTH) for c in range(band.width)]
    while len(band.inside) < band.rows * band.width:
        weights = [prim_weight(band, cell) for cell, _ in walls]
        place = first_beyond(weights, band.draws.below(sum(weights)))
        cell, side = walls[place]
        walls[place] = walls[-1]
        walls.pop()
        if cell not in band.inside:
            band.open(cell, side)
            enter(cell)


def prim_weight(band, cell):
    if band.spec["weights"] == "even":
        return 1
    way, n = band.spec["weights"]
    t = min(65536 + n * band.distance(cell), 2**28)
    return t if way == "away" else 2**44 // t


def wilson(band):
    if band.number == 0:
        band.inside.add(band.random_cell())
    for begin in band.cells():
        cell, left_by = begin, {}
        while band.has(cell) and cell not in band.inside:
            sides = [s for s in range(4) if band.has(beside(cell, s)) or is_root(band, beside(cell, s))]
            left_by[cell] = sides[band.draws.below(len(sides))]
            cell = beside(cell, left_by[cell])
        cell = begin
        while band.has(cell) and cell not in band.inside:
            band.inside.add(cell)
            band.open(cell, left_by[cell])
            cell = beside(cell, left_by[cell])


def is_root(band, cell):
    return band.number > 0 and cell[0] == -1


def gate(spec, number):
    return Draws(int(spec["seed"]), GATES, number).below(spec["width"])


def random_walk(band):
    spec, draws = band.spec, band.draws
    cell = (0, gate(spec, band.number)) if band.number else band.random_cell()
    band.inside.add(cell)
    if band.rows == 1:
        return
    last = None

    def dig(cell, side, length):
        for _ in range(length):
            if not band.has(beside(cell, side)):
                break
            cell = beside(cell, side)
            band.inside.add(cell)
        return cell

    tunnels = 0
    while tunnels < spec["max_tunnels"]:
        sides = [0, 1, 2, 3] if last is None else [EAST, WEST] if last in (NORTH, SOUTH) else [NORTH, SOUTH]
        side = sides[draws.below(len(sides))]
        reached = dig(cell, side, 1 + draws.below(spec["max_length"]))
        if reached != cell:
            cell, last, tunnels = reached, side, tunnels + 1
    if spec["height"] is not None and band.first + band.rows == spec["height"]:
        return
    target = band.rows - 1, gate(spec, band.number + 1)
    while cell != target:
        axis = 1 if last in (NORTH, SOUTH) else 0
        ahead, back = (EAST, WEST) if axis else (SOUTH, NORTH)
        far = target[axis] - cell[axis]
        if far:
            last, length = ahead if far > 0 else back, 1 + draws.below(min(abs(far), spec["max_length"]))
        else:
            last, length = ahead if band.has(beside(cell, ahead)) else back, 1
        cell = dig(cell, last, length)


ALGORITHMS = {"dfs": dfs, "prim": prim, "wilson": wilson, "random_walk": random_walk}


def carved(spec, number):
    band = Band(spec, number)
    ALGORITHMS[spec["algorithm"]](band)
    if spec["algorithm"] == "random_walk":
        band.inside |= dug_by_braid(band) | dug_by_loops(band)
    return band


# What braid and loops dig in a map


def dug_by_braid(band):
    found, floor = set(), band.inside
    for r in range(1, band.rows - 1):
        row = band.first + r
        coins = [base.coins(band.spec, row, *kind) for kind in braid_kinds(band.spec)]
        for c in range(band.width):
            sides = [beside((r, c), s) in floor for s in range(4)]
            if (r, c) not in floor or sum(sides) != 1 or not coins[0][c]:
                continue
            behind = {s: beside(beside((r, c), s), s) in floor for s in range(4)}
            possible = {n for n, s in (("west", WEST), ("east", EAST), ("south", SOUTH)) if not sides[s] and behind[s]}
            side = base.choose(possible, coins[1][c], coins[2][c])
            if side is not None:
                found.add(beside((r, c), {"west": WEST, "east": EAST, "south": SOUTH}[side]))
    return found


def braid_kinds(spec):
    return (base.BRAID, spec["braid"]), (base.THIRD, 21845), (base.EVEN, 32768)


def dug_by_loops(band):
    found, floor = set(), band.inside
    for r, c in band.cells():
        row = band.first + r
        n = base.n_at(band.spec["loops"], row)
        between_east = beside((r, c), EAST) in floor and beside((r, c), WEST) in floor
        between_south = 0 < r < band.rows - 1 and {beside((r, c), NORTH), beside((r, c), SOUTH)} <= floor
        east = between_east and base.coins(band.spec, row, base.LOOP_EAST, n)[c]
        south = between_south and base.coins(band.spec, row, base.LOOP_SOUTH, n)[c]
        if (r, c) not in floor and (east or south):
            found.add((r, c))
    return found


# Rows


def passages(spec, number, end):
    """A band's rows down to `end`, as carved and cut: lists north (one more than rows), east, and the floor."""
    band = carved(spec, number)
    rows = band.rows if end is None else min(band.rows, end - band.first)
    is_map = spec["algorithm"] == "random_walk"
    ends = end == band.first + rows
    below = None if ends else carved(spec, number + 1)
    floor = [[int((r, c) in band.inside) for c in range(band.width)] for r in range(rows)] if is_map else None
    if is_map:
        above = carved(spec, number - 1) if number else None
        lines = [[int((above.rows - 1, c) in above.inside) if above else 0 for c in range(band.width)], *floor]
        lines.append([0 if below is None else int((0, c) in below.inside) for c in range(band.width)])
        north = [[a & b for a, b in zip(*pair, strict=True)] for pair in pairwise(lines)]
        east = [[a & b for a, b in zip(row, [*row[1:], 0], strict=True)] for row in floor]
    else:
        north, east = band.north[:rows], band.east[:rows]
        north.append([0] * band.width if ends else below.north[0])
    if rows < band.rows:
        cut(band.first + rows - 1, north, east, floor)
    return north, east, floor


def cut(row, north, east, floor):
    """Unite the sets of the last of the rows."""
    width = len(east[0])
    group = {"root": {"root"}} | {(r, c): {(r, c)} for r in range(len(east)) for c in range(width)}

    def unite(a, b):
        joined = group[a] | group[b]
        group.update(dict.fromkeys(joined, joined))

    for r, c in [cell for cell in group if cell != "root"]:
        if north[r][c]:
            unite((r, c), (r - 1, c) if r else "root")
        if east[r][c]:
            unite((r, c), (r, c + 1))
    last = len(east) - 1
    cells = [c for c in base.in_scan_order(row, width) if floor is None or floor[last][c]]
    for a, b in pairwise(cells):
        if group[last, a] is not group[last, b]:
            unite((last, a), (last, b))
            for c in range(min(a, b), max(a, b)):
                east[last][c] = 1
                if floor is not None:
                    floor[last][c] = 1
    if floor is not None and not any(map(any, floor)):
        floor[last][base.in_scan_order(row, width)[0]] = 1


def finished(spec, number, end):
    """A band's rows as given out: lists east, south and floor."""
    north, east, floor = passages(spec, number, end)
    first, given = number * spec["band"], Rows([], [], floor)
    above = north[0]
    for r in range(len(east)):
        row, opens_east, opens_south = first + r, east[r], north[r + 1]
        is_last = row + 1 == end
        if floor is None:
            shut = is_last or r + 1 == Band(spec, number).rows
            opens_east, opens_south = base.braided(spec, row, shut, above, opens_east, opens_south)
            above = opens_south
            opens_east, opens_south = base.looped(spec, row, is_last, opens_east, opens_south)
        given.east.append(opens_east)
        given.south.append(opens_south)
    return given


def rows(spec, first, count, finalized=False):
    """`count` rows from row `first` on; `finalized`: the stream was finalized before the last of them."""
    given = Rows([], [], [] if spec["algorithm"] == "random_walk" else None)
    for row in range(first, first + count):
        end = row + 1 if finalized and row == first + count - 1 else spec["height"]
        number, r = divmod(row, spec["band"])
        band = finished(spec, number, end)
        for kind in range(3):
            if given[kind] is not None:
                given[kind].append(band[kind][r])
    return given
