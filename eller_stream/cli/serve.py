"""`eller-stream serve`: stream mazes over a socket."""

from __future__ import annotations

import argparse
import logging
import signal
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from .say import OK, UsageError, say
from .words import add_limits, limits_of

if TYPE_CHECKING:
    from ..net.server import MazeServer
    from ..store import MazeFile

HELP = "stream any spec from any row over a socket, and a file"


def add(parser: argparse.ArgumentParser) -> None:
    """Give the command its words."""
    parser.description = (
        "Stream the rows of whatever spec a client asks for, from any row on, and of FILE, until Ctrl-C. A token comes "
        "from --token-file or the environment's ELLER_STREAM_TOKEN; beyond loopback it takes one, or --no-token."
    )
    parser.set_defaults(command=run)
    add_argument = parser.add_argument
    add_argument("file", metavar="FILE", nargs="?", help="a maze file to offer")
    add_argument("--host", default="127.0.0.1", metavar="H", help="the address to listen on (127.0.0.1)")
    add_argument("--port", type=int, metavar="P", help="0 for a free one (3553)")
    tokens = parser.add_mutually_exclusive_group()
    tokens.add_argument("--token-file", metavar="F", help="clients must bring the token in this file")
    tokens.add_argument("--no-token", action="store_true", help="no token is wanted, wherever it listens")
    add_argument("--tls-cert", metavar="F", help="a PEM file: the certificate, with its chain")
    add_argument("--tls-key", metavar="F", help="a PEM file: the certificate's key")
    add_limits(
        parser,
        *("max_frame", "max_width", "max_band_cells", "max_schedule", "max_seek_cells"),
        *("clients", "idle", "rate", "ahead", "workers"),
    )


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    import asyncio

    from ..net.access import server_tls, token_from
    from ..net.limits import ServerLimits
    from ..net.protocol import DEFAULT_PORT
    from ..net.server import MazeServer
    from ..store import MazeFile

    if (options.tls_cert is None) != (options.tls_key is None):
        raise UsageError("--tls-cert and --tls-key go together")
    with MazeFile(options.file) if options.file is not None else nullcontext() as maze:
        server = MazeServer(
            maze,
            host=options.host,
            port=DEFAULT_PORT if options.port is None else options.port,
            token=None if options.no_token else token_from(options.token_file),
            no_token=options.no_token,
            tls=None if options.tls_cert is None else server_tls(options.tls_cert, options.tls_key),
            limits=limits_of(options, ServerLimits()),
        )
        asyncio.run(_serve(server, maze))
    return OK


async def _serve(server: MazeServer, maze: MazeFile | None) -> None:
    """Serve until the process is told to end."""
    import asyncio

    asked = asyncio.Event()
    with suppress(NotImplementedError):  # a system without such signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
    async with server:
        _say_what_is_logged()
        offered = "any spec" if maze is None else f"any spec and {maze.path}"
        say(f"eller-stream: {offered} on {server.host}:{server.port}")
        await asked.wait()


def _say_what_is_logged() -> None:
    handler = logging.Handler()
    handler.emit = lambda record: say(f"eller-stream: {record.getMessage()}")  # type: ignore[method-assign]
    log = logging.getLogger("eller_stream.net")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
