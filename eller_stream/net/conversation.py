"""The client's side of a conversation, without any input or output: both clients are a socket around this.

The server's bytes are written to `space` and `filled` takes them, `outgoing` gives what is to be sent; rows
wait in frames until they are taken. `begin` starts again on a new connection, from where the rows that came end.

Invariants. Rows come without a gap, each once, from `position` on. Nothing that comes is kept but between the
`Answer` to the last request and the next request: what the server had sent ahead of a jump or of the end is void. The
server is told how much room there is (`More`), in rows: `ahead` frames behind the rows that were taken. So it never
sends more than that, and what waits here is bounded; a server that sends more is refused.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ..block import Block, Row, joined, row_bytes
from ..errors import FormatError, NetError, StreamError
from ..frames import End, Event, FrameDecoder, Header, Rows
from ..spec import MAX_ROW, MazeSpec
from ..stream import row_number
from . import protocol
from .limits import ClientLimits
from .protocol import (
    Answer,
    Finalize,
    Hello,
    Jump,
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


class PassingError(NetError):
    """The server ended the conversation for a reason that may pass."""


class Conversation:
    """What a client has asked for, and the rows that came and were not taken.

    spec    the maze; None for the file that the server offers
    row     the first row wanted; None: the first there is
    count   how many rows at most; None: up to the maze's end
    """

    def __init__(
        self, spec: MazeSpec | None, row: int | None, count: int | None, token: bytes | None, limits: ClientLimits
    ) -> None:
        self._asked_spec, self._token, self._limits = spec, token, limits
        self._first = 0 if row is None and spec is not None else row
        self._count = count
        self._stop = self._stop_from(self._first)
        self._blocks: deque[Block] = deque()
        self._at = 0
        self._received = self._first or 0
        self._north: np.ndarray | None = None
        self._number = 0
        self._final: int | None = None  # where the end was made known, and how many rows were to come
        self._final_rows = 1
        self._height: int | None = None
        self._ended = False
        self.header: Header | None = None
        self.snapshot: bytes | None = None
        self._state_row: int | None = None
        self._forget_connection()

    def _stop_from(self, first: int | None) -> int | None:
        """Return the first row that is not wanted; None if there is none, or the first one wanted is not known yet."""
        return None if first is None or self._count is None else min(first + self._count, MAX_ROW)

    def _forget_connection(self) -> None:
        self._packets = PacketDecoder(max(self._limits.max_frame, protocol.MAX_MESSAGE))
        self._out = bytearray()
        self._frames: FrameDecoder | None = None
        self._ahead: int | None = None
        self._answer = self._state = 0
        self._room = 0

    # ---- what is known ----------------------------------------------------------------------

    @property
    def spec(self) -> MazeSpec:
        """Everything that determines the maze; known when the first answer has begun."""
        assert self.header is not None
        return self.header.spec

    @property
    def position(self) -> int:
        """Index of the row to be taken next."""
        return self._blocks[0].start + self._at if self._blocks else self._received

    @property
    def received(self) -> int:
        """Index behind the last row that came."""
        return self._received

    @property
    def height(self) -> int | None:
        """Rows of the whole maze, None while that is not known."""
        return self._height

    @property
    def answered(self) -> bool:
        """Whether the answer to the last request has begun."""
        return self._frames is not None and self._frames.header is not None

    # ---- bytes ------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start on a new connection: greet, and ask for what has not come."""
        self._forget_connection()
        self._say(Hello(protocol.VERSION, self._token))
        spec = None if self._asked_spec is None else self._asked_spec.to_data()
        row = self._first if self.header is None else self._received
        if self._final is None:
            self._ask(Open(self._next_number(), spec, row, self._stop))
        else:
            self._ask(Open(self._next_number(), spec, self._final, self._stop))
            self._ask(Finalize(self._next_number(), self._final, self._final_rows))
            if row != self._final:
                self._ask(Jump(self._next_number(), self._received))
        if self._state_row is not None:
            self._say_state(self._state_row)

    @property
    def speaks(self) -> bool:
        """Whether there are bytes to be sent."""
        return bool(self._out)

    def outgoing(self) -> bytes:
        """Return the bytes to be sent, once."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def space(self) -> memoryview:
        """Return where to write the bytes that come next; `filled` is told how many they were."""
        return self._packets.space()

    def filled(self, count: int) -> None:
        """Take bytes that were written to `space`.

        Raises PassingError if the server ended it for now, NetError for all else.
        """
        for content in self._packets.filled(count):
            self._take_packet(content)

    def _take_packet(self, content: memoryview) -> None:
        if self._ahead is None:
            self._take_welcome(content)
        elif not protocol.is_frame(content):
            self._take_message(content)
        elif self._frames is not None:
            self._take_frame(self._frames, content)

    def _take_welcome(self, content: memoryview) -> None:
        message = decode(content, (Welcome, Refusal))
        self._check_refusal(message)
        assert isinstance(message, Welcome)
        self._ahead = max(1, min(message.ahead, self._limits.ahead))
        self._tell_room(0)

    def _check_refusal(self, message: protocol.Message) -> None:
        if isinstance(message, Refusal):
            kind = PassingError if message.word in protocol.PASSING else NetError
            raise kind(f"the server ended it: {message.reason} ({message.word})")

    def _take_message(self, content: memoryview) -> None:
        message = decode(content, (Answer, Snapshot, Wait, Refusal))
        self._check_refusal(message)
        if isinstance(message, Answer) and message.number == self._answer:
            self._begin_answer(message)
        elif isinstance(message, Snapshot) and message.number == self._state:
            self.snapshot, self._state_row = message.snapshot, None

    def _begin_answer(self, answer: Answer) -> None:
        if self.header is None and self._first is None:
            self._received = answer.row
            self._stop = self._stop_from(answer.row)
        if answer.row != self._received:
            raise NetError(f"the server answers from row {answer.row}, row {self._received} was asked for")
        self._height = answer.height
        self._frames = FrameDecoder(self._limits.max_frame)

    def _take_frame(self, frames: FrameDecoder, content: memoryview) -> None:
        try:
            frames.feed(content)
            for event in frames.events():
                self._take_event(event)
        except FormatError as error:
            raise NetError(f"the server sent a damaged frame: {error}") from None

    def _take_event(self, event: Event) -> None:
        if isinstance(event, Header):
            self._take_header(event)
        elif isinstance(event, Rows):
            self._take_rows(event.block)
        elif isinstance(event, End):
            self._take_end(event)

    def _take_header(self, header: Header) -> None:
        expected = self._asked_spec if self.header is None else self.header.spec
        if expected is not None and header.spec != expected:
            raise NetError(f"the server answers with {header.spec}, {expected} was asked for")
        if header.first_row != self._received:
            raise NetError(f"the server's rows begin at {header.first_row}, not at {self._received}")
        self._limits.check_frame(header.spec.width, header.rows_per_frame)
        self.header = header
        self._tell_room(0)

    def _take_rows(self, block: Block) -> None:
        if block.start >= self._room or (self._stop is not None and block.stop > self._stop):
            raise NetError(f"the server sent row {block.start}, which was not asked for yet")
        self._blocks.append(block)
        self._received = block.stop
        self._tell_room(0)

    def _take_end(self, end: End) -> None:
        self._ended = True
        if end.finished:
            self._height = self._received

    # ---- asking -----------------------------------------------------------------------------

    def _say(self, message: protocol.Message) -> None:
        self._out += encode(message)

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _ask(self, request: Open | Jump | Finalize) -> None:
        """Say a request whose answer takes the place of the one before."""
        self._answer, self._frames, self._ended, self._room = request.number, None, False, 0
        self._say(request)
        self._tell_room(0)

    def _tell_room(self, rows: int) -> None:
        """Tell how much room there is, if it is time to: for `rows` rows that are wanted now, and for those ahead."""
        rows_a_frame = 1 if self.header is None else self.header.rows_per_frame
        needed = min(self.position + max(rows, 1), MAX_ROW)
        room = min(self.position + rows + (self._ahead or 1) * rows_a_frame, MAX_ROW)
        due = needed > self._room or room - self._room >= (room - needed) / 2
        if room > self._room and due and not self._ended:
            self._room = room
            self._say(More(room))

    def jump(self, row: int) -> None:
        """Ask for the rows from `row` on. Raises StreamError for a row that the maze does not have."""
        target = row_number("the row to seek", row, self._most())
        self._void(target)
        self._ask(Jump(self._next_number(), target))

    def finalize(self, rows: int = 1) -> None:
        """End the maze after `rows` more rows. Raises StreamError where that cannot be."""
        if self._asked_spec is None:
            raise StreamError("the rows come from a file, which is as long as it is")
        if self._final is not None:
            raise StreamError(f"finalize was called already: row {self._final + self._final_rows - 1} is the last one")
        left = self._most() - self.position
        if not left:
            raise StreamError(f"the rows asked for have ended with row {self.position - 1}")
        self._final_rows = row_number("the number of rows to finalize after", rows, left, least=1)
        self._final = self.position
        self._void(self._final)
        self._ask(Finalize(self._next_number(), self._final, self._final_rows))

    def ask_state(self) -> None:
        """Ask for the state before the row to be taken next; `snapshot` is it when it has come."""
        self.snapshot, self._state_row = None, self.position
        self._say_state(self.position)

    def _say_state(self, row: int) -> None:
        self._state = self._next_number()
        self._say(State(self._state, row))

    def _most(self) -> int:
        most = MAX_ROW if self._height is None else self._height
        return most if self._stop is None else min(most, self._stop)

    def stand_at(self, row: int) -> None:
        """Make `row` the next one without asking for it: the connection has ended, the next one begins there."""
        self._void(row)
        self._ended = False

    def _void(self, row: int) -> None:
        """Let go of all rows that wait; the next one is `row`."""
        self._blocks.clear()
        self._at, self._received, self._north = 0, row, None

    # ---- taking -----------------------------------------------------------------------------

    def rows_wanted(self, rows: int) -> int:
        """Return the number of rows to read as an int; StreamError if it is none."""
        return row_number("the number of rows to read", rows, MAX_ROW)

    def ready(self, rows: int) -> bool:
        """Return whether so many rows wait, or all that will ever come. Tells the server of the room for them."""
        if self._ended or self._received - self.position >= max(rows, 1):
            return True
        self._tell_room(rows)
        return False

    def take(self, rows: int) -> Block:
        """Return the next `rows` rows, which are ready; fewer at the end."""
        taken: list[Block] = []
        start = self.position
        while self._blocks and self.position < start + rows:
            block = self._blocks[0]
            left = start + rows - self.position
            if self._at or left < len(block):
                block = block[self._at : self._at + left]
            self._advance(len(block))
            taken.append(block)
        if taken:
            return joined(taken)
        if self._blocks:
            return self._blocks[0][self._at : self._at]
        north = np.zeros(row_bytes(self.spec.width), np.uint8) if self._north is None else self._north
        return Block.empty(start, self.spec.width, north)

    def take_row(self) -> Row:
        """Return the next row, which is ready. Raises StopIteration at the end."""
        if not self._blocks:
            raise StopIteration
        row = Row(self._blocks[0], self._at)
        self._advance(1)
        return row

    def _advance(self, rows: int) -> None:
        self._at += rows
        if self._at == len(self._blocks[0]):
            self._north = self._blocks.popleft().south[-1]
            self._at = 0
            self._tell_room(0)
