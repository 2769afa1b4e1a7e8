"""Bitmaps and array files, read back by Pillow and by NumPy."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import blocks, drawn, maze, walls_in, walls_of
from PIL import Image

from eller_stream.errors import PictureError
from eller_stream.render import Bitmap, CellArray, Marks, Picture

N, S, E, W = 1, 2, 4, 8


@given(block=blocks, pieces=st.integers(1, 3))
def test_the_walls_in_a_bitmap(block, pieces):
    with Image.open(io.BytesIO(drawn(Bitmap(), block, pieces=pieces))) as picture:
        black = ~np.asarray(picture)
    assert walls_in(black) == walls_of(block)
    assert np.array_equal(black[1::2, 1::2], block.floor_tiles())


@given(block=blocks, pieces=st.integers(1, 3))
def test_the_passages_in_an_array(block, pieces):
    masks = np.load(io.BytesIO(drawn(CellArray(), block, pieces=pieces)))
    level, upright = (np.array(walls) for walls in walls_of(block))
    assert (masks.dtype, masks.shape) == (np.uint8, (len(block), block.width))
    assert np.array_equal(masks & N == 0, level[:-1])
    assert np.array_equal(masks & S == 0, level[1:])
    assert np.array_equal(masks & W == 0, upright[:, :-1])
    assert np.array_equal(masks & E == 0, upright[:, 1:])
    assert masks.max() < 16


def test_an_array_can_be_mapped(tmp_path):
    path = tmp_path / "m.npy"
    path.write_bytes(drawn(CellArray(), maze(1000, 50)))
    masks = np.load(path, mmap_mode="r")
    assert isinstance(masks, np.memmap)
    assert masks.offset % 64 == 0
    assert np.array_equal(masks, maze(1000, 50).cells())
    masks._mmap.close()


@pytest.mark.parametrize("renderer", [Bitmap(), CellArray()])
def test_headers_have_one_length(renderer):
    sizes = {len(renderer.beginning(Picture(2**31 - 1, rows=rows))) for rows in (1, 1000, 2**48)}
    assert len(sizes) == 1


@pytest.mark.parametrize("renderer", [Bitmap(), CellArray()])
def test_what_has_no_colours_shows_no_marks(renderer):
    with pytest.raises(PictureError, match="neither paths nor ends"):
        drawn(renderer, maze(3, 3), Marks((0, 0), (2, 2)))
