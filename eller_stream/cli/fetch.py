"""`eller-stream fetch`: write a maze that a server streams."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from . import generate
from .pictures import add_picture_options
from .say import UsageError
from .words import Parser, add_limits, add_spec, limits_of, spec_of

if TYPE_CHECKING:
    from ..spec import MazeSpec

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
    add_argument("server", type=_address, metavar="HOST:PORT", help="the server; [HOST]:PORT for IPv6")
    add_argument("out", metavar="OUT", help="the file to write, a maze (.emz) or a picture; - for stdout")
    add_spec(parser, required=False)
    add_argument("--from", dest="first", type=int, metavar="ROW", help="the first row; above 0 it is a fragment")
    add_argument("--count", type=int, metavar="N", help="how many rows at most; the maze is not finished by it")
    add_argument("--format", metavar="F", help="emz, txt, svg, pbm, png, tmj or npy, whatever OUT ends in")
    add_argument("--force", action="store_true", help="replace an output that exists")
    add_argument("--json", action="store_true", help="print a record of the run on stdout")
    add_argument("--tls", action="store_true", help="talk TLS")
    add_argument("--tls-ca", metavar="F", help="a PEM file: what the server's certificate is checked against; with TLS")
    add_argument("--token-file", metavar="F", help="the token that the server wants is in this file")
    add_argument("--clear-token", action="store_true", help="send the token in the clear to another machine, too")
    add_picture_options(parser)
    add_limits(parser, "max_frame", "max_width", "idle", "ahead", "connect", "attempts")


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    from ..net.access import client_tls, token_from
    from ..net.client import RemoteStream
    from ..net.limits import ClientLimits

    form, spec = generate.format_of(options), _spec_of(options)
    host, port = options.server
    with RemoteStream(
        host,
        port,
        spec,
        row=_row("--from", options.first),
        count=_row("--count", options.count),
        token=token_from(options.token_file),
        tls=client_tls(options.tls_ca) if options.tls or options.tls_ca else None,
        clear_token=options.clear_token,
        limits=limits_of(options, ClientLimits()),
    ) as stream:
        output = generate.new_output(options, form, stream, stream.header.rows_per_frame)
        return generate.write(options, output, finishes=spec is not None and options.count is None)


def _spec_of(options: argparse.Namespace) -> MazeSpec | None:
    """Return the spec that the options make, None if they make none."""
    if options.width is not None:
        return spec_of(options)
    plain = Parser()
    add_spec(plain, required=False)
    if any(getattr(options, name) != value for name, value in vars(plain.parse_args([])).items()):
        raise UsageError("the options of a maze go with --width; without it, it is the server's file")
    return None


def _row(name: str, value: int | None) -> int | None:
    if value is not None and not 0 <= value <= 2**48:
        raise UsageError(f"{name} is from 0 to 2**48, not {value}")
    return value


def _address(text: str) -> tuple[str, int]:
    """Return the host and the port of HOST:PORT or [HOST]:PORT."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        raise argparse.ArgumentTypeError(f"HOST:PORT, the port from 1 to 65535, not {text!a}")
    return host.removeprefix("[").removesuffix("]"), int(port)
