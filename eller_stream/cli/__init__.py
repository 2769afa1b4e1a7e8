"""The command `eller-stream`: data on stdout, all else on stderr.

Exit codes: 0; 1, the answer is no, or it failed; 2, wrong use; 130, Ctrl-C. An error is one line. Each command is a
module with `HELP`, `add` (its words) and `run`; what it needs is imported when it runs, so that `--version` and
`--help` are there at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from .. import __version__
from ..errors import EllerStreamError, SpecError
from . import bench, fetch, generate, info, render, serve, solve, verify, view, watch
from .say import INTERRUPTED, NO, OK, WRONG_USE, UsageError, fail, forget_stdout
from .words import Parser

COMMANDS = {
    "generate": generate,
    "info": info,
    "render": render,
    "verify": verify,
    "solve": solve,
    "serve": serve,
    "fetch": fetch,
    "watch": watch,
    "view": view,
    "bench": bench,
}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and leave with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every error ends in one line on stderr."""
    try:
        options = _parser().parse_args(arguments)
        code: int = options.command(options)
        sys.stdout.flush()
        return code
    except (UsageError, SpecError) as error:
        return fail(error, WRONG_USE)
    except BrokenPipeError:
        forget_stdout()
        return fail("whoever read the output has gone", NO)
    except (EllerStreamError, OSError, MemoryError) as error:
        return fail(error, NO)
    except KeyboardInterrupt:
        return fail("interrupted", INTERRUPTED)


class _Version(argparse.Action):
    def __call__(self, *_: Any) -> NoReturn:
        from ..kernel import BACKEND

        print(f"eller-stream {__version__} ({BACKEND} kernel)")
        sys.exit(OK)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="eller-stream", description="Infinite mazes as a stream, in constant memory.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and the kernel that runs")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for name, command in COMMANDS.items():
        command.add(commands.add_parser(name, help=command.HELP))
    return parser
