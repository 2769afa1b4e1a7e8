"""Text with box-drawing characters, and marks in both kinds of text: every character is read back."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import any_block, blocks, drawn, marked, maze, tiles_on, walls_of

from eller_stream.errors import PictureError
from eller_stream.render import Marks, Text
from eller_stream.render.text import BOX_CHARACTERS, UNICODE

BOXES = Text(UNICODE)
SIDES = {"UP": {"up"}, "DOWN": {"down"}, "LEFT": {"left"}, "RIGHT": {"right"}}
SIDES |= {"VERTICAL": {"up", "down"}, "HORIZONTAL": {"left", "right"}}


def sides(character):
    """Return where a box-drawing character reaches, by its name in Unicode."""
    if character == " ":
        return set()
    return set().union(*(SIDES.get(word, set()) for word in unicodedata.name(character).split()))


def sides_of_corner(block, i, c):
    """Return where walls go from the corner north-west of cell (i, c)."""
    level, upright = walls_of(block)
    found = set()
    for side, walls, y, x in [
        ("left", level, i, c - 1),
        ("right", level, i, c),
        ("up", upright, i - 1, c),
        ("down", upright, i, c),
    ]:
        if 0 <= y < len(walls) and 0 <= x < len(walls[0]) and walls[y][x]:
            found.add(side)
    return found


@given(block=blocks, pieces=st.integers(1, 4))
def test_boxes_show_the_walls_of_any_block(block, pieces):
    lines = drawn(BOXES, block, pieces=pieces).decode().splitlines()
    level, upright = walls_of(block)
    assert {len(line) for line in lines} == {4 * block.width + 1}
    assert [[line[c : c + 3] for c in range(1, 4 * block.width, 4)] for line in lines[::2]] == [
        ["───" if wall else "   " for wall in walls] for walls in level
    ]
    assert [list(line[::4]) for line in lines[1::2]] == [["│" if wall else " " for wall in walls] for walls in upright]
    insides = [["███" if solid else "   " for solid in row] for row in block.floor_tiles()]
    assert [[line[c : c + 3] for c in range(1, 4 * block.width, 4)] for line in lines[1::2]] == insides


@pytest.mark.parametrize("width", [1, 2, 9])
def test_each_corner_is_the_walls_that_meet_in_it(width):
    block = any_block(width, 30, seed=width)
    lines = drawn(BOXES, block).decode().splitlines()
    for i, line in enumerate(lines[::2]):
        for c, corner in enumerate(line[::4]):
            assert sides(corner) == sides_of_corner(block, i, c)


def test_a_small_maze_in_boxes():
    assert drawn(BOXES, maze(4, 3)).decode() == SMALL


SMALL = """\
┌───┬───┬───┬───┐
│   │   │   │   │
│   ╵   │   │   │
│       │   │   │
│   ╶───┘   ╵   │
│               │
└───────────────┘
"""


@pytest.mark.parametrize(("charset", "path_mark"), [("ascii", " * "), (UNICODE, " • ")])
def test_the_path_and_its_ends_are_in_their_cells(charset, path_mark):
    block = maze(20, 15)
    path, marks = marked(block)
    plain = drawn(Text(charset), block).decode().splitlines()
    lines = drawn(Text(charset), block, marks, pieces=3).decode().splitlines()
    shown = dict.fromkeys(path, path_mark) | {path[0]: " S ", path[-1]: " E "}
    for r in range(15):
        inside = {c: lines[2 * r + 1][4 * c + 1 : 4 * c + 4] for c in range(20)}
        assert inside == {c: shown.get((r, c), "   ") for c in range(20)}
        assert lines[2 * r + 1][::4] == plain[2 * r + 1][::4]
    assert lines[::2] == plain[::2]


def test_ends_without_a_path_and_ends_outside():
    block = maze(5, 5)
    text = drawn(Text(), block, Marks((0, 2), (7, 1))).decode()
    assert text.splitlines()[1][8:12].endswith(" S ")
    assert text.count("S") == 1
    assert "E" not in text
    assert "*" not in text


def test_one_cell_is_start_and_end():
    block = maze(1, 1)
    _, marks = marked(block)
    assert drawn(Text(), block, marks) == b"+---+\n| E |\n+---+\n"


def test_boxes_in_another_encoding():
    assert drawn(Text(UNICODE, "gb18030"), maze(4, 3)).decode("gb18030") == SMALL
    assert set(SMALL) - {"\n"} <= set(BOX_CHARACTERS)


def test_an_unknown_charset():
    with pytest.raises(PictureError, match="ascii or unicode, not 'braille'"):
        drawn(Text("braille"), maze(2, 2))


def test_a_path_that_leaves_the_rows_and_comes_back():
    block = maze(30, 40, seed=3)
    path, marks = marked(block)
    window = block[10:20]
    lines = drawn(Text(), window, marks).decode().splitlines()
    found = {(10 + i, c) for i, line in enumerate(lines[1::2]) for c in range(30) if line[4 * c + 2] == "*"}
    assert found == {cell for cell in path if 10 <= cell[0] < 20}
    assert len(tiles_on(path)) == 2 * len(path) - 1
