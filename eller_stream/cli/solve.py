"""`eller-stream solve`: the shortest path between two cells of a maze file, or its suggested ends."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from .say import OK, UsageError, say
from .words import two_numbers

if TYPE_CHECKING:
    from ..block import Cell
    from ..solve import MazeRows, Path
    from ..store import MazeFile

HELP = "find the shortest path between two cells"
FARTHEST, TOP_BOTTOM = "farthest", "top-bottom"


def add(parser: argparse.ArgumentParser) -> None:
    """Give the command its words."""
    parser.description = (
        "Print the shortest path between two cells, one cell a line as row,column. In a perfect maze it is found "
        "in memory for a few rows, whatever the file's size; with loops, and for the farthest pair, all of it "
        "is searched in memory, up to 67 million cells."
    )
    parser.set_defaults(command=run)
    add_argument = parser.add_argument
    add_argument("file", metavar="FILE", help="a maze file")
    add_argument("--from", dest="start", type=two_numbers, metavar="R,C", help="the cell to start from")
    add_argument("--to", dest="end", type=two_numbers, metavar="R,C", help="the cell to go to")
    add_argument(
        "--ends",
        nargs="?",
        const=FARTHEST,
        choices=(FARTHEST, TOP_BOTTOM),
        help="in place of two cells, suggested ends: the farthest pair, or the first cell and the last one",
    )
    add_argument("--workers", type=int, default=1, metavar="N", help="threads, for a perfect maze (1)")
    add_argument("--json", action="store_true", help="print the path as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    from ..store import MazeFile

    _check_words(options)
    with MazeFile(options.file) as file:
        maze = maze_rows(file)
        start, end = _ends(options, maze)
        path = path_between(file, maze, (start, end), options.workers)
    say(f"{options.file}: {path.steps:,} steps from {_as_text(start)} to {_as_text(end)}")
    if options.json:
        print(json.dumps(_record(options, path, start, end)))
    else:
        sys.stdout.writelines(f"{row},{column}\n" for row, column in path)
    return OK


def maze_rows(file: MazeFile) -> MazeRows:
    """Return a file's whole rows, to be solved; StoreError for a pipe."""
    from ..solve import MazeRows

    one_set = file.spec.key_interval or file.spec.band or 0
    return MazeRows(file.spec.width, file.header.first_row, file.stop, file.read, one_set)


def _check_words(options: argparse.Namespace) -> None:
    given = [options.start is not None, options.end is not None]
    if options.ends is not None and any(given):
        raise UsageError("--ends suggests both cells, so it does not go with --from and --to")
    if options.ends is None and not all(given):
        raise UsageError("a path needs two cells: give --from and --to, or --ends")


def _ends(options: argparse.Namespace, maze: MazeRows) -> tuple[Cell, Cell]:
    return suggested_ends(maze, options.ends) if options.ends else (options.start, options.end)


def suggested_ends(maze: MazeRows, how: str) -> tuple[Cell, Cell]:
    """Return the farthest pair, or the first cell and the last one."""
    from ..solve import farthest_pair, top_and_bottom

    return farthest_pair(maze)[:2] if how == FARTHEST else top_and_bottom(maze)


def path_between(file: MazeFile, maze: MazeRows, ends: tuple[Cell, Cell], workers: int = 1) -> Path:
    """Return the path, by the way that suits what the file promises."""
    from ..solve import shortest_path, tree_path

    is_map = file.read(maze.start, 1).floor is not None
    if is_map or file.spec.promises_loops:
        return shortest_path(maze, *ends)
    return tree_path(maze, *ends, workers=workers)


def _record(options: argparse.Namespace, path: Path, start: Cell, end: Cell) -> dict[str, Any]:
    return {"file": options.file, "from": start, "to": end, "steps": path.steps, "cells": path.cells()}


def _as_text(cell: Cell) -> str:
    return f"{cell[0]},{cell[1]}"
