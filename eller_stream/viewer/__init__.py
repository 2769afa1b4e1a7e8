"""The live page: `eller-stream view` shows a maze in the browser, as far as one scrolls.

    from eller_stream.viewer import Viewer

    async with Viewer() as viewer:
        print(viewer.url)
        await asyncio.Event().wait()

server.py   the page's files, the socket and the answers, on loopback alone (needs aiohttp, the extra `web`)
socket.py   a WebSocket as a conversation's reader and writer
answers.py  what the page asks for besides rows: a spec from what was typed, a row's sets, a path
static/     the page: plain modules, no build step, nothing from elsewhere
"""

from .server import Viewer as Viewer

__all__ = ["Viewer"]
