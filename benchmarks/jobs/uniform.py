"""Uniform mazes row by row, against textbook Wilson in C, which has the whole maze in memory.

The textbook makes one maze of the size a sample; how many steps its walks take hangs on the seed, so they are kept
too, of the same seeds. The stream makes one of known height, and as many rows of an
endless one, from where its first rows are behind. Two streams run on two threads, and one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from threading import Thread

from eller_stream.uniform import UniformStream

from ..contestants import SEED, c_kernel
from ..measure import Contestant, Figure, Options, Result, millions_a_second, race, ratios
from ..wilson import CWilson

TITLE = "uniform: exactly uniform mazes, row by row, C"
SIZE, QUICK_SIZE = 1000, 60
WIDTHS, QUICK_WIDTHS = (64, 256, 1024, 4096), (8, 64)
CELLS_A_SAMPLE = 1_000_000


def run(options: Options) -> Result:
    c_kernel()
    size = options.pick(SIZE, QUICK_SIZE)
    widths = QUICK_WIDTHS if options.quick else WIDTHS
    cells = options.pick(CELLS_A_SAMPLE, size * size)
    contestants = [_textbook(size), _known_height(size), _endless(size, size), *_two_and_one(size)]
    contestants += [*(_endless(width, cells // width) for width in widths), _textbook_steps(size)]
    samples = race(contestants, options.pick(11, options.rounds))
    textbook, known, endless, two, one = samples[:5]
    figures = [
        Figure(f"endless, width {size}", "times textbook Wilson in C", ratios(endless, textbook), 1.6),
        Figure(f"{size} x {size}", "times the endless rate", ratios(known, endless), 0.5),
        Figure("two streams on two threads", "times one", ratios(two, one), 1.8),
    ]
    return Result({"size": size, "widths": widths, "cells": cells, "seed": SEED}, samples, figures)


def _textbook(size: int) -> Contestant:
    wilson, seeds = CWilson(size, size), count(SEED)
    work = millions_a_second(size * size, lambda: wilson.make(next(seeds)))
    return Contestant(f"textbook Wilson in C, {size} x {size}", work)


def _textbook_steps(size: int) -> Contestant:
    wilson, seeds = CWilson(size, size), count(SEED)
    return Contestant("textbook Wilson in C, its steps", lambda: wilson.make(next(seeds)) / size**2, "steps a cell")


def _known_height(size: int) -> Contestant:
    seeds = count(SEED)
    work = millions_a_second(size * size, lambda: UniformStream(size, seed=next(seeds), height=size).read(size))
    return Contestant(f"uniform, {size} x {size}", work)


def _endless(width: int, rows: int) -> Contestant:
    return Contestant(f"uniform, endless, width {width}", millions_a_second(rows * width, _reading(width, rows, SEED)))


def _reading(width: int, rows: int, seed: int) -> Callable[[], object]:
    """Return the work of reading rows of an endless stream, whose first rows are read already."""
    stream = UniformStream(width, seed=seed)
    stream.read(rows)
    return lambda: stream.read(rows)


def _two_and_one(size: int) -> list[Contestant]:
    both = [_reading(size, size, SEED + i) for i in range(2)]

    def at_once() -> None:
        threads = [Thread(target=work) for work in both]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def in_turn() -> None:
        for work in both:
            work()

    cells = 2 * size * size
    return [
        Contestant("two uniform streams, two threads", millions_a_second(cells, at_once)),
        Contestant("two uniform streams, one thread", millions_a_second(cells, in_turn)),
    ]
