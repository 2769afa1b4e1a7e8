"""What the commands share that draw pictures: their options, and what they write."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .say import UsageError, say
from .words import STDIO

if TYPE_CHECKING:
    from ..render import Renderer
    from ..store import PartFile, StandardOutput

_OPTIONS = ("charset", "cell", "wall", "finite")


def add_picture_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a picture is to look."""
    add = parser.add_argument_group("pictures").add_argument
    add(
        "--charset",
        choices=("ascii", "unicode"),
        help="txt: +---+ and |, or box-drawing characters in UTF-8; without, ascii, and on a terminal what it can show",
    )
    add("--cell", type=_pixels, metavar="N", help="png: pixels of a cell (8)")
    add("--wall", type=_pixels, metavar="N", help="png: pixels of a wall (2)")
    add("--finite", action="store_true", default=None, help="tmj: a map without chunks, for tools that refuse them")


def _pixels(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"a number of pixels from 1 on, not {text!a}")
    return int(text)


def named_format(options: argparse.Namespace, known: Iterable[str], for_stdout: str) -> str:
    """Return the format that --format or OUT's ending names; UsageError if it is none of those known."""
    ending = Path(options.out).suffix.removeprefix(".").lower()
    form: str = options.format or (for_stdout if options.out == STDIO else ending)
    if form not in known:
        what = "--format" if options.format else "the ending of OUT"
        raise UsageError(f"{what} is one of {', '.join(known)}, not {form!a}")
    return form


def check_picture_options(options: argparse.Namespace, form: str) -> None:
    """Raise UsageError for an option that the format does not have."""
    _values(options, form)


def renderer_of(options: argparse.Namespace, form: str) -> Renderer:
    """Return what draws the format as the options say; UsageError for an option that the format does not have."""
    from ..render import FORMATS

    values = _values(options, form)
    if form == "txt" and options.out == STDIO and options.charset is None:
        values = _for_terminal()
    if form == "tmj":
        values["image"] = _tiles_beside(options.out).name
    return FORMATS[form](**values)


def _values(options: argparse.Namespace, form: str) -> dict[str, Any]:
    """Return the options that were given."""
    from ..render import FORMATS

    has = {field.name for field in fields(FORMATS[form])} if form in FORMATS else set()  # type: ignore[arg-type]
    values = {name: getattr(options, name) for name in _OPTIONS if getattr(options, name) is not None}
    for name in values:
        if name not in has:
            raise UsageError(f"--{name} does not go with the format {form}")
    return values


def _for_terminal() -> dict[str, Any]:
    """Return how text is to look on standard output: boxes on a terminal whose encoding has them."""
    from ..render.text import BOX_CHARACTERS, UNICODE

    if not sys.stdout.isatty():
        return {}
    try:
        BOX_CHARACTERS.encode(sys.stdout.encoding)
    except (UnicodeEncodeError, LookupError):
        return {}
    return {"charset": UNICODE, "encoding": sys.stdout.encoding}


def write_tiles_beside(options: argparse.Namespace, form: str) -> None:
    """Write the picture of a Tiled map's tiles next to it, unless one is there, which may be nicer."""
    from ..render.tiled import tiles_image
    from ..store import open_output, write_all

    path = _tiles_beside(options.out)
    if form != "tmj" or options.out == STDIO or path.exists():
        return
    with open_output(path, force=options.force) as output:
        write_all(output, tiles_image())


def _tiles_beside(out: str) -> Path:
    name = "maze" if out == STDIO else Path(out).stem
    return Path(out).with_name(f"{name}-tiles.png")


def mend(output: PartFile | StandardOutput, beginning: bytes | None) -> None:
    """Put a picture's right beginning over the one it has; where that cannot be done, say so."""
    if beginning is not None and not output.rewrite_beginning(beginning):
        say("eller-stream: the output cannot be gone back in, so its header tells a height that it does not have")
