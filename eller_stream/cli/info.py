"""`eller-stream info`: say what a maze file holds."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CutShortError
from ..spec import OPTIONS
from .say import OK, size
from .solve import maze_rows
from .words import STDIO

if TYPE_CHECKING:
    from ..frames import Header
    from ..spec import MazeSpec
    from ..store import MazeFile

HELP = "say what a maze file holds"
_CELLS_AT_ONCE = 2**22


def add(parser: argparse.ArgumentParser) -> None:
    """Give the command its words."""
    parser.set_defaults(command=run)
    parser.add_argument("file", metavar="FILE", help="a maze file; - for stdin")
    parser.add_argument(
        "--measures", action="store_true", help="read all rows: dead ends, junctions, corridors, the longest path"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    from ..frames import VERSION
    from ..store import MazeFile

    with MazeFile(options.file) as maze:
        rows, complete, finished = _rows_in(maze)
        facts = {
            "file": options.file,
            "format": VERSION,
            **_header_facts(maze.header),
            "rows": rows,
            "complete": complete,
            "finished": finished,
            "bytes": None if options.file == STDIO else Path(options.file).stat().st_size,
            **(_measures(maze) if options.measures else {}),
        }
    print(json.dumps(facts) if options.json else _facts_for_people(facts, maze.header))
    return OK


def _measures(maze: MazeFile) -> dict[str, Any]:
    """Measure the whole rows of a file; the longest path only of what can be searched in memory."""
    from ..measure import Measurer, longest_way
    from ..solve import MOST_CELLS

    rows = maze_rows(maze)
    measurer = Measurer(rows.width, rows.start)
    for block in rows.blocks(rows.start, rows.stop, _CELLS_AT_ONCE):
        measurer.feed(block)
    facts = measurer.measures().to_json()
    if not facts["cells"] or (rows.stop - rows.start) * rows.width > MOST_CELLS:
        return facts | {"longest_path": None}
    way = longest_way(rows)
    path = {"from": way.start, "to": way.end, "steps": way.steps, "quality": round(way.quality, 6)}
    return facts | {"longest_path": path}


def _rows_in(maze: MazeFile) -> tuple[int, bool, bool]:
    """Return the rows in a file, whether its end frame is there, and whether the maze is finished."""
    if maze.end is not None:
        return maze.end.rows, True, maze.end.finished
    rows, ends = 0, False
    try:
        for block in maze.blocks():
            rows, ends = rows + len(block), block.ends_at(maze.spec.height)
    except CutShortError:
        return rows, False, ends
    return rows, True, ends


def _header_facts(header: Header) -> dict[str, Any]:
    return {
        "spec": header.spec.to_json(),
        "first_row": header.first_row,
        "rows_per_frame": header.rows_per_frame,
        "checkpoint_every": header.checkpoint_every,
    }


def _option_for_people(spec: MazeSpec, name: str) -> str:
    value = getattr(spec, name)
    if name == "key_interval":
        return f"every {value:,} rows" if value else "none"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else "none" if value is None else str(value)


def _facts_for_people(facts: dict[str, Any], header: Header) -> str:
    spec = header.spec
    state = "finished" if facts["finished"] else "unfinished"
    lines = {
        "file": facts["file"],
        "size": "unknown" if facts["bytes"] is None else f"{size(facts['bytes'])} ({facts['bytes']:,} bytes)",
        "algorithm": spec.algorithm,
        "width": f"{spec.width:,} cells",
        "rows": f"{facts['rows']:,}, {state}" + ("" if facts["complete"] else ", cut short: the end frame is missing"),
        "first row": f"{header.first_row:,}" + (", a fragment" if header.first_row else ""),
        "planned height": "endless" if spec.height is None else f"{spec.height:,} rows",
        "seed": spec.seed,
        **{name: _option_for_people(spec, name) for name in OPTIONS[spec.algorithm]},
        "frames": f"{header.rows_per_frame:,} rows each, format {facts['format']}",
    }
    if "cells" in facts:
        lines |= _measures_for_people(facts)
    return "\n".join(f"{name + ':':16}{value}" for name, value in lines.items())


def _measures_for_people(facts: dict[str, Any]) -> dict[str, str]:
    corridors = sum(facts["corridors"].values())
    longest, mean, path = facts["longest_corridor"], facts["mean_corridor"], facts["longest_path"]
    lines = {
        "cells": f"{facts['cells']:,}, {facts['passages']:,} passages",
        "dead ends": f"{facts['dead_ends']:,}",
        "junctions": f"{facts['junctions']:,}",
        "corridors": f"{corridors:,}, of {mean:.2f} passages on the average, {longest:,} at most",
        "longest path": "not searched, there are too many cells" if facts["cells"] else "none",
    }
    if path is not None:
        ends = " to ".join(f"{row},{column}" for row, column in (path["from"], path["to"]))
        lines["longest path"] = f"{path['steps']:,} steps, {path['quality']:.2f} * sqrt(cells), from {ends}"
    return lines
