"""The row kernels against the textbook, a cell at a time: the same rows on both backends, however deep they nest."""

import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from helpers import (
    EDGE_WIDTHS,
    NO_END,
    PlainStream,
    as_bools,
    as_int,
    bits_of_labels,
    braided,
    carved,
    choices,
    labels_of_choices,
    lanes_of_this_machine,
    nested,
    packed,
    partitions,
    pick,
    plain_block,
    probabilities,
    shallow,
    smallest,
    specs,
    state_bytes,
    textbook_row,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eller_stream import _step, coins, kernel
from eller_stream.partition import levels
from eller_stream.spec import MazeSpec, Probability, Schedule

ONE_BAND = 1  # at a time: test_lanes.py has the others
EVERY_WIDTH = st.one_of(st.sampled_from(EDGE_WIDTHS), st.integers(1, 140))
ROWS = st.one_of(
    st.integers(0, 300),
    st.integers(2**32 - 3, 2**32 + 3),
    st.integers(2**40, 2**40 + 1100),
    st.integers(2**48 - 1100, 2**48 - 8),
)


def constant(spec):
    """Return the spec with the values that its schedules have at row 0."""
    return replace(spec, **{name: Schedule(getattr(spec, name).pairs[:1]) for name in ("p_east", "p_south", "loops")})


@st.composite
def wide_specs(draw):
    return constant(replace(draw(specs(scheduled=False)), width=draw(EVERY_WIDTH)))


def needs_c(request):
    if request.config.getoption("--without-c"):
        pytest.skip("the C backend is left out")


def variants(backend):
    """Return each way to carve rows on a backend: the carver and its further arguments."""
    lanes = lanes_of_this_machine() if backend == "c" else []
    return [(kernel.carve, ()), *((kernel.carve, (number, ONE_BAND)) for number in lanes)]


# ---- one step --------------------------------------------------------------------------------


def stepped(step, joins, drops, *, backwards, merging):
    """Return (east, south) of a step as plain integers, from plain ones; what is both ways must be so rightly."""
    joins, keeps = joins & step.row_boundaries, step.row_cells & ~drops
    east, south = step.step(
        step.boundaries_both_ways(joins), step.both_ways(keeps), backwards=backwards, merging=merging
    )
    plain_east, plain_south = east & step.row_cells, south & step.row_cells
    assert (east, south) == (step.boundaries_both_ways(plain_east), step.both_ways(plain_south))
    return plain_east, plain_south


@given(
    labels=partitions(),
    seed=st.integers(0, 2**32),
    shares=st.tuples(*[st.sampled_from([0, 0.1, 0.5, 0.9, 1])] * 2),
    backwards=st.booleans(),
    merging=st.booleans(),
)
@settings(max_examples=300)
def test_a_step_equals_the_textbook_row(labels, seed, shares, backwards, merging):
    width, rng = len(labels), random.Random(seed)
    joins, drops = ([rng.random() < share for _ in labels] for share in shares)
    step = _step.RowStep(width, *(as_int(bits) for bits in bits_of_labels(labels)))
    east, south = stepped(step, as_int(joins), as_int(drops), backwards=backwards, merging=merging)
    plain_east, plain_south, below = textbook_row(labels, joins, drops, backwards=backwards, merging=merging)
    assert as_bools(east, width) == plain_east
    assert as_bools(south, width) == plain_south
    assert (step.has_next, step.has_prev) == tuple(as_int(bits) for bits in bits_of_labels(below))


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("planes", [_step.PLANES, 1, 0])
def test_every_step_of_narrow_rows(width, planes, monkeypatch):
    """All partitions, all coins, both directions, merging and not."""
    monkeypatch.setattr(_step, "PLANES", planes)
    rows = {tuple(labels_of_choices(picks)) for picks in product(range(width), repeat=width)}
    assert len(rows) == [1, 2, 5, 14][width - 1]  # Catalan numbers
    bools = list(product([False, True], repeat=width))
    for labels, joins, drops in product(sorted(rows), bools, bools):
        for backwards, merging in product([False, True], repeat=2):
            step = _step.RowStep(width, *(as_int(bits) for bits in bits_of_labels(labels)))
            made = stepped(step, as_int(joins), as_int(drops), backwards=backwards, merging=merging)
            east, south, below = textbook_row(labels, joins, drops, backwards=backwards, merging=merging)
            assert made == (as_int(east), as_int(south))
            assert (step.has_next, step.has_prev) == tuple(as_int(bits) for bits in bits_of_labels(below))


@given(labels=partitions(), coins=choices(130, 130), backwards=st.booleans(), merging=st.booleans())
@settings(max_examples=200)
def test_the_step_with_linked_lists_gives_the_same(labels, coins, backwards, merging):
    width = len(labels)
    joins = as_int(coin % 2 for coin in coins[:width])
    drops = as_int(coin // 2 % 2 for coin in coins[:width])
    n, p = (as_int(bits) for bits in bits_of_labels(labels))
    lists = _step._LinkedLists(width, n, p).step(joins, drops, backwards, merging)
    step = _step.RowStep(width, n, p)
    made = stepped(step, joins, drops, backwards=backwards, merging=merging)
    assert (*made, step.has_next, step.has_prev) == lists


@given(bits=st.lists(st.booleans(), min_size=1, max_size=140))
def test_the_row_and_its_mirror_image(bits):
    step, size = _step.RowStep(len(bits)), 16 * ((len(bits) + 7) // 8)
    between = [False] * (size - 2 * len(bits))
    assert as_bools(step.both_ways(as_int(bits)), size) == bits + between + bits[::-1]
    inner = bits[:-1]  # boundary c is bit c, and bit size - 2 - c
    both = as_bools(step.boundaries_both_ways(as_int(inner)), size - 1)
    assert both == [*inner, False, *between, *inner[::-1]]
    assert step.mirrored(step.mirrored(as_int(bits))) == as_int(bits)


def levels_of_labels(labels):
    """Return the levels of a state as integers, by the levels that partition.py counts."""
    level = levels(*(np.array(bits, bool) for bits in bits_of_labels(labels)))
    return [as_int(level >= depth) for depth in range(level.max() + 1)]


@given(
    labels=partitions(),
    coins=st.lists(choices(130, 130), min_size=1, max_size=6),
    backwards=st.booleans(),
    merging=st.booleans(),
)
@settings(max_examples=200)
def test_the_levels_carried_on_are_those_of_the_state(labels, coins, backwards, merging):
    """Carried from row to row, found from the state alone, and counted: all the same."""
    step = _step.RowStep(len(labels), *(as_int(bits) for bits in bits_of_labels(labels)))
    assert step._levels == [step.both_ways(cells) for cells in levels_of_labels(labels)]
    for row_coins in coins:
        joins = as_int(coin % 3 == 0 for coin in row_coins[: len(labels)])
        drops = as_int(coin // 3 % 2 for coin in row_coins[: len(labels)])
        stepped(step, joins, drops, backwards=backwards, merging=merging)
        assert step._levels == step._levels_of(step._n, step._p)
        backwards, merging = not backwards, False


# ---- whole rows ------------------------------------------------------------------------------


@given(spec=wide_specs(), row=ROWS, rows=st.integers(1, 9), last=st.integers(0, 12), labels=choices(513, 513))
@settings(max_examples=60)
@example(spec=MazeSpec(64, seed=1, key_interval=2, loops=0.1, braid=1), row=0, rows=9, last=5, labels=[40] * 513)
@example(
    spec=MazeSpec(513, seed=2, key_interval=4, loops=0.1, braid=0.5), row=2**48 - 9, rows=9, last=8, labels=[1] * 513
)
def test_rows_equal_the_plain_stream(backend, spec, row, rows, last, labels):
    labels = labels_of_choices(labels[: spec.width])
    above = [bool(label % 3) for label in labels]
    plain = PlainStream(spec, row=row, labels=labels, above=above, end=row + last + 1)
    block = plain_block(plain.rows(rows))
    expected = (block.east.tobytes(), block.south.tobytes(), state_bytes(plain.labels, plain.above))
    state = state_bytes(labels, above)
    for carve, more in variants(backend):
        assert carved(carve, spec, row=row, rows=rows, state=state, last_row=row + last, more=more) == expected


@cache
def plain_planes(spec):
    """Return 14 rows of a spec, the last of them merging, and the state behind them, as bytes."""
    plain = PlainStream(spec, end=14)
    block = plain_block(plain.rows(14))
    return block.east.tobytes(), block.south.tobytes(), state_bytes(plain.labels, plain.above)


@pytest.mark.parametrize("width", EDGE_WIDTHS)
@pytest.mark.parametrize(("p_east", "p_south"), [(0.5, 0.5), (0, 0), (0, 1), (1, 0), (1, 1), (0.9, 0.1), (0.2, 0.05)])
def test_rows_at_the_edges_of_words(backend, width, p_east, p_south):
    spec = MazeSpec(width, seed=width, p_east=p_east, p_south=p_south, key_interval=6, loops=0.05, braid=0.3)
    for carve, more in variants(backend):
        assert carved(carve, spec, rows=14, last_row=13, more=more) == plain_planes(spec)


@given(spec=wide_specs(), row=ROWS, rows=st.integers(1, 12), last=st.integers(0, 15), labels=choices(513, 513))
@settings(max_examples=150)
@example(
    spec=MazeSpec(1024, seed=1, p_east=0.1, key_interval=6), row=3, rows=9, last=8, labels=[*[40] * 512, *[1] * 512]
)
def test_both_backends_carve_the_same_rows(spec, row, rows, last, labels, request):
    """The same without the plain stream: fast enough for the builds of test_kernel_builds.py."""
    needs_c(request)
    labels = labels_of_choices([*labels, *labels][: spec.width])
    state = state_bytes(labels, [bool(label % 3) for label in labels])
    asked = {"row": row, "rows": rows, "state": state, "last_row": row + last}
    expected = carved(_step.carve, spec, **asked)
    for lanes in lanes_of_this_machine():
        assert carved(kernel.carver("c"), spec, **asked, more=(lanes, ONE_BAND)) == expected


@given(spec=wide_specs(), row=ROWS, cuts=st.lists(st.integers(0, 20), max_size=4))
@settings(max_examples=40)
def test_rows_carved_in_pieces_are_the_same(backend, spec, row, cuts):
    whole = carved(kernel.carve, spec, row=row, rows=20, last_row=row + 19)
    state, east, south = None, b"", b""
    for first, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 20], strict=True):
        more = carved(kernel.carve, spec, row=row + first, rows=stop - first, state=state, last_row=row + 19)
        east, south, state = east + more[0], south + more[1], more[2]
    assert (east, south, state) == whole


@given(spec=wide_specs(), row=ROWS)
@settings(max_examples=40)
def test_the_python_batches_of_coins_change_nothing(spec, row):
    usual = carved(_step.carve, spec, row=row, rows=10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_step, "_BATCH_WORDS", 3)
        assert carved(_step.carve, spec, row=row, rows=10) == usual


@pytest.mark.parametrize("width", [1, 63, 64, 65, 600, 5000])
@pytest.mark.parametrize("chance", [0.5, 0.3])
def test_long_runs_are_the_same_in_both_backends(width, chance, backend):
    """With the depth of natural rows; too long for the plain stream, so the other backend is the judge."""
    rows = max(30, 8000 // width)
    spec = MazeSpec(width, seed=9, p_east=chance, p_south=chance, key_interval=0, loops=0.01, braid=0.2)
    expected = carved(_step.carve, spec, row=2**33 + 1, rows=rows)
    assert all(
        carved(carve, spec, row=2**33 + 1, rows=rows, more=more) == expected for carve, more in variants(backend)
    )


# ---- deep nesting ----------------------------------------------------------------------------


def deep_states():
    for width in (2, 3, 9, 64, 65, 130, 257, 513, 1025):
        yield f"nested-{width}", nested(width)
    for depth in (1, 2, 3, 4, 7, 8, 9, 15, 16, 31, 32, 33):
        yield f"depth-{depth}", shallow(777, depth)


@pytest.mark.parametrize("labels", [labels for _, labels in deep_states()], ids=[name for name, _ in deep_states()])
@pytest.mark.parametrize("row", [0, 1, 7])
def test_rows_that_nest_deep(backend, labels, row):
    """Row 7 is a key row. With rare joins the row stays deep, with frequent ones it collapses at once."""
    for p_east, p_south in ((0.02, 0.98), (0.5, 0.5), (0.9, 0.9)):
        spec = MazeSpec(len(labels), seed=4, p_east=p_east, p_south=p_south, key_interval=8)
        plain = PlainStream(spec, row=row, labels=labels)
        block = plain_block(plain.rows(3))
        expected = (block.east.tobytes(), block.south.tobytes(), state_bytes(plain.labels, plain.above))
        for carve, more in variants(backend):
            assert carved(carve, spec, row=row, rows=3, state=state_bytes(labels), more=more) == expected


@given(spec=wide_specs(), row=ROWS, labels=choices(513, 513))
@settings(max_examples=40)
@pytest.mark.parametrize("planes", [0, 1, 2])
def test_python_with_fewer_planes_gives_the_same_rows(planes, spec, row, labels):
    state = state_bytes(labels_of_choices(labels[: spec.width]))
    usual = carved(_step.carve, spec, row=row, rows=6, state=state, last_row=row + 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_step, "PLANES", planes)
        assert carved(_step.carve, spec, row=row, rows=6, state=state, last_row=row + 5) == usual


def test_too_few_planes_lead_to_the_linked_lists(monkeypatch):
    """So the test above does reach them, and nothing else calls them."""
    used = []

    class Watched(_step._LinkedLists):
        def __init__(self, *args):
            used.append(args)
            super().__init__(*args)

    monkeypatch.setattr(_step, "_LinkedLists", Watched)
    for width, planes, reached in ((64, 5, 0), (66, 5, 4), (66, 6, 0), (66, 1, 4)):
        monkeypatch.setattr(_step, "PLANES", planes)
        used.clear()
        spec = MazeSpec(width, seed=1, key_interval=0, p_east=0, p_south=1)  # the state stays: 31 or 32 gaps deep
        carved(_step.carve, spec, state=state_bytes(nested(width)), rows=4)
        assert len(used) == reached


# ---- braid and loops -------------------------------------------------------------------------


def test_the_plain_pick_is_the_one_of_the_documents():
    """The three walls get a third each (21,845 of 65,536), and two of them a half each."""
    share = Fraction(21_845, 65_536)
    chances = dict.fromkeys(("west", "east", "south"), Fraction(0))
    for third, even in product([True, False], repeat=2):
        chances[pick(["west", "east", "south"], third, even)] += (share if third else 1 - share) / 2
    assert chances["south"] == share
    assert all(abs(chance - Fraction(1, 3)) < Fraction(1, 60_000) for chance in chances.values())
    for two in (["west", "east"], ["west", "south"], ["east", "south"]):
        assert {pick(two, third, even) for third in (True, False) for even in (True, False)} == set(two)
        assert pick(two, True, True) == pick(two, False, True) != pick(two, True, False)
    assert [pick([one], False, False) for one in ("west", "east", "south")] == ["west", "east", "south"]
    assert pick([], True, True) is None


@given(
    width=st.integers(1, 70), numbers=st.lists(st.integers(0, 2**70 - 1), min_size=6, max_size=6), south=st.booleans()
)
@settings(max_examples=400)
def test_braid_opens_one_wall_of_a_dead_end(width, numbers, south):
    """All rows, whether a maze has them or not; narrow ones so that every case comes up."""
    above, opens_east, opens_south, braid, third, even = (number & (1 << width) - 1 for number in numbers)
    opens_east &= (1 << width - 1) - 1
    drawn, boundaries = _step.BraidCoins(braid, third, even), (1 << width - 1) - 1
    made = _step.braided(above, opens_east, opens_south, boundaries, drawn, may_open_south=south)
    coins = {name: as_bools(bits, width) for name, bits in (("braid", braid), ("third", third), ("even", even))}
    plain = braided(*(as_bools(bits, width) for bits in (above, opens_east, opens_south)), coins, may_open_south=south)
    assert made == tuple(as_int(bits) for bits in plain)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_every_braid_of_narrow_rows(width):
    step = _step.RowStep(width)
    numbers = range(1 << width)
    for above, opens_east, opens_south, third, even in product(
        numbers, range(1 << width - 1), numbers, numbers, numbers
    ):
        coins = {"braid": [True] * width, "third": as_bools(third, width), "even": as_bools(even, width)}
        rows = [as_bools(bits, width) for bits in (above, opens_east, opens_south)]
        for south in (True, False):
            drawn = _step.BraidCoins(step.row_cells, third, even)
            passages = above, opens_east, opens_south
            made = _step.braided(*passages, step.row_boundaries, drawn, may_open_south=south)
            assert made == tuple(as_int(bits) for bits in braided(*rows, coins, may_open_south=south))


def test_three_closed_walls_get_a_third_each(backend):
    """One set that all cells but the scan's last drop out of: dead ends with three closed inner walls.

    South opens where the third coin falls, which is the coin of 21,845: a neighbouring value would differ in
    some of these cells.
    """
    width, words = 400_000, 6250
    south, beside = (coins.coin_words(3, 80, n, 2 * words, words) for n in (21_845, 21_846))
    south, beside = (np.unpackbits(bits.astype("<u8").view(np.uint8), bitorder="little") for bits in (south, beside))
    assert (south[1 : width - 1] != beside[1 : width - 1]).any()
    spec = MazeSpec(width, seed=3, p_east=0, p_south=0, braid=1, key_interval=0)
    _, made, _ = carved(kernel.carve, spec, row=2, state=state_bytes([0] * width, [True] * width))
    assert unpacked(made, 1, width)[0, 1 : width - 1].tolist() == south.astype(bool)[1 : width - 1].tolist()


@pytest.mark.parametrize("key_interval", [0, 6])
@pytest.mark.parametrize("width", [1, 2, 3, 65, 200])
def test_a_full_braid_leaves_no_dead_end_that_could_open(backend, width, key_interval):
    """Each has no other walls than outer ones, those of the row above, and on merging rows those south."""
    rows = 48
    spec = MazeSpec(width, seed=5, braid=1, key_interval=key_interval)
    east, south, _ = carved(kernel.carve, spec, rows=rows, last_row=rows - 1)
    opens_east, opens_south = (unpacked(plane, rows, width) for plane in (east, south))
    for r in range(rows):
        merging = r == rows - 1 or (key_interval and (r + 1) % key_interval == 0)
        for c in range(width):
            west = c > 0 and opens_east[r, c - 1]
            north = r > 0 and opens_south[r - 1, c]
            if [west, north, opens_east[r, c], opens_south[r, c]].count(True) == 1:
                assert west or c == 0
                assert opens_east[r, c] or c == width - 1
                assert opens_south[r, c] or merging


@given(
    spec=wide_specs(),
    row=ROWS,
    loops=st.integers(1, 65_536).map(Probability),
    braid=st.integers(1, 65_536).map(Probability),
)
@settings(max_examples=40)
def test_the_sets_never_see_loops_and_braid(backend, spec, row, loops, braid):
    plain = replace(spec, loops=Probability(0), braid=Probability(0))
    more = replace(spec, loops=loops, braid=braid)
    first, second = (carved(kernel.carve, each, row=row, rows=8, last_row=row + 7) for each in (plain, more))
    num_bytes = (spec.width + 7) // 8
    assert first[2][: 2 * num_bytes] == second[2][: 2 * num_bytes]
    for closed, opened in zip(first[:2], second[:2], strict=True):
        assert all(a & ~b == 0 for a, b in zip(closed, opened, strict=True))


@pytest.mark.parametrize("width", [1, 64, 100])
def test_loops_of_one_open_every_inner_wall(backend, width):
    spec = MazeSpec(width, seed=1, loops=1, key_interval=0)
    east, south, _ = carved(kernel.carve, spec, rows=5, last_row=4)
    assert unpacked(east, 5, width).tolist() == [[True] * (width - 1) + [False]] * 5
    assert unpacked(south, 5, width).tolist() == [[True] * width] * 4 + [[False] * width]


def unpacked(plane, rows, width):
    bits = np.frombuffer(plane, np.uint8).reshape(rows, -1)
    return np.unpackbits(bits, axis=1, count=width, bitorder="little").astype(bool)


# ---- key rows and the last row ---------------------------------------------------------------


@given(spec=wide_specs(), band=st.integers(1, 2**37), one=choices(513, 513), other=choices(513, 513))
@settings(max_examples=40)
def test_a_key_row_forgets_what_was_above_it(backend, spec, band, one, other):
    spec = replace(spec, key_interval=16)
    key_row = 16 * band - 1
    states = [state_bytes(labels_of_choices(labels[: spec.width])) for labels in (one, other)]
    below = [carved(kernel.carve, spec, row=key_row, rows=4, state=state) for state in states]
    num_bytes = (spec.width + 7) // 8
    assert below[0][0][num_bytes:] == below[1][0][num_bytes:]
    assert below[0][1][num_bytes:] == below[1][1][num_bytes:]
    assert below[0][2] == below[1][2]


@given(spec=wide_specs(), row=ROWS, labels=choices(513, 513))
@settings(max_examples=40)
def test_the_last_row_opens_nothing_south_and_leaves_no_sets(backend, spec, row, labels):
    labels = labels_of_choices(labels[: spec.width])
    east, south, state = carved(
        kernel.carve,
        replace(spec, loops=Probability(0), braid=Probability(0)),
        row=row,
        state=state_bytes(labels),
        last_row=row,
    )
    assert not any(south)
    assert not any(state)
    opened = unpacked(east, 1, spec.width)[0].tolist()
    joined = list(labels)
    for c in range(spec.width):
        if opened[c]:
            assert joined[c] != joined[c + 1], "a cycle closes"
            joined = [joined[c] if label == joined[c + 1] else label for label in joined]
    assert len(set(joined)) == 1


@pytest.mark.parametrize(
    ("rows", "width", "spanning_trees"), [(2, 3, 15), (3, 2, 15), (3, 3, 192), (2, 5, 209), (5, 2, 209)]
)
def test_the_coins_reach_every_spanning_tree(rows, width, spanning_trees):
    """All coins of all rows: whatever the probabilities, no tree is left out. Kirchhoff's theorem counts them."""
    states = {(0, 0, ())}
    for r in range(rows):
        last = r == rows - 1
        below = set()
        for (n, p, above), joins, drops in product(states, range(1 << width - 1), range(1 if last else 1 << width)):
            step = _step.RowStep(width, n, p)
            east, south = stepped(step, joins, drops, backwards=r % 2 == 1, merging=last)
            below.add((step.has_next, step.has_prev, (*above, east, 0 if last else south)))
        states = below
    assert len({row for _, _, row in states}) == spanning_trees


# ---- states and buffers ----------------------------------------------------------------------


def test_the_state_by_hand(backend):
    """Sets {0, 3}, {1}, {2}, {4}; all coins closed east, none dropped: the state stays, and `above` is all ones."""
    labels = [0, 1, 2, 0, 4]
    state = state_bytes(labels)
    assert state == bytes([0b00001, 0b01000, 0])
    spec = MazeSpec(5, seed=1, p_east=0, p_south=1, key_interval=0)
    assert carved(kernel.carve, spec, state=state) == (b"\0", b"\x1f", bytes([0b00001, 0b01000, 0x1F]))


@pytest.mark.parametrize("backwards", [0, 1])
def test_the_last_cell_of_the_scan_is_kept_by_hand(backend, backwards):
    """Two sets {0, 1, 2} and {3, 4} that drop out whole: the last cell of each in the scan's order stays."""
    spec = MazeSpec(5, seed=1, p_east=0, p_south=0, key_interval=0)
    _, south, _ = carved(kernel.carve, spec, row=backwards, state=state_bytes([0, 0, 0, 3, 3]))
    assert south == bytes([0b01001 if backwards else 0b10100])


@pytest.mark.parametrize("backwards", [0, 1])
def test_the_last_boundary_of_a_cycle_stays_closed_by_hand(backend, backwards):
    """Sets {0, 3} around {1} and {2}, all coins open: two of the three boundaries open, in the scan's order."""
    spec = MazeSpec(5, seed=1, p_east=1, p_south=1, key_interval=0)
    east, _, _ = carved(kernel.carve, spec, row=backwards, state=state_bytes([0, 1, 2, 0, 4]))
    assert east == bytes([0b01110 if backwards else 0b01011])


@pytest.mark.parametrize(
    ("sizes", "width"),
    [
        ((5, 4, 4), 9),
        ((7, 4, 4), 9),
        ((6, 4, 2), 9),
        ((6, 2, 4), 9),
        ((6, 3, 3), 9),
        ((0, 0, 0), 9),
        ((3, 4, 4), 9),
        ((0, 2, 2), 0),
        ((6, 2, 2), -9),
    ],
)
def test_buffers_of_other_sizes_are_refused(backend, sizes, width):
    state, east, south = (bytearray(b"\x55" * size) for size in sizes)
    with pytest.raises((ValueError, ZeroDivisionError)):
        kernel.carve(state, east, south, width, 0, 1, 32_768, 32_768, 0, 0, 0, NO_END)
    assert all(set(buffer) <= {0x55} for buffer in (state, east, south))


def test_read_only_buffers_are_refused(backend):
    buffers = [bytearray(6), bytearray(4), bytearray(4)]
    for i in range(3):
        some = [bytes(buffer) if k == i else buffer for k, buffer in enumerate(buffers)]
        with pytest.raises((TypeError, BufferError)):
            kernel.carve(*some, 9, 0, 1, 32_768, 32_768, 0, 0, 0, NO_END)


def test_no_rows_change_nothing(backend):
    state = state_bytes(nested(20), [True] * 20)
    assert carved(kernel.carve, MazeSpec(20, seed=1, braid=1), rows=0, state=state) == (b"", b"", state)


@given(state=st.binary(min_size=27, max_size=27), row=st.integers(0, 7), chance=probabilities)
def test_states_that_do_not_balance_harm_nothing_in_c(state, row, chance, request):
    """What rows they make is no matter. (Snapshots with such states are refused before they come this far.)"""
    needs_c(request)
    spec = MazeSpec(65, seed=1, p_east=chance, key_interval=8, braid=0.5)
    carved(kernel.carver("c"), spec, row=row, rows=3, state=state)


@pytest.mark.parametrize("lanes", [2, 3, 5, 16, -1])
def test_lanes_that_no_machine_has_are_refused(lanes, request):
    needs_c(request)
    with pytest.raises(ValueError, match="lanes"):
        carved(kernel.carver("c"), MazeSpec(20, seed=1), more=(lanes,))


def test_the_plain_stream_by_hand():
    """The judge itself: a row of the textbook, worked out on paper."""
    labels = smallest(["a", "a", "b", "c", "c"])
    assert labels == [0, 0, 2, 3, 3]
    east, south, below = textbook_row(labels, [1, 1, 0, 1, 0], [1, 1, 1, 0, 1], backwards=False, merging=False)
    assert east == [False, True, False, False, False]
    assert south == [False, False, True, True, False]
    assert below == [0, 1, 2, 3, 4]
    east, south, below = textbook_row(labels, [1, 1, 0, 1, 0], [1, 1, 0, 0, 0], backwards=True, merging=True)
    assert east == [False, True, True, False, False]
    assert south == [False, False, True, True, True]
    assert below == [0, 1, 2, 2, 2]
    assert packed([1, 0, 0, 0, 0, 0, 0, 0, 1]) == b"\x01\x01"
