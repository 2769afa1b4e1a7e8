"""A maze as an SVG: a ground, one path for all walls, and with marks one for the solution and two circles.

The unit is a cell. Walls that follow one another are one line of the path, square at its ends, so that corners are
full; half a cell of margin keeps the outer ones whole. A reader that knows dark mode (prefers-color-scheme) is shown
dark colours. The picture is made in memory, for up to MOST_CELLS cells: browsers show no more anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..block import joined, unpack_bits
from ..errors import PictureError
from .marks import END, PATH, START
from .png import colour

if TYPE_CHECKING:
    from ..block import Block, Bools, Cell
    from .picture import Picture

MOST_CELLS = 2**20
CELL_PIXELS = 16
_MARGIN = 0.5
_DARK = ".ground { fill: #181818 } .walls { stroke: #eee } .solid { fill: #eee }"
_NAMES = {START: "start", END: "end"}


@dataclass(frozen=True)
class Svg:
    """An SVG."""

    needs_rows: ClassVar[bool] = True
    shows_marks: ClassVar[bool] = True

    def check(self, picture: Picture) -> None:
        """Raise PictureError for more than MOST_CELLS cells."""
        assert picture.rows is not None
        if picture.width * picture.rows > MOST_CELLS:
            came = f"{picture.rows} rows of {picture.width}"
            raise PictureError(f"an SVG is made for at most {MOST_CELLS} cells, not for {came}: draw fewer, or a PNG")

    def beginning(self, picture: Picture) -> bytes:
        """Return nothing: what tells the height is made when all rows have come."""
        del picture
        return b""

    def draw(self, picture: Picture, blocks: Iterable[Block]) -> Iterator[bytes]:
        """Yield the picture when all rows have come."""
        block = joined(list(blocks))
        yield "\n".join([*_frame(block), *_walls(block), *_marks(picture, block), "</svg>\n"]).encode("ascii")


def _frame(block: Block) -> Iterator[str]:
    width, height = (n + 2 * _MARGIN for n in (block.width, len(block)))
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_MARGIN:g} {-_MARGIN:g} {width:.0f} {height:.0f}"'
        f' width="{width * CELL_PIXELS:.0f}" height="{height * CELL_PIXELS:.0f}">'
    )
    yield f"<style>@media (prefers-color-scheme: dark) {{ {_DARK} }}</style>"
    ground = f'x="{-_MARGIN:g}" y="{-_MARGIN:g}" width="{width:.0f}" height="{height:.0f}"'
    yield f'<rect class="ground" {ground} fill="#fff"/>'


def _walls(block: Block) -> Iterator[str]:
    """Yield the walls, and what is solid behind them."""
    if block.floor is not None:
        solid = block.floor_tiles().astype(np.bool_)
        data = "".join(f"M{x} {y}h{n}v1h-{n}z" for y, x, n in _runs(solid))
        yield f'<path class="solid" d="{data}"/>'
    level, upright = _closed(block)
    data = "".join(f"M{x} {y}h{n}" for y, x, n in _runs(level))
    data += "".join(f"M{x} {y}v{n}" for x, y, n in _runs(upright.T))
    line = 'fill="none" stroke="#000" stroke-width=".2" stroke-linecap="square"'
    yield f'<path class="walls" d="{data}" {line}/>'


def _closed(block: Block) -> tuple[Bools, Bools]:
    """Return where walls are: level ones, of shape (rows + 1, width), and upright ones, (rows, width + 1)."""
    level = ~unpack_bits(np.concatenate([block.north[np.newaxis], block.south]), block.width)
    upright = np.ones((len(block), block.width + 1), np.bool_)
    upright[:, 1:] = ~unpack_bits(block.east, block.width)
    return level, upright


def _runs(bools: Bools) -> Iterator[tuple[int, int, int]]:
    """Yield the runs of true along the lines, as (line, where it begins, length)."""
    edges = np.diff(np.pad(bools.view(np.int8), ((0, 0), (1, 1))), axis=1)
    (lines, first), behind = np.nonzero(edges == 1), np.nonzero(edges == -1)[1]
    return zip(lines.tolist(), first.tolist(), (behind - first).tolist(), strict=True)


def _marks(picture: Picture, block: Block) -> Iterator[str]:
    """Yield the solution and the ends."""
    if picture.marks is None:
        return
    data = "".join(_line(corners, block.start) for corners in picture.marks.lines(block.start, block.stop))
    if data:
        line = f'fill="none" stroke="{colour(PATH)}" stroke-width=".3" stroke-linecap="round" stroke-linejoin="round"'
        yield f'<path class="solution" d="{data}" {line}/>'
    for kind, (row, column) in picture.marks.ends(block.start, block.stop):
        place = f'cx="{column + 0.5:.1f}" cy="{row - block.start + 0.5:.1f}"'
        yield f'<circle class="{_NAMES[kind]}" {place} r=".35" fill="{colour(kind)}"/>'


def _line(corners: list[Cell], start: int) -> str:
    points = [f"{column + 0.5:.1f} {row - start + 0.5:.1f}" for row, column in corners]
    return f"M{points[0]}L{' '.join(points[1:] or points)}"
