"""`Viewer`: a page on loopback that shows mazes, and what it asks for.

Rows go over a WebSocket, in the conversation of docs/PROTOCOL.md, which `MazeServer` leads as with any client, within
the same limits. A spec from what was typed, a row's sets and a path are small questions in JSON.

*Who may ask.* Any page in the browser can send requests to loopback, and any name can be made to lead there. So the
Host header has to be this server's own; a socket has to come with this server's own Origin, and no request may bring
another one, nor say (Sec-Fetch-Site) that another site's page has made it, but for opening the page itself. The page
may load nothing from elsewhere (Content-Security-Policy), nor be framed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from aiohttp import web

from ..errors import EllerStreamError
from ..net.limits import ServerLimits
from ..net.protocol import MAX_MESSAGE
from ..net.server import MazeServer
from ..spec import MazeSpec, shown
from . import answers
from .socket import SocketStream

if TYPE_CHECKING:
    from types import TracebackType

    from ..store import MazeFile

    T = TypeVar("T")

HOST = "127.0.0.1"
FIRST_WIDTH = 60
STATIC = Path(__file__).parent / "static"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_MOST_QUESTION = 2**16
_OWN_SITE = ("same-origin", "none")
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Viewer:
    """Serves the page on 127.0.0.1; `async with` starts and closes it.

    maze    a file to show first; it stays the caller's
    port    0 for one that is free
    limits  what a page may ask of it

    `url` is where the page is, once it is started.
    Raises NetError for a file beyond the limits, StoreError for one that is a pipe, OSError where it cannot listen.
    """

    def __init__(self, maze: MazeFile | None = None, *, port: int = 0, limits: ServerLimits | None = None) -> None:
        self._server = MazeServer(maze, limits=limits)
        self._maze = maze
        self._first = MazeSpec(FIRST_WIDTH) if maze is None else maze.spec
        self._port = port
        self._runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=1.0)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self._port}/"

    async def start(self) -> None:
        """Listen."""
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, self._port).start()
        self._port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop listening and end all conversations."""
        await self._server.close()
        await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ---- requests ---------------------------------------------------------------------------

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard], client_max_size=_MOST_QUESTION)
        app.on_response_prepare.append(_add_headers)
        app.router.add_get("/socket", self._talk)
        for name, answer in {"maze": self._begin, "spec": self._spec, "sets": self._sets, "path": self._path}.items():
            app.router.add_post(f"/{name}", _answering(answer))
        for file in sorted(STATIC.iterdir()):
            app.router.add_get("/" if file.name == "index.html" else f"/{file.name}", _sending(file))
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Callable[[web.Request], Any]) -> web.StreamResponse:
        """Refuse what another site's page has sent, or what was sent to another name."""
        hosts = own_hosts(self._port)
        headers = request.headers
        if request.host not in hosts:
            raise web.HTTPForbidden(text=f"Host is {shown(request.host)}, {' or '.join(sorted(hosts))} was expected")
        own = f"http://{request.host}"
        if headers.get("Origin", "" if request.path == "/socket" else own) != own:
            raise web.HTTPForbidden(text=f"Origin is {shown(headers.get('Origin'))}, {own} was expected")
        if request.path != "/" and headers.get("Sec-Fetch-Site", "none") not in _OWN_SITE:
            raise web.HTTPForbidden(text="another site's page has made this request")
        response: web.StreamResponse = await handler(request)
        return response

    async def _talk(self, request: web.Request) -> web.StreamResponse:
        """Let the page have a conversation about rows."""
        socket = web.WebSocketResponse(max_msg_size=2 * MAX_MESSAGE, compress=False)
        await socket.prepare(request)
        await self._server.meet(SocketStream(request, socket), SocketStream(request, socket))
        return socket

    # ---- questions --------------------------------------------------------------------------

    async def _begin(self, _: dict[str, Any]) -> dict[str, Any]:
        """Tell what the page shows first: a spec, and the file if there is one."""
        maze = self._maze
        if maze is None:
            return {"spec": self._first.to_json(), "file": None, "first": 0, "stop": self._first.height}
        return {"spec": maze.spec.to_json(), "file": maze.path.name, "first": maze.header.first_row, "stop": maze.stop}

    async def _spec(self, question: dict[str, Any]) -> dict[str, Any]:
        return {"spec": answers.spec_of_words(question).to_json()}

    async def _sets(self, question: dict[str, Any]) -> dict[str, Any]:
        spec = MazeSpec.from_data(question.get("spec"))
        row, rows = (answers.row_of(question, name) for name in ("row", "rows"))
        return {"row": row, "sets": await self._work(lambda: answers.sets_of(spec, row, rows, self._server.limits))}

    async def _path(self, question: dict[str, Any]) -> dict[str, Any]:
        start, end = (answers.cell_of(question, name) for name in ("from", "to"))
        spec, limits = question.get("spec"), self._server.limits
        return await self._work(lambda: answers.path_between(answers.source_of(spec, self._maze, limits), start, end))

    async def _work(self, work: Callable[[], T]) -> T:
        return await self._server.carve(work)


def own_hosts(port: int) -> set[str]:
    """Return what a browser writes into the Host header for this server; it leaves HTTP's own port out."""
    return {name if port == 80 else f"{name}:{port}" for name in (HOST, "localhost")}


async def _add_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)


def _sending(file: Path) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Return what answers a request with one of the page's files."""

    async def send(_: web.Request) -> web.Response:
        return web.Response(body=file.read_bytes(), content_type=_TYPES[file.suffix], charset="utf-8")

    return send


def _answering(
    answer: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]],
) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Return what answers a question in JSON; what is wrong with its values is told as {"error": reason}."""

    async def respond(request: web.Request) -> web.Response:
        try:
            question = await request.json()
            if not isinstance(question, dict):
                raise ValueError("a question is a map")
        except (ValueError, RecursionError):
            raise web.HTTPBadRequest(text="a question is a map in JSON") from None
        try:
            return web.json_response(await answer(question))
        except EllerStreamError as error:
            return web.json_response({"error": str(error)})

    return respond
