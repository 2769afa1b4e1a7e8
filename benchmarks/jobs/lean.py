"""What the package takes of memory: importing it, and the command `generate` at widths from a thousand to ten million.

Everything is the peak resident memory of a process. `generate` writes to /dev/null.
"""

from __future__ import annotations

import sys

from eller_stream.bench import child

from ..contestants import SEED
from ..measure import MEGABYTES, Contestant, Figure, Options, Result, Samples, race

TITLE = "lean: what importing and generating take of memory"
ROUNDS = 3
BARE, BEFORE = "bare interpreter", "import numpy, msgpack"
USED = "from eller_stream import EllerStream, MazeFile, MazeWriter"
IMPORTS = {BARE: "pass", BEFORE: BEFORE, "import eller_stream": f"{BEFORE}, eller_stream", USED: USED}
MOST_BEYOND = 4.0
WIDTHS = {1_000: (100_000, 40.0), 1_000_000: (100, 80.0), 10_000_000: (10, None)}


def run(options: Options) -> Result:
    rounds = options.pick(ROUNDS, 1)
    imports = race([_import(name, code) for name, code in IMPORTS.items()], rounds)
    peaks = race([_generate(width, rows) for width, (rows, _) in WIDTHS.items()], rounds)
    targets = [most for _, most in WIDTHS.values()]
    figures = [_beyond(samples, imports[1]) for samples in imports[2:]]
    figures += [Figure(s.name, MEGABYTES, s.values, most, at_most=True) for s, most in zip(peaks, targets, strict=True)]
    return Result({"seed": SEED, "rows": [rows for rows, _ in WIDTHS.values()]}, [*imports, *peaks], figures)


def _import(name: str, code: str) -> Contestant:
    return Contestant(name, lambda: child.run(sys.executable, "-P", "-c", code).peak_bytes / 1e6, MEGABYTES)


def _generate(width: int, rows: int) -> Contestant:
    words = ("generate", "-", "--width", width, "--rows", rows, "--seed", SEED)
    return Contestant(f"generate, width {width:,}", lambda: child.eller_stream(*words).peak_bytes / 1e6, MEGABYTES)


def _beyond(samples: Samples, before: Samples) -> Figure:
    values = tuple(after - least for after, least in zip(samples.values, before.values, strict=True))
    return Figure(f"{samples.name}, beyond numpy and msgpack", MEGABYTES, values, MOST_BEYOND, at_most=True)
