"""Uniform mazes over a socket, and ends that are more than a row away: the same rows as here."""

import pytest
from net_helpers import remote, serving

from eller_stream.errors import StreamError
from eller_stream.spec import MazeSpec
from eller_stream.streams import open_stream, restore_stream
from eller_stream.verify import PERFECT, verify

SPEC = MazeSpec(50, algorithm="uniform", seed=3)


@pytest.fixture(scope="module")
def served():
    with serving() as server:
        yield server


@pytest.mark.parametrize("height", [None, 200])
def test_the_rows_are_those_of_the_stream(served, height):
    spec = MazeSpec(50, algorithm="uniform", seed=3, height=height, loops=0.03)
    with remote(served, spec) as stream:
        here = open_stream(spec)
        for rows in (1, 0, 100, 63):
            assert stream.read(rows) == here.read(rows)
        assert restore_stream(stream.snapshot()).read(30) == stream.read(30)
        stream.seek(197)
        here.seek(197)
        assert stream.read(9) == here.read(9)


@pytest.mark.parametrize("algorithm", ["uniform", "eller", "wilson"])
def test_a_maze_ends_after_so_many_rows(served, algorithm):
    spec = MazeSpec(50, algorithm=algorithm, seed=3)
    with remote(served, spec) as stream:
        here = open_stream(spec)
        blocks = [stream.read(90)]
        assert blocks == [here.read(90)]
        for wrong in (0, -1, 2**49, 1.5):
            with pytest.raises(StreamError, match="the number of rows to finalize after is"):
                stream.finalize(rows=wrong)
        stream.finalize(rows=60)
        here.finalize(rows=60)
        blocks += [stream.read(5), stream.read(999)]
        assert blocks[1:] == [here.read(5), here.read(999)]
        assert (stream.position, stream.height) == (150, 150)
        with pytest.raises(StreamError, match="called already: row 149 is the last one"):
            stream.finalize()
    assert verify(blocks).answer == PERFECT


def test_a_server_goes_back_to_a_state_that_it_kept(served):
    with remote(served, SPEC) as stream:
        first = stream.read(20_000)
        stream.seek(3)
        assert stream.read(50) == first[3:53]
