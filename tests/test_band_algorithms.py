"""What makes each of the algorithms carved in bands what it is: their shape, their chances, their options, their logs.

Significance: chi-square tests at 0.001 with fixed seeds. The critical values are those of the tables for 3, 14 and 191
degrees of freedom (4, 15 and 192 spanning trees of 2x2, 2x3 and 3x3).
"""

from collections import Counter
from itertools import combinations, islice, pairwise

import numpy as np
import pytest
from helpers import GOLDEN, Graph, SplitMix64, dead_ends
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream import kernel
from eller_stream.bands import BandStream, dfs, random_walk, random_walk_map
from eller_stream.bands import carve as carve_module
from eller_stream.bands.carve import carve
from eller_stream.bands.draws import Draws
from eller_stream.bands.grid import EAST, NORTH, SOUTH, WEST, Grid
from eller_stream.bands.places import is_last, rows_of
from eller_stream.errors import SpecError
from eller_stream.spec import MazeSpec
from eller_stream.stream import EllerStream
from eller_stream.verify import CONNECTED, verify

CRITICAL = {(2, 2): (4, 16.27), (2, 3): (15, 36.12), (3, 3): (192, 257.1)}
SAMPLES_PER_TREE = 60


def whole(algorithm, width, height, **options):
    return BandStream(algorithm, width, **{"seed": 1, "height": height, "band": height} | options).read(height)


# ---- uniform or not -------------------------------------------------------------------------------------


def chi_square(counts, kinds):
    """Return the statistic of counts that should be even over so many kinds, some of which may not have come."""
    expected = counts.total() / kinds
    return sum((n - expected) ** 2 / expected for n in counts.values()) + (kinds - len(counts)) * expected


def tree_counts(algorithm, rows, width):
    """Return how often each maze came, over seeds from 0 on."""
    trees, _ = CRITICAL[rows, width]
    counts = Counter()
    for seed in range(SAMPLES_PER_TREE * trees):
        if algorithm == "eller":
            block = EllerStream(width, seed=seed, height=rows).read(rows)
        else:
            block = whole(algorithm, width, rows, seed=seed)
        counts[block.east.tobytes() + block.south.tobytes()] += 1
    return counts


@pytest.mark.parametrize(("rows", "width"), CRITICAL)
def test_wilson_is_uniform_over_spanning_trees(rows, width):
    trees, critical = CRITICAL[rows, width]
    counts = tree_counts("wilson", rows, width)
    assert len(counts) == trees
    assert chi_square(counts, trees) < critical


@pytest.mark.parametrize(("rows", "width"), [(2, 3), (3, 3)])
@pytest.mark.parametrize("algorithm", ["dfs", "prim", "eller"])
def test_the_same_test_tells_the_others_from_uniform(algorithm, rows, width):
    trees, critical = CRITICAL[rows, width]
    assert chi_square(tree_counts(algorithm, rows, width), trees) > 2 * critical


def spanning_trees(edges, nodes):
    """Return the spanning trees of a graph, each a frozenset of edges."""
    found = []
    for chosen in combinations(edges, nodes - 1):
        graph = Graph()
        if all(graph.unite(a, b) for a, b in chosen):
            found.append(frozenset(chosen))
    return found


def test_wilson_is_uniform_over_the_trees_of_a_band_below_others(backend):
    """Two rows of two columns whose root is the row above: 21 spanning trees of a graph of five nodes.

    The critical value of chi-square with 20 degrees of freedom at 0.001 is 45.31.
    """
    cells = [(r, c) for r in range(2) for c in range(2)]
    inner = [((0, 0), (0, 1)), ((1, 0), (1, 1)), ((0, 0), (1, 0)), ((0, 1), (1, 1))]
    trees = spanning_trees([*inner, ("root", (0, 0)), ("root", (0, 1))], len(cells) + 1)
    counts = Counter()
    for seed in range(100 * len(trees)):
        carved = carve(MazeSpec(2, algorithm="wilson", seed=seed, band=2), 5)
        counts[carved.seam.tobytes() + carved.east.tobytes() + carved.south.tobytes()] += 1
    assert len(counts) == len(trees)
    assert chi_square(counts, len(trees)) < 45.31


@pytest.mark.parametrize(("algorithm", "share"), [("dfs", 0.101), ("prim", 0.323), ("wilson", 0.294)])
def test_dead_end_shares(algorithm, share):
    """Of whole mazes of 100 x 100, one tree each; the reference shares, within 0.01."""
    found = [dead_ends(whole(algorithm, 100, 100, seed=seed)) / 100**2 for seed in range(20)]
    assert abs(np.mean(found) - share) < 0.01


# ---- draws -----------------------------------------------------------------------------------------------


def unmixed(z):
    """Return what SplitMix64's output function turns into z."""
    z ^= z >> 31 ^ z >> 62
    z = z * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    z ^= z >> 27 ^ z >> 54
    z = z * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    return z ^ z >> 30 ^ z >> 60


def key_of_first_word(word):
    """Return the key whose first word this is."""
    return (unmixed(word) - GOLDEN) % 2**64


def test_a_word_that_would_favour_some_numbers_is_passed_over():
    key = key_of_first_word(2**64 - 1)
    words = plain_words_of(key, 3)
    assert words[0] == 2**64 - 1
    for n, used in ((2, 0), (3, 1), (4, 0), (5, 1), (2**32, 0), (2**64 - 1, 1)):
        assert Draws(key).below(n) == words[used] % n
    drawn = Draws(key)
    assert [drawn.below(1), drawn.below(1), drawn.below(3), drawn.below(2)] == [0, 0, words[1] % 3, words[2] % 2]


def plain_words_of(key, count):
    generator = SplitMix64(key)
    return [generator.next() for _ in range(count)]


def test_a_carver_passes_over_such_a_word_too(backend, monkeypatch):
    """The first choice is between three neighbours of a start at the edge; the first word is the highest."""
    spec = MazeSpec(9, algorithm="dfs", seed=1, height=5, start=(0, 4))
    words = plain_words_of(key_of_first_word(2**64 - 1), 2)
    for module in (dfs, carve_module):
        monkeypatch.setattr(module, "band_key", lambda *_: key_of_first_word(2**64 - 1))
    block = BandStream.from_spec(spec).read(5)
    chosen = [EAST, SOUTH, WEST][words[1] % 3]
    assert {EAST: block[0].east[4], SOUTH: block[0].south[4], WEST: block[0].east[3]}[chosen]
    monkeypatch.setattr(kernel, "BACKEND", "python")
    assert BandStream.from_spec(spec).read(5) == block


# ---- the carvers in C --------------------------------------------------------------------------------------


@st.composite
def specs(draw):
    algorithm = draw(st.sampled_from(["dfs", "prim", "wilson", "random_walk"]))
    width, band = draw(st.integers(2, 70)), draw(st.integers(2, 40))
    options = {"band": min(band, 64 * width), "seed": draw(st.integers(0, 2**64 - 1))}
    goal = (draw(st.integers(0, 2**48 - 1) | st.integers(0, 100)), draw(st.integers(0, width - 1)))
    if algorithm in ("dfs", "prim") and draw(st.booleans()):
        options["start"] = (draw(st.integers(0, options["band"] - 1)), draw(st.integers(0, width - 1)))
    if algorithm == "dfs":
        sides = st.lists(st.integers(0, 70_000), min_size=4, max_size=4).filter(any)
        kinds = st.lists(st.integers(0, 9), min_size=2, max_size=2).filter(any)
        options |= draw(st.sampled_from([{}, {"goal": goal}]))
        options |= {"weights": draw(kinds if "goal" in options else sides), "doors": draw(st.integers(1, width))}
    elif algorithm == "prim" and draw(st.booleans()):
        way, a = draw(st.sampled_from(["away", "toward"])), draw(st.floats(1e-6, 64))
        options |= {"goal": goal, "weights": (way, a)}
    elif algorithm == "random_walk":
        options |= {"max_tunnels": draw(st.integers(1, 99)), "max_length": draw(st.integers(1, 99))}
    return MazeSpec(width, algorithm=algorithm, **options)


@given(spec=specs(), band=st.integers(0, 3) | st.integers(0, 2**40))
@settings(max_examples=150)
def test_the_carvers_in_c_carve_the_same(request, spec, band):
    if request.config.getoption("--without-c"):
        pytest.skip("the C backend is left out")
    bands = []
    for backend in ("c", "python"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernel, "BACKEND", backend)
            bands.append(carve(spec, band))
    for name in ("seam", "east", "south", "floor"):
        assert np.array_equal(*(getattr(carved, name) for carved in bands)), name


def test_the_carvers_in_c_refuse_what_fits_no_band(request):
    if request.config.getoption("--without-c"):
        pytest.skip("the C backend is left out")
    from eller_stream.bands import _carvers

    north, east = bytearray(3 * 2), bytearray(2 * 2)
    none, goal = 2**64 - 1, (0, 0)
    _carvers.dfs(north, east, 9, 1, none, 0, (1, 1, 1, 1), False, *goal)
    wrong = [
        lambda: _carvers.dfs(north, east, 9, 1, 18, 0, (1, 1, 1, 1), False, *goal),
        lambda: _carvers.dfs(north, east, 9, 1, none, 10, (1, 1, 1, 1), False, *goal),
        lambda: _carvers.prim(north, east, 9, 1, False, 18, 0, 0, *goal),
        lambda: _carvers.prim(north, east, 9, 1, False, none, 3, 0, *goal),
        lambda: _carvers.prim(north, east, 9, 1, False, none, 1, 2**23, *goal),
        lambda: _carvers.wilson(north, east, 17, 1, False),
        lambda: _carvers.wilson(north, east, 0, 1, False),
        lambda: _carvers.wilson(north, east, -1, 1, False),
        lambda: _carvers.wilson(north, bytearray(), 9, 1, False),
        lambda: _carvers.wilson(north, north, 9, 1, False),
        lambda: _carvers.random_walk(east, 9, 1, 9, -1, 1, 1),
        lambda: _carvers.random_walk(east, 9, 1, -1, 9, 1, 1),
        lambda: _carvers.random_walk(east, 9, 1, -1, -1, 1, 0),
        lambda: _carvers.random_walk(bytearray(4), 1, 1, -1, -1, 1, 1),
        lambda: _carvers.random_walk(bytearray(2), 9, 1, -1, -1, 1, 1),
    ]
    for call in wrong:
        with pytest.raises(ValueError, match=r"the buffers are not of the sizes|no band of this size"):
            call()


# ---- depth-first search ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"height": 21, "band": 21}, {"height": 21, "doors": 1}, {"height": 21}])
def test_the_order_of_carving_has_each_passage_once(backend, options):
    spec = MazeSpec(30, algorithm="dfs", seed=3, **{"band": 7} | options)
    order = list(islice(dfs.passages(spec), 4 * 210 if spec.height is None else None))
    block = BandStream.from_spec(spec).read(21)
    made = [tuple(sorted(pair)) for pair in order if max(pair)[0] < 21]
    assert sorted(made) == sorted(pair for pair in block.passages() if pair[1][0] < 21)
    graph = Graph()
    assert all(graph.unite(before, new) for before, new in order)


def test_each_new_cell_is_reached_from_the_maze():
    known = set()
    for before, new in dfs.passages(MazeSpec(20, algorithm="dfs", seed=3, height=15, band=15, start=(4, 5))):
        known = known or {(4, 5)}
        assert before in known
        assert new not in known
        known.add(new)
    assert len(known) == 300


def test_the_steps_are_those_of_a_stack():
    """Replayed: each visit goes to a new neighbour of the top, each step back leaves the top, all stacks empty."""
    spec = MazeSpec(20, algorithm="dfs", seed=5, height=24, band=8, doors=3)
    stacks, seen, passages = {}, set(), 0
    for step in dfs.steps(spec):
        band = step.cell[0] // 8
        stack = stacks.setdefault((band, step.tree), [])
        if step.kind == "visit":
            assert step.cell not in seen
            seen.add(step.cell)
            if stack:
                assert sum(abs(a - b) for a, b in zip(stack[-1], step.cell, strict=True)) == 1
            passages += bool(stack) or band > 0
            stack.append(step.cell)
        else:
            assert stack.pop() == step.cell
        assert (step.depth, step.passages) == (len(stack), passages)
    assert len(stacks) == 1 + 3 + 3
    assert not any(stacks.values())
    assert (len(seen), passages) == (480, 479)


@pytest.mark.parametrize("log", [dfs.steps, dfs.passages])
def test_other_algorithms_have_no_steps(log):
    for algorithm in ("eller", "wilson"):
        with pytest.raises(SpecError, match=f"are those of dfs, not of {algorithm}"):
            next(log(MazeSpec(9, seed=1, algorithm=algorithm)))


def test_a_step_is_one_line():
    steps = list(dfs.steps(MazeSpec(2, algorithm="dfs", seed=1, height=1, start=(0, 1))))
    assert list(map(str, steps)) == [
        "visit 0,1 tree 0 depth 1 passages 0",
        "visit 0,0 tree 0 depth 2 passages 1",
        "back 0,0 tree 0 depth 1 passages 1",
        "back 0,1 tree 0 depth 0 passages 1",
    ]


def test_logs_of_endless_mazes_are_lazy():
    spec = MazeSpec(5, algorithm="dfs", seed=1, band=2)
    assert [step.cell[0] // 2 for step in islice(dfs.steps(spec), 0, 100, 20)] == [0, 1, 2, 3, 4]
    assert len(list(islice(dfs.passages(spec), 1000))) == 1000


def test_there_is_no_limit_of_recursion(backend):
    block = whole("dfs", 1, 20_000)
    assert verify([block]).ok


@pytest.mark.parametrize(("width", "doors"), [(40, 1), (40, 3), (40, 40), (1, 1), (40, None), (16, None), (17, None)])
def test_doors_lead_into_a_band(backend, width, doors):
    spec = MazeSpec(width, algorithm="dfs", seed=3, band=10, doors=doors)
    expected = -(-width // 16) if doors is None else doors
    assert spec.doors == expected
    edges = [i * width // expected for i in range(expected + 1)]
    for row in BandStream.from_spec(spec).read(60)[9::1]:
        if row.index % 10 == 9:
            assert all(row.south[left:right].sum() == 1 for left, right in pairwise(edges))


def test_no_tree_starves():
    """As long as a tree has cells on its stack it takes its turns: none is two cells ahead of another."""
    spec = MazeSpec(64, algorithm="dfs", seed=3, band=64, doors=4, height=320)
    visits, depths = {}, {}
    for step in dfs.steps(spec):
        band, tree = step.cell[0] // 64, step.tree
        depths[band, tree] = step.depth
        visits[band, tree] = visits.get((band, tree), 0) + (step.kind == "visit")
        living = [n for place, n in visits.items() if place[0] == band and depths[place]]
        if len([place for place in visits if place[0] == band]) == 4 and living:
            assert max(living) - min(living) <= 1
    assert len(visits) == 1 + 4 * 4


def straight(block):
    """Return the passages east and south of a block."""
    return [int(np.unpackbits(getattr(block, name)).sum()) for name in ("east", "south")]


def test_weights_lead_toward_a_direction(backend):
    east, south = straight(whole("dfs", 60, 60, weights=(1, 9, 1, 9)))
    assert east > 2 * south
    east, south = straight(whole("dfs", 60, 60, weights=(9, 1, 9, 1)))
    assert south > 2 * east
    assert straight(whole("dfs", 30, 1, weights=(1, 0, 1, 0))) == [29, 0]


def test_weights_lead_toward_a_goal(backend):
    """The way from the start to the goal is shorter than it would be with even weights, on the average."""
    ways = []
    for weights in ((9, 1), (1, 1), (1, 9)):
        lengths = []
        for seed in range(20):
            options = {"height": 30, "band": 30, "start": (0, 0), "goal": (29, 29), "weights": weights}
            spec = MazeSpec(30, algorithm="dfs", seed=seed, **options)
            lengths.append(next(step.depth for step in dfs.steps(spec) if step.cell == (29, 29)))
        ways.append(np.mean(lengths))
    assert ways[0] < 0.6 * ways[1]
    assert ways[1] < ways[2]


# ---- Prim ------------------------------------------------------------------------------------------------------


def mean_way(block, start):
    """Return the mean length of the ways from a cell to all others."""
    beside, ways = {}, {start: 0}
    for a, b in block.passages():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    waiting = [start]
    for cell in waiting:
        for other in beside[cell]:
            if other not in ways:
                ways[other] = ways[cell] + 1
                waiting.append(other)
    return np.mean(list(ways.values()))


def test_weights_lead_the_frontier_toward_the_goal_or_away(backend):
    """Where walls far from the goal come first, the ways from there are longer than where those near it do."""
    middle, ways = (20, 20), {}
    for pull in ("toward", "away"):
        options = {"start": middle, "goal": middle, "weights": (pull, 64)}
        ways[pull] = np.mean([mean_way(whole("prim", 41, 41, seed=seed, **options), middle) for seed in range(12)])
    assert ways["away"] > 1.05 * ways["toward"]


def test_the_weight_of_a_wall_by_hand():
    from eller_stream.bands.prim import _Weight

    grid = Grid(9, 4)
    for way, near, far in (("away", 65_536, 65_536 + 5 * 3277), ("toward", 2**28, 2**44 // (65_536 + 5 * 3277))):
        spec = MazeSpec(9, algorithm="prim", seed=1, band=4, goal=(9, 2), weights=(way, 0.05))
        weight = _Weight(spec, 2, grid)  # the band has the rows from 8 on
        assert weight(grid.cell(1, 2)) == near
        assert weight(grid.cell(3, 5)) == far
    spec = MazeSpec(9, algorithm="prim", seed=1, band=4, goal=(2**48 - 1, 2), weights=("away", 64))
    assert _Weight(spec, 0, grid)(grid.cell(0, 0)) == 2**28


# ---- random-walk tunnels -------------------------------------------------------------------------------------------


@given(
    width=st.integers(2, 20),
    band=st.integers(2, 20),
    height=st.none() | st.integers(2, 60),
    tunnels=st.integers(1, 40),
    length=st.integers(1, 12),
    seed=st.integers(0, 2**64 - 1),
)
@settings(max_examples=100)
def test_tunnels_keep_the_rules(width, band, height, tunnels, length, seed):
    """Replayed from the log: turns, lengths, edges, counts, gates; and the floor is what the tunnels dug."""
    options = {"height": height, "band": band, "max_tunnels": tunnels, "max_length": length}
    spec = MazeSpec(width, algorithm="random_walk", seed=seed, **options)
    for number in range(4):
        if height is not None and number * band >= height:
            break
        grid = Grid(width, rows_of(spec, number))
        dug = list(random_walk.tunnels(spec, number, grid))
        check_tunnels(spec, number, grid, dug)


def check_tunnels(spec, number, grid, dug):
    steps = {NORTH: (-1, 0), EAST: (0, 1), SOUTH: (1, 0), WEST: (0, -1)}
    floor = {dug[0][0]} if dug else {(0, random_walk.gate(spec, number))}
    where, last = next(iter(floor)), None
    if number:
        assert where == (0, random_walk.gate(spec, number))
    for began, side, length in dug:
        assert began == where
        assert 1 <= length <= spec.max_length
        assert last is None or side % 2 != last % 2
        for _ in range(length):
            where = where[0] + steps[side][0], where[1] + steps[side][1]
            floor.add(where)
        last = side
    assert all(0 <= r < grid.rows and 0 <= c < grid.width for r, c in floor)
    unpacked = np.unpackbits(grid.inside(), axis=1, count=grid.width, bitorder="little")
    assert {(int(r), int(c)) for r, c in np.argwhere(unpacked)} == floor
    if is_last(spec, number):
        assert len(dug) == (spec.max_tunnels if grid.rows > 1 else 0)
    else:
        assert len(dug) >= spec.max_tunnels
        assert where == (grid.rows - 1, random_walk.gate(spec, number + 1))


@pytest.mark.parametrize("dimensions", [2, 3, 8, 9, 64, 65])
@pytest.mark.parametrize(("tunnels", "length"), [(1, 1), (1, 2**31 - 1), (50, 3), (200, 1)])
def test_a_square_map(backend, dimensions, tunnels, length):
    tunnels = min(tunnels, 64 * dimensions**2)
    block = random_walk_map(dimensions, seed=dimensions, max_tunnels=tunnels, max_length=length)
    tiles = block.floor_tiles()
    assert tiles.shape == (dimensions, dimensions)
    assert set(tiles.ravel().tolist()) <= {0, 1}
    assert (tiles == 0).sum() >= 2
    assert verify([block]).answer == CONNECTED


def test_a_map_of_one_tunnel_by_hand(backend):
    """The start and all the cells of the tunnel are floor, the last one too."""
    tiles = random_walk_map(5, seed=4, max_tunnels=1, max_length=5).floor_tiles()
    rows, columns = np.nonzero(tiles == 0)
    assert len(set(rows)) == 1 or len(set(columns)) == 1
    assert np.ptp(rows) + np.ptp(columns) + 1 == len(rows) >= 2


def test_neighbours_on_the_floor_have_a_passage(backend):
    spec = MazeSpec(30, algorithm="random_walk", seed=3, band=8)
    block = BandStream.from_spec(spec).read(60)
    floor = block.floor_tiles() == 0
    assert np.array_equal(block.bools("east")[:, :-1], floor[:, :-1] & floor[:, 1:])
    assert np.array_equal(block.bools("south")[:-1], floor[:-1] & floor[1:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": 1}, "width is from 2 to"),
        ({"dimensions": 0}, "width is from 2 to"),
        ({"dimensions": -3}, "width is from 2 to"),
        ({"dimensions": 2.5}, "width is an integer"),
        ({"dimensions": 5, "max_tunnels": 0}, "max_tunnels is from 1 to 1600, not 0"),
        ({"dimensions": 5, "max_tunnels": 1601}, "max_tunnels is from 1 to 1600, not 1601"),
        ({"dimensions": 5, "max_length": 0}, "max_length is from 1 to"),
        ({"dimensions": 5, "max_length": 2**31}, "max_length is from 1 to"),
    ],
)
def test_impossible_maps_are_refused(options, message):
    with pytest.raises(SpecError, match=message):
        random_walk_map(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 1}, "width is from 2"),
        ({"width": 9, "band": 1}, "band is from 2"),
        ({"width": 9, "height": 1}, "height is from 2"),
    ],
)
def test_streams_too_narrow_are_refused(options, message):
    with pytest.raises(SpecError, match=message):
        MazeSpec(**{"algorithm": "random_walk"} | options)


@pytest.mark.parametrize("height", [3, 9, 17])
def test_a_last_band_of_one_row_is_its_gate(backend, height):
    spec = MazeSpec(20, algorithm="random_walk", seed=3, band=2, height=height)
    tiles = BandStream.from_spec(spec).read(height).floor_tiles()
    assert np.flatnonzero(tiles[-1] == 0).tolist() == [random_walk.gate(spec, height // 2)]
    assert tiles[-2][random_walk.gate(spec, height // 2)] == 0
