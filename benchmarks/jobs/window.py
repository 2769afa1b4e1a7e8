"""A 200 x 100 window scrolled by one row, drawing included; and how often a display of 60 frames a second waits for it.

The first is a step as fast as it goes: `scroll(1)`, `view()`, and the picture of all rows in view, as text and as a
bitmap, on an EllerStream on the C kernel. The second runs in real time: after a jump, a step each 60th of a second,
down and then up past where it began, over a source of which each read takes a millisecond more, as a connection on
loopback might; what is counted is the steps that took longer than a frame, drawing included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from eller_stream.render import pbm, text
from eller_stream.stream import EllerStream
from eller_stream.window import Scroller, StreamSource

from ..contestants import SEED, c_kernel
from ..measure import LONG_ROUNDS, Contestant, Figure, Options, Result, Samples, race, seconds_of

if TYPE_CHECKING:
    from eller_stream.block import Block

TITLE = "window: 200 x 100, scrolled by one row"
UNIT, FRAMES_UNIT = "ms a row", "late frames"
WIDTH, HEIGHT, FRAME, READ_SECONDS = 200, 100, 1 / 60, 0.001
START = 10**12
DRAWN = {"txt": text.lines, "pbm": pbm.lines}


class Distant(StreamSource):
    """A stream of which each read takes a millisecond more than it does here."""

    def read_rows(self, start: int, count: int, /) -> Block:
        time.sleep(READ_SECONDS)
        return super().read_rows(start, count)


def run(options: Options) -> Result:
    c_kernel()
    rows, frames = options.pick(1_000, 100), options.pick(240, 20)
    samples = race([_steps(name, rows) for name in DRAWN], options.rounds)
    late = race([_late_frames(frames)], options.pick(LONG_ROUNDS, 1))
    settings = {"width": WIDTH, "height": HEIGHT, "rows": rows, "seed": SEED, "start": START}
    settings |= {"frames": frames, "frames_a_second": 60, "read_seconds": READ_SECONDS}
    return Result(settings, [*samples, *late], [*map(_figure, samples), _late_figure(late[0], frames)])


def _figure(samples: Samples) -> Figure:
    return Figure(samples.name, UNIT, samples.values, 1.0, at_most=True)


def _late_figure(samples: Samples, frames: int) -> Figure:
    return Figure(f"steps longer than a frame, of {frames}", FRAMES_UNIT, samples.values, 0.0, at_most=True)


def _steps(name: str, rows: int) -> Contestant:
    step = _step(Scroller(EllerStream(WIDTH, seed=SEED), HEIGHT), name)

    def work() -> None:
        for _ in range(rows):
            step(1)

    return Contestant(f"scroll, view and draw as {name}", lambda: seconds_of(work) / rows * 1e3, UNIT)


def _step(scroller: Scroller, name: str) -> Callable[[int], None]:
    """Return what moves a view and draws all its rows."""

    def step(rows: int) -> None:
        scroller.scroll(rows)
        DRAWN[name](scroller.view(), top=True)

    return step


def _late_frames(frames: int) -> Contestant:
    def sample() -> float:
        with closing(Scroller(Distant(EllerStream(WIDTH, seed=SEED)), HEIGHT)) as scroller:
            scroller.jump(START)
            step = _step(scroller, "pbm")
            return float(sum(seconds_of(lambda rows=rows: step(rows)) > FRAME for rows in _in_time(frames)))

    return Contestant("60 frames a second, each read 1 ms more", sample, FRAMES_UNIT)


def _in_time(frames: int) -> Iterator[int]:
    """Yield a step each 60th of a second: one row down for the first third, then one row up."""
    start = time.perf_counter()
    for frame in range(frames):
        time.sleep(max(0.0, start + frame * FRAME - time.perf_counter()))
        yield 1 if frame < frames // 3 else -1
