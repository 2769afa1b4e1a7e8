"""`eller-stream watch`: a maze that scrolls by in a terminal."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from .say import OK, UsageError
from .words import STDIO, add_connection, add_spec, address, connection_of, needing, spec_if_any, spec_of, told_spec

if TYPE_CHECKING:
    from ..block import Block
    from ..net import RemoteStream
    from ..spec import MazeSpec
    from ..store import MazeFile
    from ..stream import RowStream

    Source: TypeAlias = RowStream | RemoteStream | MazeFile

HELP = "let a maze scroll by in the terminal"

_FOLLOW = 5.0  # seconds to wait for more rows of a file without an end
_CELLS_AT_ONCE = 2**12


def add(parser: argparse.ArgumentParser) -> None:
    """Give the command its words."""
    parser.description = (
        "Let a maze scroll by: the maze of the options, one in a file (also while it is written), or one that a server "
        "streams, its file where there is no --width. ? tells the keys. Where stdin, stdout and stderr are not all a "
        "terminal, print the rows as plain text."
    )
    parser.set_defaults(command=run)
    parser.add_argument("source", nargs="?", metavar="FILE | HOST:PORT", help="a maze file, - for stdin; or a server")
    add_spec(parser, required=False)
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    in_terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    if in_terminal:
        for name in (
            "COLUMNS",
            "LINES",
        ):  # believed more than the terminal, they would keep its size from being followed
            os.environ.pop(name, None)
    source, another = _opened(options)
    if in_terminal:
        _watch(source, another)
    else:
        _print(source)
    return OK


def _opened(options: argparse.Namespace) -> tuple[Source, Callable[[MazeSpec], Source] | None]:
    """Return what is watched, and what opens the maze of another spec, None for a file."""
    if options.source is None:
        return _stream(options)
    if options.source == STDIO or Path(options.source).exists() or ":" not in options.source:
        return _file(options), None
    return _remote(options)


def _stream(options: argparse.Namespace) -> tuple[Source, Callable[[MazeSpec], Source]]:
    from ..render.text import CELL_COLUMNS
    from ..streams import open_stream

    if options.width is None:
        options.width = max(1, (shutil.get_terminal_size().columns - 1) // CELL_COLUMNS)
    return open_stream(spec_of(options)), open_stream


def _file(options: argparse.Namespace) -> MazeFile:
    from ..store import MazeFile

    if told_spec(options):
        raise UsageError("a file's maze is made: the options of a maze do not go with FILE")
    return MazeFile(options.source, follow=_FOLLOW)


def _remote(options: argparse.Namespace) -> tuple[Source, Callable[[MazeSpec], Source] | None]:
    from ..net.client import RemoteStream

    try:
        host, port = address(options.source)
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"no such file, and no server: {error}") from None
    spec, connection = spec_if_any(options), connection_of(options)

    def connect(spec: MazeSpec | None) -> RemoteStream:
        return RemoteStream(host, port, spec, **connection)

    return connect(spec), None if spec is None else connect


def _watch(source: Source, another: Callable[[MazeSpec], Source] | None) -> None:
    """Let it scroll by until it is left."""
    with needing("textual", "tui"):
        from ..tui.app import MazeApp
    from ..render.text import ASCII, UNICODE
    from ..tui.canvas import shows_boxes

    charset = UNICODE if shows_boxes(sys.stdout.encoding) else ASCII
    if MazeApp(source, another=another, charset=charset).run():
        raise KeyboardInterrupt


def _print(source: Source) -> None:
    """Print the rows as plain text, until they end or the reader has gone."""
    from ..render import text
    from ..window.source import source_of

    with closing(source_of(source)):
        top = True
        for block in _blocks(source):
            sys.stdout.buffer.write(text.lines(block, top=top))
            sys.stdout.buffer.flush()
            top = False


def _blocks(source: Source) -> Iterator[Block]:
    from ..store import MazeFile

    if isinstance(source, MazeFile):
        yield from source.blocks()
        return
    rows = max(1, _CELLS_AT_ONCE // source.spec.width)
    while len(block := source.read(rows)):
        yield block
