"""A maze as text: the same characters as a loop over the cells gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eller_stream.block import Block, pack_bits, unpack_bits
from eller_stream.render import text


def plain(block, *, top):
    """Return the text, a cell at a time."""
    north = unpack_bits(block.north, block.width)
    said = ["".join("+   " if open_ else "+---" for open_ in north) + "+\n"] if top else []
    floor = 1 - block.floor_tiles()
    for i, row in enumerate(block):
        west = [False, *row.east]
        cells = [("    " if w else "|   ", " ###" if w else "|###") for w in west]
        said.append("".join(cells[c][not floor[i, c]] for c in range(block.width)) + (" \n" if west[-1] else "|\n"))
        said.append("".join("+   " if open_ else "+---" for open_ in row.south) + "+\n")
    return "".join(said).encode()


@pytest.mark.parametrize("top", [False, True])
@given(
    width=st.one_of(st.sampled_from([1, 2, 63, 64, 65]), st.integers(1, 20)),
    rows=st.integers(0, 4),
    floor=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_the_text_of_any_block(top, width, rows, floor, seed):
    bits = np.random.default_rng(seed)
    east, south, north, ground = (pack_bits(bits.random((n, width)) < 0.5) for n in (rows, rows, 1, rows))
    block = Block(3, width, east, south, north[0], ground if floor else None)
    assert text.lines(block, top=top) == plain(block, top=top)
