"""`MazeApp`: a maze that scrolls by in a terminal.

Rows may be slow to come, from a server or a disk, and the terminal has to answer all the same. So what moves the view
is kept as a list of moves, and one task does them, in a thread, one lot after another: the `Scroller` is moved by one
thread at a time, and all moves asked for while it waits for rows are done at once when they are there. What is on the
screen is the last lot's outcome. Where a lot fails, the view is where it was, the maze stands still, and the error is
shown.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from rich.segment import Segment
from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from ..errors import CapacityError, EllerStreamError, SpecError, StreamError
from ..render.text import ASCII, CELL_COLUMNS
from ..spec import ALGORITHMS, MAX_ROW, MazeSpec
from ..window import Scroller
from . import words
from .canvas import Canvas, canvas_of
from .way import ends_within, way_through

if TYPE_CHECKING:
    from ..block import Block
    from ..net import RemoteStream
    from ..solve import Path
    from ..store import MazeFile
    from ..stream import RowStream

    Source: TypeAlias = RowStream | RemoteStream | MazeFile

SPEEDS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
FIRST_SPEED = 2  # its place in SPEEDS
FRAMES = 30  # a second
SIDE_STEP = 4  # cells


class Shown(NamedTuple):
    """What is on the screen: rows, whether the maze ends with them, and the way through them."""

    block: Block
    at_end: bool
    way: Path | None


class MazeView(Widget):
    """Shows a canvas, in the middle if it is narrower than the screen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"maze--wall", "maze--way"}
    DEFAULT_CSS = """
    MazeView { width: 1fr; height: 1fr; }
    MazeView > .maze--wall { color: ansi_blue; }
    MazeView > .maze--way { color: ansi_yellow; text-style: bold; }
    """
    canvas: Canvas | None = None

    class Sized(Message):
        """The view has another size."""

    def on_resize(self) -> None:
        """Tell it."""
        self.post_message(self.Sized())

    def show(self, canvas: Canvas) -> None:
        """Show another canvas."""
        self.canvas = canvas
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return a line of the screen."""
        if self.canvas is None or y >= len(self.canvas):
            return Strip.blank(self.size.width, self.rich_style)
        styles = [self.get_component_rich_style(name) for name in ("maze--wall", "maze--way")]
        pieces = [Segment(text, styles[on_way]) for text, on_way in self.canvas.pieces(y)]
        left = (self.size.width - sum(len(piece.text) for piece in pieces)) // 2
        return Strip([Segment(" " * left, self.rich_style), *pieces]).adjust_cell_length(
            self.size.width, self.rich_style
        )


class Help(ModalScreen[None]):
    """Tells the keys, until any of them is pressed."""

    DEFAULT_CSS = """
    Help { align: center middle; }
    Help Static { width: 64; max-width: 100%; height: auto; max-height: 100%; padding: 0 1; border: ascii ansi_yellow; }
    """

    def compose(self) -> ComposeResult:
        """Give the text."""
        text = Static(words.HELP, markup=False)
        text.border_title = words.HELP_TITLE
        yield text

    def on_key(self, event: events.Key) -> None:
        """Close."""
        event.stop()
        self.dismiss()


class MazeApp(App[bool]):
    """A maze that scrolls by.

    source   a stream, a server's stream or a maze file; it is closed in the end
    another  opens the stream of another spec; None: the maze cannot be changed for another
    charset  what walls are drawn with: "ascii" or "unicode"

    `run` returns whether it was left with Ctrl-C.
    """

    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    CSS = """
    Screen { overflow: hidden; }
    #state { height: 1; width: 1fr; text-style: reverse; text-wrap: nowrap; text-overflow: ellipsis; }
    #row { height: 1; border: none; padding: 0 1; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll(-1)"),
        Binding("down,j", "scroll(1)"),
        Binding("left", "pan(-1)"),
        Binding("right", "pan(1)"),
        Binding("pageup", "page(-1)"),
        Binding("pagedown", "page(1)"),
        Binding("home", "jump(0)"),
        Binding("end", f"jump({MAX_ROW})"),
        Binding("g", "ask_row", priority=True),  # before the keys that follow are sent anywhere
        Binding("plus,equals_sign", "speed(1)"),
        Binding("minus", "speed(-1)"),
        Binding("space,p", "pause"),
        Binding("a", "algorithm"),
        Binding("n", "seed"),
        Binding("s", "solution"),
        Binding("question_mark,h", "help"),
        Binding("escape", "forget_row"),
        Binding("q", "leave(False)"),
        Binding("ctrl+c", "leave(True)", priority=True),
    ]

    def __init__(
        self, source: Source, *, another: Callable[[MazeSpec], Source] | None = None, charset: str = ASCII
    ) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.spec = self._first_spec = source.spec
        self.shown: Shown | None = None
        self.left = 0  # the first column in view
        self.paused = self.solution = False
        self._another, self._charset = another, charset
        self._speed, self._due = FIRST_SPEED, 0.0
        self._scroller = Scroller(source, 1)
        self._moves: list[Callable[[], object]] = []
        self._asked, self._busy = asyncio.Event(), False

    @property
    def speed(self) -> int:
        """Rows a second."""
        return SPEEDS[self._speed]

    @property
    def cells_wide(self) -> int:
        """How many cells are seen side by side."""
        return max(1, (self._view.size.width - 1) // CELL_COLUMNS)

    @property
    def _view(self) -> MazeView:
        return self.query_one(MazeView)

    @property
    def _row_input(self) -> Input:
        return self.query_one("#row", Input)

    def compose(self) -> ComposeResult:
        """Give the maze, the line of state below it, and a line to ask for a row."""
        yield MazeView()
        yield Input(placeholder="go to row", id="row", compact=True)
        yield Static(id="state", markup=False)

    # ---- moves -----------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Begin to move."""
        self.run_worker(self._work())
        self.set_interval(1 / FRAMES, self._tick)

    def on_unmount(self) -> None:
        """Let go of the maze, also while it is waited for."""
        self._scroller.close()

    @on(MazeView.Sized)
    def follow_size(self) -> None:
        """Show as many rows as the terminal has room for."""
        rows = max(1, (self._view.size.height - 1) // 2)
        self._ask(lambda: self._scroller.resize(rows))

    def _ask(self, *moves: Callable[[], object]) -> None:
        """Have some moves done, and then the screen drawn."""
        self._moves += moves
        self._asked.set()

    def _tick(self) -> None:
        """Let the maze scroll, unless it is still busy with what was asked for."""
        if self.paused or self._busy:
            return
        self._due += self.speed / FRAMES
        rows = int(self._due)
        if rows:
            self._due -= rows
            self.action_scroll(rows)

    async def _work(self) -> None:
        """Do what is asked for, one lot after another."""
        while await self._asked.wait():
            self._asked.clear()
            moves, self._moves, self._busy = self._moves, [], True
            try:
                self.shown = await asyncio.to_thread(self._do, moves)
            except (EllerStreamError, OSError) as error:
                self.paused = True
                self.notify(str(error), severity="error", markup=False)
            self._busy = False
            self._draw()

    def _do(self, moves: list[Callable[[], object]]) -> Shown:
        for move in moves:
            move()
        block = self._scroller.view()
        return Shown(block, self._scroller.at_end, self._way_through(block) if self.solution else None)

    def _way_through(self, block: Block) -> Path | None:
        """Return the way that is shown as the solution: much as it was, if one was shown. None: there is none."""
        before = None if self.shown is None else self.shown.way
        middle = min(self.left + self.cells_wide // 2, block.width - 1)
        try:
            return way_through(block, *((middle, middle) if before is None else ends_within(before, block)))
        except CapacityError:
            return None

    def _change(self, spec: MazeSpec) -> None:
        """Show another maze, from its first row on."""
        if self._another is None:
            raise StreamError("this maze is made already: it has no other algorithm and no other seed")
        scroller = Scroller(self._another(spec), self._scroller.height)
        self._scroller.close()
        self._scroller, self.spec, self.shown = scroller, spec, None

    def _draw(self) -> None:
        """Put what is shown on the screen."""
        if self.shown is None:
            return
        block, at_end, way = self.shown
        self.left = max(0, min(self.left, block.width - self.cells_wide))
        if len(block):
            self._view.show(canvas_of(block, way, self.left, self._view.size.width, self._charset))
        solution = None if not self.solution else way is not None
        line = words.state(
            self.spec, block, at_end=at_end, speed=None if self.paused else self.speed, solution=solution
        )
        self.query_one("#state", Static).update(line.ljust(self.size.width))

    # ---- keys ------------------------------------------------------------------------------------

    def action_scroll(self, rows: int) -> None:
        """Move down."""
        self._ask(lambda: self._scroller.scroll(rows))

    def action_page(self, pages: int) -> None:
        """Move down by what is in view."""
        self._ask(lambda: self._scroller.scroll(pages * self._scroller.height))

    def action_jump(self, row: int) -> None:
        """Go to a row."""
        self._ask(lambda: self._scroller.jump(row))

    def action_pan(self, steps: int) -> None:
        """Move to the side."""
        self.left += steps * SIDE_STEP
        self._draw()

    def action_ask_row(self) -> None:
        """Ask for a row to go to."""
        self._row_input.display = True
        self.screen.set_focus(self._row_input)  # at once: `focus` puts it off

    def action_forget_row(self) -> None:
        """Ask no longer."""
        self._row_input.clear()
        self._row_input.display = False

    @on(Input.Submitted)
    def go_to_row(self, event: Input.Submitted) -> None:
        """Go to the row that was asked for."""
        self.action_forget_row()
        digits = event.value.replace(",", "").strip()
        if digits.isascii() and digits.isdigit() and int(digits[:20]) <= MAX_ROW:
            self.action_jump(int(digits))
        else:
            self.notify(f"a row is a number from 0 to {MAX_ROW:,}", severity="error", markup=False)

    def action_speed(self, steps: int) -> None:
        """Scroll faster or slower."""
        self._speed = max(0, min(self._speed + steps, len(SPEEDS) - 1))
        self._draw()

    def action_pause(self) -> None:
        """Stand still, or go on."""
        self.paused = not self.paused
        self._draw()

    def action_algorithm(self) -> None:
        """Show a maze of the next algorithm."""
        self._ask(lambda: self._change(self._with_next_algorithm()))

    def _with_next_algorithm(self) -> MazeSpec:
        """Return the spec with the next algorithm that has such mazes; the first spec has its options again."""
        first, now = self._first_spec, self.spec
        options: dict[str, Any] = {each: getattr(now, each) for each in ("width", "seed", "height", "loops", "braid")}
        behind = ALGORITHMS.index(now.algorithm) + 1
        following = ALGORITHMS[behind:] + ALGORITHMS[:behind]
        for name in takewhile(lambda name: name != first.algorithm, following):
            with suppress(SpecError):
                return MazeSpec(algorithm=name, **options)
        return replace(first, seed=now.seed)

    def action_seed(self) -> None:
        """Show a maze of another seed."""
        self._ask(lambda: self._change(replace(self.spec, seed=secrets.randbits(64))))

    def action_solution(self) -> None:
        """Show the way through the rows in view, or hide it."""
        self.solution = not self.solution
        self._ask()

    def action_help(self) -> None:
        """Tell the keys."""
        self.push_screen(Help())

    def action_leave(self, interrupted: bool) -> None:
        """Leave."""
        self.exit(interrupted)
