"""`AsyncRemoteStream`: a server's rows as a stream, for asyncio. It does what `RemoteStream` does, with `await`."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from ..errors import NetError
from . import access
from .remote import PASSES, LostError, Remote

if TYPE_CHECKING:
    from types import TracebackType

    from ..block import Block, Row

_READ_AT_ONCE = 2**18


class AsyncRemoteStream(Remote):
    """The rows of a maze that a server streams, for asyncio; the parameters are those of `Remote`.

    Use it in an `async with` statement, which connects, or call `connect` and `close`. `async for` yields rows.
    One task at a time may use it. A call that is cancelled closes the connection, and the next one goes on where the
    rows that were taken end.

    Raises what `RemoteStream` does.
    """

    def _start(self) -> None:
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

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
        streams, self._streams = self._streams, None
        if streams is not None:
            streams[1].transport.abort()
            with suppress(OSError):
                await streams[1].wait_closed()

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
        if self._talk.speaks and self._streams is not None:
            self._streams[1].write(self._talk.outgoing())

    async def _exchange(self) -> None:
        """Send what there is to say and take what comes."""
        reader, writer = self._streams or await self._connect()
        writer.write(self._talk.outgoing())
        try:
            async with asyncio.timeout(self._limits.idle):
                await writer.drain()
                data = await reader.read(_READ_AT_ONCE)
        except TimeoutError:
            raise LostError(f"nothing came for {self._limits.idle:g} seconds") from None
        if not data:
            raise LostError("the server has gone in the middle")
        self._talk.receive(data)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._closed:
            raise NetError("the stream is closed")
        try:
            async with asyncio.timeout(self._limits.connect):
                self._streams = await asyncio.open_connection(
                    self._host, self._port, ssl=self._tls, limit=_READ_AT_ONCE
                )
        except ssl.SSLError as error:
            raise access.tls_failed(error) from None
        peer = self._streams[1].get_extra_info("peername")[0]
        access.check_way(peer, self._token, self._tls is not None, self._clear_token)
        self._talk.begin()
        return self._streams
