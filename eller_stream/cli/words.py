"""The words that several commands share: the parser, the options that make a spec, and limits of a socket."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, TypeVar

from ..errors import NetError
from ..spec import MazeSpec, seed_from_text
from .say import WRONG_USE, UsageError, say

if TYPE_CHECKING:
    from ..net.limits import ClientLimits, ServerLimits

    AnyLimits = TypeVar("AnyLimits", ServerLimits, ClientLimits)

STDIO = "-"


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Say it, and leave."""
        say(f"{self.prog}: error: {message} (see {self.prog} --help)")
        sys.exit(WRONG_USE)


def add_spec(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the options that make a spec; without `required` the width may be left out."""
    add = parser.add_argument
    add("--width", type=int, required=required, metavar="W", help="cells in a row")
    add("--rows", type=int, metavar="N", help="rows of the maze; endless without")
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=int, metavar="S", help="0 to 2**64 - 1; drawn and told without")
    seeds.add_argument("--seed-text", metavar="T", help="the seed that a text stands for, as in a daily maze")
    add("--algorithm", default="eller", metavar="A", help="eller")
    add("--p-east", type=schedule, default=0.5, metavar="P", help="chance to join two neighbours (0.5)")
    add("--p-south", type=schedule, default=0.5, metavar="P", help="chance to keep a passage south (0.5)")
    add("--key-interval", type=int, metavar="K", help="a key row every K rows; 0 for none (1024)")
    add("--loops", type=schedule, default=0.0, metavar="P", help="chance that a closed wall opens after all (0)")
    add("--braid", type=float, default=0.0, metavar="P", help="chance that a dead end gets one more passage (0)")


def spec_of(options: argparse.Namespace) -> MazeSpec:
    """Return the spec that the options make; SpecError for values that no maze can have."""
    return MazeSpec(
        options.width,
        algorithm=options.algorithm,
        seed=options.seed if options.seed_text is None else seed_from_text(options.seed_text),
        height=options.rows,
        p_east=options.p_east,
        p_south=options.p_south,
        key_interval=options.key_interval,
        loops=options.loops,
        braid=options.braid,
    )


def promises_loops(spec: MazeSpec) -> bool:
    """Return whether a maze of this spec may have cycles."""
    return spec.braid.n > 0 or any(n for _, n in spec.loops.pairs)


def two_numbers(text: str) -> tuple[int, int]:
    """Return a cell or a size, written as row,column or rows,columns."""
    if not re.fullmatch(r"[0-9]{1,19},[0-9]{1,19}", text):
        raise argparse.ArgumentTypeError(f"row,column as in 3,5, not {text!a}")
    row, column = text.split(",")
    return int(row), int(column)


def schedule(text: str) -> float | list[tuple[int, float]]:
    """Return a probability, or the schedule written 0:0.5,1000:0.6."""
    try:
        if ":" not in text:
            return float(text)
        pairs = [pair.split(":") for pair in text.split(",")]
        return [(int(row), float(p)) for row, p in pairs]
    except ValueError:
        raise argparse.ArgumentTypeError(f"a number, or row:number,row:number..., not {text!a}") from None


_LIMITS: dict[str, tuple[type[int] | type[float], str]] = {
    "max_frame": (int, "bytes of a frame (64 MiB)"),
    "max_width": (int, "cells in a row (2**20 to serve, 2**24 to fetch)"),
    "max_band_cells": (int, "key interval or band times width (2**28)"),
    "max_schedule": (int, "pairs of a schedule (256)"),
    "max_seek_cells": (int, "cells carved on the way to a row (2**32)"),
    "clients": (int, "clients at a time (64)"),
    "idle": (float, "seconds without progress (60)"),
    "rate": (float, "bytes a second to each client (no limit)"),
    "ahead": (int, "frames sent before they are taken (16)"),
    "workers": (int, "threads that carve (one for each core)"),
    "connect": (float, "seconds to reach the server (10)"),
    "attempts": (int, "times to look for a server that went away (8)"),
}


def add_limits(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add options for limits of a socket."""
    group = parser.add_argument_group("limits")
    for name in names:
        number, meaning = _LIMITS[name]
        group.add_argument(f"--{name.replace('_', '-')}", type=number, metavar="N", help=meaning)


def limits_of(options: argparse.Namespace, defaults: AnyLimits) -> AnyLimits:
    """Return the limits, with those that the options tell; UsageError for a value that is none."""
    told = {name: getattr(options, name) for name in _LIMITS if getattr(options, name, None) is not None}
    try:
        return replace(defaults, **told)
    except NetError as error:
        raise UsageError(str(error)) from None
