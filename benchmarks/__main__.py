"""Measures everything side by side, prints a table and keeps a record.

    python -m benchmarks [--only NAME ...] [--json OUT] [--plots FOLDER] [--quick]

It measures the eller_stream that a plain import finds. README.md beside this file tells what the figures mean.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.console import Console

from eller_stream.bench.plot import svg

from .jobs import JOBS
from .measure import NotHereError, Options, Result
from .report import record, show


def main() -> None:
    words = _words().parse_args()
    options = Options(quick=words.quick)
    results = _run_jobs(words.only or list(JOBS), options)
    console = Console()
    show(console if console.is_terminal else Console(width=140), results)
    if words.plots:
        words.plots.mkdir(parents=True, exist_ok=True)
        for name, (_, result) in results.items():
            if hasattr(JOBS[name], "panels"):
                (words.plots / f"{name}.svg").write_text(svg(JOBS[name].panels(result)), encoding="utf-8")
    if words.json:
        said = [*(["--only", *words.only] if words.only else []), *(["--quick"] if words.quick else [])]
        words.json.parent.mkdir(parents=True, exist_ok=True)
        words.json.write_text(json.dumps(record(results, options, said), indent=1) + "\n")


def _words() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure eller_stream against the yardsticks.")
    parser.add_argument("--only", nargs="+", choices=JOBS, metavar="NAME", help=f"of {', '.join(JOBS)}")
    parser.add_argument("--json", type=Path, metavar="OUT", help="keep a record of the run in this file")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw what can be drawn into NAME.svg there")
    parser.add_argument("--quick", action="store_true", help="small amounts: for a look, not for figures")
    return parser


def _run_jobs(names: list[str], options: Options) -> dict[str, tuple[str, Result]]:
    """Run jobs one after another; one that this machine cannot run is told and left out."""
    results = {}
    status = Console(stderr=True)
    for name in names:
        status.print(f"{name} ...")
        try:
            results[name] = JOBS[name].TITLE, JOBS[name].run(options)
        except NotHereError as error:
            status.print(f"{name} is left out: {error}")
    return results


if __name__ == "__main__":
    main()
