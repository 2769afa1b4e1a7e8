"""`RemoteStream`: a server's rows as a stream, with a plain blocking socket and without asyncio.

It connects when it is made, so that what is wrong shows at once. A connection that is lost is made again at the next
need, from the row it stood at: nothing is lost or told twice.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from ..errors import NetError
from . import access
from .remote import PASSES, LostError, Remote

if TYPE_CHECKING:
    from types import TracebackType

    from ..block import Block, Row


class RemoteStream(Remote):
    """The rows of a maze that a server streams: a `RowStream`, over a blocking socket.

    The parameters are those of `Remote`. `finalize` counts from the rows that were taken here, whatever the server has
    sent ahead. Threads may share a stream. Close it, or use it in a `with` statement.

    Raises NetError for whatever goes wrong on the wire: at once for what the server refuses and where there is no
    server, later for one that went away and is not found again.
    """

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        with self._lock:
            self._exchange_until(lambda: self._talk.answered)

    # ---- rows -------------------------------------------------------------------------------

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        with self._lock:
            if not self._talk.ready(1):
                self._exchange_until(lambda: self._talk.ready(1))
            row = self._talk.take_row()
            self._flush()
            return row

    def read(self, rows: int, /) -> Block:
        """Return the next `rows` rows as a Block; fewer at the end, then none.

        Raises StreamError if `rows` is not an integer >= 0, NetError for what goes wrong on the wire.
        """
        with self._lock:
            count = self._talk.rows_wanted(rows)
            self._exchange_until(lambda: self._talk.ready(count))
            block = self._talk.take(count)
            self._flush()
            return block

    def seek(self, row: int, /) -> None:
        """Make `row` the row to come.

        Raises StreamError for a row outside the maze; NetError where the server refuses, and stays where it was.
        """
        with self._lock:
            before = self._talk.position
            self._talk.jump(row)
            try:
                self._exchange_until(lambda: self._talk.answered)
            except NetError:
                self._talk.stand_at(before)
                raise

    def finalize(self, rows: int = 1) -> None:
        """End the maze after `rows` more rows, counted from those that were taken here.

        Raises StreamError if it was finalized before, has ended or has not so many rows, and for an offered file.
        """
        with self._lock:
            self._talk.finalize(rows)
            self._exchange_until(lambda: self._talk.answered)

    def snapshot(self) -> bytes:
        """Return the state at the row to come, as the maze's own stream gives it: it can go on from there alone."""
        with self._lock:
            self._talk.ask_state()
            self._exchange_until(lambda: self._talk.snapshot is not None)
            assert self._talk.snapshot is not None
            return self._talk.snapshot

    # ---- the socket -------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connection. Doing it again does nothing."""
        self._closed = True
        self._hang_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _hang_up(self) -> None:
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()

    def _exchange_until(self, done: Callable[[], bool]) -> None:
        """Talk with the server until it is done, over as many connections as it takes."""
        while not done():
            try:
                self._exchange()
            except PASSES as error:
                self._hang_up()
                time.sleep(self._retry.pause(error))
            except NetError as error:
                self._hang_up()
                raise NetError(f"{self._host}:{self._port}: {error}") from None
            except BaseException:
                self._hang_up()
                raise
        self._flush()

    def _flush(self) -> None:
        """Send what there is to say, if anyone is there to hear it."""
        if self._talk.speaks and self._socket is not None:
            with suppress(OSError):  # what is lost here shows when rows are needed
                self._socket.sendall(self._talk.outgoing())

    def _exchange(self) -> None:
        """Send what there is to say and take what comes."""
        connection = self._socket or self._connect()
        if data := self._talk.outgoing():
            connection.sendall(data)
        try:
            count = connection.recv_into(self._talk.space())
        except TimeoutError:
            raise LostError(f"nothing came for {self._limits.idle:g} seconds") from None
        if not count:
            raise LostError("the server has gone in the middle")
        self._talk.filled(count)

    def _connect(self) -> socket.socket:
        if self._closed:
            raise NetError("the stream is closed")
        connection = socket.create_connection((self._host, self._port), self._limits.connect)
        try:
            access.check_way(connection.getpeername()[0], self._token, self._tls is not None, self._clear_token)
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_hostname=self._host)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(self._limits.idle)
        except ssl.SSLError as error:
            connection.close()
            raise access.tls_failed(error) from None
        except BaseException:
            connection.close()
            raise
        self._socket = connection
        self._talk.begin()
        return connection
