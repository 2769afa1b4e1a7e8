"""Draws the pictures of docs/ALGORITHM.md: one row of twelve cells, as the package's own row step makes it.

python docs/pictures/make.py
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from eller_stream._step import RowStep

SETS = "AABCBFADDEDD"
JOINS = "01110000010"  # a coin for each boundary
KEEPS = "000100100000"  # a coin for each cell
WIDTH = len(SETS)

CELL, LEFT, RIGHT = 44, 150, 20
COLOURS = {
    "A": "#8ecae6",
    "B": "#ffd166",
    "C": "#f4a6a0",
    "D": "#b7e4c7",
    "E": "#d9c2f0",
    "F": "#f7b267",
    "G": "#cfd8dc",
}
INK, PALE, TOKEN = "#22303c", "#9aa7b1", "#d62828"


def bits(text: str) -> int:
    """Return the integer whose bit c is digit c of a text."""
    return int(text[::-1], 2)


def sets_of(n: int, p: int) -> list[int]:
    """Return a number for each cell's set, from has_next and has_prev."""
    waiting: list[int] = []
    numbers: list[int] = []
    for c in range(WIDTH):
        number = waiting.pop() if p >> c & 1 else c
        if n >> c & 1:
            waiting.append(number)
        numbers.append(number)
    return numbers


def state_of(sets: str) -> tuple[int, int]:
    """Return has_next and has_prev of a row whose sets are named by letters."""
    n = sum(1 << c for c in range(WIDTH) if sets[c] in sets[c + 1 :])
    p = sum(1 << c for c in range(WIDTH) if sets[c] in sets[:c])
    return n, p


def kinds_of(n: int, p: int) -> str:
    """Return the kinds of a row's boundaries: = same, ( open, ) close, | separator."""
    return "".join("|)(="[2 * (n >> c & 1) + (p >> c + 1 & 1)] for c in range(WIDTH - 1))


class Drawing:
    """An SVG of rows of cells, one below the other."""

    def __init__(self, height: int) -> None:
        width = LEFT + WIDTH * CELL + RIGHT
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="DejaVu Sans, Helvetica, sans-serif" font-size="15" fill="{INK}">',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        ]

    def text(self, x: float, y: float, text: str, colour: str = INK, anchor: str = "middle") -> None:
        """Write centred on a place."""
        escaped = text.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text x="{x}" y="{y + 5}" text-anchor="{anchor}" fill="{colour}">{escaped}</text>')

    def title(self, y: float, text: str) -> None:
        """Write what a line shows, left of it."""
        self.text(LEFT - 14, y, text, anchor="end")

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = INK, thick: float = 3) -> None:
        """Draw a line."""
        self.parts.append(
            f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{colour}" stroke-width="{thick}" stroke-linecap="round"/>'
        )

    def run(self, x1: float, x2: float, y: float) -> None:
        """Draw a token's run, with an arrow's head."""
        self.line(x1, y, x2 - 6, y, TOKEN, 2)
        self.parts.append(f'<path d="M{x2} {y}l-9 -5v10z" fill="{TOKEN}"/>')
        self.parts.append(f'<circle cx="{x1}" cy="{y}" r="5" fill="{TOKEN}"/>')

    def cells(self, y: float, letters: str, east: int | None = None, south: int | None = None) -> None:
        """Draw a row of cells with its sets; with `east` the walls that stay, with `south` those below too."""
        for c, letter in enumerate(letters):
            x = LEFT + c * CELL
            self.parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{COLOURS[letter]}"/>')
            self.text(x + CELL / 2, y + CELL / 2, letter)
            if south is not None and not south >> c & 1:
                self.line(x, y + CELL, x + CELL, y + CELL)
        for c in range(WIDTH + 1):
            stands = c in (0, WIDTH) or east is None or not east >> c - 1 & 1
            if stands:
                self.line(LEFT + c * CELL, y, LEFT + c * CELL, y + CELL, INK if east is not None else PALE, 3)

    def signs(self, y: float, signs: str, boundaries: bool) -> None:
        """Write a sign for each cell, or for each boundary; zeros and dots are pale."""
        for c, sign in enumerate(signs):
            x = LEFT + (c + (1 if boundaries else 0.5)) * CELL
            self.text(x, y, sign, PALE if sign in "0·" else INK)

    def save(self, name: str) -> None:
        """Write the file beside this one."""
        Path(__file__).with_name(name).write_text("\n".join([*self.parts, "</svg>\n"]), encoding="utf-8")


def lettered(numbers: list[int], before: str) -> str:
    """Return a letter for each set: that of its first cell where that is free, G for cells that begin a set."""
    letters: dict[int, str] = {}
    for c, number in enumerate(numbers):
        if number not in letters:
            letters[number] = before[c] if before[c] not in letters.values() else "G"
    return "".join(letters[number] for number in numbers)


def x_boundary(c: int) -> float:
    """Return where the boundary between c and c + 1 is."""
    return LEFT + (c + 1) * CELL


def x_cell(c: int) -> float:
    """Return where the middle of cell c is."""
    return LEFT + (c + 0.5) * CELL


def gaps_of(kinds: str) -> list[tuple[int, int, int]]:
    """Return (open, close, depth) of each gap."""
    found, waiting = [], []
    for c, kind in enumerate(kinds):
        if kind == "(":
            waiting.append(c)
        elif kind == ")":
            found.append((waiting.pop(), c, len(waiting) + 1))
    return found


def ring_of(kinds: str, first: int, last: int, depth: int) -> list[int]:
    """Return the boundaries of a gap's ring: those of its own, not of the gaps in it."""
    inner = [(a, b) for a, b, d in gaps_of(kinds) if d > depth]
    return [c for c in range(first, last + 1) if kinds[c] in "(|)" and not any(a <= c <= b for a, b in inner)]


def draw_textbook(east: int, south: int, merged: str, below: str) -> None:
    """Draw the row as the textbook makes it."""
    drawing = Drawing(330)
    drawing.title(42, "the sets above")
    drawing.cells(20, SETS)
    drawing.title(98, "join coins")
    drawing.signs(98, JOINS, boundaries=True)
    drawing.title(147, "after East")
    drawing.cells(125, merged, east)
    drawing.title(203, "keep coins")
    drawing.signs(203, KEEPS, boundaries=False)
    drawing.title(252, "after South")
    drawing.cells(230, merged, east, south)
    drawing.title(300, "the sets below")
    drawing.signs(300, below, boundaries=False)
    drawing.save("textbook.svg")


def draw_gaps(n: int, p: int) -> None:
    """Draw the boundaries' kinds, the gaps and their depths."""
    kinds = kinds_of(n, p)
    drawing = Drawing(260)
    drawing.title(72, "sets")
    drawing.cells(50, SETS)
    for name in sorted(set(SETS)):
        for a, b in pairwise(c for c in range(WIDTH) if SETS[c] == name):
            middle = (x_cell(a) + x_cell(b)) / 2
            path = f"M{x_cell(a)} 48Q{middle} {48 - 18 * (b - a) ** 0.6} {x_cell(b)} 48"
            drawing.parts.append(f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.5"/>')
    digits = [[str(bit) for bit in (x >> c & 1 for c in range(WIDTH))] for x in (n, p)]
    for y, name, row in ((116, "has_next", digits[0]), (138, "has_prev", digits[1])):
        drawing.title(y, name)
        drawing.signs(y, "".join(row), boundaries=False)
    drawing.title(166, "boundaries")
    drawing.signs(166, kinds, boundaries=True)
    for first, last, depth in gaps_of(kinds):
        y = 166 + 26 * depth
        drawing.line(x_boundary(first), y, x_boundary(last), y, TOKEN, 2)
        for c in ring_of(kinds, first, last, depth):
            drawing.parts.append(f'<circle cx="{x_boundary(c)}" cy="{y}" r="5" fill="{TOKEN}"/>')
    for depth in (1, 2):
        drawing.title(166 + 26 * depth, f"rings of depth {depth}")
    drawing.save("gaps.svg")


def draw_east(n: int, p: int, east: int, after: tuple[int, int]) -> None:
    """Draw the race for the first closed boundary of each ring."""
    kinds = kinds_of(n, p)
    drawing = Drawing(270)
    for y, name, signs in ((24, "boundaries", kinds), (52, "join coins", JOINS)):
        drawing.title(y, name)
        drawing.signs(y, signs, boundaries=True)
    firsts = set()
    for first, last, depth in gaps_of(kinds):
        y = 62 + 34 * depth
        ring = ring_of(kinds, first, last, depth)
        stops = [c for c in ring if JOINS[c] == "0" or c == last]
        for c in stops:
            drawing.line(x_boundary(c), y - 11, x_boundary(c), y + 11)
        if JOINS[first] == "1":
            drawing.run(x_boundary(first), x_boundary(stops[0]), y)
        firsts.add(stops[0])
    for depth in (1, 2):
        drawing.title(62 + 34 * depth, f"stops, depth {depth}")
    for y, name, signs in (
        (170, "first closed", "".join("·1"[c in firsts] for c in range(WIDTH - 1))),
        (198, "opened", "".join("·1"[east >> c & 1] for c in range(WIDTH - 1))),
        (240, "boundaries now", kinds_of(*after)),
    ):
        drawing.title(y, name)
        drawing.signs(y, signs, boundaries=True)
    drawing.save("east.svg")


def draw_south(merged: str, south: int, n: int, p: int) -> None:
    """Draw the race for the first kept cell of each set."""
    drawing = Drawing(300)
    drawing.title(42, "sets after East")
    drawing.cells(20, merged)
    drawing.title(90, "keep coins")
    drawing.signs(90, KEEPS, boundaries=False)
    for depth in (0, 1):
        drawing.title(122 + 30 * depth, f"stops, depth {depth}")
    for name in sorted(set(merged)):
        y = 122 + 30 * (name == "F")  # the only set inside a gap
        cells = [c for c in range(WIDTH) if merged[c] == name]
        stops = [c for c in cells if KEEPS[c] == "1" or c == cells[-1]]
        for c in stops:
            drawing.line(x_cell(c), y - 11, x_cell(c), y + 11)
        if stops[0] != cells[0]:
            drawing.run(x_cell(cells[0]), x_cell(stops[0]), y)
    for y, name, x in ((192, "south", south), (226, "has_next below", n), (254, "has_prev below", p)):
        drawing.title(y, name)
        drawing.signs(y, "".join("·1"[x >> c & 1] for c in range(WIDTH)), boundaries=False)
    drawing.save("south.svg")


def main() -> None:
    """Draw all of them."""
    n, p = state_of(SETS)
    step = RowStep(WIDTH, n, p)
    joins, keeps = step.boundaries_both_ways(bits(JOINS)), step.both_ways(bits(KEEPS))
    east, south = (x & step.row_cells for x in step.step(joins, keeps, backwards=False, merging=False))
    all_kept = RowStep(WIDTH, n, p)
    all_kept.step(joins, all_kept.cells, backwards=False, merging=False)  # so the sets below are those after East
    after = all_kept.has_next, all_kept.has_prev
    merged = lettered(sets_of(*after), SETS)
    below = sets_of(step.has_next, step.has_prev)
    draw_textbook(east, south, merged, "".join(merged[c] if south >> c & 1 else "·" for c in range(len(below))))
    draw_gaps(n, p)
    draw_east(n, p, east, after)
    draw_south(merged, south, step.has_next, step.has_prev)


if __name__ == "__main__":
    main()
