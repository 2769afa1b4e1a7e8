"""`AsyncRemoteStream`: a server's rows as a stream, for asyncio. It does what `RemoteStream` does, with `await`."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Self

from ..errors import NetError
from . import access
from .remote import PASSES, LostError, Remote

if TYPE_CHECKING:
    from types import TracebackType

    from ..block import Block, Row
    from .conversation import Conversation


class _Wire(asyncio.BufferedProtocol):
    """A connection whose bytes go straight to where a conversation wants them. It is read only while `came` waits."""

    _transport: asyncio.Transport

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self._came: asyncio.Future[int] | None = None
        self._gone = asyncio.get_running_loop().create_future()

    @property
    def peer(self) -> str:
        """The address of the other side."""
        return str(self._transport.get_extra_info("peername")[0])

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._transport.write(data)

    async def came(self) -> int:
        """Wait until bytes have been written to the conversation's `space`; return how many, 0 at the end."""
        if self._gone.done():
            return 0
        self._came = asyncio.get_running_loop().create_future()
        self._transport.resume_reading()
        return await self._came

    async def hang_up(self) -> None:
        """Give the connection up at once."""
        self._transport.abort()
        await self._gone

    def _tell(self, count: int, error: Exception | None = None) -> None:
        self._transport.pause_reading()
        if self._came is None or self._came.done():
            return
        if error is None:
            self._came.set_result(count)
        else:
            self._came.set_exception(error)

    # ---- what asyncio calls -----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.pause_reading()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        return self._talk.space()

    def buffer_updated(self, nbytes: int) -> None:
        self._tell(nbytes)

    def eof_received(self) -> None:
        self._tell(0)

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone.set_result(None)
        self._tell(0, exc)


class AsyncRemoteStream(Remote):
    """The rows of a maze that a server streams, for asyncio; the parameters are those of `Remote`.

    Use it in an `async with` statement, which connects, or call `connect` and `close`. `async for` yields rows.
    One task at a time may use it. A call that is cancelled closes the connection, and the next one goes on where the
    rows that were taken end.

    Raises what `RemoteStream` does.
    """

    def _start(self) -> None:
        self._wire: _Wire | None = None

    # ---- rows -------------------------------------------------------------------------------

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Row:
        await self._exchange_until(lambda: self._talk.ready(1))
        try:
            row = self._talk.take_row()
        except StopIteration:
            raise StopAsyncIteration from None
        self._flush()
        return row

    async def read(self, rows: int, /) -> Block:
        """Return the next `rows` rows as a Block; fewer at the end, then none."""
        count = self._talk.rows_wanted(rows)
        await self._exchange_until(lambda: self._talk.ready(count))
        block = self._talk.take(count)
        self._flush()
        return block

    async def seek(self, row: int, /) -> None:
        """Make `row` the row to come; it stays where it was if the server refuses."""
        before = self._talk.position
        self._talk.jump(row)
        try:
            await self._exchange_until(lambda: self._talk.answered)
        except NetError:
            self._talk.stand_at(before)
            raise

    async def finalize(self, rows: int = 1) -> None:
        """End the maze after `rows` more rows, counted from those that were taken here."""
        self._talk.finalize(rows)
        await self._exchange_until(lambda: self._talk.answered)

    async def snapshot(self) -> bytes:
        """Return the state at the row to come."""
        self._talk.ask_state()
        await self._exchange_until(lambda: self._talk.snapshot is not None)
        assert self._talk.snapshot is not None
        return self._talk.snapshot

    # ---- the connection ---------------------------------------------------------------------

    async def connect(self) -> None:
        """Connect, and wait for the server's first answer."""
        await self._exchange_until(lambda: self._talk.answered)

    async def close(self) -> None:
        """Close the connection. Doing it again does nothing."""
        self._closed = True
        await self._hang_up()

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _hang_up(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            await wire.hang_up()

    async def _exchange_until(self, done: Callable[[], bool]) -> None:
        """Talk with the server until it is done, over as many connections as it takes."""
        while not done():
            try:
                await self._exchange()
            except PASSES as error:
                await self._hang_up()
                await asyncio.sleep(self._retry.pause(error))
            except NetError as error:
                await self._hang_up()
                raise NetError(f"{self._host}:{self._port}: {error}") from None
            except BaseException:
                await self._hang_up()
                raise
        self._flush()

    def _flush(self) -> None:
        """Send what there is to say, if anyone is there to hear it."""
        if self._talk.speaks and self._wire is not None:
            self._wire.write(self._talk.outgoing())

    async def _exchange(self) -> None:
        """Send what there is to say and take what comes."""
        wire = self._wire or await self._connect()
        self._flush()
        try:
            async with asyncio.timeout(self._limits.idle):
                count = await wire.came()
        except TimeoutError:
            raise LostError(f"nothing came for {self._limits.idle:g} seconds") from None
        if not count:
            raise LostError("the server has gone in the middle")
        self._talk.filled(count)

    async def _connect(self) -> _Wire:
        if self._closed:
            raise NetError("the stream is closed")
        try:
            async with asyncio.timeout(self._limits.connect):
                _, self._wire = await asyncio.get_running_loop().create_connection(
                    partial(_Wire, self._talk), self._host, self._port, ssl=self._tls
                )
        except ssl.SSLError as error:
            raise access.tls_failed(error) from None
        access.check_way(self._wire.peer, self._token, self._tls is not None, self._clear_token)
        self._talk.begin()
        return self._wire
