"""`verify FILE --passages R,C`: check a plain list of passages, from any program."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..errors import FormatError
from .say import NO, OK, printable
from .words import STDIO, two_numbers


def add_passages(parser: argparse.ArgumentParser) -> None:
    """Add the option that tells of a list of passages."""
    parser.add_argument(
        "--passages",
        type=two_numbers,
        metavar="R,C",
        help="FILE is a JSON list of passages [[row, column], [row, column]] in a grid of R rows and C columns",
    )


def check(options: argparse.Namespace) -> int:
    """Answer the questions about a list of passages, one by one, and return the exit code."""
    from ..passages import check_passages

    report = check_passages(_listed(options.file), *options.passages)
    if options.json:
        print(json.dumps({"file": options.file, **report.to_json()}))
    else:
        print("\n".join(printable(line) for line in str(report).splitlines()))
    return OK if report.ok else NO


def _listed(file: str) -> list[Any]:
    """Return the list in a JSON file; FormatError if there is none."""
    data = sys.stdin.buffer.read() if file == STDIO else Path(file).read_bytes()
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{file}: no JSON: {error}") from None
    if not isinstance(found, list):
        raise FormatError(f"{file}: a JSON list of passages was expected, not {type(found).__name__}")
    return found
