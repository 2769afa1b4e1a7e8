"""The record of a run: a table for people, JSON for keeping, and what machine it was."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import eller_stream
from eller_stream.bench.machine import facts, in_words

from .measure import Figure, Options, Result, Samples

RECORD_VERSION = 1


def show(console: Console, results: dict[str, tuple[str, Result]]) -> None:
    """Print the figures of each job, and what they were taken from."""
    figures = _table("Figures: median of the rounds (least to greatest)", ("reached", "", "target", "met"))
    rates = _table("Measured: median of the rounds (least to greatest)", ("median", ""))
    for title, result in results.values():
        for table, lines in ((figures, map(_figure_line, result.figures)), (rates, map(_samples_line, result.samples))):
            table.add_row(f"[bold]{title}")
            for line in lines:
                table.add_row(*line)
            table.add_section()
    console.print(figures)
    console.print(rates)
    for _, result in results.values():
        for sentence in result.settings.get("left_out", []):
            console.print(f"left out: {sentence}", markup=False)
    console.print(in_words(facts()))


def _table(title: str, columns: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("", min_width=48)
    for column in columns:
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    return table


def _figure_line(figure: Figure) -> list[str]:
    line = [f"  {figure.name}", _number(figure.reached), _range(figure.values, figure.unit)]
    if figure.target is None:
        return [*line, "", ""]
    met = "[green]yes" if figure.met else "[red]no"
    return [*line, f"{'≤' if figure.at_most else '≥'} {figure.target:g}", met]


def _samples_line(samples: Samples) -> list[str]:
    return [f"  {samples.name}", _number(samples.median), _range(samples.values, samples.unit)]


def _range(values: tuple[float, ...], unit: str) -> str:
    return f"{unit} ({_number(min(values))} to {_number(max(values))})"


def _number(value: float) -> str:
    """Return a number with three digits that mean something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def record(results: dict[str, tuple[str, Result]], options: Options, words: list[str]) -> dict[str, Any]:
    """Return everything about a run as plain data."""
    return {
        "record": RECORD_VERSION,
        "command": ["python", "-m", "benchmarks", *words],
        "quick": options.quick,
        **facts(),
        "commit": _commit(),
        "jobs": {name: {"title": title, **result.to_json()} for name, (title, result) in results.items()},
    }


def _commit() -> str | None:
    """Return the commit of the tree that the package stands in, with "+" if it was changed since; None without git."""
    folder = Path(eller_stream.__file__).parent
    try:
        said = [
            subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "."])
        ]
    except (OSError, subprocess.CalledProcessError):
        return None
    return said[0] + ("+" if said[1] else "")
