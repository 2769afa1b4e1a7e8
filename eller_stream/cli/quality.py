"""`generate --min-quality Q --tries N`: drawing mazes, seed after seed, until one is good enough."""

from __future__ import annotations

import argparse
from math import isfinite
from typing import TYPE_CHECKING

from ..errors import SolveError
from ..spec import MazeSpec
from .say import UsageError, say

if TYPE_CHECKING:
    from ..block import Block

DEFAULT_TRIES = 100


def add_quality(parser: argparse.ArgumentParser) -> None:
    """Add the options that ask for a quality."""
    add = parser.add_argument
    add("--min-quality", type=float, metavar="Q", help="draw until the longest path is Q * sqrt(cells) steps or more")
    add("--tries", type=int, metavar="N", help=f"mazes to draw at most, seed after seed ({DEFAULT_TRIES})")


def good_spec(options: argparse.Namespace, spec: MazeSpec) -> MazeSpec:
    """Return the first spec from this seed on whose maze has the quality asked for, and say its seed.

    Raises UsageError for options that do not fit, SolveError if no maze is good enough.
    """
    from ..measure import draw
    from ..streams import open_stream

    if options.min_quality is None and options.tries is None:
        return spec
    tries = DEFAULT_TRIES if options.tries is None else options.tries
    _check(options, spec, tries)

    def make(seed: int) -> Block:
        return open_stream(_with_seed(spec, seed)).read(options.rows)

    drawn = draw(make, spec.seed, min_quality=options.min_quality, tries=tries)
    found = f"{drawn.way.quality:.3f}, {drawn.way.steps:,} steps from {drawn.way.start} to {drawn.way.end}"
    if not drawn.enough:
        least = f"{options.min_quality:g} or more"
        raise SolveError(f"no maze of {drawn.tries} has quality {least}; the best, of seed {drawn.seed}: {found}")
    say(f"eller-stream: seed {drawn.seed} after {drawn.tries:,} tries has quality {found}")
    return _with_seed(spec, drawn.seed)


def _with_seed(spec: MazeSpec, seed: int) -> MazeSpec:
    return MazeSpec.from_data(spec.to_data() | {"seed": seed})


def _check(options: argparse.Namespace, spec: MazeSpec, tries: int) -> None:
    from ..solve import MOST_CELLS

    if options.min_quality is None:
        raise UsageError("--tries goes with --min-quality")
    if not (isfinite(options.min_quality) and options.min_quality >= 0):
        raise UsageError(f"--min-quality is a number, 0 or more, not {options.min_quality}")
    if tries < 1:
        raise UsageError(f"--tries is 1 or more, not {tries}")
    if spec.height is None:
        raise UsageError("--min-quality needs a finite maze: give --rows")
    if spec.height * spec.width > MOST_CELLS:
        raise UsageError(f"--min-quality searches mazes of at most {MOST_CELLS:,} cells")
