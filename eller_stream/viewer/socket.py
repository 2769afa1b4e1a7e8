"""A WebSocket as the reader and the writer of a conversation (docs/PROTOCOL.md).

The conversation's bytes go through binary messages as through any stream: where a message ends means nothing. So
whatever holds for a client of `MazeServer`, its limits among it, holds for a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from aiohttp import WSMsgType

if TYPE_CHECKING:
    from aiohttp.web import Request, WebSocketResponse

    from ..frames import Buffer


class SocketStream:
    """Reads and writes a WebSocket as `asyncio`'s streams read and write a socket."""

    def __init__(self, request: Request, socket: WebSocketResponse) -> None:
        self._request, self._socket = request, socket
        self._came = b""
        self._going = bytearray()

    async def read(self, n: int, /) -> bytes:
        """Return up to `n` bytes, none at the end; ConnectionError for a message that is no bytes."""
        while not self._came:
            message = await self._socket.receive()
            if message.type is WSMsgType.TEXT:
                raise ConnectionError("a text came, the conversation is in bytes")
            if message.type is not WSMsgType.BINARY:
                return b""
            self._came = message.data
        data, self._came = self._came[:n], self._came[n:]
        return data

    def write(self, data: Buffer, /) -> None:
        """Take bytes that `drain` is to send."""
        self._going += data

    async def drain(self) -> None:
        """Send what was written, no faster than the client takes it."""
        data, self._going = self._going, bytearray()
        if data:
            await self._socket.send_bytes(bytes(data))

    def can_write_eof(self) -> bool:
        """Return False: a WebSocket is closed as a whole."""
        return False

    def write_eof(self) -> None:
        """Do nothing."""

    def get_extra_info(self, name: str, /) -> Any:
        """Return what the connection below knows, such as `peername`."""
        return self._request.get_extra_info(name)

    @property
    def transport(self) -> Self:
        """What can be given up: this."""
        return self

    def abort(self) -> None:
        """Give the connection up."""
        if self._request.transport is not None:
            self._request.transport.abort()
