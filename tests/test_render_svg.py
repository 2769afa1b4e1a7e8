"""SVGs, read twice: the lines in the file by a parser of the test's own, and the picture as resvg draws it."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
import resvg_py
from hypothesis import given, settings
from pictures import any_block, blocks, drawn, marked, maze, walls_of
from PIL import Image

from eller_stream.errors import PictureError
from eller_stream.render import Marks, Picture, Svg, check
from eller_stream.render.marks import END, PATH, START
from eller_stream.render.png import COLOURS
from eller_stream.render.svg import CELL_PIXELS, MOST_CELLS

SVG = "{http://www.w3.org/2000/svg}"


def parse(data):
    root = ElementTree.fromstring(data)
    return root, {element.get("class"): element for element in root if element.get("class")}


def walls_drawn(data, block):
    """Return the walls that the path's lines pass, as `walls_of` does; no two lines could be one."""
    commands = parse(data)[1]["walls"].get("d")
    assert re.fullmatch(r"(M\d+ \d+[hv]\d+)+", commands)
    level = np.zeros((len(block) + 1, block.width), int)
    upright = np.zeros((len(block), block.width + 1), int)
    ends = set()
    for x, y, way, length in re.findall(r"M(\d+) (\d+)([hv])(\d+)", commands):
        x, y, length = int(x), int(y), int(length)
        if way == "h":
            level[y, x : x + length] += 1
            places = [("h", x, y), ("h", x + length, y)]
        else:
            upright[y : y + length, x] += 1
            places = [("v", x, y), ("v", x, y + length)]
        assert not ends & set(places), "two lines could have been one"
        ends |= set(places)
    assert level.max() <= 1
    assert upright.max() <= 1
    return level.astype(bool).tolist(), upright.astype(bool).tolist()


def render(data):
    """Return the pixels that resvg draws."""
    drawn_by_resvg = bytes(resvg_py.svg_to_bytes(svg_string=data.decode()))
    with Image.open(io.BytesIO(drawn_by_resvg)) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def at(pixels, x, y):
    """Return the colour at a place in cells."""
    return tuple(pixels[round((y + 0.5) * CELL_PIXELS), round((x + 0.5) * CELL_PIXELS)].tolist())


def is_dark(pixels, x, y):
    return sum(at(pixels, x, y)) < 3 * 128


@given(block=blocks)
def test_the_lines_are_the_walls(block):
    assert walls_drawn(drawn(Svg(), block), block) == walls_of(block)


@settings(max_examples=15)
@given(block=blocks)
def test_the_walls_as_they_are_seen(block):
    pixels = render(drawn(Svg(), block))
    assert pixels.shape == ((len(block) + 1) * CELL_PIXELS, (block.width + 1) * CELL_PIXELS, 3)
    level, upright = walls_of(block)
    seen_level = [[is_dark(pixels, c + 0.5, i) for c in range(block.width)] for i in range(len(block) + 1)]
    seen_upright = [[is_dark(pixels, c, i + 0.5) for c in range(block.width + 1)] for i in range(len(block))]
    assert (seen_level, seen_upright) == (level, upright)
    seen = [[is_dark(pixels, c + 0.5, i + 0.5) for c in range(block.width)] for i in range(len(block))]
    assert np.array_equal(seen, block.floor_tiles())


def test_no_outer_wall_is_cut():
    pixels = render(drawn(Svg(), maze(12, 7)))
    frame = np.concatenate([pixels[[0, -1]].reshape(-1, 3), pixels[:, [0, -1]].reshape(-1, 3)])
    assert (frame == 255).all()
    for line in (pixels[:, 50], pixels[:, -50], pixels[50], pixels[-50]):
        dark = np.flatnonzero(line.sum(axis=1) < 3 * 128)
        assert dark[0] in (6, 7)  # the wall's middle is half a cell, 8 pixels, from the edge; it is 3.2 pixels wide
        assert len(line) - 1 - dark[-1] in (6, 7)
    assert dark[0] > 0


def test_few_elements_whatever_the_size():
    for block in (maze(5, 5), maze(100, 100), any_block(50, 50, floor=True)):
        root, classes = parse(drawn(Svg(), block, marked(maze(5, 5))[1]))
        assert len(list(root.iter())) <= 8
        assert {"ground", "walls", "solution", "start", "end"} <= set(classes)
    lines = parse(drawn(Svg(), maze(100, 100)))[1]["walls"].get("d").count("M")
    level, upright = walls_of(maze(100, 100))
    assert lines < 0.6 * (np.count_nonzero(level) + np.count_nonzero(upright))


def test_the_solution_and_the_ends():
    block = maze(30, 20)
    path, marks = marked(block)
    data = drawn(Svg(), block, marks)
    classes = parse(data)[1]
    assert cells_on(classes["solution"].get("d")) == path
    places = [(float(classes[name].get("cy")), float(classes[name].get("cx"))) for name in ("start", "end")]
    assert places == [(r + 0.5, c + 0.5) for r, c in (path[0], path[-1])]
    pixels = render(data)
    colours = {path[0]: COLOURS[START], path[-1]: COLOURS[END]}
    for r, c in path:
        assert at(pixels, c + 0.5, r + 0.5) == colours.get((r, c), COLOURS[PATH])
    assert walls_drawn(data, block) == walls_of(block)


def cells_on(commands):
    """Return the cells that a path's lines pass, in their order."""
    cells = []
    for piece in commands.split("M")[1:]:
        points = [tuple(map(float, point.split())) for point in re.findall(r"[\d.]+ [\d.]+", piece.replace("L", " , "))]
        column, row = (int(number - 0.5) for number in points[0])
        cells.append((row, column))
        for x, y in points[1:]:
            while (row, column) != (int(y - 0.5), int(x - 0.5)):
                row += int(np.sign(int(y - 0.5) - row))
                column += int(np.sign(int(x - 0.5) - column))
                cells.append((row, column))
    return cells


def test_a_path_that_leaves_the_rows_is_several_lines():
    block = maze(30, 40, seed=3)
    path, marks = marked(block)
    classes = parse(drawn(Svg(), block[10:20], marks))[1]
    assert cells_on(classes["solution"].get("d")) == [(r - 10, c) for r, c in path if 10 <= r < 20]
    assert classes["solution"].get("d").count("M") > 1
    assert not {"start", "end"} & set(classes)


def test_ends_alone_and_a_path_of_one_cell():
    classes = parse(drawn(Svg(), maze(3, 3), Marks((0, 0), (2, 2))))[1]
    assert "solution" not in classes
    block = maze(1, 1)
    assert cells_on(parse(drawn(Svg(), block, marked(block)[1]))[1]["solution"].get("d")) == [(0, 0)]


def test_more_cells_than_an_svg_is_made_for():
    check(Svg(), Picture(MOST_CELLS, rows=1))
    with pytest.raises(PictureError, match=rf"at most {MOST_CELLS} cells, not for 2 rows of {MOST_CELLS}"):
        check(Svg(), Picture(MOST_CELLS, rows=2))
