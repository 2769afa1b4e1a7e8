"""The house: imports point one way, the core does no I/O, functions are small."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "eller_stream"

# Lines as in the design: a module may import those of the lines above, and those before it on its own.
HOUSE = [
    ["errors"],
    ["chance"],
    ["spec"],
    ["sealed"],
    ["coins"],
    ["block"],
    ["_step", "_kernel", "kernel"],
    ["partition"],
    ["snapshot"],
    ["state"],
    ["openings"],
    ["parallel"],
    ["stream", "uniform"],
    ["bands"],
    ["streams"],
    ["ahead"],
    ["_verify", "_verify_twin", "spans", "verify", "passages"],
    ["_solve", "solve"],
    ["measure"],
    ["frames"],
    ["store"],
    ["net"],
    ["window"],
    ["render"],
    ["viewer", "tui"],
    ["scale"],
    ["micro"],
    ["__init__", "bench", "cli", "__main__"],
]
ORDER = {module: place for place, module in enumerate(name for line in HOUSE for name in line)}
DOES_IO = {"store", "net", "viewer", "tui", "scale", "bench", "cli"}
IO_MODULES = {
    "asyncio",
    "socket",
    "socketserver",
    "ssl",
    "select",
    "selectors",
    "mmap",
    "shutil",
    "tempfile",
    "http",
    "urllib",
}
IO_CALLS = {
    "open",
    "fdopen",
    "read_bytes",
    "read_text",
    "write_bytes",
    "write_text",
    "fromfile",
    "tofile",
    "memmap",
    "unlink",
}

SOURCES = sorted(PACKAGE.rglob("*.py"))
C_SOURCES = sorted([*PACKAGE.rglob("*.c"), *PACKAGE.rglob("*.h")])


def relative(path):
    return str(path.relative_to(PACKAGE))


def home(path):
    """Return the line of the house a file belongs to: its module, or its package below eller_stream."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def is_typing_only(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def at_run_time(tree):
    """Walk a tree without what stands under `if TYPE_CHECKING`."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name, value in ast.iter_fields(node):
            if is_typing_only(node) and name == "body":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    waiting.append(child)


def imports(path):
    """Return the full names of all that a file imports when it runs, also inside functions."""
    package = ["eller_stream", *path.relative_to(PACKAGE).parts[:-1]]
    names = []
    for node in at_run_time(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            names += [f"{base}.{alias.name}" for alias in node.names]
    return names


def own_imports(path):
    """Return the lines of the house that a file imports."""
    found = set()
    for name in imports(path):
        top, *rest = name.split(".")
        if top == "eller_stream":
            found.add(rest[0] if rest and rest[0] in ORDER else "__init__")
    return found - {home(path)}


def wrong_imports(path):
    return {name for name in own_imports(path) if ORDER[name] >= ORDER[home(path)]}


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_imports_point_one_way(path):
    assert home(path) in ORDER, f"{relative(path)} has no place in the house"
    assert not wrong_imports(path)


@pytest.mark.parametrize("path", [path for path in SOURCES if home(path) not in DOES_IO], ids=relative)
def test_the_core_does_no_io(path):
    tops = {name.split(".")[0] for name in imports(path)}
    assert not tops & IO_MODULES
    called = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            function = node.func
            called.add(function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", ""))
    assert not called & IO_CALLS


BAD_BLOCK = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from .cli import main
def f():
    from . import verify
    import socket
"""
BAD_RENDERER = """
from ..block import Block
from . import pbm
import eller_stream.cli
from .. import EllerStream
from eller_stream import stream
"""


def test_the_tests_above_see_what_they_look_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    block, renderer = tmp_path / "block.py", tmp_path / "render" / "text.py"
    renderer.parent.mkdir()
    block.write_text(BAD_BLOCK)
    renderer.write_text(BAD_RENDERER)
    assert set(imports(block)) == {"typing.TYPE_CHECKING", "eller_stream.verify", "socket"}
    assert wrong_imports(block) == {"verify"}
    assert own_imports(renderer) == {"block", "cli", "__init__", "stream"}
    assert wrong_imports(renderer) == {"cli", "__init__"}


# ---- what an import costs --------------------------------------------------------------------------


def loaded(statement, **environment):
    """Return the modules that are loaded after a statement in a fresh Python."""
    code = f"import sys; {statement}; print(*sys.modules)"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ELLER_STREAM", "COV_"))}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=clean | environment, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("name", ["eller_stream", "eller_stream.errors", "eller_stream.spec", "eller_stream.kernel"])
@pytest.mark.parametrize("asked", ["c", "python"])
def test_numpy_is_not_imported_before_rows_are_made(name, asked, request):
    if asked == "c" and request.config.getoption("--without-c"):
        pytest.skip("the C backend is left out")
    modules = loaded(f"import {name}", ELLER_STREAM_KERNEL=asked)
    assert name in modules
    assert not {"numpy", "msgpack", "rich", "asyncio"} & modules


@pytest.mark.parametrize(
    "name",
    [
        "stream",
        "verify",
        "frames",
        "store",
        "window",
        "passages",
        "solve",
        "measure",
        "errors",
        "partition",
        "block",
        "coins",
        "sealed",
        "_step",
    ],
)
def test_each_module_can_be_the_first_to_be_imported(name):
    modules = loaded(f"import eller_stream.{name}")
    assert f"eller_stream.{name}" in modules
    assert not {"rich", "asyncio", "socket"} & modules


@pytest.mark.parametrize(
    "statement",
    [
        "import eller_stream, eller_stream.store, eller_stream.verify",
        "from eller_stream import *",
        "from eller_stream import EllerStream, Verifier, verify; assert callable(verify.verify)",
        "import eller_stream; assert set(eller_stream.__all__) <= set(dir(eller_stream))",
    ],
)
def test_public_names_are_the_same_in_whatever_order_they_come(statement):
    """Names are loaded lazily; none may be that of a module, which would take its place once it was imported."""
    check = "; import eller_stream as e; assert all(not isinstance(getattr(e, name), type(sys)) for name in e.__all__)"
    loaded(statement + check)


def test_an_unknown_public_name():
    loaded("import eller_stream; assert not hasattr(eller_stream, 'nonsense')")


# ---- small functions ----------------------------------------------------------------------------------

MOST_LINES = 60


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_python_functions_are_small(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = {node.name: node.end_lineno - node.lineno + 1 for node in functions}
    assert not {name: lines for name, lines in long.items() if lines > MOST_LINES}


def c_functions(text):
    """Return the lines of each function: a line that ends in `)`, below it `{` alone, and up to `}` alone."""
    lengths, name, first = {}, "", 0
    for number, line in enumerate(text.splitlines()):
        if line == "{":
            first = number - 1
        elif line == "}" and first:
            lengths[name], first = number - first + 1, 0
        elif line[:1].isalpha() and line.endswith(")") and not first:
            name = line
    return lengths


@pytest.mark.parametrize("path", C_SOURCES, ids=relative)
def test_c_functions_are_small(path):
    functions = c_functions(path.read_text(encoding="utf-8"))
    assert functions
    assert not {name: lines for name, lines in functions.items() if lines > MOST_LINES}


def test_the_median_function_is_small():
    lines = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                documented = ast.get_docstring(node) is not None
                lines.append(node.end_lineno - node.body[documented and len(node.body) > 1].lineno + 1)
    assert sorted(lines)[len(lines) // 2] <= 10
