"""`MazeServer`: streams any spec from any row to many clients, or a file that it offers, with asyncio.

Each client has a *conversation*: one task that does what the client asks and sends, and one that listens. Rows are
carved by a few threads (the kernel holds no lock meanwhile), and a conversation has the frames of one turn
(`sources.py`), or one step on the way to a row, carved at a time; turns come in the order in which they were asked for,
so that clients share fairly.

Invariants. While the frames of one turn go out, those of the next are carved, and no more; and those only while the
client has room for them (`More`). A frame goes out when the operating system has taken the one before, but for half a
MiB. So a client that reads slowly, or not at all, slows its own rows down, and a conversation never holds more than
the frames of two turns, the states to go back to and a few messages, all bounded by `ServerLimits`. A conversation
without progress for `idle` seconds ends. However one ends, the client is told why if it can still hear it, the log
says it, and the server serves on.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from ..errors import EllerStreamError, NetError, SpecError, StreamError
from ..spec import MazeSpec
from . import access, protocol
from .limits import ServerLimits
from .protocol import (
    Answer,
    Finalize,
    Hello,
    Jump,
    Message,
    More,
    Open,
    PacketDecoder,
    Refusal,
    Snapshot,
    State,
    Wait,
    Welcome,
    decode,
    encode,
)
from .sources import FileSource, Frames, StreamSource

if TYPE_CHECKING:
    from types import TracebackType

    from ..frames import Buffer
    from ..store import MazeFile
    from .sources import RowSource

    T = TypeVar("T")

log = logging.getLogger(__name__)

_WRITE_AT_ONCE = 2**19
_READ_AT_ONCE = 2**16
_MESSAGES_AHEAD = 64
_TELL_EVERY = 1.0
_FAREWELL = 1.0
_REQUESTS = (Open, Jump, Finalize, State, More)


class _Refused(Exception):  # noqa: N818
    """The conversation ends, and the client is told why."""

    def __init__(self, word: str, reason: object) -> None:
        super().__init__(f"{word}: {reason}")
        self.refusal = Refusal(word, str(reason)[: protocol.MAX_REASON])


class _Gone(Exception):  # noqa: N818
    """The client has gone."""


class Reader(Protocol):
    """Where a conversation's bytes come from: what it needs of an `asyncio.StreamReader`."""

    async def read(self, n: int, /) -> bytes:
        """Return up to `n` bytes, none at the end."""


class Abortable(Protocol):
    """A connection."""

    def abort(self) -> None:
        """Give it up at once."""


class Writer(Protocol):
    """Where a conversation's bytes go: what it needs of an `asyncio.StreamWriter`."""

    @property
    def transport(self) -> Abortable:
        """The connection below."""

    def get_extra_info(self, name: str, /) -> Any:
        """Return what is known of the connection, such as `peername`."""

    def write(self, data: Buffer, /) -> None:
        """Take bytes to be sent."""

    async def drain(self) -> None:
        """Wait until the client takes more."""

    def can_write_eof(self) -> bool:
        """Return whether one side can be closed alone."""

    def write_eof(self) -> None:
        """Close this side."""


class MazeServer:
    """Serves mazes on a socket; `async with` starts and closes it.

    maze      a file to offer to clients that ask for no spec; it stays the caller's
    host      where to listen; off loopback this takes a token, or `no_token`
    port      0 for one that is free, told by `port` once it listens (a host of several addresses has one for each)
    token     what a client must bring
    no_token  none is wanted, wherever it listens
    tls       see `access.server_tls`; None: in the clear
    limits    what clients may ask of it

    `clients` tells how many conversations are going on.

    Raises NetError for listening off loopback with neither token nor `no_token`, and for a file beyond the limits;
    StoreError for a file that is a pipe, OSError where it cannot listen.
    """

    def __init__(
        self,
        maze: MazeFile | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = protocol.DEFAULT_PORT,
        token: bytes | None = None,
        no_token: bool = False,
        tls: ssl.SSLContext | None = None,
        limits: ServerLimits | None = None,
    ) -> None:
        self.maze = maze
        self.limits = limits or ServerLimits()
        self.token = None if no_token else token
        self.host, self.port = host, port
        self._no_token = no_token
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.clients = 0  # conversations that are going on
        if maze is not None:
            FileSource(maze, self.limits).approach(maze.header.first_row)
        self._pool = ThreadPoolExecutor(self.limits.workers, "eller-stream-carver")

    async def start(self) -> None:
        """Listen."""
        access.check_exposure(self.host, self.token, self._no_token)
        handshake = {} if self._tls is None else {"ssl_handshake_timeout": self.limits.greeting}
        self._server = await asyncio.start_server(
            self.meet, self.host, self.port, ssl=self._tls, limit=_READ_AT_ONCE, **handshake
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening, tell every client, and wait for the end of all conversations."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._pool.shutdown(cancel_futures=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def carve(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Let a carving thread do some work when its turn comes, and return what will be its result."""
        return asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def meet(self, reader: Reader, writer: Writer) -> None:
        """Talk to a client that has come, up to its end; also to one that came another way than by this socket."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        full = self.clients >= self.limits.clients
        self.clients += not full
        try:
            await _Conversation(self, reader, writer).run(full)
        finally:
            self.clients -= not full
            self._tasks.discard(task)


class _Conversation:
    """One client: what it asked for last, how much room it has, and what goes out to it."""

    def __init__(self, server: MazeServer, reader: Reader, writer: Writer) -> None:
        self._server, self._limits = server, server.limits
        self._reader, self._writer = reader, writer
        peer = writer.get_extra_info("peername") or ("?", 0)
        self._name = f"{peer[0]}:{peer[1]}"
        self._packets = PacketDecoder(protocol.MAX_GREETING)
        self._inbox: asyncio.Queue[Message | Exception] = asyncio.Queue(_MESSAGES_AHEAD)
        self._source: RowSource | None = None
        self._frames: Frames | None = None
        self._carved: asyncio.Future[list[list[Buffer]]] | None = None
        self._going: deque[list[Buffer]] = deque()
        self._stop: int | None = None
        self._room = 0
        self._clock: asyncio.Timeout | None = None

    async def run(self, full: bool) -> None:
        """Talk until one of the two ends it, and say how it ended."""
        log.info("%s came", self._name)
        try:
            await self._talk(full)
        except _Refused as refused:
            log.warning("%s: ended, %s", self._name, refused)
            await self._farewell(refused.refusal)
        except asyncio.CancelledError:
            await self._farewell(Refusal(protocol.CLOSING, "the server is closing"))
        except (_Gone, OSError) as gone:
            log.info("%s has gone%s", self._name, f" ({gone})" if str(gone) else "")
        except Exception as error:
            log.exception("%s: ended", self._name)
            await self._farewell(Refusal(protocol.FAILED, f"the server failed ({type(error).__name__})"))
        finally:
            self._writer.transport.abort()

    async def _talk(self, full: bool) -> None:
        try:
            async with asyncio.timeout(self._limits.greeting):
                if full:
                    raise _Refused(protocol.BUSY, f"there are {self._limits.clients} clients already")
                await self._greet()
            async with asyncio.timeout(self._limits.idle) as self._clock:
                await self._listen_and_serve()
        except TimeoutError:
            raise _Refused(protocol.IDLE, "no progress for too long") from None

    async def _greet(self) -> None:
        hello = await self._next_message((Hello,))
        assert isinstance(hello, Hello)
        if hello.version != protocol.VERSION:
            raise _Refused(
                protocol.VERSIONS, f"version {hello.version} was asked for, this server speaks {protocol.VERSION}"
            )
        if not access.same_token(hello.token, self._server.token):
            raise _Refused(protocol.TOKEN, "the token is missing or not the right one")
        self._packets.most = protocol.MAX_MESSAGE
        await self._send([encode(Welcome(self._limits.ahead))])

    async def _listen_and_serve(self) -> None:
        listener = asyncio.create_task(self._listen())
        try:
            while True:
                await self._turn()
        except StreamError as error:
            raise _Refused(protocol.REQUEST, error) from None
        except NetError as error:
            raise _Refused(protocol.LIMIT, error) from None
        except (EllerStreamError, MemoryError) as error:
            raise _Refused(protocol.FAILED, error) from None
        finally:
            if self._carved is not None:
                self._carved.cancel()
            listener.cancel()
            with suppress(asyncio.CancelledError):
                await listener

    # ---- listening --------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Put what the client says in the inbox, at last what ended it."""
        try:
            while True:
                await self._inbox.put(await self._next_message(_REQUESTS))
        except (_Refused, _Gone, OSError) as ended:
            await self._inbox.put(ended)

    async def _next_message(self, expected: tuple[type[Message], ...]) -> Message:
        try:
            while True:
                data = await self._reader.read(len(self._packets.space()))
                if not data:
                    raise _Gone("" if self._packets.empty else "in the middle of a message")
                for content in self._packets.feed(data):
                    return decode(content, expected)
        except NetError as error:
            raise _Refused(protocol.REQUEST, error) from None

    # ---- serving ----------------------------------------------------------------------------

    async def _turn(self) -> None:
        """Do what the client asked, if it asked anything; else send a packet, if there is one to send."""
        frames = self._frames
        idle = frames is None or not (self._going or self._carved or frames.at_end or frames.row < self._room)
        if idle or not self._inbox.empty():
            message = await self._inbox.get()
            self._progress()
            if isinstance(message, Exception):
                raise message
            await self._obey(message)
        elif frames is not None:
            await self._send(await self._next_packet(frames))

    async def _next_packet(self, frames: Frames) -> list[Buffer]:
        """Return what is to be sent next; the frames behind it are carved meanwhile, if there is room for them."""
        if not self._going:
            if self._carved is None and frames.at_end:
                self._frames = None
                return frames.end()
            if self._carved is None and not frames.is_near:
                await self._go(frames.source, frames.row)
            self._going.extend(await (self._carved or self._carve(frames)))
            self._carved = None
        if self._carved is None and frames.is_near and not frames.at_end and frames.row < self._room:
            self._carve(frames)
        return self._going.popleft()

    def _carve(self, frames: Frames) -> asyncio.Future[list[list[Buffer]]]:
        self._carved = self._server.carve(partial(frames.rows, self._room))
        return self._carved

    async def _obey(self, message: Message) -> None:
        match message:
            case More(row):
                self._room = row
                return
        if self._carved is not None:  # a thread is at the source: what goes wrong there shows when it is to be sent
            await asyncio.gather(self._carved, return_exceptions=True)
        match message:
            case Open(number, spec, first, stop):
                self._source, self._stop = await self._server.carve(lambda: self._open(spec)), stop
                await self._answer(number, self._source.header.first_row if first is None else first)
            case Jump(number, row):
                await self._answer(number, row)
            case Finalize(number, row, rows):
                await self._go(self._opened(), row)
                self._opened().finalize(row, rows)
                await self._answer(number, row)
            case State(number, row):
                states = self._opened().states
                await self._go(states, row)
                state = await self._server.carve(lambda: states.snapshot(row))
                await self._send([encode(Snapshot(number, row, state))])

    def _open(self, spec: object) -> RowSource:
        if spec is not None:
            try:
                return StreamSource(MazeSpec.from_data(spec), self._limits)
            except SpecError as error:
                raise _Refused(protocol.REQUEST, error) from None
        if self._server.maze is None:
            raise _Refused(protocol.REQUEST, "this server offers no file, so a spec is to be asked for")
        return FileSource(self._server.maze, self._limits)

    def _opened(self) -> RowSource:
        if self._source is None:
            raise _Refused(protocol.REQUEST, "nothing is open yet")
        return self._source

    async def _answer(self, number: int, row: int) -> None:
        """Begin an answer; it takes the place of the one before. The room has to be told anew."""
        source = self._opened()
        self._frames = self._carved = None
        self._going.clear()
        await self._go(source, row)
        self._frames, self._room = Frames(source, row, self._stop), 0
        await self._send([encode(Answer(number, row, source.height)), *self._frames.head()])

    async def _go(self, source: RowSource, row: int) -> None:
        """Let a source come to a row, a step a turn; a client that waits long is told how far it is."""
        told = time.monotonic()
        if source.position == row:
            return
        while (place := await self._server.carve(lambda: source.approach(row))) != row:
            self._progress()
            if time.monotonic() - told > _TELL_EVERY:
                told = time.monotonic()
                await self._send([encode(Wait(place))])

    async def _send(self, pieces: list[Buffer]) -> None:
        """Send bytes, no faster than the client takes them and than the rate allows."""
        rate = self._limits.rate
        at_once = _WRITE_AT_ONCE if rate is None else max(1, int(rate / 8))
        for portion in _portions(pieces, at_once):
            for piece in portion:
                self._writer.write(piece)
            await self._writer.drain()
            self._progress()
            if rate is not None:
                await asyncio.sleep(sum(map(len, portion)) / rate)

    def _progress(self) -> None:
        if self._clock is not None:
            self._clock.reschedule(asyncio.get_running_loop().time() + self._limits.idle)

    async def _farewell(self, refusal: Refusal) -> None:
        """Tell the client why it is over, if it still listens."""
        with suppress(OSError, TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(_FAREWELL):
                self._writer.write(encode(refusal))
                await self._writer.drain()
                if self._writer.can_write_eof():
                    self._writer.write_eof()
                while await self._reader.read(_READ_AT_ONCE):
                    pass


def _portions(pieces: list[Buffer], most: int) -> Iterator[list[memoryview]]:
    """Yield the bytes of all pieces in portions of `most` bytes, the last one of what is left; nothing is copied."""
    portion: list[memoryview] = []
    room = most
    for piece in pieces:
        view = memoryview(piece)
        while view:
            portion.append(view[:room])
            view, room = view[room:], room - len(portion[-1])
            if not room:
                yield portion
                portion, room = [], most
    if portion:
        yield portion
