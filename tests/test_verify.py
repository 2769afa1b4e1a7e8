"""The validator: known answers, and a brute force that keeps the whole maze and agrees on everything."""

import itertools
import json
import sys
import threading
import tracemalloc
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eller_stream import kernel, verify
from eller_stream.block import Block, pack_bits
from eller_stream.errors import BlockError, CapacityError, KernelError
from eller_stream.verify import Fault, Report, Verifier


def bits(text):
    """Rows of text, parted by spaces, as bools: x is True."""
    return np.array([[mark == "x" for mark in row] for row in text.split()], np.bool_)


def make_block(east, south, start=0, north=None, floor=None):
    above = np.zeros(east.shape[1], np.bool_) if north is None else north
    planes = [pack_bits(plane) for plane in (east, south, above)]
    return Block(start, east.shape[1], *planes, None if floor is None else pack_bits(floor))


def drawn(east, south, start=0, north=None, floor=None):
    above = None if north is None else bits(north)[0]
    return make_block(bits(east), bits(south), start, above, None if floor is None else bits(floor))


def cut(block, cuts):
    """The block in pieces; equal cuts make pieces without rows."""
    return [block[a:b] for a, b in itertools.pairwise([0, *sorted(cuts), len(block)])]


def judged(*blocks, loops=False):
    """What a report says, in short: the answer, or the fault's kind and place."""
    report = verify.verify(blocks, loops=loops)
    return report.answer if report.fault is None else place(report)


def place(report):
    return report.fault and (report.fault.kind, report.fault.row, report.fault.column)


def totals(report):
    return report.rows, report.cells, report.passages, report.loops


# ---- known answers ----

EAST, SOUTH = "xx. .x. ...", "x.x xxx ..."  # a perfect maze of 3 x 3


def test_perfect(backend):
    report = verify.verify([drawn(EAST, SOUTH)])
    assert report == Report("perfect", 3, 0, 3, 9, 8, 0, None)
    assert report.ok
    assert judged(drawn(EAST, SOUTH), loops=True) == "perfect"


def test_a_single_cell_is_a_perfect_maze(backend):
    assert verify.verify([drawn(".", ".")]) == Report("perfect", 1, 0, 1, 1, 0, 0, None)


def test_a_cycle(backend):
    block = drawn("xx. .x. x..", SOUTH)
    report = verify.verify([block])
    assert report.fault == Fault("cycle", 2, 0, "a cycle closes at the passage from row 2, column 0 to column 1")
    assert not report.ok
    assert totals(report) == (2, 6, 8, 0)


def test_the_same_cycle_where_loops_are_allowed(backend):
    report = verify.verify([drawn("xx. .x. x..", SOUTH)], loops=True)
    assert report == Report("connected", 3, 0, 3, 9, 9, 1, None)
    assert report.ok


def test_a_set_cut_off_in_the_middle(backend):
    report = verify.verify([drawn("xx. ... ...", "x.. x.. ...")])
    message = "the set of row 1, column 1 is cut off here: none of its cells has a passage south"
    assert report.fault == Fault("cut-off", 1, 1, message)
    assert totals(report) == (1, 3, 3, 0)


def test_a_set_cut_off_is_named_by_its_leftmost_cell(backend):
    east, south = "xxxx. ..... .x.x.", "xxx.x xxx.x ..x.."
    assert judged(drawn("....." + east[5:], south)) == ("cut-off", 0, 3)
    assert judged(drawn(".xx.. ..... .....", "x.x.x x.xxx ..x..")) == ("cut-off", 1, 1)
    assert judged(drawn("xxxx. ..... .....", "x.x.x xxxxx .....")) == ("cut-off", 2, 1)


def test_the_last_row_leaves_two_sets(backend):
    report = verify.verify([drawn(EAST, "x.x x.x ...")])
    message = "the set of row 2, column 1 is cut off here: the maze ends and leaves it apart"
    assert report.fault == Fault("cut-off", 2, 1, message)
    assert totals(report) == (3, 9, 7, 0)


def test_a_row_without_passages_south_is_the_last_or_a_fault(backend):
    block = drawn("xx. xx. ...", "x.. ... xxx")
    assert judged(block[:2]) == "perfect"
    assert judged(block) == judged(block[:2], block[2:]) == ("cut-off", 1, 0)
    report = verify.verify([block])
    assert report.fault.message == "the set of row 1, column 0 is cut off here: none of its cells has a passage south"
    assert totals(report) == (2, 6, 5, 0)


def test_unfinished(backend):
    report = verify.verify([drawn(EAST, SOUTH)[:2]])
    assert report == Report("unfinished", 3, 0, 2, 6, 8, 0, None)
    assert not report.ok


def test_a_passage_out_of_the_maze(backend):
    message = "a passage leads east out of the maze at row 1, column 2"
    assert verify.verify([drawn("xx. .xx ...", SOUTH)]).fault == Fault("outer", 1, 2, message)
    assert judged(drawn("x", "x")) == ("outer", 0, 0)
    wide = np.zeros((1, 128), np.bool_)
    assert judged(make_block(wide | (np.arange(128) == 127), ~wide)) == ("outer", 0, 127)


def test_the_first_fault_of_a_row(backend):
    """Of one row's faults: outer, floor, cycle, cut-off."""
    above = ("xxxx.", "x.x.x", "xxxxx")
    for east, floor, kind in (("x...x", ".xxxx", "outer"), ("x....", ".xxxx", "floor"), ("xxxx.", "xxxxx", "cycle")):
        block = drawn(f"{above[0]} {east}", f"{above[1]} ..x..", floor=f"{above[2]} {floor}")
        if kind == "cycle":
            block = make_block(block.bools("east"), block.bools("south"))
        assert judged(block)[0] == kind


def test_nested_sets(backend):
    """Row i parts the set of its inner cells, so that 50 sets nest; the last row unites them."""
    n = 50
    columns = np.arange(2 * n)
    outside = np.minimum(columns, columns[::-1])
    east = np.array([(outside >= i) & (columns < 2 * n - 1 - i) for i in range(n)])
    south = np.array([outside <= i for i in range(n)])
    last = columns < n - 1
    maze = np.vstack([east, last]), np.vstack([south, np.zeros(2 * n, np.bool_)])
    assert judged(make_block(*maze)) == "perfect"
    for c in range(n - 1, 2 * n - 1):
        maze[0][-1] = last | (columns == c)
        assert judged(make_block(*maze)) == ("cycle", n, c)
    maze[0][-1] = last & (columns != 7)
    assert judged(make_block(*maze)) == ("cut-off", n, 8)


# ---- fragments ----


def test_a_fragment(backend):
    block = drawn(EAST, SOUTH)
    report = verify.verify([block[1:]])
    assert report == Report("fragment", 3, 1, 2, 6, 4, 0, None)
    assert not report.ok


def test_sets_that_touch_the_unknown_may_end(backend):
    assert judged(drawn("... ...", "x.. x..", start=5, north="xxx")) == ("cut-off", 6, 1)
    assert judged(drawn("...", "x..", start=5, north="xxx")) == "fragment"
    assert judged(drawn("...", "...", start=5, north="xxx")) == "fragment"


def test_a_set_that_never_touched_the_unknown_must_go_on(backend):
    assert judged(drawn("...", "x.x", start=5, north="x.x")) == ("cut-off", 5, 1)
    assert judged(drawn(".x.", "x..", start=5, north="x.x")) == "fragment"
    assert judged(drawn("... ...", "xxx x..", start=5, north="x.x")) == ("cut-off", 6, 1)
    assert judged(drawn("... ...", "xxx xx.", start=5, north="x.x")) == "fragment"


def test_one_of_the_sets_that_touch_the_unknown_must_go_on(backend):
    assert judged(drawn("...", "..x", start=5, north="xx.")) == ("cut-off", 5, 0)
    assert judged(drawn("...", "xxx", start=5, north="...")) == ("north", 5, 0)


def test_the_last_row_of_a_fragment(backend):
    assert judged(drawn("...", "...", start=5, north="x.x")) == ("cut-off", 5, 1)
    assert judged(drawn("...", "...", start=5, north=".xx")) == ("cut-off", 5, 0)
    block = drawn("x.. ...", "... ...", start=5, north="x.x")
    assert judged(block[:1]) == "fragment"
    assert judged(block) == ("cut-off", 5, 0)


def test_a_cycle_inside_a_fragment(backend):
    assert judged(drawn("xx. xx.", "x.x x..", start=5, north="x..")) == ("cycle", 6, 1)
    assert judged(drawn("xx. xx.", "..x x..", start=5, north="x.x")) == "fragment"


def test_far_rows(backend):
    for start in (2**31 - 1, 2**32 - 1, 2**48 - 2):
        block = drawn("xx. x.. ..x", "x.x xxx xxx", start=start, north="x..")
        assert judged(*cut(block, [1])) == ("outer", start + 2, 2)
        assert f"row {start + 2}, column 2" in str(verify.verify([block]))
        assert judged(block[:2]) == "fragment"


def test_counts_beyond_32_bits(backend, monkeypatch):
    many = 3 * 2**31
    monkeypatch.setattr(verify, "check_rows", lambda *_: (1, "", -1, -1, many, many, many))
    assert totals(verify.verify([drawn(".", "x")[:1], drawn(".", "x", 1, "x")])) == (2, 2 * many, 2 * many, 2 * many)


# ---- floor planes ----


def test_floor(backend):
    report = verify.verify([drawn("xx. ... x..", "x.x x.x ...", floor="xxx x.x xx.")])
    assert place(report) == ("floor", 2, 2)
    assert report.fault.message == "a passage touches row 2, column 2, which is not floor"
    report = verify.verify([drawn("xx. ... xx.", "x.x x.x ...", floor="xxx x.x xxx")])
    assert report == Report("connected", 3, 0, 3, 8, 8, 1, None)


def test_passages_that_touch_walls(backend):
    floor = "x.x xxx"
    assert judged(drawn("x.. xx.", "x.x ...", floor=floor)) == ("floor", 0, 1)
    assert judged(drawn(".x. xx.", "x.x ...", floor=floor)) == ("floor", 0, 1)
    assert judged(drawn("... xx.", "xxx ...", floor=floor)) == ("floor", 0, 1)
    assert judged(drawn("... ...", "x.x ...", floor="x.x x..")) == ("floor", 1, 2)
    assert judged(drawn("...", "...", 4, "xx.", floor="x..")) == ("floor", 4, 1)
    columns = np.arange(70)[np.newaxis]
    for last in (62, 63, 64):
        block = make_block(columns == last, columns < 0, floor=columns <= last)
        assert judged(block) == ("floor", 0, last + 1)


def test_walls_are_no_sets(backend):
    assert judged(drawn("... xx.", "x.x ...", floor="x.x xxx")) == "connected"
    assert judged(drawn("... x..", "x.x ...", floor="x.x xxx")) == ("cut-off", 1, 2)
    assert judged(drawn("...", "x..", floor="x.x")) == ("cut-off", 0, 2)


def test_rows_of_walls_above_and_below_the_floor(backend):
    walls, floor = "... ...", "... ... xx. xx. ... ..."
    block = drawn(f"{walls} x.. x.. {walls}", f"{walls} x.. ... {walls}", floor=floor)
    for pieces in ([block], cut(block, [4]), cut(block, range(7))):
        assert verify.verify(pieces) == Report("connected", 3, 0, 6, 4, 3, 0, None)
    more = drawn("...", "...", start=6, floor="..x")
    assert judged(block, more) == ("cut-off", 3, 0)
    assert judged(block[:2]) == "unfinished"
    assert judged(block, drawn("...", ".x.", start=6, floor="...")) == ("floor", 6, 1)


def test_floor_planes_in_some_blocks_only(backend):
    with_floor = drawn("xx. .x.", "x.x xxx", floor="xxx xxx")
    without = drawn("...", "...", 2, "xxx")
    assert judged(with_floor, without) == ("floor", 2, 0)
    assert judged(drawn("xx. .x.", "x.x xxx"), drawn("...", "...", 2, "xxx", "xxx")) == ("floor", 2, 0)
    assert "have a floor plane, from there on they have none" in str(verify.verify([with_floor, without]))


# ---- blocks ----


def test_north_differs_from_the_row_above(backend):
    block = drawn(EAST, SOUTH)
    report = verify.verify([block[:1], drawn(".x. ...", "xxx ...", 1, "xx.")])
    place_text = "the passage from row 0 to row 1, column 1"
    message = f"{place_text} is closed on its northern side, open on its southern"
    assert report.fault == Fault("north", 1, 1, message)
    assert totals(report) == (1, 3, 4, 0)
    assert judged(block[:2], drawn("..x", "...", 2, "x.x")) == ("north", 2, 1)


def test_a_passage_north_of_row_0(backend):
    block = drawn(EAST, SOUTH, north="..x")
    assert verify.verify([block]).fault == Fault(
        "north", 0, 2, "a passage leads north out of the maze at row 0, column 2"
    )


def test_a_row_that_follows_the_end_is_the_first_fault(backend):
    """Whatever is wrong in the row below, and in its seam."""
    end = drawn("xx.", "...")
    assert judged(end, drawn("..x", "...", 1, "x..")) == ("cut-off", 0, 0)
    assert judged(end, drawn("...", "...", 1, floor="xxx")) == ("cut-off", 0, 0)


def test_blocks_without_rows_say_nothing(backend):
    block = drawn(EAST, SOUTH)
    empty = Block.empty(3, 3, pack_bits(bits("xxx")[0]))
    assert judged(block[:0], block, empty, empty) == "perfect"
    report = verify.verify([block[:0]])
    assert (report.answer, report.rows) == ("unfinished", 0)


def test_blocks_that_do_not_follow(backend):
    block = drawn(EAST, SOUTH)
    verifier = Verifier(3)
    for wrong in (block[1:], drawn(".", "."), drawn("....", "....")):
        with pytest.raises(BlockError, match="rows of 3 cells from row 0 on follow here, not rows of"):
            verifier.feed(wrong)
    verifier.feed(block[:2])
    with pytest.raises(BlockError, match="row 2 on follow here, not rows of 3 cells from row 0"):
        verifier.feed(block)
    verifier.feed(block[2:])
    assert verifier.report().answer == "perfect"


def test_wrong_verifiers():
    for width, start in ((0, 0), (-1, 0), (2**31, 0), (5, -1)):
        with pytest.raises(BlockError, match=f"not {width} and {start}"):
            Verifier(width, start=start)
    with pytest.raises(BlockError, match="none came"):
        verify.verify([])


def test_a_width_too_large_to_allocate(monkeypatch):
    def refuse(*_, **__):
        raise MemoryError

    monkeypatch.setattr(verify.np, "arange", refuse)
    with pytest.raises(CapacityError, match="takes 13000 bytes"):
        Verifier(1000)


def test_reports_on_the_way(backend):
    block = drawn("xx. xx. ...", "x.. ... xxx")
    verifier = Verifier(3)
    answers = [verifier.report().answer]
    for row in block:
        verifier.feed(row.block())
        answers.append(verifier.report().answer)
    assert answers == ["unfinished", "unfinished", "perfect", "faulty"]


def test_nothing_is_judged_after_a_fault(backend):
    block = drawn("x.. xx. ... ...", "x.x x.x x.. x..")
    verifier = Verifier(3)
    reports = []
    for row in block:
        verifier.feed(row.block())
        reports.append(verifier.report())
    assert place(reports[2]) == ("cut-off", 2, 1)
    assert reports[2] == reports[3]


def test_an_endless_faulty_stream_is_left_at_its_first_fault(backend):
    forever = (drawn("x.", "xx", start, None if start == 0 else "xx") for start in itertools.count())
    assert judged(*itertools.islice(forever, 2)) == ("cycle", 1, 0)
    forever = (drawn("x.", "xx", start, None if start == 0 else "xx") for start in itertools.count())
    assert place(verify.verify(forever)) == ("cycle", 1, 0)


def test_planes_that_are_not_contiguous(backend):
    planes = [np.repeat(plane, 2, axis=0)[::2] for plane in (drawn(EAST, SOUTH).east, drawn(EAST, SOUTH).south)]
    assert not planes[0].flags.c_contiguous
    assert judged(Block(0, 3, *planes, np.zeros(2, np.uint8)[::2])) == "perfect"


def test_numpy_integers_make_plain_reports(backend):
    block = drawn("..x", "xxx", np.int64(5), "xxx")
    verifier = Verifier(np.int32(3), start=np.int64(5))
    verifier.feed(block)
    report = verifier.report()
    assert {type(n) for n in (report.width, report.start, *totals(report), report.fault.row, report.fault.column)} == {
        int
    }


# ---- reports ----


def test_reports_as_text(backend):
    block = drawn(EAST, SOUTH)
    looped = drawn("xx. .x. x..", SOUTH)
    assert str(verify.verify([block])) == "perfect: 3 rows of 3 cells, 8 passages, all connected without a cycle"
    assert str(verify.verify([drawn(".", ".")])).startswith("perfect: 1 row of 1 cell, 0 passages")
    assert str(verify.verify([looped], loops=True)) == "connected: 3 rows of 3 cells, all connected with 1 loop passage"
    assert str(verify.verify([block[:2]])) == (
        "unfinished: 2 rows of 3 cells, no fault so far, each set has a passage south"
    )
    assert str(verify.verify([block[1:]])) == "fragment: 2 rows of 3 cells from row 1 on, no fault inside"
    assert str(verify.verify([looped])) == "faulty: a cycle closes at the passage from row 2, column 0 to column 1"
    floor = drawn("... xx.", "x.x ...", floor="x.x xxx")
    assert str(verify.verify([floor])) == (
        "connected: 2 rows of 3 cells, 5 of them floor, all connected with 0 loop passages"
    )


def test_reports_as_json(backend):
    report = verify.verify([drawn("xx. .x. x..", SOUTH)])
    assert json.loads(json.dumps(report.to_json())) == {
        "answer": "faulty",
        "ok": False,
        "width": 3,
        "start": 0,
        "rows": 2,
        "cells": 6,
        "passages": 8,
        "loops": 0,
        "fault": {"kind": "cycle", "row": 2, "column": 0, "message": report.fault.message},
    }
    assert verify.verify([drawn(EAST, SOUTH)]).to_json()["fault"] is None


def test_reports_are_frozen(backend):
    report = verify.verify([drawn("x", "x")])
    with pytest.raises(FrozenInstanceError):
        report.answer = "perfect"
    with pytest.raises(FrozenInstanceError):
        report.fault.row = 7


# ---- the brute force ----


class Colours:
    """A colour for each cell of the whole maze; joining two cells repaints the higher one everywhere."""

    def __init__(self, rows, width):
        self.cells = np.arange(rows * width).reshape(rows, width)

    def join(self, one, other):
        """False if they had one colour already."""
        low, high = sorted((self.cells[one], self.cells[other]))
        self.cells[self.cells == high] = low
        return low != high


ABOVE = -1  # the colour of whatever is above the first row


def first_of(mask):
    return int(np.flatnonzero(mask)[0])


class BruteForce:
    """Judges a whole maze at once: O(cells) memory, O(cells²) time. All rows are counted from 0 here."""

    def __init__(self, east, south, start, north, floor, loops):
        self.east, self.south, self.start, self.north, self.floor = east, south, start, north, floor
        self.rows, self.width = east.shape
        self.cycles_allowed = loops or floor is not None
        self.cells = np.ones_like(east) if floor is None else floor
        self.found = Colours(self.rows + 1, self.width)
        self.possible = Colours(self.rows + 1, self.width)  # as if all that touches what is above were connected there
        self.possible.cells[0, north] = ABOVE
        self.cycles = np.zeros(self.rows, int)
        self.end = None

    def judge(self):
        """Answer, totals, and the first fault's kind and place."""
        fault = self.seam()
        if fault is not None:
            return self.result("faulty", 0, fault)
        for r in range(self.rows):
            fault = self.follows_the_end(r) or self.misplaced(r) or self.connected(r)
            if fault is not None:
                return self.result("faulty", r, fault)
        fault = self.last_row()
        return self.result(self.answer() if fault is None else "faulty", self.rows, fault)

    def answer(self):
        if self.start:
            return "fragment"
        if self.end is None:
            return "unfinished"
        return "perfect" if self.floor is None and not self.cycles.any() else "connected"

    def result(self, answer, rows, fault):
        sums = [int(plane[:rows].sum()) for plane in (self.cells, self.east, self.south, self.cycles)]
        kind_and_place = fault and (fault[0], self.start + fault[1], fault[2])
        return answer, (rows, sums[0], sums[1] + sums[2], sums[3]), kind_and_place

    def seam(self):
        if self.start == 0 and self.north.any():
            return "north", 0, first_of(self.north)
        if self.start > 0 and self.floor is None and not self.north.any():
            return "north", 0, 0
        return None

    def follows_the_end(self, r):
        if self.end is not None and self.cells[r].any():
            return "cut-off", self.end, first_of(self.cells[self.end])
        return None

    def misplaced(self, r):
        if self.east[r, -1]:
            return "outer", r, self.width - 1
        above = self.south[r - 1] if r else self.north
        touched = self.east[r] | np.roll(self.east[r], 1) | self.south[r] | above
        if (touched & ~self.cells[r]).any():
            return "floor", r, first_of(touched & ~self.cells[r])
        return None

    def connected(self, r):
        for c in np.flatnonzero(self.east[r]).tolist():
            self.possible.join((r, c), (r, c + 1))
            if not self.found.join((r, c), (r, c + 1)):
                self.cycles[r] += 1
                if not self.cycles_allowed:
                    return "cycle", r, c
        for c in np.flatnonzero(self.south[r]).tolist():
            self.found.join((r, c), (r + 1, c))
            self.possible.join((r, c), (r + 1, c))
        colours = self.possible.cells[r]
        cut_off = self.cells[r] & ~np.isin(colours, colours[self.south[r]])
        if self.south[r].any():
            return ("cut-off", r, first_of(cut_off)) if cut_off.any() else None
        if self.cells[r].any():
            self.end = r
        return None

    def last_row(self):
        if self.end is None:
            return None
        colours, cells = self.possible.cells[self.end], self.cells[self.end]
        main = ABOVE if (colours == ABOVE).any() else colours[first_of(cells)]
        apart = cells & (colours != main)
        return ("cut-off", self.end, first_of(apart)) if apart.any() else None


def spanning_tree(rows, width, random):
    """Planes of a random perfect maze: passages in random order, those that close a cycle left out."""
    colours = Colours(rows, width)
    east, south = np.zeros((2, rows, width), np.bool_)
    walls = [(east, r, c, (r, c + 1)) for r in range(rows) for c in range(width - 1)]
    walls += [(south, r, c, (r + 1, c)) for r in range(rows - 1) for c in range(width)]
    for i in random.permutation(len(walls)):
        plane, r, c, other = walls[i]
        plane[r, c] = colours.join((r, c), other)
    return east, south


WIDTHS = st.one_of(st.sampled_from([1, 2, 3, 63, 64, 65]), st.integers(1, 70))
HEIGHTS = st.integers(1, 12)
STARTS = st.sampled_from([0, 1, 2**32 - 3, 2**48 - 20])
RANDOM = st.integers(0, 2**32 - 1).map(np.random.default_rng)
DENSITIES = st.sampled_from([0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1])


@st.composite
def noise(draw):
    """Planes of random bits."""
    width, rows, random = draw(WIDTHS), draw(HEIGHTS), draw(RANDOM)
    east = random.random((rows, width)) < draw(DENSITIES)
    south = random.random((rows, width)) < draw(DENSITIES)
    east[:, -1] &= draw(st.booleans())
    south[-1] &= draw(st.booleans())
    floor = random.random(east.shape) < draw(DENSITIES) if draw(st.integers(0, 5)) == 0 else None
    return east, south, random.random(width) < draw(DENSITIES), floor, random


def piece(draw, east, south, floor, random):
    """Some of a maze's rows, with some passages flipped."""
    rows, width = east.shape
    for _ in range(draw(st.integers(0, 3))):
        plane = [east, south][random.integers(2)]
        plane[random.integers(rows), random.integers(width)] ^= True
    first = draw(st.one_of(st.just(0), st.integers(0, rows - 1)))
    last = draw(st.one_of(st.just(rows), st.integers(first + 1, rows)))
    north = south[first - 1].copy() if first else np.zeros(width, np.bool_)
    floor = None if floor is None else floor[first:last]
    return east[first:last], south[first:last], north, floor, random


@st.composite
def trees(draw):
    width, rows, random = draw(WIDTHS), draw(HEIGHTS), draw(RANDOM)
    return piece(draw, *spanning_tree(rows, width, random), None, random)


@st.composite
def caves(draw):
    """Passages between all neighbours on a floor that a random walk has dug."""
    width, rows, random = draw(WIDTHS), draw(HEIGHTS), draw(RANDOM)
    floor = np.zeros((rows, width), np.bool_)
    at = random.integers((rows, width))
    for step in random.integers(-1, 2, (draw(st.integers(1, 3 * rows * width)), 2)):
        at[random.integers(2)] += step[0]
        at %= rows, width  # going round an edge parts the floor
        floor[tuple(at)] = True
    east, south = np.zeros((2, rows, width), np.bool_)
    east[:, :-1] = floor[:, :-1] & floor[:, 1:]
    south[:-1] = floor[:-1] & floor[1:]
    return piece(draw, east, south, floor, random)


@st.composite
def cases(draw):
    """Arguments of the brute force: any planes, with or without floor, as a maze's beginning or as a fragment."""
    east, south, north, floor, _ = draw(st.one_of(noise(), trees(), caves()))
    likely = STARTS.filter(bool) if north.any() else st.just(0)
    start = draw(STARTS if draw(st.integers(0, 9)) == 0 else likely)
    return east, south, start, north, floor, draw(st.booleans())


def report_of(case, cuts=()):
    east, south, start, north, floor, loops = case
    return verify.verify(cut(make_block(east, south, start, north, floor), cuts), loops=loops)


@settings(max_examples=500)
@given(case=cases())
def test_the_brute_force_agrees(backend, case):
    report = report_of(case)
    assert (report.answer, totals(report), place(report)) == BruteForce(*case).judge()
    assert (report.width, report.start) == (case[0].shape[1], case[2])
    assert report.fault is None or report.fault.message


@given(case=cases(), cuts=st.lists(st.integers(0, 12), max_size=6))
def test_any_cut_into_blocks_gives_the_same_report(backend, case, cuts):
    assert report_of(case, [min(at, len(case[0])) for at in cuts]) == report_of(case)


@given(case=cases())
def test_both_backends_give_the_same_report_and_can_take_turns(backend, case):
    east, south, start, north, floor, loops = case
    here, plain = verify.row_checker(backend), verify.row_checker("python")
    block = make_block(east, south, start, north, floor)
    reports = []
    for checkers in ([here], [plain], [here, plain], [plain, here]):
        verifier = Verifier(block.width, start=start, loops=loops)
        for row, checker in zip(block, itertools.cycle(checkers), strict=False):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(verify, "check_rows", checker)
                verifier.feed(row.block())
        reports.append(verifier.report())
    assert reports == reports[:1] * 4


@given(case=cases())
def test_both_backends_leave_the_same_state(backend, case):
    east, south, start, north, floor, loops = case
    block = make_block(east, south, start, north, floor)
    states = []
    for name in (backend, "python"):
        sets, scratch = np.arange(block.width, dtype=np.int32), np.zeros(2 * block.width, np.int32)
        top = north.astype(np.uint8) if start else np.zeros(0, np.uint8)
        planes = block.east, block.south, block.north, block.floor
        step = verify.row_checker(name)(block.width, *planes, sets, top, scratch, loops)
        states.append((step, step[1] in ("", "end") and (sets.tolist(), top.tolist())))
    assert states[0] == states[1]


@example(seed=0, rows=1, width=1)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 10), width=WIDTHS)
def test_a_perfect_maze_its_beginnings_and_its_pieces(backend, seed, rows, width):
    block = make_block(*spanning_tree(rows, width, np.random.default_rng(seed)))
    assert verify.verify([block]) == Report("perfect", width, 0, rows, rows * width, rows * width - 1, 0, None)
    for i in range(1, rows):
        assert judged(block[:i]) == "unfinished"
        assert judged(block[i:]) == "fragment"
        assert judged(block[i - 1 : i]) == ("unfinished" if i == 1 else "fragment")


@given(seed=st.integers(0, 2**32 - 1))
def test_every_flipped_passage_of_a_perfect_maze_is_caught(backend, seed):
    """An opened one closes a cycle; a closed one cuts a set off, in its own row or below."""
    random = np.random.default_rng(seed)
    rows, width = random.integers(2, 8, 2)
    planes = spanning_tree(rows, width, random)
    flips = [(0, r, c) for r in range(rows) for c in range(width - 1)]
    flips += [(1, r, c) for r in range(rows - 1) for c in range(width)]
    for which, r, c in flips:
        plane = planes[which]
        plane[r, c] ^= True
        report = verify.verify([make_block(*planes)])
        assert report.fault.kind == ("cycle" if plane[r, c] else "cut-off")
        assert report.fault.row >= r
        nothing = np.zeros(width, np.bool_)
        assert place(report) == BruteForce(*planes, 0, nothing, None, False).judge()[2]
        plane[r, c] ^= True


@pytest.mark.parametrize(("rows", "width", "trees"), [(1, 4, 1), (2, 2, 4), (2, 3, 15), (3, 2, 15), (3, 3, 192)])
def test_the_number_of_spanning_trees(backend, rows, width, trees):
    """Of all subsets of a grid's inner walls, exactly so many make a perfect maze."""
    inner = [(0, r, c) for r in range(rows) for c in range(width - 1)]
    inner += [(1, r, c) for r in range(rows - 1) for c in range(width)]
    perfect = 0
    for subset in itertools.product([False, True], repeat=len(inner)):
        planes = np.zeros((2, rows, width), np.bool_)
        planes[tuple(np.array(inner).T)] = subset
        perfect += verify.verify([make_block(*planes)]).ok
    assert perfect == trees


# ---- memory, threads, backends ----


def corridors(width, rows, start):
    """Rows of a maze that never ends: corridors south, joined in row 0."""
    east = np.zeros((rows, width), np.bool_)
    east[0, :-1] = start == 0
    return make_block(east, np.ones((rows, width), np.bool_), start, np.full(width, start > 0))


def test_memory_does_not_grow_with_the_rows(backend):
    def peak(blocks, rows):
        tracemalloc.start()
        try:
            verifier = Verifier(200)
            for i in range(blocks):
                verifier.feed(corridors(200, rows, i * rows))
            assert verifier.report().rows == blocks * rows
            return tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    peak(2, 10)
    few, many = peak(5, 10), peak(200, 10)
    assert many[1] < few[1] + 4096
    assert peak(1, 5000)[0] < few[0] + 4096


def test_threads_may_share_a_verifier(backend):
    """Each block is judged once and whole: of two threads that feed the same rows, one is refused each time."""
    width, rows = 100, 500
    blocks = [corridors(width, rows, i * rows) for i in range(20)]
    verifier, together, refused = Verifier(width), threading.Barrier(2), []

    def feed():
        for block in blocks:
            together.wait(60)
            try:
                verifier.feed(block)
            except BlockError:
                refused.append(block.start)

    threads = [threading.Thread(target=feed) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(refused) == [block.start for block in blocks]
    report = verifier.report()
    assert (report.answer, report.rows) == ("unfinished", len(blocks) * rows)


def test_the_checker_goes_with_the_kernel(monkeypatch):
    assert verify.check_rows is verify.row_checker(kernel.BACKEND)


def test_the_plain_checker_stands_in_for_one_that_was_not_built(monkeypatch):
    monkeypatch.setitem(sys.modules, "eller_stream._verify", None)
    monkeypatch.setattr(kernel, "BACKEND", "c")
    assert kernel.with_the_kernel(verify.row_checker) is verify.row_checker("python")
    with pytest.raises(KernelError, match="the C validator is not there"):
        verify.row_checker("c")
    with pytest.raises(KernelError, match="c or python, not 'fortran'"):
        verify.row_checker("fortran")


def unfit():
    """Arguments that a checker cannot take: each one wrong in one way."""
    good = {
        "width": 20,
        "east": bytes(6),
        "south": bytes(6),
        "north": bytes(3),
        "floor": None,
        "sets": np.arange(20, dtype=np.int32),
        "top": bytearray(0),
        "scratch": np.zeros(40, np.int32),
        "loops": False,
    }
    wrong = [
        {"width": 0},
        {"width": 2**31},
        {"width": 25},
        {"east": bytes(5), "south": bytes(5)},
        {"south": bytes(3)},
        {"north": bytes(2)},
        {"floor": bytes(3)},
        {"sets": np.zeros(19, np.int32)},
        {"sets": np.zeros(81, np.uint8)[1:].view(np.int32)},
        {"sets": np.arange(1, 21, dtype=np.int32)},
        {"sets": np.full(20, -1, np.int32)},
        {"top": bytearray(19)},
        {"scratch": np.zeros(39, np.int32)},
    ]
    return [tuple((good | change).values()) for change in ({}, *wrong)]


def test_spare_bits_are_not_looked_at(backend):
    width, spare, sets = 20, np.array([0, 0, 0xF0], np.uint8), np.arange(20, dtype=np.int32)
    planes = np.array([[0, 0, 0x01]], np.uint8) | spare, np.array([[255, 255, 0x0F]], np.uint8) | spare
    for floor in (None, np.array([[255, 255, 0x0F]], np.uint8) | spare, np.array([[255, 255, 0x0F]], np.uint8)):
        state = sets.copy(), np.zeros(0, np.uint8), np.zeros(40, np.int32)
        step = verify.row_checker(backend)(width, *planes, spare, floor, *state, False)
        assert step == (1, "", -1, -1, 20, 21, 0)
        assert state[0].tolist() == [*range(17), 16, 18, 19]


def test_buffers_that_do_not_fit_are_refused_in_c(backend):
    check = verify.row_checker(backend)
    good, *wrong = unfit()
    if backend == "c":
        assert check(*good) == (1, "end", 0, 1, 20, 0, 0)
        for arguments in wrong:
            with pytest.raises((ValueError, OverflowError), match=r"do not fit|points at one behind|too large"):
                check(*arguments)
