"""Maze bytes to events and back, without any input or output: docs/FORMAT.md, version 1.

A maze is a sequence of frames, each one msgpack array closed by a CRC-32 (`sealed.py`):

    Header, then for every R rows [Checkpoint] Rows, and at last End

All integers behind the header's spec and all lengths have fixed widths. So the first bytes of a frame
tell its size, all full frames of a file have one size, and the place of a row is computed, not searched
(`Header.place`). A frame has exactly one encoding, the encoder's: the decoder reads the numbers from
their fixed places, and accepts a frame only if encoding them again gives the bytes that came.

Invariants of the decoder. It holds the bytes of at most one frame that is not whole, and a frame is at most
`max_frame` bytes; what a length field says is compared with that bound and with what the header makes
of it before a byte is waited for, and no memory is taken on its word. Bytes are joined at most a few
times on their way, whatever pieces they come in; a frame that comes in one piece is not copied at all, and
the planes of its block are views of it. Only FormatError and its subclasses come out, and after one the
decoder says the same again for ever.

The decoder judges frames, not mazes: whether `north` repeats the row above and whether the passages make
a perfect maze is for a verifier to say.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import msgpack  # type: ignore[import-untyped]
import numpy as np

from .block import Block, row_bytes
from .errors import BlockError, CutShortError, FormatError, SpecError, VersionError
from .sealed import BIN_HEAD_SIZE, SEAL_SIZE, bin_head, check_seal, seal
from .spec import MAX_ROW, MazeSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Buffer: TypeAlias = bytes | memoryview

VERSION = 1
DEFAULT_MAX_FRAME = 64 * 2**20
MAX_HEADER = 2**16
MAX_ROWS_PER_FRAME = 2**32 - 1
CHECKPOINT_EVERY = 16

_FRAME_PLANES = 256 * 2**10
_READ_AT_ONCE = 256 * 2**10
_MOST_PLANE = 2**32 - 1

_MAGIC = b"\xaceller-stream"
_BEGINNING = b"\x97" + _MAGIC + bytes([VERSION])
_ROWS, _CHECKPOINT, _END = b"\x99\xa4rows", b"\x94\xaacheckpoint", b"\x94\xa3end"
_FIXARRAYS, _FIXINTS = range(0x90, 0xA0), range(0x01, 0x80)
_UINT64, _UINT32, _BIN32, _NIL, _FALSE, _TRUE = 0xCF, 0xCE, 0xC6, 0xC0, 0xC2, 0xC3

_HEADER_TAIL = struct.Struct(">BIBIBQ")
_ROWS_START = struct.Struct(">6sBQBI")
_ROWS_HEAD = struct.Struct(">6sBQBIB")
_CHECKPOINT_HEAD = struct.Struct(">12sBQBI")
_END_HEAD = struct.Struct(">5sBQB")

END_FRAME_SIZE = _END_HEAD.size + SEAL_SIZE
_SMALLEST = END_FRAME_SIZE


@dataclass(frozen=True)
class Header:
    """What a maze's bytes begin with.

    spec              the maze
    rows_per_frame    R, 1 to 2**32 - 1: row frames start at multiples of R
    checkpoint_every  a checkpoint before every so many frames; 0 for none
    first_row         index of the first row; above 0 it is a fragment of the maze
    """

    spec: MazeSpec
    rows_per_frame: int
    checkpoint_every: int
    first_row: int = 0

    @classmethod
    def of(cls, spec: MazeSpec, first_row: int = 0, rows: int | None = None) -> Header:
        """Return the header that a writer gives a spec.

        `rows` are those of a frame (None: by the width). Checkpoints come where no row is found from nothing.
        """
        rows = rows_per_frame(spec.width) if rows is None else rows
        return cls(spec, rows, 0 if spec.seekable else CHECKPOINT_EVERY, first_row)

    def rows_due(self, start: int) -> int:
        """Return the rows of a whole frame that begins at row `start`: up to the next multiple of R."""
        return self.rows_per_frame - start % self.rows_per_frame

    def frames(self, block: Block) -> Iterator[Block]:
        """Yield a block's rows frame by frame, each up to the next multiple of R; nothing is copied."""
        while len(block):
            due = self.rows_due(block.start)
            yield block[:due]
            block = block[due:]

    def checkpoint_due(self, start: int) -> bool:
        """Return whether the frame that begins at row `start` comes behind a checkpoint."""
        if not self.checkpoint_every or start == self.first_row:
            return False
        return start % (self.rows_per_frame * self.checkpoint_every) == 0

    def place(self, row: int, *, floor: bool = False, snapshot_size: int = 0) -> int:
        """Return where the frame that holds `row` begins, its checkpoint included, in bytes from the beginning.

        `floor` tells whether the frames have a floor plane, `snapshot_size` the bytes of a snapshot in the
        maze's checkpoints (0 if it has none). ValueError for a row before the first.
        """
        if row < self.first_row:
            raise ValueError(f"the first row is {self.first_row}, there is no row {row}")
        size, first, frame = header_size(self), self.first_row // self.rows_per_frame, row // self.rows_per_frame
        if frame == first:
            return size
        size += rows_frame_size(self.spec.width, self.rows_due(self.first_row), floor)
        size += rows_frame_size(self.spec.width, self.rows_per_frame, floor) * (frame - first - 1)
        if not self.checkpoint_every:
            return size
        checkpoints = (frame - 1) // self.checkpoint_every - first // self.checkpoint_every
        return size + checkpoint_frame_size(snapshot_size) * checkpoints


@dataclass(frozen=True)
class Rows:
    """One frame of rows.

    block    the rows
    last     whether the final one is the maze's merging last row
    encoded  the bytes that it was decoded from, which are those that `encode_rows` makes; None if there were none
    """

    block: Block
    last: bool
    encoded: Buffer | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Checkpoint:
    """The stream's state before row `row`, as `snapshot()` gave it."""

    row: int
    snapshot: bytes


@dataclass(frozen=True)
class End:
    """The end: `rows` came, and the maze is `finished` if the final one is its merging last row."""

    rows: int
    finished: bool


Event: TypeAlias = Header | Rows | Checkpoint | End


def rows_per_frame(width: int) -> int:
    """Return the R that writers take: a power of two.

    The most, from 4 to 4,096, whose east and south planes fit in 256 KiB; fewer than 4 where those would
    pass the 64 MiB that a reader takes by default, and 1 at least.
    """
    fitting = max(_FRAME_PLANES // (2 * row_bytes(width)), 1)
    rows = min(max(1 << fitting.bit_length() - 1, 4), 4096)
    while rows > 1 and rows_frame_size(width, rows, floor=True) > DEFAULT_MAX_FRAME:
        rows //= 2
    return rows


def default_max_frame(width: int) -> int:
    """Return the bytes of a frame that a reader takes unless told: 64 MiB, or one row where that is more."""
    return max(DEFAULT_MAX_FRAME, rows_frame_size(width, 1, floor=True))


def header_size(header: Header) -> int:
    """Return the bytes of a header."""
    return sum(map(len, encode_header(header)))


def rows_frame_size(width: int, count: int, floor: bool = False) -> int:
    """Return the bytes of a frame of `count` rows, `width` cells wide, with or without a floor plane."""
    plane = BIN_HEAD_SIZE + count * row_bytes(width)
    north = BIN_HEAD_SIZE + row_bytes(width)
    return _ROWS_HEAD.size + north + 2 * plane + (plane if floor else 1) + SEAL_SIZE


def checkpoint_frame_size(snapshot_size: int) -> int:
    """Return the bytes of a checkpoint whose snapshot has `snapshot_size` bytes."""
    return _CHECKPOINT_HEAD.size + snapshot_size + SEAL_SIZE


def encode_header(header: Header) -> list[Buffer]:
    """Return a header's bytes, in pieces."""
    spec: bytes = msgpack.packb(header.spec.to_data())
    numbers = (_UINT32, header.rows_per_frame, _UINT32, header.checkpoint_every, _UINT64, header.first_row)
    return _sealed([_BEGINNING, spec, _HEADER_TAIL.pack(*numbers)])


def encode_rows(rows: Rows) -> list[Buffer]:
    """Return a rows frame's bytes, in pieces; the planes among them are views of the block's memory.

    Raises BlockError for a block of no rows.
    """
    block = rows.block
    if not len(block):
        raise BlockError("a rows frame holds at least one row, not none")
    pieces: list[Buffer] = [_rows_head(block.start, len(block), rows.last)]
    for plane in (block.north, block.east, block.south, block.floor):
        pieces += [bytes([_NIL])] if plane is None else [bin_head(plane.nbytes), _flat(plane)]
    return _sealed(pieces)


def encode_checkpoint(checkpoint: Checkpoint) -> list[Buffer]:
    """Return a checkpoint's bytes, in pieces."""
    return _sealed([_checkpoint_head(checkpoint.row, len(checkpoint.snapshot)), checkpoint.snapshot])


def encode_end(end: End) -> list[Buffer]:
    """Return the end frame's bytes, in pieces."""
    return _sealed([_END_HEAD.pack(_END, _UINT64, end.rows, _bool(end.finished))])


def decode_end(data: bytes) -> End:
    """Return the end frame that is `data`, END_FRAME_SIZE bytes; FormatError if it is none."""
    if len(data) != END_FRAME_SIZE or not data.startswith(_END):
        raise FormatError(
            f"an end frame has {END_FRAME_SIZE} bytes and begins with {_END!r}, not {data[:END_FRAME_SIZE]!r}"
        )
    check_seal(data, "end frame")
    _, _, rows, finished = _END_HEAD.unpack_from(data)
    end = End(rows, finished == _TRUE)
    _check_canonical(data, encode_end(end), "end frame")
    return end


class FrameDecoder:
    """Turns bytes into events, in whatever pieces they come.

    `feed(data)` takes bytes, `events()` yields what has become whole since, and `close()` tells that no more
    bytes will come. `max_frame` bounds a frame, in bytes: by default 64 MiB, or one row of the header's
    width where that takes more. `header`, `row` (index of the row to come), `position` (bytes of all
    whole frames so far) and `end` say how far it came.

    Raises FormatError for bytes that are no maze, VersionError for a newer version of the format.
    """

    def __init__(self, max_frame: int | None = None) -> None:
        self.header: Header | None = None
        self.end: End | None = None
        self.row = 0
        self.position = 0
        self._max_frame = max_frame
        self._bytes = _Bytes()
        self._needed = 0
        self._error: FormatError | None = None
        self._unpacker = msgpack.Unpacker(max_buffer_size=MAX_HEADER, max_array_len=256, max_map_len=64)
        self._unpacked = 0
        self._floor: bool | None = None
        self._snapshot_size: int | None = None
        self._behind_checkpoint = self._last = False

    @classmethod
    def at(
        cls, header: Header, row: int, *, floor: bool | None, snapshot_size: int | None, max_frame: int | None = None
    ) -> FrameDecoder:
        """Return a decoder for the bytes from `header.place(row)` on: those of the frame that holds `row`.

        `floor` tells whether the frames have a floor plane, `snapshot_size` the bytes of a snapshot; None is for what
        the bytes themselves will tell, where no frame of that kind came before.
        """
        decoder = cls(max_frame)
        decoder.header = header
        decoder.row = max(row - row % header.rows_per_frame, header.first_row)
        decoder.position = header.place(row, floor=bool(floor), snapshot_size=snapshot_size or 0)
        decoder._floor, decoder._snapshot_size = floor, snapshot_size
        return decoder

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes. What is read-only is kept as it is, other buffers are copied; after an error nothing is kept."""
        if self._error is None:
            self._bytes.feed(data)

    def events(self) -> Iterator[Event]:
        """Yield each event that is whole by now. Raises FormatError, and again at every later call."""
        while (event := self._guarded(self._next)) is not None:
            yield event

    __iter__ = events

    def close(self) -> None:
        """Tell that no more bytes will come, when all events are taken.

        Raises CutShortError unless the end frame came, FormatError if anything came behind it.
        """
        self._guarded(self._close)

    @property
    def wanted(self) -> int:
        """Bytes that are best read next: up to the end of a frame (of many small ones), at least 1.

        A hint, not a need: fewer and more are as good.
        """
        missing = max(self._needed - len(self._bytes), 1)
        if self.header is None:
            return max(missing, 4096)
        if self.end is not None:
            return missing
        frame = rows_frame_size(self.header.spec.width, self.header.rows_due(self.row), bool(self._floor))
        if not len(self._bytes):
            missing = frame
        return missing + max(_READ_AT_ONCE - missing, 0) // frame * frame

    def _guarded(self, step: Callable[[], Event | None]) -> Event | None:
        if self._error is not None:
            raise self._error.with_traceback(None)
        try:
            return step()
        except FormatError as error:
            self._error, self._bytes = error, _Bytes()
            raise

    def _next(self) -> Event | None:
        if len(self._bytes) < max(self._needed, 1):
            return None
        if self.end is not None:
            self._check_behind_end()
        return self._next_header() if self.header is None else self._next_frame(self.header)

    def _close(self) -> None:
        left = len(self._bytes)
        begins = self._bytes.peek(min(left, _SMALLEST))
        if self.end is not None:
            return self._check_behind_end()
        if self.header is None:
            _check_beginning(begins)
            raise CutShortError(f"cut short: {left} bytes came, not a whole header")
        _kind(begins)
        raise CutShortError(
            f"cut short: {self.row - self.header.first_row} whole rows came, up to byte {self.position}, "
            f"then {left} bytes; the end frame is missing"
        )

    def _check_behind_end(self) -> None:
        if len(self._bytes):
            raise FormatError(f"{len(self._bytes)} bytes or more came behind the end frame, nothing may follow it")

    def _has(self, size: int) -> bool:
        """Return whether `size` bytes are there; if not, nothing is tried before they are."""
        self._needed = size
        return len(self._bytes) >= size

    def _take(self, size: int) -> memoryview:
        self.position += size
        self._needed = 0
        return self._bytes.take(size)

    def _next_header(self) -> Header | None:
        if not self._has(len(_BEGINNING)):
            return None
        _check_beginning(self._bytes.peek(len(_BEGINNING)))
        fields = self._unpack_header()
        if fields is None:
            return None
        frame = self._take(self._unpacker.tell())
        check_seal(frame, "header")
        header = _header(fields)
        _check_canonical(frame, encode_header(header), "header")
        self._check_frame(header, header.rows_per_frame, floor=False)
        self.header, self.row = header, header.first_row
        return header

    def _unpack_header(self) -> list[Any] | None:
        """Return the header's fields when it is whole; the unpacker goes on where it stood."""
        known = min(len(self._bytes), MAX_HEADER)
        new = self._bytes.peek(known)[self._unpacked :]
        self._unpacked = known
        try:
            self._unpacker.feed(new)
            fields: list[Any] = self._unpacker.unpack()
        except msgpack.OutOfData:
            if known == MAX_HEADER:
                raise FormatError(f"header: longer than the {MAX_HEADER} bytes that it may have") from None
            self._needed = known + 1
            return None
        except Exception as error:  # msgpack raises many kinds, and asks to catch them all
            raise FormatError(f"header: no msgpack that a header could hold ({error!a})") from error
        return fields

    def _next_frame(self, header: Header) -> Event | None:
        if not self._has(_SMALLEST):
            return None
        head = self._bytes.peek(_SMALLEST)
        kind = _kind(head)
        if kind is _ROWS:
            return self._next_rows(header, head)
        return self._next_checkpoint(header) if kind is _CHECKPOINT else self._next_end(header)

    def _next_rows(self, header: Header, head: memoryview) -> Rows | None:
        _, _, start, _, count = _ROWS_START.unpack(head)
        self._check_rows(header, start, count)
        floor = self._floor if self._floor is not None else self._first_floor(header, count)
        if floor is None or not self._has(rows_frame_size(header.spec.width, count, floor)):
            return None
        rows = _open_rows(self._take(self._needed), header.spec.width, floor)
        self._check_last(header, rows)
        self._floor, self._last, self._behind_checkpoint, self.row = floor, rows.last, False, rows.block.stop
        return rows

    def _first_floor(self, header: Header, count: int) -> bool | None:
        """Return whether the first rows frame has a floor plane, as all others then do; None if it is not there yet."""
        without = rows_frame_size(header.spec.width, count, floor=False)
        if not self._has(without):
            return None
        floor = self._bytes.peek(without)[-SEAL_SIZE - 1] == _BIN32
        self._check_frame(header, count, floor)
        return floor

    def _check_rows(self, header: Header, start: int, count: int) -> None:
        what, due = f"rows frame at row {self.row}", header.rows_due(self.row)
        self._check_open(header, what)
        if start != self.row:
            raise FormatError(f"{what}: it says it begins at row {start}")
        if header.checkpoint_due(start) and not self._behind_checkpoint:
            raise FormatError(f"{what}: a checkpoint has to come before it")
        if not 1 <= count <= due:
            raise FormatError(f"{what}: it says it has {count} rows, from 1 to {due} were expected")
        if start + count > (header.spec.height or MAX_ROW):
            raise FormatError(f"{what}: {count} rows pass the maze's height, {header.spec.height or MAX_ROW}")

    def _check_open(self, header: Header, what: str) -> None:
        """Raise FormatError if the rows so far must be the final ones."""
        if self._last:
            raise FormatError(f"{what}: the row before is the maze's last, only the end frame may follow")
        if self.row % header.rows_per_frame and self.row != header.first_row:
            raise FormatError(f"{what}: the frame before is not full, only the end frame may follow")

    def _check_last(self, header: Header, rows: Rows) -> None:
        what, block = f"rows frame at row {rows.block.start}", rows.block
        if rows.last != block.ends and (rows.last or block.floor is None):
            opens = "nothing" if block.ends else "passages"
            raise FormatError(f"{what}: last is {rows.last}, but its final row opens {opens} south")
        if block.stop == header.spec.height and not rows.last:
            raise FormatError(f"{what}: last is False, but its final row completes the maze's height")

    def _next_checkpoint(self, header: Header) -> Checkpoint | None:
        what = f"checkpoint at row {self.row}"
        if self._behind_checkpoint or not header.checkpoint_due(self.row):
            raise FormatError(f"{what}: none was due there")
        self._check_open(header, what)
        if not self._has(_CHECKPOINT_HEAD.size):
            return None
        length = _CHECKPOINT_HEAD.unpack(self._bytes.peek(_CHECKPOINT_HEAD.size))[-1]
        size, most = checkpoint_frame_size(length), self._most(header)
        if size > most:
            raise FormatError(f"{what}: it says it has {size} bytes, at most {most} were expected")
        if not self._has(size):
            return None
        checkpoint = _open_checkpoint(self._take(size), what)
        if checkpoint.row != self.row:
            raise FormatError(f"{what}: it says it stands at row {checkpoint.row}")
        self._check_snapshot_size(length, what)
        self._behind_checkpoint = True
        return checkpoint

    def _check_snapshot_size(self, size: int, what: str) -> None:
        """Raise FormatError if the first snapshot had another size; all places are computed from that."""
        self._snapshot_size = size if self._snapshot_size is None else self._snapshot_size
        if size != self._snapshot_size:
            raise FormatError(f"{what}: its snapshot has {size} bytes, {self._snapshot_size} were expected")

    def _next_end(self, header: Header) -> End:
        end = decode_end(bytes(self._take(END_FRAME_SIZE)))
        came = End(self.row - header.first_row, self._last)
        if self._behind_checkpoint:
            raise FormatError(f"end frame: it follows the checkpoint at row {self.row}, rows were expected")
        if end != came:
            raise FormatError(
                f"end frame: it tells {end.rows} rows, finished {end.finished}; "
                f"{came.rows} rows came, finished {came.finished}"
            )
        self.end = end
        return end

    def _most(self, header: Header) -> int:
        return default_max_frame(header.spec.width) if self._max_frame is None else self._max_frame

    def _check_frame(self, header: Header, count: int, floor: bool) -> None:
        """Raise FormatError if a frame of `count` rows is more than this reader, or a length field, takes."""
        size, most = rows_frame_size(header.spec.width, count, floor), self._most(header)
        plane = count * row_bytes(header.spec.width)
        if plane > _MOST_PLANE:
            raise FormatError(
                f"header: a plane of {count} rows has {plane} bytes, a length field tells at most {_MOST_PLANE}"
            )
        if size > most:
            raise FormatError(
                f"header: frames of {count} rows, {header.spec.width} cells wide, have {size} bytes each; "
                f"this reader takes {most} (max_frame)"
            )


class _Bytes:
    """The bytes that were fed and not taken: `front`, a view to take from, and `more`, what came since.

    `more` is joined to `front` only when `front` is too short for what is asked and both together are long
    enough, so each byte is moved at most once a request.
    """

    def __init__(self) -> None:
        self._front = memoryview(b"")
        self._more = bytearray()

    def __len__(self) -> int:
        return len(self._front) + len(self._more)

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        if len(self):
            self._more += data
        else:
            view = memoryview(data)
            self._front = view if view.readonly else memoryview(bytes(view))

    def peek(self, size: int) -> memoryview:
        """Return the first `size` bytes, which must be there, as a view of immutable bytes."""
        if len(self._front) < size:
            self._front = memoryview(b"".join((self._front, self._more)))
            self._more = bytearray()
        return self._front[:size]

    def take(self, size: int) -> memoryview:
        """Return the first `size` bytes, which must be there, and let go of them."""
        taken = self.peek(size)
        self._front = self._front[size:]
        return taken


def _check_beginning(start: memoryview) -> None:
    """Raise FormatError unless `start` is, or may become, the beginning of a header of this version."""
    begins = bytes(start[: len(_BEGINNING)])
    if not begins:
        return
    if begins[0] not in _FIXARRAYS or begins[1:14] != _MAGIC[: len(begins) - 1] or begins[14:15] > b"\x7f":
        raise FormatError(f"not a maze file: it begins with {begins!r}, {_BEGINNING!r} was expected")
    version = begins[14] if len(begins) > 14 else VERSION
    if version > VERSION:
        raise VersionError(f"the maze has version {version} of the format, this program reads version {VERSION}")
    if version < VERSION or begins[0] != _BEGINNING[0]:
        raise FormatError(f"header: it begins with {begins!r}, {_BEGINNING!r} was expected")


def _kind(head: memoryview) -> bytes:
    """Return the kind of the frame that begins with `head` (or the only one it may become)."""
    begins = bytes(head)
    for kind in (_ROWS, _CHECKPOINT, _END):
        if begins[: len(kind)] == kind[: len(begins)]:
            return kind
    raise FormatError(f"unknown frame: it begins with {begins!r}, the kind 'rows', 'checkpoint' or 'end' was expected")


def _header(fields: list[Any]) -> Header:
    _, _, spec, rows, every, first = fields[:6]
    if not all(type(number) is int for number in (rows, every, first)):
        raise FormatError("header: the rows per frame, the frames per checkpoint and the first row are no integers")
    try:
        header = Header(MazeSpec.from_data(spec), rows, every, first)
    except SpecError as error:
        raise FormatError(f"header: {error}") from error
    if not (1 <= rows <= MAX_ROWS_PER_FRAME and 0 <= every < 2**32 and 0 <= first < 2**64):
        raise FormatError(f"header: {rows} rows a frame, checkpoints every {every} frames, from row {first}")
    if first > (header.spec.height or MAX_ROW):
        raise FormatError(f"header: its first row is {first}, the maze has {header.spec.height or MAX_ROW}")
    return header


def _open_rows(frame: memoryview, width: int, floor: bool) -> Rows:
    _, _, start, _, count, last = _ROWS_HEAD.unpack_from(frame)
    what = f"rows frame at row {start}"
    check_seal(frame, what)
    if frame[: _ROWS_HEAD.size] != _rows_head(start, count, last == _TRUE):
        raise FormatError(f"{what}: its start, count or last is of another type or width than expected")
    planes = _Planes(frame, what, row_bytes(width))
    north = planes.take("north", 1)[0]
    east, south = planes.take("east", count), planes.take("south", count)
    ground = planes.take("floor", count) if floor else None
    if not floor:
        planes.pass_nil("floor")
    if start == 0 and north.any():
        raise FormatError(f"{what}: north has passages, and there is no row above row 0")
    try:
        return Rows(Block(start, width, east, south, north, ground), last == _TRUE, frame)
    except BlockError as error:
        raise FormatError(f"{what}: {error}") from error


class _Planes:
    """Takes the planes of a rows frame one after another, each a view of the frame's bytes."""

    def __init__(self, frame: memoryview, what: str, packed: int) -> None:
        self._frame, self._what, self._packed = frame, what, packed
        self._at = _ROWS_HEAD.size

    def take(self, name: str, count: int) -> NDArray[np.uint8]:
        """Return the plane whose field comes next: uint8 of shape (count, packed)."""
        size = count * self._packed
        self._expect(name, bin_head(size))
        plane = np.frombuffer(self._frame, np.uint8, size, self._at).reshape(count, self._packed)
        self._at += size
        return plane

    def pass_nil(self, name: str) -> None:
        """Pass over the field of a plane that is not there."""
        self._expect(name, bytes([_NIL]))

    def _expect(self, name: str, field: bytes) -> None:
        came = self._frame[self._at : self._at + len(field)]
        if came != field:
            raise FormatError(f"{self._what}: the plane {name} begins with {bytes(came)!r}, {field!r} was expected")
        self._at += len(field)


def _open_checkpoint(frame: memoryview, what: str) -> Checkpoint:
    check_seal(frame, what)
    _, _, row, _, length = _CHECKPOINT_HEAD.unpack_from(frame)
    if frame[: _CHECKPOINT_HEAD.size] != _checkpoint_head(row, length):
        raise FormatError(f"{what}: its row or its snapshot is of another type or width than expected")
    return Checkpoint(row, bytes(frame[_CHECKPOINT_HEAD.size : -SEAL_SIZE]))


def _check_canonical(frame: Buffer, encoded: list[Buffer], what: str) -> None:
    """Raise FormatError unless the frame is what its fields are encoded as."""
    if b"".join(encoded) != frame:
        raise FormatError(f"{what}: its fields are not in the one form that the format gives them")


def _sealed(pieces: list[Buffer]) -> list[Buffer]:
    return [*pieces, seal(pieces)]


def _rows_head(start: int, count: int, last: bool) -> bytes:
    return _ROWS_HEAD.pack(_ROWS, _UINT64, start, _UINT32, count, _bool(last))


def _checkpoint_head(row: int, length: int) -> bytes:
    return _CHECKPOINT_HEAD.pack(_CHECKPOINT, _UINT64, row, _BIN32, length)


def _bool(value: bool) -> int:
    return _TRUE if value else _FALSE


def _flat(plane: NDArray[np.uint8]) -> memoryview:
    return np.ascontiguousarray(plane).reshape(-1).data
