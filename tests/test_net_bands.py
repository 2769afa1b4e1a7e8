"""Mazes carved in bands over a socket: the same rows, from any row, finalized in any row; the limits of a server."""

import pytest
from net_helpers import remote, serving

from eller_stream.bands import BandStream
from eller_stream.errors import NetError
from eller_stream.net.limits import ServerLimits
from eller_stream.spec import MazeSpec
from eller_stream.streams import restore_stream
from eller_stream.verify import CONNECTED, verify

ALL = ["dfs", "prim", "wilson", "random_walk"]


@pytest.fixture(scope="module")
def served():
    with serving() as server:
        yield server


def local(spec, row=0):
    stream = BandStream.from_spec(spec)
    stream.seek(row)
    return stream


@pytest.mark.parametrize("algorithm", ALL)
@pytest.mark.parametrize("row", [0, 63, 64, 10**9])
def test_the_rows_are_those_of_the_stream(served, algorithm, row):
    spec = MazeSpec(100, algorithm=algorithm, seed=3, loops=0.03)
    with remote(served, spec, row=row) as stream:
        here = local(spec, row)
        for rows in (1, 0, 100, 63):
            assert stream.read(rows) == here.read(rows)
        assert restore_stream(stream.snapshot()).read(30) == stream.read(30)
        stream.seek(row + 5)
        assert stream.read(9) == local(spec, row + 5).read(9)


@pytest.mark.parametrize("algorithm", ALL)
def test_a_maze_is_finalized(served, algorithm):
    spec = MazeSpec(50, algorithm=algorithm, seed=3)
    with remote(served, spec) as stream:
        here = local(spec)
        assert stream.read(90) == here.read(90)
        stream.finalize()
        here.finalize()
        assert stream.read(5) == here.read(5)
        assert (stream.position, stream.height) == (91, 91)


def test_rows_of_walls_do_not_end_a_map(served):
    spec = MazeSpec(4000, algorithm="random_walk", seed=1, height=600, band=600, max_tunnels=2)
    with remote(served, spec) as stream:
        blocks = [stream.read(50) for _ in range(12)]
    assert sum(block.ends for block in blocks) > 5
    assert verify(blocks).answer == CONNECTED


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"algorithm": "dfs", "band": 70}, r"band \* width is 70 \* 10, the limit is 640 cells"),
        (
            {"algorithm": "random_walk", "max_tunnels": 100},
            "100 tunnels of 8 cells at most pass the limit of 640 cells",
        ),
        (
            {"algorithm": "wilson", "width": 144, "band": 1},
            "1 rows of 144 cells has about 20736 steps, the limit is 20480",
        ),
        (
            {"algorithm": "wilson", "width": 4, "band": 144},
            "144 rows of 4 cells has about 20736 steps, the limit is 20480",
        ),
    ],
)
def test_the_limits_of_bands(options, reason):
    with (
        serving(limits=ServerLimits(max_band_cells=640)) as server,
        pytest.raises(NetError, match=reason),
        remote(server, MazeSpec(**{"width": 10, "seed": 1, **options})) as stream,
    ):
        stream.read(1)
