"""PNGs, read back by Pillow and by pypng: every pixel is that of its tile."""

import io
import zlib

import numpy as np
import png
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import any_block, blocks, drawn, marked, maze, picture_of, tiles_on, walls_in, walls_of
from PIL import Image

from eller_stream.block import FLOOR, WALL
from eller_stream.errors import PictureError
from eller_stream.render import Marks, Picture, Png, check
from eller_stream.render.marks import END, PATH, START
from eller_stream.render.png import COLOURS, image

sizes = st.integers(1, 9)


def tile_of_pixels(cells, renderer):
    """Return for each pixel along a side the tile it belongs to."""
    return [tile for tile in range(2 * cells + 1) for _ in range(renderer.cell if tile % 2 else renderer.wall)]


def pixels(data):
    """Return the colours in a PNG as pypng reads them: uint8 of shape (height, width, 3)."""
    width, height, rows, _ = png.Reader(bytes=data).asRGB8()
    return np.array([list(row) for row in rows], np.uint8).reshape(height, width, 3)


def tiles_in(data, block, renderer):
    """Return the tile that each tile's pixels show, which all must."""
    colours = pixels(data)
    lines, columns = tile_of_pixels(len(block), renderer), tile_of_pixels(block.width, renderer)
    assert colours.shape == (len(lines), len(columns), 3)
    first = [lines.index(i) for i in range(2 * len(block) + 1)], [columns.index(i) for i in range(2 * block.width + 1)]
    tiles = colours[np.ix_(*first)]
    assert np.array_equal(tiles[np.ix_(lines, columns)], colours)
    kinds = {colour: kind for kind, colour in COLOURS.items()}
    return np.array([[kinds[tuple(colour)] for colour in line] for line in tiles.tolist()])


@given(block=blocks, cell=sizes, wall=sizes, pieces=st.integers(1, 3))
def test_the_walls_in_a_png(block, cell, wall, pieces):
    renderer = Png(cell, wall)
    tiles = tiles_in(drawn(renderer, block, pieces=pieces), block, renderer)
    assert walls_in(tiles == WALL) == walls_of(block)
    assert np.array_equal(tiles[1::2, 1::2], block.floor_tiles())


@pytest.mark.parametrize(("width", "rows"), [(1, 1), (7, 9), (63, 4), (64, 3), (65, 2), (300, 1200)])
def test_pillow_reads_one_bit_a_pixel(width, rows):
    block = maze(width, rows, loops=0.1)
    with Image.open(io.BytesIO(drawn(Png(1, 1), block))) as picture:
        assert picture.mode == "1"
        assert np.array_equal(np.asarray(picture), block.tiles() == FLOOR)


def test_the_path_and_its_ends_have_colours_of_their_own():
    block = maze(30, 20)
    path, marks = marked(block)
    tiles = tiles_in(drawn(Png(3, 2), block, marks, pieces=4), block, Png(3, 2))
    shown = {tuple(place) for place in np.argwhere(tiles >= PATH).tolist()}
    assert shown == tiles_on(path)
    (r, c), (s, d) = path[0], path[-1]
    assert (tiles[2 * r + 1, 2 * c + 1], tiles[2 * s + 1, 2 * d + 1]) == (START, END)
    assert (np.count_nonzero(tiles == START), np.count_nonzero(tiles == END)) == (1, 1)
    assert np.array_equal(tiles == WALL, block.tiles() == WALL)


@pytest.mark.parametrize("start", [0, 7, 2**40])
def test_marks_in_rows_from_the_middle(start):
    block = any_block(9, 6, start=start)
    marks = Marks((start + 2, 3), (start + 6, 0))
    tiles = tiles_in(drawn(Png(1, 1), block, marks), block, Png(1, 1))
    assert np.argwhere(tiles > WALL).tolist() == [[5, 7]]


def luminance(colour):
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("kind", [PATH, START, END])
@pytest.mark.parametrize("ground", [FLOOR, WALL])
def test_marks_stand_out_from_floor_and_walls(kind, ground):
    low, high = sorted([luminance(COLOURS[kind]), luminance(COLOURS[ground])])
    assert (high + 0.05) / (low + 0.05) >= 3


def test_sizes_that_no_png_has():
    check(Png(1, 1), Picture(2**30 - 1, rows=2**30 - 1))
    for width, rows in [(2**30, 1), (1, 2**30)]:
        with pytest.raises(PictureError, match=r"at most 2147483647 pixels a side, not \d+ by \d+"):
            check(Png(1, 1), Picture(width, rows=rows))
    for sizes_below in [(0, 1), (1, 0), (-1, 1)]:
        with pytest.raises(PictureError, match="a pixel and more"):
            check(Png(*sizes_below), Picture(2, rows=2))


def test_a_mended_height():
    block = maze(10, 8)
    data = drawn(Png(), block)
    planned = Png().beginning(Picture(10, rows=1000))
    whole = Png().beginning(picture_of(block))
    assert len(planned) == len(whole)
    assert data.startswith(whole)
    with pytest.raises(png.FormatError):
        png.Reader(bytes=data[:20] + b"\0\0\0\1" + data[24:]).read()[2].__next__()


def test_lines_are_in_one_stream_and_repeated_lines_cost_nothing():
    block = maze(500, 50)
    tall, flat = len(drawn(Png(40, 1), block)), len(drawn(Png(1, 1), block))
    assert tall < 20 * flat
    chunks = [data for kind, data in png.Reader(bytes=drawn(Png(2, 1), block)).chunks() if kind == b"IDAT"]
    assert len(zlib.decompress(b"".join(chunks))) == 151 * (1 + (1501 + 7) // 8)


def test_a_small_picture():
    tiles = np.array([[FLOOR, WALL, WALL], [WALL, FLOOR, FLOOR]], np.uint8)
    assert pixels(image(tiles))[:, :, 0].tolist() == [[255, 0, 0], [0, 255, 255]]
