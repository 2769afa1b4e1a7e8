"""`eller-stream bench`: measure this machine."""

from __future__ import annotations

import argparse
import json
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from .say import OK, quantity, say, size

if TYPE_CHECKING:
    from ..bench.limits import Limit
    from ..bench.plot import Panel
    from ..bench.survey import Growth, Measured, Survey, Widest

HELP = "measure this machine: rates, memory, the widest maze that fits"
RECORD_VERSION = 1
SECONDS = 55.0
LEAST_LIMIT = 16_000_000
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def add(parser: argparse.ArgumentParser) -> None:
    """Give the command its words."""
    parser.description = (
        "Measure rows a second, memory at numbers of rows a hundredfold apart, writing and reading, on each backend; "
        "each figure in a process of its own. Takes at most a minute."
    )
    parser.set_defaults(command=run)
    add_argument = parser.add_argument
    add_argument(
        "--memory-limit",
        type=memory,
        metavar="M",
        help="run under this limit, as in 48M (M is 10**6 bytes, Mi 2**20), and find the widest maze that fits",
    )
    add_argument(
        "--seconds", type=_seconds, default=SECONDS, metavar="S", help=f"begin nothing after these ({SECONDS:g})"
    )
    add_argument("--plot", metavar="SVG", help="draw memory against rows and rate against width into this file")
    add_argument("--force", action="store_true", help="replace a plot that exists")
    add_argument("--json", action="store_true", help="print the record as JSON")


def memory(text: str) -> int:
    """Return the bytes that a size such as 48M stands for."""
    matched = re.fullmatch(r"([0-9]{1,15})([kmg]?i?)b?", text.lower())
    if matched is None or matched[2] not in _UNITS:
        raise argparse.ArgumentTypeError(f"a size as in 48M, not {text!a}")
    count = int(matched[1]) * _UNITS[matched[2]]
    if not LEAST_LIMIT <= count < 2**62:
        raise argparse.ArgumentTypeError(
            f"a size from {size(LEAST_LIMIT)} on, which Python by itself needs, not {text!a}"
        )
    return count


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text):
        raise argparse.ArgumentTypeError(f"a number of seconds, not {text!a}")
    return float(text)


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    from ..bench.limits import limits
    from ..bench.survey import Surveyor
    from ..store import PartFile, write_all

    with ExitStack() as stack:
        plot = stack.enter_context(PartFile(options.plot, force=options.force)) if options.plot else None
        held = stack.enter_context(limits(options.memory_limit)) if options.memory_limit else []
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="eller-stream-")))
        say(f"eller-stream: measuring, for up to {options.seconds:g} seconds ...")
        survey = Surveyor(folder, held, options.seconds).run()
        if plot is not None:
            write_all(plot, _plot(survey).encode())
    record = _record(options, survey, held)
    if options.json:
        print(json.dumps(record))
    else:
        _show(record, survey)
    return OK


def _record(options: argparse.Namespace, survey: Survey, held: list[Limit]) -> dict[str, Any]:
    from ..bench.machine import facts

    limit = None
    if options.memory_limit:
        limit = {"bytes": options.memory_limit, "held": [limit.name for limit in held]}
    command = ["eller-stream", *sys.argv[1:]]
    return {"record": RECORD_VERSION, "command": command, **facts(), "limit": limit, **survey.to_json()}


# ---- for people ------------------------------------------------------------------------------


def _show(record: dict[str, Any], survey: Survey) -> None:
    from ..bench.machine import in_words
    from ..bench.survey import growths

    if record["limit"]:
        _show_limit(record["limit"], survey)
    _table("Rates, and the memory of a process that carves", _RATE_COLUMNS, map(_rate_line, survey.rates))
    _table("Files", _FILE_COLUMNS, map(_file_line, survey.files))
    grown = growths([*survey.heights, *survey.files])
    _table("Peak memory against rows", _GROWTH_COLUMNS, map(_growth_line, grown))
    for sentence in survey.left_out:
        print(f"left out: {sentence}")
    print(in_words(record))


def _show_limit(limit: dict[str, Any], survey: Survey) -> None:
    print(f"Limit: {size(limit['bytes'])} ({limit['bytes']:,} bytes); what this machine can hold to it: ", end="")
    print(", ".join(limit["held"]) or "nothing, so all ran without a limit")
    _table("The widest maze that fits", ("backend", "limit on", "cells a row"), map(_widest_line, survey.widest))
    for backend, names in survey.confined.items():
        print(f"all of {backend} below ran under a limit on: {', '.join(names) or 'nothing: it did not start'}")


def _widest_line(widest: Widest) -> tuple[str, ...]:
    width = "does not start" if widest.width is None else f"{widest.width:,}"
    return widest.backend, widest.limit, width + ("" if widest.in_time else ", or more: it took too long to try")


_RATE_COLUMNS = ("backend", "width", "rows/s", "cells/s", "state", "peak memory")


def _rate_line(figure: Measured) -> tuple[str, ...]:
    rates = quantity(figure.rows_a_second, ""), quantity(figure.cells_a_second, "")
    return figure.backend, f"{figure.width:,}", *rates, size(figure.state_bytes), _exactly(figure.peak_bytes)


_FILE_COLUMNS = ("backend", "what", "width", "rows", "cells/s", "peak memory")


def _file_line(figure: Measured) -> tuple[str, ...]:
    rate = quantity(figure.cells_a_second, "")
    return figure.backend, figure.what, f"{figure.width:,}", f"{figure.rows:,}", rate, _exactly(figure.peak_bytes)


_GROWTH_COLUMNS = ("backend", "what", "width", "rows", "peak memory", "does it grow?")


def _growth_line(growth: Growth) -> tuple[str, ...]:
    rows = f"{growth.few_rows:,} → {growth.many_rows:,}"
    peaks = f"{growth.few_bytes / 1e6:.1f} → {growth.many_bytes / 1e6:.1f} MB"
    grows = "no" if growth.flat else f"by {growth.many_bytes / growth.few_bytes - 1:.1%}"
    return growth.backend, growth.what, f"{growth.width:,}", rows, peaks, grows


def _exactly(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def _table(title: str, columns: tuple[str, ...], lines: Any) -> None:
    """Print a table; numbers stand on the right, names on the left."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column in ("backend", "what", "limit on") else "right")
    for line in lines:
        table.add_row(*line)
    console = Console()
    if table.row_count:
        (console if console.is_terminal else Console(width=100)).print(table)


# ---- the plot --------------------------------------------------------------------------------


def _plot(survey: Survey) -> str:
    from ..bench.plot import svg

    return svg([_memory_panel(survey), _rate_panel(survey)])


def _memory_panel(survey: Survey) -> Panel:
    from ..bench.plot import Panel

    lines: dict[str, list[tuple[float, float]]] = {}
    for figure in [*survey.heights, *survey.files]:
        name = f"{figure.backend}, {figure.what}, width {figure.width:,}"
        lines.setdefault(name, []).append((figure.rows, figure.peak_bytes / 1e6))
    return Panel("Memory against rows", "rows", "peak resident memory, MB", lines)


def _rate_panel(survey: Survey) -> Panel:
    from ..bench.plot import Panel

    lines: dict[str, list[tuple[float, float]]] = {}
    for figure in survey.rates:
        lines.setdefault(figure.backend, []).append((figure.width, figure.cells_a_second / 1e6))
    return Panel("Rate against width", "cells a row", "million cells a second", lines, log_y=True)
