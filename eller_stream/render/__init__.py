"""Rows to pictures: each renderer gives bytes, in memory for one block of rows; `PictureWriter` hands them on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..errors import StreamError
from . import pbm, text

if TYPE_CHECKING:
    from ..block import Block
    from ..stream import RowStream

CELLS_AT_ONCE = 2**18


class Lines(Protocol):
    """Gives the bytes of a block's rows; `top` asks for the outer wall above the first row too."""

    def __call__(self, block: Block, *, top: bool) -> bytes:
        """Return the bytes."""


@dataclass(frozen=True)
class Format:
    """A picture format that is written row by row.

    lines    gives a block's bytes
    header   gives the picture's first bytes from its width and rows; None: there are none, and a picture may be endless
    """

    lines: Lines
    header: Callable[[int, int], bytes] | None = None


FORMATS = {"txt": Format(text.lines), "pbm": Format(pbm.lines, pbm.header)}


class PictureWriter:
    """Draws a stream's rows, from where it stands, in bounded memory.

    write    takes the picture's bytes
    stream   gives the rows
    form     the picture's format

    Raises StreamError for an endless stream where the format begins with the height.
    """

    def __init__(self, write: Callable[[bytes], object], stream: RowStream, form: Format) -> None:
        self.rows = self.bytes_written = 0
        self._write, self.stream, self._form = write, stream, form
        self._height = stream.height
        if form.header is not None:
            if self._height is None:
                raise StreamError("this format begins with the height, so the number of rows has to be given")
            self._put(form.header(stream.spec.width, self._height - stream.position))

    def write(self, rows: int) -> int:
        """Draw `rows` rows, fewer at the end of the maze, and return how many."""
        before = self.rows
        at_once = max(1, CELLS_AT_ONCE // self.stream.spec.width)
        while self.rows < before + rows:
            block = self.stream.read(min(at_once, before + rows - self.rows))
            if not len(block):
                break
            self._put(self._form.lines(block, top=not self.rows))
            self.rows += len(block)
        return self.rows - before

    def mended_header(self) -> bytes | None:
        """Return the header that the picture should begin with, where the rows came to others than it says."""
        if self._form.header is None or self.stream.height == self._height:
            return None
        return self._form.header(self.stream.spec.width, self.rows)

    def _put(self, data: bytes) -> None:
        self._write(data)
        self.bytes_written += len(data)
