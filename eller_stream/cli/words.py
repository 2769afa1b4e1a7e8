"""The words that several commands share: the parser, the options that make a spec, those of a socket, and extras."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ..chance import written_schedule
from ..errors import NetError
from ..spec import ALGORITHMS, OPTIONS, MazeSpec, seed_from_text
from .say import WRONG_USE, MissingExtraError, UsageError, say

if TYPE_CHECKING:
    from ..net.limits import ClientLimits, ServerLimits

    AnyLimits = TypeVar("AnyLimits", ServerLimits, ClientLimits)

STDIO = "-"
_OF_SOME = sorted({name for names in OPTIONS.values() for name in names} - {"loops", "braid"})


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
    add("--algorithm", default="eller", metavar="A", help=", ".join(ALGORITHMS))
    add("--loops", type=schedule, default=0.0, metavar="P", help="chance that a closed wall opens after all (0)")
    add("--braid", type=float, default=0.0, metavar="P", help="chance that a dead end gets one more passage (0)")
    _add_options(parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that some of the algorithms have; the spec refuses those of others."""
    add = parser.add_argument_group("options of some algorithms").add_argument
    add("--p-east", type=schedule, metavar="P", help="eller: chance to join two neighbours (0.5)")
    add("--p-south", type=schedule, metavar="P", help="eller: chance to keep a passage south (0.5)")
    add("--key-interval", type=int, metavar="K", help="eller: a key row every K rows; 0 for none (1024)")
    add("--band", type=int, metavar="B", help="dfs, prim, wilson, random_walk: rows that are carved at a time (64)")
    add("--start", type=two_numbers, metavar="R,C", help="dfs, prim: the cell of the first band to begin with (random)")
    add("--goal", type=two_numbers, metavar="R,C", help="dfs, prim: the cell that the weights speak of")
    add(
        "--weights",
        type=weights,
        metavar="W",
        help="dfs: north,east,south,west or nearer,farther; prim: toward:A, away:A",
    )
    add("--doors", type=int, metavar="D", help="dfs: passages into a band (one in 16 columns)")
    add("--max-tunnels", type=int, metavar="N", help="random_walk: tunnels in a band (one for 16 cells)")
    add("--max-length", type=int, metavar="L", help="random_walk: the most cells of a tunnel (8)")


def spec_of(options: argparse.Namespace) -> MazeSpec:
    """Return the spec that the options make; SpecError for values that no maze can have."""
    return MazeSpec(
        options.width,
        algorithm=options.algorithm,
        seed=options.seed if options.seed_text is None else seed_from_text(options.seed_text),
        height=options.rows,
        loops=options.loops,
        braid=options.braid,
        **{name: getattr(options, name) for name in _OF_SOME},
    )


def spec_if_any(options: argparse.Namespace) -> MazeSpec | None:
    """Return the spec that the options make, None if they make none; UsageError for some of them without a width."""
    if options.width is not None:
        return spec_of(options)
    if told_spec(options):
        raise UsageError("the options of a maze go with --width; without it, it is the server's file")
    return None


def told_spec(options: argparse.Namespace) -> bool:
    """Return whether any of the options that make a spec is told."""
    plain = Parser()
    add_spec(plain, required=False)
    return any(getattr(options, name) != value for name, value in vars(plain.parse_args([])).items())


def two_numbers(text: str) -> tuple[int, int]:
    """Return a cell or a size, written as row,column or rows,columns."""
    if not re.fullmatch(r"[0-9]{1,19},[0-9]{1,19}", text):
        raise argparse.ArgumentTypeError(f"row,column as in 3,5, not {text!a}")
    row, column = text.split(",")
    return int(row), int(column)


def schedule(text: str) -> float | list[tuple[int, float]]:
    """Return a probability, or the schedule written 0:0.5,1000:0.6."""
    try:
        return written_schedule(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a number, or row:number,row:number..., not {text!a}") from None


def weights(text: str) -> str | tuple[str, float] | tuple[float, ...]:
    """Return the weights written 2,1,1,1 or toward:0.05 or even."""
    way, colon, a = text.partition(":")
    try:
        if colon:
            return way, float(a)
        return text if text.isalpha() else tuple(map(float, text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"numbers a,b,..., toward:A, away:A or even, not {text!a}") from None


_LIMITS: dict[str, tuple[type[int] | type[float], str]] = {
    "max_frame": (int, "bytes of a frame (64 MiB)"),
    "max_width": (int, "cells in a row (2**20 to serve, 2**24 to fetch)"),
    "max_band_cells": (int, "band times width (2**22)"),
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


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Add the options of a connection to a server."""
    add = parser.add_argument_group("a server").add_argument
    add("--tls", action="store_true", help="talk TLS")
    add("--tls-ca", metavar="F", help="a PEM file: what the server's certificate is checked against; with TLS")
    add("--token-file", metavar="F", help="the token that the server wants is in this file")
    add("--clear-token", action="store_true", help="send the token in the clear to another machine, too")
    add_limits(parser, "max_frame", "max_width", "idle", "ahead", "connect", "attempts")


def connection_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options tell a `RemoteStream` of the connection, as its keywords."""
    from ..net.access import client_tls, token_from
    from ..net.limits import ClientLimits

    return {
        "token": token_from(options.token_file),
        "tls": client_tls(options.tls_ca) if options.tls or options.tls_ca else None,
        "clear_token": options.clear_token,
        "limits": limits_of(options, ClientLimits()),
    }


def address(text: str) -> tuple[str, int]:
    """Return the host and the port of HOST:PORT or [HOST]:PORT."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        raise argparse.ArgumentTypeError(f"HOST:PORT, the port from 1 to 65535, not {text!a}")
    return host.removeprefix("[").removesuffix("]"), int(port)


@contextmanager
def needing(module: str, extra: str) -> Iterator[None]:
    """Import in the body what an extra brings; MissingExtraError where it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module:
            raise
        raise MissingExtraError(f"this needs {module}: pip install 'eller_stream[{extra}]'") from None
