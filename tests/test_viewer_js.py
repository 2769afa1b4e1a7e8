"""The page's modules in node: decoder and messages against the documents' vectors, the window against `Window`."""

import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from eller_stream import Block, BlockError, EllerStream, Window
from eller_stream.spec import ALGORITHMS, OPTIONS
from eller_stream.viewer.server import STATIC

pytestmark = pytest.mark.browser

SCRIPTS = Path(__file__).parent / "js"


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """A copy of the page's modules, with what tells an older node that they are some."""
    folder = tmp_path_factory.mktemp("modules")
    shutil.copytree(STATIC, folder, dirs_exist_ok=True)
    (folder / "package.json").write_text('{ "type": "module" }')
    return folder


def node(modules, *words, said=None):
    """Return what a script prints; it has to work."""
    environment = os.environ | {"ELLER_STREAM_STATIC": f"{modules.as_uri()}/"}
    done = subprocess.run(
        ["node", *map(str, words)],
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_the_modules_alone(modules):
    said = node(modules, "--test", "--test-reporter=tap", *sorted(SCRIPTS.glob("*.test.js")))
    counts = dict(re.findall(r"^# (pass|fail|skipped) (\d+)$", said, re.MULTILINE))
    assert int(counts["pass"]) >= 120
    assert counts["fail"] == counts["skipped"] == "0"


def test_the_page_knows_the_algorithms_and_their_options(modules):
    code = (
        "import(process.env.ELLER_STREAM_STATIC + 'spec.js').then((spec) => console.log(JSON.stringify(spec.OPTIONS)))"
    )
    assert json.loads(node(modules, "-e", code)) == {name: list(options) for name, options in OPTIONS.items()}
    choices = re.findall(r'<option value="(\w+)"', (STATIC / "index.html").read_text())
    assert choices == list(ALGORITHMS)


# ---- the window ------------------------------------------------------------------------------


def plain(block):
    """Return a block as plain data for the script."""
    planes = {name: getattr(block, name) for name in ("east", "south", "north", "floor")}
    hexed = {name: None if plane is None else plane.tobytes().hex() for name, plane in planes.items()}
    return {"start": block.start, "count": len(block), "width": block.width} | hexed


def contradicted(block, draw):
    """Return a block with one bit changed, somewhere."""
    planes = {name: getattr(block, name).copy() for name in ("east", "south", "north")}
    plane = planes[draw.choice(["east", "south", "north"])].reshape(-1)
    plane[draw.randrange(len(plane))] ^= 1
    return Block(block.start, block.width, planes["east"], planes["south"], planes["north"], block.floor)


def with_floor(block):
    return Block(block.start, block.width, block.east, block.south, block.north, np.full_like(block.east, 1))


def step(draw, maze, others):
    """Return a random thing to do with a window, as a name and its arguments."""
    first = draw.randrange(len(maze))
    block = maze[first : first + draw.randrange(1, 40)]
    kind = draw.random()
    if kind < 0.6:
        near = None if draw.random() < 0.5 else sorted((draw.randrange(300), draw.randrange(300)))
        kinds = [block] * 12 + [contradicted(block, draw), with_floor(block), others]
        return "add", draw.choice(kinds), near
    if kind < 0.7:
        return "discard", first, None if draw.random() < 0.3 else first + draw.randrange(60)
    return ("missing", first, draw.randrange(1, 99)) if kind < 0.9 else ("row", first)


def do(window, name, *words):
    """Do with Python's window what the script does with its own, and return the same."""
    if name == "add":
        block, near = words
        try:
            window.add(block, near=None if near is None else range(*near))
        except BlockError:
            return "BlockError"
        return "added"
    if name == "discard":
        window.discard(*words)
        return "discarded"
    if name == "missing":
        return [[gap.start, gap.stop] for gap in window.missing(*words)]
    if words[0] not in window:
        return None
    row = window.view(words[0], 1)
    return [None if plane is None else plane.tobytes().hex() for plane in (row.east, row.south, row.floor)]


def run_of(seed):
    """Return one run: a capacity, its steps, and what Python's window says to each."""
    draw = random.Random(seed)
    maze = EllerStream(draw.choice([1, 7, 8, 9, 64]), seed=seed).read(300)
    others = EllerStream(11, seed=seed).read(9)
    capacity = draw.choice([1, 5, 40, 150])
    window, steps, came = Window(capacity), [], []
    for _ in range(60):
        name, *words = step(draw, maze, others)
        answer = do(window, name, *words)
        steps.append([name, *(plain(word) if isinstance(word, Block) else word for word in words)])
        came.append([answer, [[rows.start, rows.stop] for rows in window.held]])
    return {"capacity": capacity, "steps": steps}, came, capacity * -(-maze.width // 8)


def test_the_window_does_what_pythons_does(modules):
    runs = [run_of(seed) for seed in range(60)]
    answers = json.loads(node(modules, SCRIPTS / "replay_window.js", said=json.dumps([run for run, _, _ in runs])))
    outcomes = set()
    for (run, expected, most), answer in zip(runs, answers, strict=True):
        for said, came, wanted in zip(run["steps"], answer["came"], expected, strict=True):
            assert came == wanted, (run["capacity"], said)
            outcomes.add(str(wanted[0])[:10])
        assert answer["bytes"] <= 2 * most
    assert {"added", "BlockError", "discarded"} <= outcomes
