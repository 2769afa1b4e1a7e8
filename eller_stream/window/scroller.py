"""`Scroller`: a view that moves over a source's rows, up and down, while a thread reads ahead.

The thread alone touches the source. It does one thing at a time: first the rows that are in view and missing, then
those ahead, on the side that the view moved to last. It reads ahead in steps of half of `ahead`, so that a view
that moves row by row does not read row by row: going up, each read is a seek. Rows that the view leaves behind stay
in the window as long as there is room, so going back reads nothing until they are gone.

Whoever moves the view waits until all rows in view are held, or their reading failed, or the Scroller is closed.
Nothing else is ever waited for: not for what is read ahead, and `close` not for a read that goes on.

Invariants. All that both sides see is changed under one lock, which is never held while the source works. The
window has room for the view and for what is read ahead on both sides, and what is farthest from the view goes first;
so the rows in view stay. After an error of reading the thread reads no further until rows in view are missing; then it
tries again, and the call that needs them raises what that raises. Where the source does not know its height, its end
is where a read found it, and is looked for again when the view moves past it: a file may have grown.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from ..block import Block, row_bytes
from ..errors import StreamError
from ..spec import MAX_ROW
from .source import source_of
from .window import Window, number

if TYPE_CHECKING:
    from types import TracebackType

    from ..store import MazeFile
    from ..stream import RowStream
    from .source import RowSource

MAX_ROWS_AHEAD = 256
MAX_CELLS_AHEAD = 2**22


class Scroller:
    """A view of `height` rows that moves over a stream, a file or a connection.

    source     a `RowStream` (also one that comes through a connection), a `MazeFile`, or any `RowSource`;
               nobody else uses it from now on, and `close` closes it
    height     rows in view, 1 or more; a maze that has fewer is in view as a whole
    ahead      rows read ahead of the view; None: 256, fewer for rows of more than 2**14 cells
    capacity   the most rows held, at least height + 3 * ahead; None: four times that

    The view begins where the stream stands, or with a file's first row. It stops at the maze's first and last row.
    One thread at a time moves it; `close` may be called from any. Use it in a `with` statement, or call `close`.

    Raises StreamError for numbers out of these bounds.
    """

    def __init__(
        self,
        source: RowStream | MazeFile | RowSource,
        height: int,
        *,
        ahead: int | None = None,
        capacity: int | None = None,
    ) -> None:
        rows = source_of(source)
        in_view = number("the height of a view", height, StreamError, 1)
        rows_ahead = (
            _ahead(rows.width) if ahead is None else number("the number of rows read ahead", ahead, StreamError, 0)
        )
        needed = in_view + 3 * rows_ahead
        most = 4 * needed if capacity is None else number("the capacity", capacity, StreamError, needed)
        self._reader = _Reader(rows, Window(most, rows.width), in_view, rows_ahead)
        self._reader.start(getattr(source, "position", rows.first_row))
        weakref.finalize(self, self._reader.stop)

    @property
    def height(self) -> int:
        """Rows in view, if the maze has as many."""
        return self._reader.rows

    @property
    def top(self) -> int:
        """Index of the first row in view."""
        return self._reader.shown.start

    @property
    def at_end(self) -> bool:
        """Whether the maze's last row is in view; False until that is known."""
        return self._reader.at_end

    def view(self) -> Block:
        """Return the rows in view, as a block that stays good: `height` rows, fewer if the maze has fewer.

        Raises what reading them raised, and StreamError when closed.
        """
        return self._reader.view()

    def scroll(self, rows: int) -> int:
        """Move the view down by `rows` rows, up if below 0, as far as the maze goes; return how far it went.

        Raises what reading the rows raised, the view being where it was, and StreamError when closed.
        """
        before = self.top
        return self.jump(before + number("the number of rows to scroll", rows, StreamError)) - before

    def jump(self, row: int) -> int:
        """Move the view to begin at `row`, or as near as the maze goes; return the row where it begins.

        Raises what reading the rows raised, the view being where it was, and StreamError when closed.
        """
        return self._reader.move(number("the row to jump to", row, StreamError))

    def resize(self, height: int) -> None:
        """Make the view `height` rows high; it begins where it began, or as near as the maze goes.

        The capacity grows where the view and what is read ahead on both sides need it.
        Raises StreamError for a height below 1, and what reading the rows raised, the view being as it was.
        """
        self._reader.resize(number("the height of a view", height, StreamError, 1))

    def finalize(self) -> None:
        """Make the row below the view the maze's last one, whatever was read ahead.

        Raises StreamError where that cannot be done: for a file, for a maze that is finalized or ends with the view.
        """
        self._reader.finalize()

    def close(self) -> None:
        """Stop reading and close the source, at once; if it is being read, as soon as that returns."""
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Reader:
    """What the thread and the Scroller share. The thread holds nothing of the Scroller, so it ends with it.

    `rows` is the height of the view; `shown` are the rows in view, or to be in view once they are held; `_end` is the
    index behind the last row, as the source's `height` (`_height`) or a read behind it told.
    """

    def __init__(self, source: RowSource, window: Window, rows: int, ahead: int) -> None:
        self._source, self._window, self.rows, self._ahead = source, window, rows, ahead
        self._step = max(1, ahead // 2)
        self._first, self._width, self._height = source.first_row, source.width, source.height
        self._end = self._height
        self._upwards = self._busy = self._closed = False
        self._last: int | None = None
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="eller_stream scroller", daemon=True)
        self.shown = range(0)

    def start(self, top: int) -> None:
        """Begin to read what is in view at `top`."""
        self.shown = self._from(top)
        self._thread.start()

    # ---- the side of the Scroller -----------------------------------------------------------

    @property
    def at_end(self) -> bool:
        return self._end is not None and self.shown.stop == self._end

    def move(self, top: int) -> int:
        """Show the rows from `top` on, and return where they begin."""
        with self._changed:
            before = self.shown
            if self._end is not None and top + self.rows > self._end:
                self._end = self._height
            self._upwards = top < before.start
            self.shown = self._from(top)
            try:
                self._wait_for_rows()
            except BaseException:
                self.shown = before
                raise
            return self.shown.start

    def resize(self, rows: int) -> None:
        """Show so many rows."""
        with self._changed:
            self._window.make_room(rows + 3 * self._ahead)
            before, self.rows = self.rows, rows
            try:
                self.move(self.shown.start)
            except BaseException:
                self.rows = before
                raise

    def view(self) -> Block:
        """Return the rows shown."""
        with self._changed:
            self._wait_for_rows()
            if not self.shown:
                return Block.empty(self._first, self._width, np.zeros(row_bytes(self._width), np.uint8))
            return self._window.view(self.shown.start, len(self.shown))

    def finalize(self) -> None:
        """Make the row below those shown the last one."""
        with self._changed:
            self._wait_for_rows()
            self._last = self.shown.stop
            self._changed.notify_all()
            self._wait_until(lambda: self._last is None)
            if self._error is not None:
                raise self._error

    def stop(self) -> None:
        """Let the thread close the source and end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def close(self) -> None:
        """Stop, and see it done unless the source is busy."""
        with self._changed:
            self.stop()
            busy = self._busy
        if not busy:
            self._thread.join()

    def _from(self, top: int) -> range:
        """Return the rows in view if the view is to begin at `top`: none outside the maze, as far as that is known."""
        end = MAX_ROW if self._end is None else self._end
        first = max(self._first, min(top, end - self.rows))
        return range(first, max(first, min(first + self.rows, end)))

    def _wait_for_rows(self) -> None:
        """Wait until the rows shown are held."""
        if self._gaps(self.shown):
            self._error = None
        self._changed.notify_all()
        self._wait_until(lambda: self._error is not None or not self._gaps(self.shown))
        if self._error is not None and self._gaps(self.shown):
            raise self._error

    def _wait_until(self, done: Callable[[], bool]) -> None:
        """Wait until something is so; StreamError as soon as the Scroller is closed."""
        self._changed.wait_for(lambda: self._closed or done())
        if self._closed:
            raise StreamError("the scroller is closed")

    def _gaps(self, rows: range) -> list[range]:
        return self._window.missing(rows.start, len(rows))

    # ---- the side of the thread -------------------------------------------------------------

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            try:
                job()
            except BaseException as error:
                self._fail(error)
            del job
        with suppress(Exception):  # nobody is left to be told
            self._source.close()

    def _next_job(self) -> Callable[[], None] | None:
        """Wait for something to do; None when closed."""
        with self._changed:
            self._busy = False
            self._changed.wait_for(lambda: self._closed or self._job_due() is not None)
            self._busy = not self._closed
            return None if self._closed else self._job_due()

    def _job_due(self) -> Callable[[], None] | None:
        if self._last is not None:
            return partial(self._finish, self._last)
        rows = None if self._error is not None else self._rows_due()
        return None if rows is None else partial(self._read, rows)

    def _rows_due(self) -> range | None:
        """Return the rows to read next: those in view, then those ahead, nearest first; None if all are held."""
        if gaps := self._gaps(self.shown):
            return gaps[0]
        if gaps := self._gaps(self._rows_ahead()):
            return gaps[-1][-self._step :] if self._upwards else gaps[0][: self._step]
        return None

    def _rows_ahead(self) -> range:
        """Return the rows that ought to be held ahead of the view: `ahead` of them, and up to a whole step."""
        first, stop = self.shown.start, self.shown.stop
        if self._upwards:
            above = first - self._ahead
            return range(min(first, max(self._first, above - above % self._step)), first)
        below = stop + self._ahead
        end = MAX_ROW if self._end is None else self._end
        return range(stop, max(stop, min(end, below + -below % self._step)))

    def _read(self, rows: range) -> None:
        block = self._source.read_rows(rows.start, len(rows))
        height = self._source.height
        if block.start != rows.start and (len(block) or block.start > rows.start):
            raise StreamError(f"the source gave row {block.start} where row {rows.start} was expected")
        with self._changed:
            self._height = height
            if not len(block):
                self._end = block.start
            elif self._end is None or self._end < block.stop:
                self._end = height
            self.shown = self._from(self.shown.start)
            if len(block):
                self._window.add(block, near=self.shown)
            self._changed.notify_all()

    def _finish(self, row: int) -> None:
        self._source.finalize(row)
        with self._changed:
            self._window.discard(row)
            self._height = self._end = row + 1
            self._last = self._error = None
            self._changed.notify_all()

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            self._error, self._last = error, None
            self._changed.notify_all()


def _ahead(width: int) -> int:
    """Return how many rows of a width are read ahead if nobody says."""
    return max(1, min(MAX_ROWS_AHEAD, MAX_CELLS_AHEAD // width))
