"""`eller-stream render`: draw a maze file."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import PictureError, StoreError
from .pictures import add_picture_options, mend, named_format, renderer_of, write_tiles_beside
from .say import OK, UsageError, quantity, say, size
from .solve import FARTHEST, TOP_BOTTOM, maze_rows, path_between, suggested_ends
from .words import STDIO

if TYPE_CHECKING:
    from ..block import Block
    from ..render import Marks, Picture, Renderer
    from ..store import MazeFile

HELP = "draw a maze file"


def add(parser: argparse.ArgumentParser) -> None:
    """Give the command its words."""
    parser.description = (
        "Draw a maze file as txt, svg, pbm, png, tmj (a map for Tiled, with the picture of its tiles beside it) or npy "
        "(cell masks, N=1 S=2 E=4 W=8). All but svg are written in memory for a few rows, whatever the size."
    )
    parser.set_defaults(command=run)
    add_argument = parser.add_argument
    add_argument("file", metavar="FILE", help="a maze file; - for stdin")
    add_argument("-o", dest="out", metavar="OUT", default=STDIO, help="the file to write; - for stdout, as txt (-)")
    add_argument("--format", metavar="F", help="txt, svg, pbm, png, tmj or npy, whatever OUT ends in")
    add_argument("--rows", type=_row_range, metavar="A:B", default=(None, None), help="rows A to B - 1; all without")
    add_argument("--solve", action="store_true", help="draw the path between the ends too")
    add_argument(
        "--ends",
        nargs="?",
        const=FARTHEST,
        choices=(FARTHEST, TOP_BOTTOM),
        help=f"mark suggested ends: the farthest pair, or the first cell and the last one (with --solve, {TOP_BOTTOM})",
    )
    add_argument("--force", action="store_true", help="replace an output that exists")
    add_picture_options(parser)


def _row_range(text: str) -> tuple[int | None, int | None]:
    if not re.fullmatch(r"[0-9]{0,19}:[0-9]{0,19}", text):
        raise argparse.ArgumentTypeError(f"A:B as in 100:200, not {text!a}")
    first, stop = (int(part) if part else None for part in text.split(":"))
    return first, stop


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    from ..render import FORMATS, check
    from ..store import MazeFile

    form = named_format(options, FORMATS, "txt")
    renderer = renderer_of(options, form)
    if (options.solve or options.ends) and not renderer.shows_marks:
        raise UsageError(f"{form} shows neither paths nor ends: no --solve and no --ends")
    with MazeFile(options.file) as file:
        picture = _picture(options, file)
        check(renderer, picture)
        if options.solve or options.ends:
            picture = replace(picture, marks=_marks(options, file))
        _write(options, form, renderer, picture, file)
    return OK


def _picture(options: argparse.Namespace, file: MazeFile) -> Picture:
    """Return the rows that are asked for; PictureError if the file has none of them."""
    from ..render import Picture

    first, behind = file.header.first_row, _stop_of(file)
    start = first if options.rows[0] is None else options.rows[0]
    stop = min((row for row in (behind, options.rows[1]) if row is not None), default=None)
    if start < first or (stop is not None and start >= stop):
        wanted = ":".join("" if row is None else str(row) for row in options.rows)
        there = f"from {first} on" if behind is None else f"{first} to {behind - 1}"
        raise PictureError(f"{options.file}: there are no rows {wanted}, but {there if behind != first else 'none'}")
    return Picture(file.spec.width, start, None if stop is None else stop - start)


def _stop_of(file: MazeFile) -> int | None:
    """Return the row behind the file's last; of a pipe, the one that is planned."""
    try:
        stop = file.stop
    except StoreError:
        return file.spec.height
    if file.end is None:
        say(f"{file.path}: cut short, the end frame is missing; the rows that are whole are drawn")
    return stop


def _marks(options: argparse.Namespace, file: MazeFile) -> Marks:
    from ..render import Marks

    maze = maze_rows(file)
    start, end = suggested_ends(maze, options.ends or TOP_BOTTOM)
    return Marks(start, end, path_between(file, maze, (start, end)) if options.solve else None)


def _write(options: argparse.Namespace, form: str, renderer: Renderer, picture: Picture, file: MazeFile) -> None:
    """Write the picture, and say what was written."""
    from ..render import draw, mended_beginning
    from ..store import open_output, write_all

    started = time.perf_counter()
    tally = _Tally()
    stop = None if picture.rows is None else picture.start + picture.rows
    with open_output(options.out, force=options.force) as output:
        write_tiles_beside(options, form)
        for piece in draw(renderer, picture, tally.rows_of(file.blocks(picture.start, stop))):
            write_all(output, piece)
            tally.bytes += len(piece)
        mend(output, mended_beginning(renderer, picture, tally.rows))
    seconds = max(time.perf_counter() - started, 1e-9)
    say(
        f"{'stdout' if options.out == STDIO else options.out}: {tally.rows:,} rows of {picture.width:,} cells, "
        f"{size(tally.bytes)} in {seconds:.2f} s, {quantity(tally.rows * picture.width / seconds, 'cells/s')}"
    )


class _Tally:
    """What was drawn, in rows and in bytes."""

    def __init__(self) -> None:
        self.rows = self.bytes = 0

    def rows_of(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks and count their rows; PictureError if there are none."""
        for block in blocks:
            self.rows += len(block)
            yield block
        if not self.rows:
            raise PictureError("there are no rows to draw")
