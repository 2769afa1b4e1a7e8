"""The algorithms carved in bands, in C, against the same ones in plain Python: whole mazes, each of one band.

The plain ones draw from Python's own generator, so the mazes are others of the same kind; Prim's is the one with even
weights. Both sides make mazes of the same size, C several of them in a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, islice
from random import Random
from typing import Any

from .. import plain_bands

from eller_stream.bands import BandStream

from ..contestants import SEED, c_kernel
from ..measure import Contestant, Figure, Options, Result, millions_a_second, race, ratios

TITLE = "bands: one whole maze, C carvers"
SIZES = {"dfs": 256, "prim": 256, "wilson": 128, "random_walk": 512}
QUICK_SIZE = 48
MAZES = 16
PLAIN: dict[str, Callable[..., object]] = {
    "dfs": plain_bands.dfs,
    "prim": plain_bands.prim,
    "wilson": plain_bands.wilson,
    "random_walk": plain_bands.random_walk,
}
TARGETS = {"dfs": 60.0, "prim": 20.0, "wilson": 20.0, "random_walk": 20.0}


def run(options: Options) -> Result:
    c_kernel()
    sizes = {name: options.pick(size, QUICK_SIZE) for name, size in SIZES.items()}
    samples = race([make(*job) for job in sizes.items() for make in (_carver, _plain)], options.rounds)
    figures = [
        Figure(name, "times plain Python", ratios(in_c, plain), TARGETS[name])
        for name, in_c, plain in zip(PLAIN, samples[::2], samples[1::2], strict=True)
    ]
    return Result({"sizes": sizes, "mazes": MAZES, "seed": SEED}, samples, figures)


def _own(name: str, size: int) -> dict[str, Any]:
    return {"max_tunnels": size * size // 16, "max_length": 8} if name == "random_walk" else {}


def _carver(name: str, size: int) -> Contestant:
    seeds = count(SEED)

    def work() -> None:
        for seed in islice(seeds, MAZES):
            BandStream(name, size, seed=seed, height=size, band=size, **_own(name, size)).read(size)

    return Contestant(f"{name}, C, {size} x {size}", millions_a_second(MAZES * size * size, work))


def _plain(name: str, size: int) -> Contestant:
    random = Random(SEED)

    def work() -> None:
        PLAIN[name](size, size, random, **_own(name, size))

    return Contestant(f"{name}, plain Python, {size} x {size}", millions_a_second(size * size, work))
