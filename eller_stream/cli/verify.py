"""`eller-stream verify`: check a maze file."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from ..errors import FormatError
from .passages import add_passages, check
from .say import NO, OK, printable
from .scale import ZARR, add_scheduler, check_zarr, verify_store

if TYPE_CHECKING:
    from ..verify import Report

HELP = "check a maze file: connected, no cycle, nothing damaged"


def add(parser: argparse.ArgumentParser) -> None:
    """Give the command its words."""
    parser.description = (
        "Exits 0 for a maze that is finished and as promised, 1 otherwise; the place of a fault is told."
    )
    parser.set_defaults(command=run)
    parser.add_argument("file", metavar="FILE", help="a maze file, or a .zarr store; - for stdin")
    parser.add_argument("--unfinished", action="store_true", help="an unfinished maze without a fault will do")
    parser.add_argument("--fragment", action="store_true", help="a fragment without a fault will do")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="threads that check (1)")
    add_scheduler(parser)
    add_passages(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    is_zarr = options.file.rstrip("/").endswith(f".{ZARR}")
    check_zarr(options, is_zarr=is_zarr)
    if options.passages is not None:
        return check(options)
    return _judge(options, verify_store(options)) if is_zarr else _verify_file(options)


def _verify_file(options: argparse.Namespace) -> int:
    from ..store import MazeFile
    from ..verify import verifier_of

    with MazeFile(options.file) as maze:
        spec, first_row = maze.spec, maze.header.first_row
        loops, workers = spec.promises_loops, options.workers
        verifier = verifier_of(spec.width, start=first_row, loops=loops, workers=workers)
        try:
            for block in maze.blocks():
                verifier.feed(block)
        except FormatError as error:
            return _tell_damaged(options, error, verifier.report())
    return _judge(options, verifier.report())


def _judge(options: argparse.Namespace, report: Report) -> int:
    """Tell a report, and return the exit code."""
    from ..verify import FRAGMENT, UNFINISHED

    _tell(options, report.to_json(), str(report))
    accepted = (options.unfinished and report.answer == UNFINISHED) or (options.fragment and report.answer == FRAGMENT)
    return OK if report.ok or accepted else NO


def _tell_damaged(options: argparse.Namespace, error: FormatError, report: Report) -> int:
    """Say that a file is damaged, and what its rows up to there are."""
    data = report.to_json() | {"answer": "damaged", "ok": False, "message": str(error)}
    _tell(options, data, f"damaged: {error}; before that, {report}")
    return NO


def _tell(options: argparse.Namespace, data: dict[str, Any], sentence: str) -> None:
    if options.json:
        print(json.dumps({"file": options.file, **data}))
    else:
        print(printable(f"{options.file}: {sentence}"))
