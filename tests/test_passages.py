"""Checks of plain lists of passages: the published example, one fault at a time, and the validator beside them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eller_stream.errors import BlockError, CapacityError
from eller_stream.passages import block_of_passages, check_passages
from eller_stream.stream import EllerStream
from eller_stream.verify import verify

# What the code of the published example gives for 5 rows, 6 columns and seed 73.
PUBLISHED = [
    ((0, 0), (1, 0)),
    ((1, 0), (1, 1)),
    ((1, 1), (2, 1)),
    ((2, 1), (3, 1)),
    ((3, 1), (3, 0)),
    ((3, 0), (2, 0)),
    ((3, 0), (4, 0)),
    ((4, 0), (4, 1)),
    ((4, 1), (4, 2)),
    ((4, 2), (4, 3)),
    ((4, 3), (4, 4)),
    ((4, 4), (3, 4)),
    ((3, 4), (3, 5)),
    ((3, 5), (2, 5)),
    ((2, 5), (1, 5)),
    ((1, 5), (1, 4)),
    ((1, 4), (2, 4)),
    ((2, 4), (2, 3)),
    ((2, 3), (3, 3)),
    ((3, 3), (3, 2)),
    ((3, 2), (2, 2)),
    ((2, 2), (1, 2)),
    ((1, 2), (1, 3)),
    ((1, 3), (0, 3)),
    ((0, 3), (0, 4)),
    ((0, 4), (0, 5)),
    ((0, 3), (0, 2)),
    ((0, 2), (0, 1)),
    ((3, 5), (4, 5)),
]
FIRST = ((0, 0), (1, 0))
ADDED = ((0, 0), (0, 1))


def answers(report):
    return report.right_count, report.all_fit, report.all_reached, report.acyclic, report.same_again


def test_the_published_example():
    report = check_passages(PUBLISHED, 5, 6, again=lambda: list(PUBLISHED))
    assert answers(report) == (True, True, True, True, True)
    assert (report.ok, report.passages, report.reached) == (True, 29, 30)
    assert verify([block_of_passages(PUBLISHED, 5, 6)]).answer == "perfect"


def test_a_passage_taken_away_cuts_a_cell_off():
    report = check_passages(PUBLISHED[1:], 5, 6)
    assert answers(report) == (False, True, False, True, None)
    assert (report.cut_off, report.reached) == ((0, 0), 29)
    assert "cut off from (0, 0)" in str(report)


def test_a_passage_added_closes_a_cycle():
    report = check_passages([*PUBLISHED, ADDED], 5, 6)
    assert answers(report) == (False, True, True, False, None)
    assert report.cycle == ADDED
    assert "closed by ((0, 0), (0, 1))" in str(report)


def test_the_count_alone_does_not_make_a_maze():
    report = check_passages([*PUBLISHED[1:], ADDED, ((1, 1), (1, 2))], 5, 6)
    assert (report.passages, report.acyclic, report.ok) == (30, False, False)
    report = check_passages([*PUBLISHED[1:], ((1, 1), (1, 2))], 5, 6)
    assert answers(report) == (True, True, False, False, None)


@pytest.mark.parametrize("again", [PUBLISHED[::-1], PUBLISHED[:-1], [*PUBLISHED, ADDED]])
def test_another_list_from_the_same_seed(again):
    report = check_passages(PUBLISHED, 5, 6, again=lambda: again)
    assert (report.same_again, report.ok) == (False, False)
    assert str(report).endswith("the same list again: no")


@pytest.mark.parametrize(
    "misfit",
    [
        ((0, 0), (0, 0)),
        ((0, 0), (1, 1)),
        ((0, 0), (0, 2)),
        ((4, 5), (5, 5)),
        ((0, 0), (-1, 0)),
        ((0, 5), (0, 6)),
        ((0, 0), (10**30, 0)),
    ],
)
def test_passages_that_are_none(misfit):
    report = check_passages([misfit, *PUBLISHED[1:]], 5, 6)
    assert answers(report) == (True, False, False, True, None)
    assert report.misfit == misfit
    with pytest.raises(BlockError, match=r"outside the grid|do not touch"):
        block_of_passages([misfit], 5, 6)


@pytest.mark.parametrize("junk", [None, 7, (1, 2), ((0, 0), (0, 0.5)), ((0, 0), (0, True)), ((0, 0),), "ab"])
def test_what_is_no_pair_of_cells_is_refused(junk):
    for function in (check_passages, block_of_passages):
        with pytest.raises(BlockError, match="pair of cells"):
            function([junk], 5, 6)


@pytest.mark.parametrize("size", [(0, 1), (1, 0), (-1, 5), (2.0, 5), (1, 2**31), (2**48 + 1, 1), (True, 1)])
def test_what_is_no_grid_is_refused(size):
    for function in (check_passages, block_of_passages):
        with pytest.raises(BlockError, match="a grid has"):
            function([], *size)


def test_the_cost_is_the_lists_not_the_grids():
    report = check_passages(PUBLISHED, 2**48, 2**31 - 1)
    assert (report.right_count, report.reached, report.cut_off) == (False, 30, (0, 6))
    with pytest.raises(CapacityError, match="more than"):
        block_of_passages(PUBLISHED, 2**48, 2**31 - 1)


def test_one_cell_is_a_maze_without_passages():
    assert check_passages([], 1, 1).ok
    assert not check_passages([], 1, 2).ok


def test_the_report_as_plain_data():
    data = check_passages([*PUBLISHED, ADDED], 5, 6).to_json()
    assert (data["acyclic"], data["cycle"], data["ok"], data["passages"]) == (False, ADDED, False, 30)


@settings(max_examples=40)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**64 - 1), st.randoms(use_true_random=False))
def test_mazes_of_a_stream_pass_in_any_order(rows, width, seed, random):
    def passages():
        return EllerStream(width, seed=seed, height=rows).read(rows).passages()

    assert check_passages(passages(), rows, width, again=passages).ok
    mixed = [tuple(random.sample(passage, 2)) for passage in passages()]
    random.shuffle(mixed)
    assert check_passages(mixed, rows, width).ok
    assert block_of_passages(mixed, rows, width) == EllerStream(width, seed=seed, height=rows).read(rows)


@settings(max_examples=60)
@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_any_list_is_judged_as_the_validator_judges_it(rows, width, data):
    every = [((r, c), (r, c + 1)) for r in range(rows) for c in range(width - 1)]
    every += [((r, c), (r + 1, c)) for r in range(rows - 1) for c in range(width)]
    chosen = data.draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    report = check_passages(chosen, rows, width)
    judged = verify([block_of_passages(chosen, rows, width)])
    assert report.ok == (judged.answer == "perfect")
    assert (report.all_reached and report.acyclic) == (report.all_reached and report.right_count) == report.ok
