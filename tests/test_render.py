"""All formats alike: bounded memory, rows in whatever portions, what cannot be drawn; a stream that is written on."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import drawn, maze

from eller_stream import EllerStream
from eller_stream.block import Block, joined
from eller_stream.errors import PictureError
from eller_stream.render import FORMATS, Bitmap, Picture, PictureWriter, Png, Text, TiledMap, check, draw
from eller_stream.render.picture import portions

RENDERERS = {
    **{name: make() for name, make in FORMATS.items()},
    "boxes": Text("unicode"),
    "finite": TiledMap(finite=True),
}
ALL = pytest.mark.parametrize("renderer", RENDERERS.values(), ids=RENDERERS.keys())
STREAMED = {name: renderer for name, renderer in RENDERERS.items() if name != "svg"}


@ALL
@given(rows=st.integers(1, 50), pieces=st.integers(1, 50))
def test_the_portions_do_not_matter(renderer, rows, pieces):
    block = maze(9, rows)
    assert drawn(renderer, block, pieces=pieces) == drawn(renderer, block)


def peak_of(renderer, rows, width=2000):
    """Return the bytes that drawing takes at most, with rows that cost nothing to make."""
    block = EllerStream(width, seed=1).read(200)
    picture = Picture(width, 0, rows)
    parts = (Block(start, width, block.east, block.south, block.north) for start in range(0, rows, len(block)))
    tracemalloc.start()
    for _ in draw(renderer, picture, parts):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("renderer", STREAMED.values(), ids=STREAMED.keys())
def test_memory_does_not_grow_with_the_height(renderer):
    renderer = Png(1, 1) if isinstance(renderer, Png) else renderer
    few, many = peak_of(renderer, 1000), peak_of(renderer, 4000)
    assert many < 1.1 * few + 100_000


def test_large_cells_take_no_memory_of_their_own():
    tracemalloc.start()
    total = sum(map(len, draw(Png(4000, 1), Picture(40, rows=1), [maze(40, 1)])))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total > 1000
    assert peak < 2_000_000  # all lines together are 80 MB


def test_portions_are_small_and_do_not_depend_on_the_blocks():
    block = maze(10, 25)
    for cuts in ([], [9], [1, 2, 3, 20], [4]):
        pieces = [block[a:b] for a, b in pairwise([0, *cuts, 25])]
        parts = list(portions(pieces, 49))
        assert [(part.start, len(part)) for part in parts] == [*((i, 4) for i in range(0, 24, 4)), (24, 1)]
        assert joined(parts) == block
    assert [len(part) for part in portions([maze(100, 3)], 40)] == [1, 1, 1]
    assert list(portions([], 40)) == []


@ALL
def test_no_rows_and_endless_rows(renderer):
    with pytest.raises(PictureError, match="no rows to draw"):
        check(renderer, Picture(5, rows=0))
    if renderer.needs_rows:
        with pytest.raises(PictureError, match="number of rows has to be known"):
            check(renderer, Picture(5))
    else:
        check(renderer, Picture(5))
        assert renderer.beginning(Picture(5)) == b""


@ALL
def test_a_writer_writes_what_is_drawn(renderer):
    out = []
    writer = PictureWriter(out.append, EllerStream(50, seed=1, height=70), renderer)
    assert writer.write(30) >= 30
    writer.finish()
    assert (writer.rows, writer.bytes_written) == (70, len(b"".join(out)))
    assert writer.write(1) == 0
    assert b"".join(out) == drawn(renderer, maze(50, 70))
    assert writer.mended_beginning() is None


@pytest.mark.parametrize("renderer", STREAMED.values(), ids=STREAMED.keys())
def test_a_stream_that_is_finalized_early(renderer):
    out, stream = [], EllerStream(200_000, seed=1, height=10**6)
    writer = PictureWriter(out.append, stream, renderer)
    writer.write(1)
    stream.finalize()
    writer.finish()
    assert writer.rows == stream.height < 10
    beginning, data = writer.mended_beginning() or b"", b"".join(out)
    assert bool(beginning) == renderer.needs_rows
    assert beginning + data[len(beginning) :] == drawn(renderer, maze(200_000, writer.rows))


def test_a_picture_from_the_middle_shows_the_passages_above_it():
    block = maze(20, 30)[10:14]
    with_top = np.frombuffer(drawn(Bitmap(), block).split(b"\n", 2)[2], np.uint8).reshape(9, 6)
    assert np.array_equal(np.unpackbits(with_top, axis=1)[:, :41], block.tiles())
    assert not block.tiles()[0].all()
