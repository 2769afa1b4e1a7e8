"""What is said over a socket, as bytes and back, without any input or output: docs/PROTOCOL.md, version 1.

Both sides send *packets*: msgpack bins of fixed head (`c6` and the length in 4 bytes), each with one frame of a maze
(docs/FORMAT.md) or one *message* in it. A message is an array, its kind first, closed by a CRC-32 like a frame
(`sealed.py`); it is accepted only if its fields are encoded as this module encodes them.

Invariants. A packet's length is compared with a bound before a byte of it is waited for, and no memory is taken
on its word. What is not understood raises NetError, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import msgpack  # type: ignore[import-untyped]
import numpy as np

from ..errors import FormatError, NetError
from ..sealed import BIN_HEAD_SIZE, bin_head, check_seal, seal
from ..spec import MAX_ROW, shown

if TYPE_CHECKING:
    from ..frames import Buffer

VERSION = 1
DEFAULT_PORT = 3553
MAX_MESSAGE = 2**16
MAX_GREETING = 2**12
MAX_TOKEN = 2**10
MAX_REASON = 500
_LARGE = 2**12

_PACKET = b"\xc6"
_FIXARRAY = 0x90
_FRAMES = (b"\x97\xaceller-stream", b"\x99\xa4rows", b"\x94\xa3end")
_BOUNDS = {"max_array_len": 512, "max_map_len": 64, "max_str_len": 2**11, "max_ext_len": 0}

# Words of a refusal: whether asking again may help is a matter of the word.
VERSIONS, TOKEN, REQUEST, LIMIT, BUSY, IDLE, CLOSING, FAILED = (
    *("version", "token", "request", "limit"),
    *("busy", "idle", "closing", "failed"),
)
PASSING = {BUSY, IDLE, CLOSING}


@dataclass(frozen=True)
class Hello:
    """The client's first message: the version it speaks, and a token or None."""

    version: int
    token: bytes | None


@dataclass(frozen=True)
class Open:
    """The client asks for a maze's rows: `spec` as plain data, None for what the server offers.

    The answer holds the rows from `row` (None: from the first there is) up to `stop` (None: to the maze's end).
    Requests are numbered, rising.
    """

    number: int
    spec: dict[str, Any] | None
    row: int | None
    stop: int | None


@dataclass(frozen=True)
class Jump:
    """The client asks for the rows from `row` on instead of those that follow."""

    number: int
    row: int


@dataclass(frozen=True)
class Finalize:
    """The client ends the maze after `rows` rows from `row` on; the answer begins with that."""

    number: int
    row: int
    rows: int = 1


@dataclass(frozen=True)
class State:
    """The client asks for the stream's state before `row`."""

    number: int
    row: int


@dataclass(frozen=True)
class More:
    """The client has room for the frames that begin before `row`."""

    row: int


@dataclass(frozen=True)
class Welcome:
    """The server's first message: how many frames behind what it has sent a client can go back at no cost."""

    ahead: int


@dataclass(frozen=True)
class Answer:
    """What follows is the answer to a request: a maze's bytes from `row` on; `height` is the whole maze's, if known."""

    number: int
    row: int
    height: int | None


@dataclass(frozen=True)
class Snapshot:
    """The state that was asked for, as `snapshot()` gives it."""

    number: int
    row: int
    snapshot: bytes


@dataclass(frozen=True)
class Wait:
    """The server is on its way to the row asked for, and stands at `row`."""

    row: int


@dataclass(frozen=True)
class Refusal:
    """The server ends the conversation: a word for programs, a sentence for people."""

    word: str
    reason: str


Message: TypeAlias = Hello | Open | Jump | Finalize | State | More | Welcome | Answer | Snapshot | Wait | Refusal


def _number(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**32


def _row(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_ROW


def _or_none(check: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or check(value)


def _a(kind: type[bytes] | type[str] | type[dict[Any, Any]], most: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind) and len(value) <= most


_CHECKS: dict[str, tuple[type[Message], tuple[Callable[[object], bool], ...]]] = {
    "eller-net": (Hello, (_number, _or_none(_a(bytes, MAX_TOKEN)))),
    "open": (Open, (_number, _or_none(_a(dict, 64)), _or_none(_row), _or_none(_row))),
    "jump": (Jump, (_number, _row)),
    "finalize": (Finalize, (_number, _row, _row)),
    "state": (State, (_number, _row)),
    "more": (More, (_row,)),
    "welcome": (Welcome, (_number,)),
    "answer": (Answer, (_number, _row, _or_none(_row))),
    "snapshot": (Snapshot, (_number, _row, _a(bytes, 2**32))),
    "wait": (Wait, (_row,)),
    "refused": (Refusal, (_a(str, 32), _a(str, MAX_REASON))),
}
_KINDS = {message: kind for kind, (message, _) in _CHECKS.items()}
FROM_CLIENT = (Hello, Open, Jump, Finalize, State, More)
FROM_SERVER = (Welcome, Answer, Snapshot, Wait, Refusal)


def packet(*pieces: Buffer) -> list[Buffer]:
    """Return the packet of one frame or message, in pieces: small ones are joined, large ones are not copied."""
    packed: list[Buffer] = []
    small: list[Buffer] = [bin_head(sum(map(len, pieces)))]
    for piece in pieces:
        small.append(piece)
        if len(piece) >= _LARGE:
            packed += [b"".join(small[:-1]), piece]
            small = []
    return [*packed, b"".join(small)]


def encode(message: Message) -> bytes:
    """Return a message's packet."""
    return b"".join(packet(_pack(message)))


def _pack(message: Message) -> bytes:
    values = [_KINDS[type(message)], *(getattr(message, field.name) for field in fields(message))]
    pieces = [bytes([_FIXARRAY + len(values) + 1]), *map(msgpack.packb, values)]
    return b"".join([*pieces, seal(pieces)])


def is_frame(content: bytes | memoryview) -> bool:
    """Return whether a packet's content is a frame of a maze, and no message."""
    return bytes(content[:14]).startswith(_FRAMES)


def decode(content: bytes | memoryview, expected: tuple[type[Message], ...]) -> Message:
    """Return the message that is a packet's content; NetError if it is none of those expected."""
    values = _unpack(content)
    kind, values = values[0], values[1:-1]
    message_type, checks = _CHECKS.get(kind, (None, ())) if isinstance(kind, str) else (None, ())
    if message_type not in expected:
        wanted = ", ".join(_KINDS[other] for other in expected)
        raise NetError(f"a message of the kind {shown(kind)} came; {wanted} was expected")
    if len(values) != len(checks) or not all(check(v) for check, v in zip(checks, values, strict=True)):
        raise NetError(f"a message of the kind {kind} has other fields: {shown(values)}")
    message: Message = message_type(*values)
    if _pack(message) != content:
        raise NetError(f"a message of the kind {kind} is not in the one form that the protocol gives it")
    return message


def _unpack(content: bytes | memoryview) -> list[Any]:
    try:
        check_seal(content, "a message")
        values = msgpack.unpackb(content, max_bin_len=len(content), **_BOUNDS)
    except FormatError as error:
        raise NetError(str(error)) from None
    except Exception as error:  # msgpack raises many kinds, and asks to catch them all
        raise NetError(f"no msgpack that a message could hold ({shown(str(error) or type(error).__name__)})") from None
    if not isinstance(values, list) or len(values) < 2:
        raise NetError(f"a message is an array that begins with its kind, not {shown(values)}")
    return values


class PacketDecoder:
    """Turns bytes into the contents of packets, in whatever pieces they come.

    Either `feed` takes bytes, or they are written to `space` and `filled` is told how many. Both yield the contents
    that have become whole. `most` bounds a packet's content, in bytes, and may be changed between two packets.
    Raises NetError for anything that is no packet, and for a longer one before it is waited for.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._begin()

    def _begin(self) -> None:
        self._part = memoryview(bytearray(BIN_HEAD_SIZE))
        self._came = 0
        self._in_head = True

    @property
    def empty(self) -> bool:
        """Whether the bytes so far end where a packet ends."""
        return self._in_head and not self._came

    def space(self) -> memoryview:
        """Return where the next bytes go: up to the end of a packet's head, or of its content; at least 1."""
        return self._part[self._came :]

    def filled(self, count: int) -> Iterator[memoryview]:
        """Take the first `count` bytes of `space` as come; yield the packet's content if it is whole, read-only."""
        self._came += count
        if self._in_head:
            self._check_beginning()
            if self._came == BIN_HEAD_SIZE:
                self._begin_content()
        if not self._in_head and self._came == len(self._part):
            content = self._part.toreadonly()
            self._begin()
            yield content

    def feed(self, data: bytes) -> Iterator[memoryview]:
        """Take bytes."""
        view = memoryview(data)
        while view:
            space = self.space()
            count = min(len(space), len(view))
            space[:count] = view[:count]
            yield from self.filled(count)
            view = view[count:]

    def _check_beginning(self) -> None:
        head = bytes(self._part[: self._came])
        if not head.startswith(_PACKET):
            raise NetError(f"no packet: it begins with {head!r}, {_PACKET!r} was expected")

    def _begin_content(self) -> None:
        size = int.from_bytes(self._part[1:], "big")
        if size > self.most:
            raise NetError(f"a packet says it has {size} bytes, at most {self.most} were expected")
        self._part = np.empty(size, np.uint8).data  # touched, and so taken, only as bytes come
        self._came, self._in_head = 0, False
