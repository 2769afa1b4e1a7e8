"""Installs the field's generators, each by itself, so that one that fails takes no other with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
OLD_PYTHONS = (os.environ.get("OLD_PYTHON", "python3.7"), "python3.7", "python3.6")
SECONDS_TO_INSTALL = 300


class Generator(NamedTuple):
    """A generator: where it comes from, its package, what is imported, its algorithm as it names it, and as we do."""

    source: str
    package: str
    module: str
    call: str
    algorithm: str

    @property
    def name(self) -> str:
        return f"{self.package}, {self.algorithm}"


FIELD = [
    Generator("old-pypi", "pydaedalus", "daedalus", "create_eller", "Eller"),
    Generator("old-pypi", "pydaedalus", "daedalus", "create_recursive", "DFS"),
    Generator("old-pypi", "pydaedalus", "daedalus", "create_prim", "Prim"),
    Generator("old-pypi", "pydaedalus", "daedalus", "create_wilson", "Wilson"),
    Generator("npm", "rot-js", "rot-js", "EllerMaze", "Eller"),
    Generator("npm", "generate-maze", "generate-maze", "", "Eller"),
    Generator("npm", "maze-generation", "maze-generation", "DEPTHFIRST", "DFS"),
    Generator("pypi", "the-maze-py", "mazepy", "Ellers", "Eller"),
    Generator("pypi", "mazelib", "mazelib", "Ellers", "Eller"),
    Generator("pypi", "mazelib", "mazelib", "BacktrackingGenerator", "DFS"),
    Generator("pypi", "mazelib", "mazelib", "Prims", "Prim"),
    Generator("pypi", "mazelib", "mazelib", "Wilsons", "Wilson"),
    Generator("pypi", "lapyrinth", "lapyrinth", "eller", "Eller"),
    Generator("pypi", "lapyrinth", "lapyrinth", "randomized_depth_first_search", "DFS"),
    Generator("pypi", "lapyrinth", "lapyrinth", "true_prim", "Prim"),
    Generator("pypi", "lapyrinth", "lapyrinth", "wilson", "Wilson"),
    Generator("pypi", "labyrinth-py", "labyrinth", "DepthFirstSearchGenerator", "DFS"),
    Generator("pypi", "labyrinth-py", "labyrinth", "PrimsGenerator", "Prim"),
    Generator("pypi", "labyrinth-py", "labyrinth", "WilsonsGenerator", "Wilson"),
]
OURS = Generator("here", "eller_stream", "eller_stream", "", "Eller")


def commands(folder: Path) -> tuple[dict[Generator, list[str]], list[str]]:
    """Return the words that run each generator, to be followed by width and height; and who could not be installed."""
    runners: dict[tuple[str, str], list[str] | None] = {}
    found, missing = {OURS: [sys.executable, "-P", str(HERE / "generators.py"), "eller_stream", ""]}, []
    for generator in FIELD:
        key = generator.source, generator.package
        if key not in runners:
            runners[key] = INSTALLERS[generator.source](folder / generator.package, generator.package)
        runner = runners[key]
        if runner is None:
            missing.append(f"{generator.name}: {generator.package} could not be installed here")
        else:
            found[generator] = [*runner, generator.module, generator.call]
    return found, missing


def _from_pypi(folder: Path, package: str, python: str = sys.executable) -> list[str] | None:
    inside = folder / "bin" / "python"
    made = _works(python, "-m", "venv", folder) and _works(inside, "-m", "pip", "install", "--quiet", package)
    return [str(inside), str(HERE / "generators.py")] if made else None


def _from_pypi_long_ago(folder: Path, package: str) -> list[str] | None:
    """Install what does not compile for a Python newer than 3.7; OLD_PYTHON may name one."""
    pythons = (python for python in OLD_PYTHONS if _works(python, "--version"))
    return next(filter(None, (_from_pypi(folder / Path(python).name, package, python) for python in pythons)), None)


def _from_npm(folder: Path, package: str) -> list[str] | None:
    folder.mkdir()
    (folder / "package.json").write_text("{}")
    made = shutil.which("node") and _works("npm", "install", "--silent", "--prefix", folder, package)
    return ["node", str(HERE / "generators.cjs"), str(folder)] if made else None


INSTALLERS: dict[str, Callable[[Path, str], list[str] | None]] = {
    "pypi": _from_pypi,
    "old-pypi": _from_pypi_long_ago,
    "npm": _from_npm,
}


def _works(*command: str | Path) -> bool:
    try:
        return not subprocess.run(command, capture_output=True, check=False, timeout=SECONDS_TO_INSTALL).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False
