"""Tiled maps, read back by pytiled_parser; their sizes and places as the format's documentation has them."""

import io
import json

import numpy as np
import pytest
import pytiled_parser
from hypothesis import given, settings
from pictures import any_block, blocks, drawn, marked, maze, walls_in, walls_of
from PIL import Image
from pytiled_parser.tiled_object import Point, Polyline

from eller_stream.errors import PictureError
from eller_stream.render import Picture, TiledMap, check
from eller_stream.render.tiled import CHUNK, MAX_SIDE, TILE_PIXELS, tiles_image

NO_TILE, FLOOR, WALL = 0, 1, 2
KINDS = pytest.mark.parametrize("finite", [False, True])


def read(tmp_path, data):
    (tmp_path / "tiles.png").write_bytes(tiles_image())
    path = tmp_path / "m.tmj"
    path.write_bytes(data)
    return pytiled_parser.parse_map(path)


def numbers_in(layer, infinite):
    """Return the layer's tile numbers as an array, with what reaches beyond it."""
    if not infinite:
        return np.array(layer.data)
    width, height = (-(-int(n) // CHUNK) * CHUNK for n in layer.size)
    numbers = np.full((height, width), -1)
    for chunk in layer.chunks:
        x, y = map(int, chunk.coordinates)
        assert tuple(chunk.size) == (CHUNK, CHUNK)
        assert (numbers[y : y + CHUNK, x : x + CHUNK] == -1).all()
        numbers[y : y + CHUNK, x : x + CHUNK] = chunk.data
    return numbers


def tiles_in(tiled, block):
    """Return the tiles of the map's layer."""
    shape = 2 * len(block) + 1, 2 * block.width + 1
    layer = tiled.layers[0]
    numbers = numbers_in(layer, tiled.infinite)
    assert (tuple(layer.size), tuple(tiled.map_size)) == (shape[::-1], shape[::-1])
    inside = numbers[: shape[0], : shape[1]]
    assert np.isin(inside, [FLOOR, WALL]).all()
    assert np.count_nonzero(numbers) == inside.size
    return inside


@KINDS
@settings(max_examples=40)
@given(block=blocks)
def test_the_walls_in_a_map(finite, block, tmp_path):
    tiled = read(tmp_path, drawn(TiledMap(finite), block, pieces=3))
    assert tiled.infinite is not finite
    tiles = tiles_in(tiled, block)
    assert walls_in(tiles == WALL) == walls_of(block)
    assert np.array_equal(tiles[1::2, 1::2] == WALL, block.floor_tiles())


@KINDS
@pytest.mark.parametrize(("width", "rows"), [(1, 1), (7, 7), (8, 8), (15, 16), (200, 300)])
def test_edges_of_chunks(tmp_path, finite, width, rows):
    block = maze(width, rows)
    assert np.array_equal(tiles_in(read(tmp_path, drawn(TiledMap(finite), block)), block) - 1, block.tiles())


@KINDS
def test_the_tileset(tmp_path, finite):
    tiled = read(tmp_path, drawn(TiledMap(finite), maze(3, 3)))
    (tileset,) = tiled.tilesets.values()
    assert (tileset.firstgid, tileset.tile_count, tileset.columns) == (1, 2, 2)
    assert {number: tile.class_ for number, tile in tileset.tiles.items()} == {0: "floor", 1: "wall"}
    with Image.open(io.BytesIO(tiles_image())) as picture:
        assert picture.size == (tileset.image_width, tileset.image_height) == (2 * TILE_PIXELS, TILE_PIXELS)
        bright = np.asarray(picture)
    assert bright[:, :TILE_PIXELS].all()
    assert not bright[:, TILE_PIXELS:].any()


@KINDS
def test_the_solution_is_a_layer_of_objects(tmp_path, finite):
    block = maze(30, 20)
    path, marks = marked(block)
    tiled = read(tmp_path, drawn(TiledMap(finite), block, marks))
    tiles = tiles_in(tiled, block)
    assert np.array_equal(tiles - 1, block.tiles())
    start, end, line = tiled.layers[1].tiled_objects
    assert (start.name, end.name, line.name) == ("start", "end", "path")
    assert isinstance(start, Point)
    assert isinstance(line, Polyline)
    assert [cell_at(thing.coordinates) for thing in (start, end)] == [path[0], path[-1]]
    assert cells_on(line) == path
    assert len({thing.id for thing in tiled.layers[1].tiled_objects}) == 3
    assert tiled.next_object_id == 4
    assert tiled.next_layer_id == 3


def cell_at(place):
    x, y = ((number - TILE_PIXELS / 2) / TILE_PIXELS for number in place)
    assert x % 2 == y % 2 == 1
    return int(y) // 2, int(x) // 2


def cells_on(line):
    x, y = line.coordinates
    corners = [cell_at((x + px, y + py)) for px, py in line.points]
    cells = corners[:1]
    for row, column in corners[1:]:
        while cells[-1] != (row, column):
            cells.append((cells[-1][0] + np.sign(row - cells[-1][0]), cells[-1][1] + np.sign(column - cells[-1][1])))
    return cells


def test_a_path_that_leaves_the_rows_is_several_polylines(tmp_path):
    block = maze(30, 40, seed=3)
    path, marks = marked(block)
    lines = read(tmp_path, drawn(TiledMap(), block[10:20], marks)).layers[1].tiled_objects
    assert {line.name for line in lines} == {"path"}
    assert [cell for line in lines for cell in cells_on(line)] == [(r - 10, c) for r, c in path if 10 <= r < 20]


def test_a_map_is_plain_json():
    keys = set(json.loads(drawn(TiledMap(), any_block(5, 5))))
    required = {"type", "version", "orientation", "renderorder", "infinite", "width", "height", "tilewidth"}
    assert required | {"tileheight", "tilesets", "layers", "nextlayerid", "nextobjectid"} == keys


def test_more_tiles_than_tiled_counts_pixels_for():
    check(TiledMap(), Picture((MAX_SIDE - 1) // 2, rows=(MAX_SIDE - 1) // 2))
    for width, rows in [((MAX_SIDE + 1) // 2, 1), (1, (MAX_SIDE + 1) // 2)]:
        with pytest.raises(PictureError, match=f"at most {MAX_SIDE} tiles a side"):
            check(TiledMap(), Picture(width, rows=rows))
