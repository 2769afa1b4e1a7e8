"""`Picture`: what is to be drawn; `Renderer`: what draws it in one format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from ..block import joined
from ..errors import PictureError

if TYPE_CHECKING:
    from ..block import Block, Plane
    from .marks import Marks


@dataclass(frozen=True)
class Picture:
    """Rows of a maze to be drawn.

    width  cells in a row
    start  index of the first row
    rows   how many rows; None: as many as come
    marks  what is drawn over them
    """

    width: int
    start: int = 0
    rows: int | None = None
    marks: Marks | None = None

    def tiles(self, block: Block) -> Plane:
        """Return `block.tiles()` with the marks on them: FLOOR, WALL, and PATH, START and END of marks.py."""
        tiles = block.tiles()
        if self.marks is not None:
            self.marks.put_on(tiles, block.start)
        return tiles

    def contents(self, block: Block) -> Plane:
        """Return the tiles of the cells alone, shape (rows, width)."""
        return block.floor_tiles() if self.marks is None else self.tiles(block)[1::2, 1::2]


class Renderer(Protocol):
    """A format, and how it is to look.

    needs_rows   whether a picture begins with its height, or is made in memory, so that none can be endless
    shows_marks  whether the format can show marks
    """

    needs_rows: ClassVar[bool]
    shows_marks: ClassVar[bool]

    def check(self, picture: Picture) -> None:
        """Raise PictureError if the format cannot hold a picture of this size."""

    def beginning(self, picture: Picture) -> bytes:
        """Return the first bytes of a picture, as many for any number of rows; none if they do not tell it."""

    def draw(self, picture: Picture, blocks: Iterable[Block]) -> Iterator[bytes]:
        """Yield the picture's bytes; the blocks are its rows, in their order."""


def check(renderer: Renderer, picture: Picture) -> None:
    """Raise PictureError if the renderer cannot draw the picture."""
    if picture.rows is None and renderer.needs_rows:
        raise PictureError("this format begins with the picture's height, so the number of rows has to be known")
    if picture.rows == 0:
        raise PictureError("there are no rows to draw")
    if picture.marks is not None and not renderer.shows_marks:
        raise PictureError("this format shows neither paths nor ends")
    renderer.check(picture)


def portions(blocks: Iterable[Block], most_cells: int) -> Iterator[Block]:
    """Yield the blocks' rows as many at a time as have at most so many cells, one at least, and fewer at the end.

    So what is drawn does not depend on how the rows came.
    """
    waiting: list[Block] = []
    for block in blocks:
        waiting.append(block)
        step = max(1, most_cells // block.width)
        if sum(map(len, waiting)) >= step:
            rows = joined(waiting)
            whole = len(rows) - len(rows) % step
            yield from (rows[i : i + step] for i in range(0, whole, step))
            waiting = [rows[whole:]] if whole < len(rows) else []
    if waiting:
        yield joined(waiting)
