"""Plots as SVG: panels side by side, each with lines over two axes. Text only; whoever asked for it writes it.

An axis is linear from 0, or logarithmic from the power of ten below its least value to the one above its greatest.
Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart; marks differ as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 480, 340
LEFT, RIGHT, TOP, BOTTOM = 66, 16, 38, 52
LEGEND_LINE, TICK = 17, 4
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
_STEPS = (1, 2, 2.5, 5, 10)
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_STYLE = (
    "text{font:12px sans-serif;fill:#222}.title{font-size:14px;font-weight:bold}.grid{stroke:#ddd}.axis{stroke:#222}"
)

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    """One plot: lines by their names, each of points (x, y); logarithmic axes take positive numbers only."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Points]
    log_x: bool = True
    log_y: bool = False


@dataclass(frozen=True)
class _Axis:
    """Maps values to pixels, from `start` on, over `length` (negative: upwards)."""

    low: float
    high: float
    log: bool
    start: float
    length: float

    @classmethod
    def over(cls, values: Sequence[float], log: bool, start: float, length: float) -> _Axis:
        if log:
            low, high = floor(log10(min(values))), ceil(log10(max(values)))
            return cls(low, max(high, low + 1), True, start, length)
        step = _step(max(values, default=0) or 1)
        return cls(0, step * ceil((max(values) or 1) / step), False, start, length)

    def at(self, value: float) -> float:
        place = log10(value) if self.log else value
        return self.start + self.length * (place - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the values that are marked, with their words."""
        if self.log:
            powers = range(int(self.low), int(self.high) + 1)
            return [(10.0**power, "10" + str(power).translate(_SUPERSCRIPTS)) for power in powers]
        step = _step(self.high)
        return [(k * step, f"{k * step:,g}") for k in range(round(self.high / step) + 1)]


def svg(panels: Sequence[Panel]) -> str:
    """Return the panels as one SVG document, side by side; those without a point are left out."""
    shown = [panel for panel in panels if any(panel.lines.values())]
    most = max((len(panel.lines) for panel in shown), default=0)
    width, height = max(1, len(shown)) * WIDTH, HEIGHT + most * LEGEND_LINE
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{_STYLE}</style>"]
    lines.append(f'<rect width="{width}" height="{height}" fill="#fff"/>')
    for number, panel in enumerate(shown):
        lines += [f'<g transform="translate({number * WIDTH} 0)">', *_panel(panel), "</g>"]
    return "\n".join([*lines, "</svg>", ""])


def _panel(panel: Panel) -> Iterator[str]:
    points = [point for line in panel.lines.values() for point in line]
    x = _Axis.over([px for px, _ in points], panel.log_x, LEFT, WIDTH - LEFT - RIGHT)
    y = _Axis.over([py for _, py in points], panel.log_y, HEIGHT - BOTTOM, TOP + BOTTOM - HEIGHT)
    yield _text(WIDTH / 2, TOP - 16, panel.title, "middle", "title")
    yield from _axes(panel, x, y)
    for number, (name, line) in enumerate(panel.lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        yield from _line(number, [(x.at(px), y.at(py)) for px, py in line], colour)
        place = HEIGHT + number * LEGEND_LINE
        yield from _line(number, [(LEFT, place - 4), (LEFT + 24, place - 4)], colour)
        yield _text(LEFT + 34, place, name)


def _axes(panel: Panel, x: _Axis, y: _Axis) -> Iterator[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for value, words in x.ticks():
        yield _segment(x.at(value), TOP, x.at(value), bottom, "grid")
        yield _text(x.at(value), bottom + 18, words, "middle")
    for value, words in y.ticks():
        yield _segment(LEFT, y.at(value), right, y.at(value), "grid")
        yield _text(LEFT - 8, y.at(value) + TICK, words, "end")
    yield _segment(LEFT, bottom, right, bottom, "axis")
    yield _segment(LEFT, TOP, LEFT, bottom, "axis")
    yield _text((LEFT + right) / 2, bottom + 36, panel.x, "middle")
    yield f'<g transform="translate(16 {(TOP + bottom) / 2:g}) rotate(-90)">{_text(0, 0, panel.y, "middle")}</g>'


def _line(number: int, points: Points, colour: str) -> Iterator[str]:
    """Yield a line with a mark at each point: a disc, a square or a ring, by the line's number."""
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for x, y in points:
        if number % 3 == 1:
            yield f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
        else:
            fill = colour if number % 3 == 0 else "#fff"
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'


def _segment(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}>{escape(words)}</text>'


def _step(most: float) -> float:
    """Return a round step of which four to ten or so reach `most`."""
    power: float = 10.0 ** floor(log10(most / 4))
    return next(factor * power for factor in _STEPS if most / (factor * power) <= 8)
