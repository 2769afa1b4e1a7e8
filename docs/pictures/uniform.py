"""Draws the pictures of docs/UNIFORM.md: python docs/pictures/uniform.py"""

from math import cos, pi, sin
from pathlib import Path

FOLDER = Path(__file__).parent
COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"]
INK, PALE = "#333333", "#bbbbbb"
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" '
    'font-family="sans-serif" font-size="14" text-anchor="middle">'
    '<rect width="100%" height="100%" fill="white"/>'
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 8 4 0 8z" fill="{2}"/></marker>'
)


def svg(width, height, *parts):
    """Return a picture of its parts."""
    return "\n".join([HEAD.format(width, height, INK), *parts, "</svg>\n"])


def dot(x, y, label, fill="white", ink=INK):
    """Return a cell."""
    text = f'<text x="{x:.0f}" y="{y + 5:.0f}" fill="{ink}">{label}</text>'
    return f'<circle cx="{x:.0f}" cy="{y:.0f}" r="15" fill="{fill}" stroke="{INK}"/>{text}'


def line(x, y, to_x, to_y, colour=INK, width=1.5, dashes="", tip=False):
    """Return a line, dashed or with a tip if asked for."""
    more = f' stroke-dasharray="{dashes}"' if dashes else ""
    more += ' marker-end="url(#tip)"' if tip else ""
    ends = f'x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{more}/>'


def arc(x, y, to_x, to_y, bend, colour, width=1):
    """Return an arc that hangs `bend` / 2 deep."""
    path = f"M{x:.0f} {y:.0f}Q{(x + to_x) / 2:.0f} {(y + to_y) / 2 + bend:.0f} {to_x:.0f} {to_y:.0f}"
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def depth(a, b):
    """How far the arc between two cells hangs down."""
    return 15 + 25 * abs(a - b)


def words(x, y, text, anchor="middle"):
    """Return a text."""
    return f'<text x="{x}" y="{y}" fill="{INK}" text-anchor="{anchor}">{text}</text>'


def ring():
    """Six columns as half of a ring of twelve."""
    places = [(300 + 170 * sin(pi * (i + 0.5) / 6), 210 - 150 * cos(pi * (i + 0.5) / 6)) for i in range(12)]
    parts = [line(300, 25, 300, 395, PALE, 1.5, "6 5")]
    parts += [line(*places[c], *places[11 - c], PALE, 1, "2 4") for c in range(6)]
    parts += [dot(*places[i], i if i < 6 else f"{11 - i}'", COLOURS[i], "white") for i in range(6)]
    parts += [dot(*places[i], f"{11 - i}'") for i in range(6, 12)]
    x, y = places[3]
    to_x, to_y = places[7]
    parts.append(
        f'<path d="M{x + 17:.0f} {y + 8:.0f}Q330 510 {to_x - 2:.0f} {to_y + 20:.0f}" fill="none" '
        f'stroke="{COLOURS[1]}" stroke-width="2.5" marker-end="url(#tip)"/>'
    )
    parts.append(line(to_x + 17, to_y, places[4][0] - 18, places[4][1], COLOURS[1], 2.5, "7 4", True))
    parts.append(words(440, 45, "the strip's columns 0 to 5"))
    parts.append(words(170, 45, "their mirror images"))
    parts.append(words(300, 440, "a jump by 4 from column 3 comes to 4', which is column 4"))
    return svg(600, 460, *parts)


SETS = [0, 1, 1, 0, 2, 3, 2, 4]
EAST, SOUTH = {0, 5, 6}, {1, 3, 4, 7}
HIDDEN = [(0, 1), (2, 3), (3, 4), (5, 4), (6, 7)]


def row():
    """One row's graph, and a tree in it."""
    x = [70 + 80 * c for c in range(8)]
    parts = [arc(x[a], 60, x[b], 60, -45, COLOURS[SETS[a]]) for a, b in ((1, 2), (0, 3), (4, 6))]
    for c in range(8):
        if c < 7 and SETS[c] != SETS[c + 1]:
            parts.append(line(x[c] + 15, 75, x[c + 1] - 15, 75, INK if c in EAST else PALE, 5 if c in EAST else 1))
        parts.append(line(x[c], 90, x[c], 195, INK if c in SOUTH else PALE, 5 if c in SOUTH else 1))
    parts += [arc(x[a], 225, x[b], 225, depth(a, b), PALE) for a in range(8) for b in range(a)]
    parts += [arc(x[a], 225, x[b], 225, depth(a, b), COLOURS[1], 3) for a, b in HIDDEN]
    parts += [dot(x[c], 75, SETS[c], COLOURS[SETS[c]], "white") for c in range(8)]
    parts += [dot(x[c], 210, "") for c in range(8)]
    for y, text in ((80, "the row: its sets"), (215, "the row below"), (285, "the rows further down")):
        parts.append(words(670, y, text, "start"))
    return svg(840, 360, *parts)


if __name__ == "__main__":
    for name, picture in (("ring", ring()), ("row", row())):
        (FOLDER / f"uniform-{name}.svg").write_text(picture, encoding="utf-8", newline="\n")
