"""What the tests of pictures share: mazes to draw, their walls by a loop over the cells, a path and its ends."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from eller_stream import EllerStream
from eller_stream.block import Block, pack_bits
from eller_stream.render import Marks, Picture, draw
from eller_stream.solve import MazeRows, shortest_path, top_and_bottom

EDGE_WIDTHS = [1, 2, 7, 63, 64, 65]


def any_block(width, rows, *, floor=False, seed=0, start=0):
    """Return a block of random passages, which need not make a maze; with `floor`, a map of them."""
    bits = np.random.default_rng(seed)
    east, south, north, ground = (bits.random((n, width)) < 0.5 for n in (rows, rows, 1, rows))
    if floor:
        east &= ground & np.roll(ground, -1, axis=1)
        south &= ground & np.concatenate([ground[1:], south[-1:]])
        north &= ground[:1]
    east, south, north, ground = map(pack_bits, (east, south, north, ground))
    return Block(start, width, east, south, north[0], ground if floor else None)


blocks = st.builds(
    any_block,
    width=st.one_of(st.sampled_from(EDGE_WIDTHS), st.integers(1, 20)),
    rows=st.integers(1, 40),
    floor=st.booleans(),
    seed=st.integers(0, 2**32),
    start=st.sampled_from([0, 1, 5, 2**40]),
)


def maze(width, rows, seed=1, **options):
    return EllerStream(width, seed=seed, height=rows, **options).read(rows)


def walls_of(block):
    """Return where walls are: level ones, (rows + 1) lines of width, and upright ones, rows lines of (width + 1)."""
    rows = list(block)
    level = [[not open_ for open_ in rows[0].north]] + [[not open_ for open_ in row.south] for row in rows]
    upright = [[True] + [not open_ for open_ in row.east] for row in rows]
    return level, upright


def walls_in(tiles):
    """Return the walls that lines of tiles show, as `walls_of` does; true is a wall."""
    assert all(line[::2].all() for line in tiles[::2]), "a corner is open"
    return tiles[::2, 1::2].tolist(), tiles[1::2, ::2].tolist()


def picture_of(block, marks=None):
    return Picture(block.width, block.start, len(block), marks)


def drawn(renderer, block, marks=None, pieces=1):
    """Return the bytes of a block's picture, given in so many pieces."""
    step = -(-len(block) // pieces)
    parts = [block[i : i + step] for i in range(0, len(block), step)]
    return b"".join(draw(renderer, picture_of(block, marks), parts))


def marked(block):
    """Return the path from a maze's first cell to its last, and the marks of it."""
    rows = MazeRows.of(block)
    path = shortest_path(rows, *top_and_bottom(rows))
    return path.cells(), Marks(path.cells()[0], path.cells()[-1], path)


def tiles_on(path):
    """Return the tiles of a path's cells and of the passages between them: {(line, column)}."""
    cells = {(2 * r + 1, 2 * c + 1) for r, c in path}
    return cells | {(r + s + 1, c + d + 1) for (r, c), (s, d) in pairwise(path)}
