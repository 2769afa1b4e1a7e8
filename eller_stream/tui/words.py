"""What the terminal scroller says: its help, and its line of state."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..block import Block
    from ..spec import MazeSpec

HELP = """\
up, down, k, j         one row
left, right            to the side, in a wide maze
page up, page down     one screen of rows
home, end              the first row, the last row
g                      go to a row, by its number
+, -                   faster, slower
space, p               pause, and go on
a                      another algorithm
n                      a new seed
s                      the solution: a shortest way from the
                       first row in view to the last one
?, h                   this help
q                      leave"""
HELP_TITLE = "any key closes this"


def state(spec: MazeSpec, block: Block, *, at_end: bool, speed: int | None, solution: bool | None) -> str:
    """Return the line that tells which rows of which maze are shown, and how.

    speed     rows a second, None: paused
    solution  whether the rows have one, None: it is not asked for
    """
    rows = f"rows {block.start:,} to {block.stop - 1:,}" if len(block) else "no rows yet"
    words = [
        rows + (", the end" if at_end else ""),
        "paused" if speed is None else f"{speed} rows/s",
        {None: "", True: "solution", False: "no solution"}[solution],
        "? help",
        spec.algorithm,
        f"width {spec.width:,}",
        f"seed {spec.seed}",
    ]
    return "  ".join(word for word in words if word)
