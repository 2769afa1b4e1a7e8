"""The code and the pictures of docs/ALGORITHM.md."""

import re
import runpy
from pathlib import Path

import pytest
from helpers import textbook_row
from hypothesis import given
from hypothesis import strategies as st

from eller_stream import EllerStream
from eller_stream.block import pack_bits

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "ALGORITHM.md").read_text(encoding="utf-8")


def page_code():
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)
    return names


CODE = page_code()


def integer(bools):
    return int.from_bytes(pack_bits(bools).tobytes(), "little")


def bools(x, width):
    return [bool(x >> c & 1) for c in range(width)]


def bits(flags):
    return sum(1 << c for c, flag in enumerate(flags) if flag)


def state_of(labels):
    """Return has_next and has_prev, found by looking for each label on both sides."""
    n = bits(label in labels[c + 1 :] for c, label in enumerate(labels))
    return n, bits(label in labels[:c] for c, label in enumerate(labels))


rows = st.lists(
    st.tuples(
        st.integers(0, 2**70 - 1), st.integers(0, 2**70 - 1), st.booleans(), st.sampled_from([False, False, True])
    ),
    min_size=1,
    max_size=12,
)


@given(width=st.integers(1, 70), rows=rows)
def test_the_page_s_rows_are_the_textbook_s(width, rows):
    labels, n, p = list(range(width)), 0, 0
    for joins, keeps, backwards, merging in rows:
        keeps &= (1 << width) - 1
        drops = bools(~keeps, width)
        plain = textbook_row(labels, bools(joins, width), drops, backwards=backwards, merging=merging)
        east, south, n, p = CODE["row"](n, p, joins, keeps, width, backwards=backwards, merging=merging)
        labels = plain[2]
        assert (bools(east, width), bools(south, width)) == plain[:2]
        assert (n, p) == state_of(labels)


@given(width=st.integers(2, 70), seed=st.integers(0, 99))
def test_the_planes_count_the_depths(width, seed):
    stream = EllerStream(width, seed=seed)
    stream.read(40)
    n, p = state_of(stream.sets.tolist())
    opens, closes = n & ~(p >> 1), p >> 1 & ~n
    planes, levels = (CODE[name](opens, closes, width) for name in ("depth_planes", "levels"))
    for c in range(width):
        depth = sum((plane >> c & 1) << k for k, plane in enumerate(planes))
        assert depth == sum(level >> c & 1 for level in levels) - 1


def test_the_example_of_the_race():
    digits = re.findall(r"^ {4}(?:stops|token).*?((?:[01] ){7}[01])", PAGE, re.MULTILINE)
    stops, token, difference, met = (int(each.replace(" ", ""), 2) for each in digits)
    assert stops - token == difference
    assert stops & ~difference == met == CODE["race"]([255], token, stops)


@pytest.mark.parametrize("name", ["textbook", "gaps", "east", "south"])
def test_the_pictures_are_what_the_script_draws(name, tmp_path):
    script = tmp_path / "make.py"
    script.write_bytes((DOCS / "pictures" / "make.py").read_bytes())
    runpy.run_path(str(script), run_name="__main__")
    drawn = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert f"pictures/{name}.svg" in PAGE
