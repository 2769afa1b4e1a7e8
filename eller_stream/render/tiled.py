"""A maze as a map of the editor Tiled, in its JSON format: one layer of tiles, floor and wall.

A map is infinite, in chunks of 16 by 16 tiles, or finite, with one array of tiles, for the tools that refuse the
others. What tells the height stands behind the tiles, which in JSON it may: so a map can be written without knowing it.
The tiles' picture is a file beside the map, `tiles_image`: Tiled opens a map without it, but draws every tile as
missing. Marks are a second layer, of objects: points for the ends, and a polyline for the path (or several, where it
leaves the rows that are drawn and comes back).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..block import FLOOR, WALL
from ..errors import PictureError
from .marks import END, PATH, START
from .picture import portions
from .png import colour, image

if TYPE_CHECKING:
    from ..block import Block, Cell, Plane
    from .picture import Picture

CHUNK = 16
TILE_PIXELS = 16
FIRST_ID = 1  # a tile's number in the map is FLOOR or WALL + 1; 0 is no tile
MAX_SIDE = (2**31 - 1) // TILE_PIXELS
CELLS_AT_ONCE = 2**18
_NAMES = {START: "start", END: "end"}


@dataclass(frozen=True)
class TiledMap:
    """A Tiled map.

    finite  one array in place of chunks
    image   name of the tiles' picture
    """

    finite: bool = False
    image: str = "tiles.png"

    needs_rows: ClassVar[bool] = False
    shows_marks: ClassVar[bool] = True

    def check(self, picture: Picture) -> None:
        """Raise PictureError for more tiles a side than Tiled counts pixels for, in 31 bits."""
        width, height = 2 * picture.width + 1, 2 * (picture.rows or 0) + 1
        if max(width, height) > MAX_SIDE:
            raise PictureError(f"a Tiled map has at most {MAX_SIDE} tiles a side, not {width} by {height}")

    def beginning(self, picture: Picture) -> bytes:
        """Return nothing: the height stands at the end."""
        del picture
        return b""

    def draw(self, picture: Picture, blocks: Iterable[Block]) -> Iterator[bytes]:
        """Yield the map."""
        yield self._head()
        lines = 0
        for tiles in _bands(_tiles(picture, blocks)):
            if lines:
                yield b",\n"
            yield (_listed(tiles + np.uint8(FIRST_ID)) if self.finite else _chunks(tiles, lines)).encode("ascii")
            lines += len(tiles)
        yield from self._tail(picture, lines)

    def _head(self) -> bytes:
        """Return what is before the tiles."""
        tiles = [{"id": FLOOR, "type": "floor"}, {"id": WALL, "type": "wall"}]
        tileset = {"firstgid": FIRST_ID, "name": "maze", "image": self.image, "tiles": tiles, "tilecount": len(tiles)}
        tileset |= {"columns": len(tiles), "imagewidth": len(tiles) * TILE_PIXELS, "imageheight": TILE_PIXELS}
        tileset |= {"tilewidth": TILE_PIXELS, "tileheight": TILE_PIXELS, "margin": 0, "spacing": 0}
        tiled: dict[str, Any] = {"type": "map", "version": "1.8", "orientation": "orthogonal"}
        tiled |= {"renderorder": "right-down", "infinite": not self.finite, "nextlayerid": 3}
        tiled |= {"tilewidth": TILE_PIXELS, "tileheight": TILE_PIXELS, "tilesets": [tileset]}
        layer = _layer(1, "maze", "tilelayer")
        data = "data" if self.finite else "chunks"
        return f'{_begun(tiled)}, "layers": [\n{_begun(layer)}, "{data}": [\n'.encode("ascii")

    def _tail(self, picture: Picture, lines: int) -> Iterator[bytes]:
        """Yield what is behind the tiles: their size, and the marks."""
        size = {"width": 2 * picture.width + 1, "height": lines}
        yield f"], {_ended(size if self.finite else size | {'startx': 0, 'starty': 0})}".encode("ascii")
        objects = list(_objects(picture, lines // 2))
        if objects:
            layer = _layer(2, "solution", "objectgroup") | {
                "draworder": "index",
                "color": colour(PATH),
                "objects": objects,
            }
            yield f",\n{json.dumps(layer)}".encode("ascii")
        yield f"\n], {_ended(size | {'nextobjectid': len(objects) + 1})}\n".encode("ascii")


def tiles_image() -> bytes:
    """Return the tiles' picture, a PNG: floor and wall side by side."""
    pixels = np.repeat(np.array([[FLOOR, WALL]], np.uint8), TILE_PIXELS, axis=1)
    return image(np.repeat(pixels, TILE_PIXELS, axis=0))


def _tiles(picture: Picture, blocks: Iterable[Block]) -> Iterator[Plane]:
    """Yield the picture's lines of tiles, the first time from the top line on."""
    for block in portions(blocks, CELLS_AT_ONCE):
        yield block.tiles()[0 if block.start == picture.start else 1 :]


def _bands(pieces: Iterable[Plane]) -> Iterator[Plane]:
    """Yield lines of tiles, CHUNK of them at a time, fewer at the end."""
    waiting = None
    for tiles in pieces:
        waiting = tiles if waiting is None else np.concatenate([waiting, tiles])
        whole = len(waiting) - len(waiting) % CHUNK
        yield from (waiting[i : i + CHUNK] for i in range(0, whole, CHUNK))
        waiting = waiting[whole:]
    if waiting is not None and len(waiting):
        yield waiting


def _chunks(tiles: Plane, y: int) -> str:
    """Return chunks side by side; where they reach beyond the maze, they hold no tiles."""
    across = -(-tiles.shape[1] // CHUNK)
    padded = np.zeros((CHUNK, across * CHUNK), np.uint8)
    padded[: len(tiles), : tiles.shape[1]] = tiles + np.uint8(FIRST_ID)
    chunks = padded.reshape(CHUNK, across, CHUNK).swapaxes(0, 1)
    listed = _listed(chunks)
    size = 2 * CHUNK**2  # characters of a chunk, with a comma behind each tile
    rest = f'], "width": {CHUNK}, "height": {CHUNK}, "y": {y}, "x": '
    return ",\n".join(f'{{"data": [{listed[i * size : (i + 1) * size - 1]}{rest}{i * CHUNK}}}' for i in range(across))


def _listed(numbers: Plane) -> str:
    """Return one-digit numbers with commas between them."""
    characters = np.full((numbers.size, 2), ord(","), np.uint8)
    characters[:, 0] = numbers.reshape(-1) + np.uint8(ord("0"))
    return characters.tobytes()[:-1].decode("ascii")


def _layer(number: int, name: str, kind: str) -> dict[str, Any]:
    return {"id": number, "name": name, "type": kind, "x": 0, "y": 0, "opacity": 1, "visible": True}


def _objects(picture: Picture, rows: int) -> Iterator[dict[str, Any]]:
    """Yield the ends and the path as objects, in pixels."""
    if picture.marks is None:
        return
    first, numbers = picture.start, count(1)
    for kind, cell in picture.marks.ends(first, first + rows):
        yield _object(next(numbers), _NAMES[kind], _pixel(cell, first)) | {"point": True}
    for corners in picture.marks.lines(first, first + rows):
        x, y = _pixel(corners[0], first)
        points = [{"x": px - x, "y": py - y} for px, py in (_pixel(cell, first) for cell in corners)]
        yield _object(next(numbers), "path", (x, y)) | {"polyline": points}


def _object(number: int, name: str, place: tuple[int, int]) -> dict[str, Any]:
    size = {"width": 0, "height": 0, "rotation": 0, "visible": True}
    return {"id": number, "name": name, "type": "", "x": place[0], "y": place[1], **size}


def _pixel(cell: Cell, first: int) -> tuple[int, int]:
    """Return the middle of a cell's tile, x and y."""
    row, column = cell
    return (2 * column + 1) * TILE_PIXELS + TILE_PIXELS // 2, (2 * (row - first) + 1) * TILE_PIXELS + TILE_PIXELS // 2


def _begun(data: dict[str, Any]) -> str:
    """Return an object in JSON that more is to come to."""
    return json.dumps(data)[:-1]


def _ended(data: dict[str, Any]) -> str:
    """Return the rest of an object in JSON."""
    return json.dumps(data)[1:]
