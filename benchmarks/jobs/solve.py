"""`eller-stream solve` from corner to corner of a maze of 100 million cells, and what memory that takes.

The command runs as a process, from its start to the path's last cell on stdout: on a file with key rows, whose bands
stand alone, and on one without, whose sets have to come down from row 0. The path itself takes memory by its length;
the passages alone, handed on band by band (`tree_overlays`), must take no more for ten times the rows.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from eller_stream.bench import child

from ..contestants import SEED, WIDTH, c_kernel
from ..measure import LONG_ROUNDS, MEGABYTES, Contestant, Figure, Options, Result, race, ratios

TITLE = "solve: the path from corner to corner, width 1,000"
SECONDS = "s"
KINDS = {"key rows, K = 1,024": 1024, "no key rows": 0}
PEAK_ROUNDS = 2
BANDS = """
import sys
from collections import deque
from eller_stream.cli.solve import maze_rows
from eller_stream.solve import tree_overlays
from eller_stream.store import MazeFile

with MazeFile(sys.argv[1]) as file:
    maze = maze_rows(file)
    deque(tree_overlays(maze, (0, 0), (maze.stop - 1, maze.width - 1)), maxlen=0)
"""


def run(options: Options) -> Result:
    c_kernel()
    rows = options.pick(100_000, 30_000)
    with TemporaryDirectory() as folder:
        files = {kind: _generated(Path(folder, f"{interval}.emz"), rows, interval) for kind, interval in KINDS.items()}
        few = _generated(Path(folder, "few.emz"), rows // 10, 1024)
        seconds = race([_seconds(kind, file) for kind, file in files.items()], options.pick(LONG_ROUNDS, 1))
        peaks = race([_peak(f"{kind}, the whole command", file) for kind, file in files.items()], PEAK_ROUNDS)
        bands = race([_peak_of_bands(few, rows // 10), _peak_of_bands(next(iter(files.values())), rows)], PEAK_ROUNDS)
    cells = rows * WIDTH
    figures = [Figure(f"{samples.name}, {cells:,} cells", SECONDS, samples.values) for samples in seconds]
    figures += [Figure(samples.name, MEGABYTES, samples.values) for samples in peaks]
    fewer, all_rows = bands
    name = f"{all_rows.name}, against {rows // 10:,}"
    figures.append(Figure(name, "times", ratios(all_rows, fewer), 1.02, at_most=True))
    return Result({"width": WIDTH, "rows": rows, "seed": SEED}, [*seconds, *peaks, *bands], figures)


def _generated(file: Path, rows: int, key_interval: int) -> Path:
    words = ("--width", WIDTH, "--rows", rows, "--seed", SEED, "--key-interval", key_interval)
    child.eller_stream("generate", file, *words)
    return file


def _solve(file: Path) -> child.Child:
    return child.eller_stream("solve", file, "--ends", "top-bottom")


def _seconds(kind: str, file: Path) -> Contestant:
    return Contestant(kind, lambda: _solve(file).seconds, SECONDS)


def _peak(name: str, file: Path) -> Contestant:
    return Contestant(f"peak memory, {name}", lambda: _solve(file).peak_bytes / 1e6, MEGABYTES)


def _peak_of_bands(file: Path, rows: int) -> Contestant:
    name = f"peak memory, band by band, {rows:,} rows"
    return Contestant(name, lambda: child.run(sys.executable, "-P", "-c", BANDS, file).peak_bytes / 1e6, MEGABYTES)
