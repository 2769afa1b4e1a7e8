"""`eller-stream view`: a maze in the browser, live."""

from __future__ import annotations

import argparse
import signal
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from .say import OK, UsageError, say
from .words import needing

if TYPE_CHECKING:
    from ..viewer import Viewer

HELP = "show mazes in the browser, as far as one scrolls"


def add(parser: argparse.ArgumentParser) -> None:
    """Give the command its words."""
    parser.description = (
        "Open a page in the browser that shows FILE, or an endless maze, until Ctrl-C. It listens on 127.0.0.1 alone. "
        "Needs the extra web: pip install 'eller_stream[web]'."
    )
    parser.set_defaults(command=run)
    parser.add_argument("file", metavar="FILE", nargs="?", help="a maze file")
    parser.add_argument("--port", type=int, default=0, metavar="P", help="the port to listen on (a free one)")
    parser.add_argument("--no-browser", action="store_true", help="only print where the page is")


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    import asyncio

    from ..store import MazeFile

    with needing("aiohttp", "web"):
        from ..viewer import Viewer
    if not 0 <= options.port < 2**16:
        raise UsageError(f"--port is from 0 to 65535, not {options.port}")
    with MazeFile(options.file) if options.file is not None else nullcontext() as maze:
        asyncio.run(_show(Viewer(maze, port=options.port), not options.no_browser))
    return OK


async def _show(viewer: Viewer, in_browser: bool) -> None:
    """Show the page until the process is told to end."""
    import asyncio
    import webbrowser

    asked = asyncio.Event()
    with suppress(NotImplementedError):  # a system without such signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
    async with viewer:
        say(f"eller-stream: {viewer.url}")
        if in_browser:
            await asyncio.to_thread(webbrowser.open, viewer.url)
        await asked.wait()
