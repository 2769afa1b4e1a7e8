"""Going on with a maze file that was broken off, to the very bytes that an undisturbed run gives.

What a killed process, a power cut or a full disk left is read from its beginning, frame by frame, each held against
its checksum. Kept are the frames up to the last one that is whole, full and not the end of the maze: a merging last
row, and a frame that is not full, stand there only because the run ended then. Everything behind is dropped and
carved anew, from where a stream stands there: at a row that key rows or bands make cheap to find, or else from the last
checkpoint on. A checkpoint whose stream was finalized is none to go on from.

Rows of a uniform maze that were drawn with its end in sight are not those of the maze as planned. So frames behind
the last checkpoint are held against the rows that the stream gives from there, and dropped from the first one on
that differs.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import CutShortError, FormatError, StoreError
from ..frames import Checkpoint, Event, FrameDecoder, Header, Rows
from ..streams import open_stream, restore_stream
from .events import Source, events_of
from .reader import MazeFile

if TYPE_CHECKING:
    import os

    from ..block import Block
    from ..spec import MazeSpec
    from ..stream import RowStream


class _Frame(NamedTuple):
    """A frame of `rows` rows from `row` on, with `size` bytes before it and its checkpoint."""

    row: int
    rows: int
    size: int
    checksum: int


@dataclass
class Kept:
    """What stays of a broken-off file: its first `size` bytes, the rows before `row`, the last state to go on from.

    `frames` are those behind that state. A checkpoint that is none to go on from ends it.
    """

    header: Header
    row: int
    size: int
    checkpoint: Checkpoint | None = None
    frames: list[_Frame] = field(default_factory=list)
    over: bool = False

    def take(self, event: Event, size: int) -> None:
        """Note a whole frame, which ends at byte `size`."""
        if self.over:
            return
        if isinstance(event, Checkpoint):
            self._take_checkpoint(event)
        elif isinstance(event, Rows) and not event.last and event.block.stop % self.header.rows_per_frame == 0:
            if not self.header.spec.seekable:
                self.frames.append(_Frame(self.row, len(event.block), self.size, _checksum(event.block)))
            self.row, self.size = event.block.stop, size

    def _take_checkpoint(self, checkpoint: Checkpoint) -> None:
        self.over = not _is_usable(checkpoint, self.header.spec)
        if not self.over:
            self.checkpoint = checkpoint
            self.frames.clear()

    def stream(self) -> RowStream:
        """Return the stream of the rows to come; what the file has otherwise stays no longer.

        Raises StreamError where the rows cannot be found in bounded time.
        """
        spec = self.header.spec
        if self.checkpoint is not None:
            stream = restore_stream(self.checkpoint.snapshot)
        else:
            stream = first_stream(spec)
            stream.seek(self.row if spec.seekable else self.header.first_row)
        for frame in self.frames:
            state = stream.snapshot()
            if _checksum(stream.read(frame.rows)) != frame.checksum:
                self.row, self.size = frame.row, frame.size
                return restore_stream(state)
        return stream


def _checksum(block: Block) -> int:
    return zlib.crc32(block.south.data, zlib.crc32(block.east.data))


def first_stream(spec: MazeSpec) -> RowStream:
    """Return a spec's stream at its first row."""
    return open_stream(spec)


def kept_of(source: Source, spec: MazeSpec, name: Path) -> Kept | None:
    """Return what stays of a file that was broken off; None if not even its header is whole. Errors tell its name.

    Raises StoreError if it holds another maze, naming the difference, and FormatError if it holds none.
    """
    decoder = FrameDecoder()
    events = events_of(source, decoder)
    try:
        header = next(events)
    except CutShortError:
        return None
    except FormatError as error:
        raise type(error)(f"{name}: {error}") from error
    assert isinstance(header, Header)
    check_same(header.spec, spec, name)
    kept = Kept(header, header.first_row, decoder.position)
    try:
        for event in events:
            kept.take(event, decoder.position)
    except FormatError:
        return kept
    return kept


def _is_usable(checkpoint: Checkpoint, spec: MazeSpec) -> bool:
    """Return whether a checkpoint's stream is that of the spec as planned, not finalized."""
    stream = restore_stream(checkpoint.snapshot)
    return (stream.spec, stream.height, stream.position) == (spec, spec.height, checkpoint.row)


def check_same(there: MazeSpec, asked: MazeSpec, name: object) -> None:
    """Raise StoreError if what stands at `name` is another maze than the one asked for, naming each difference."""
    if there != asked:
        wanted = asked.to_data()
        names = [name for name, value in there.to_data().items() if wanted.get(name) != value]
        told = ", ".join(
            f"{name} is {getattr(there, name)} there and {getattr(asked, name, None)} here" for name in names
        )
        raise StoreError(f"{name}: it holds another maze: {told}")


def is_complete(path: str | os.PathLike[str], spec: MazeSpec) -> bool:
    """Return whether a file holds all of the maze of a spec with a height, by its header and its end.

    Raises StoreError if it holds another maze, naming the difference; FormatError if it holds none.
    """
    if not Path(path).is_file():
        return False
    with MazeFile(path) as maze:
        check_same(maze.spec, spec, maze.path)
        return maze.end is not None and maze.end.finished and maze.header.first_row + maze.end.rows == spec.height
