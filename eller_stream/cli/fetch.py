"""`eller-stream fetch`: write a maze that a server streams."""

from __future__ import annotations

import argparse

from . import generate
from .pictures import add_picture_options
from .say import UsageError
from .words import add_connection, add_spec, address, connection_of, spec_if_any

HELP = "write a maze that a server streams"


def add(parser: argparse.ArgumentParser) -> None:
    """Give the command its words."""
    parser.description = (
        "Write the rows that a server streams: the same bytes as generate writes. Without --width they are those of "
        "the file that the server offers. Without --rows and --count it goes on until Ctrl-C, which finishes the maze. "
        "A token comes from --token-file or the environment's ELLER_STREAM_TOKEN."
    )
    parser.set_defaults(command=run, resume=False)
    add_argument = parser.add_argument
    add_argument("server", type=address, metavar="HOST:PORT", help="the server; [HOST]:PORT for IPv6")
    add_argument("out", metavar="OUT", help="the file to write, a maze (.emz) or a picture; - for stdout")
    add_spec(parser, required=False)
    add_argument("--from", dest="first", type=int, metavar="ROW", help="the first row; above 0 it is a fragment")
    add_argument("--count", type=int, metavar="N", help="how many rows at most; the maze is not finished by it")
    add_argument("--format", metavar="F", help="emz, txt, svg, pbm, png, tmj or npy, whatever OUT ends in")
    add_argument("--force", action="store_true", help="replace an output that exists")
    add_argument("--json", action="store_true", help="print a record of the run on stdout")
    add_picture_options(parser)
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    from ..net.client import RemoteStream

    form, spec = generate.format_of(options), spec_if_any(options)
    host, port = options.server
    with RemoteStream(
        host,
        port,
        spec,
        row=_row("--from", options.first),
        count=_row("--count", options.count),
        **connection_of(options),
    ) as stream:
        output = generate.new_output(options, form, stream, stream.header.rows_per_frame)
        return generate.write(options, output, finishes=spec is not None and options.count is None)


def _row(name: str, value: int | None) -> int | None:
    if value is not None and not 0 <= value <= 2**48:
        raise UsageError(f"{name} is from 0 to 2**48, not {value}")
    return value
