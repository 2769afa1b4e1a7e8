"""Carves one band: the choice of the algorithm, and between the carvers in C and those in Python.

Both draw the same numbers and give the same bands. Which one runs is the kernel's choice (`kernel.BACKEND`).
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from .. import kernel
from ..block import row_bytes
from ..spec import AWAY, EVEN, TOWARD
from . import dfs, draws, prim, random_walk, wilson
from .draws import band_key
from .finish import map_of
from .grid import Carved
from .places import band_rows, is_last, rows_of

if TYPE_CHECKING:
    from ..block import Plane
    from ..spec import MazeSpec

_NO_START = 2**64 - 1
_NO_GATE = -1
_PULLS = {EVEN: 0, AWAY: 1, TOWARD: 2}


def carve(spec: MazeSpec, band: int) -> Carved:
    """Return a band as its algorithm carves it."""
    in_c = kernel.module_in_c("bands._carvers")
    if spec.algorithm == "random_walk":
        dug = random_walk.dig(spec, band).inside() if in_c is None else _dig_in_c(in_c, spec, band)
        return map_of(spec, band, dug)
    if in_c is not None:
        return _carve_in_c(in_c, spec, band)
    in_python = {"dfs": dfs.carve, "prim": prim.carve, "wilson": wilson.carve}
    return in_python[spec.algorithm](spec, band)


def _carve_in_c(in_c: ModuleType, spec: MazeSpec, band: int) -> Carved:
    north, east = (_plane(rows_of(spec, band) + more, spec) for more in (1, 0))
    where = (north.data, east.data, spec.width)
    if spec.algorithm == "dfs":
        doors = spec.doors if band else 0
        key = band_key(spec.seed, draws.DFS, band)
        weights = (*dfs.ratio_of(spec), 0, 0)[:4]
        in_c.dfs(*where, key, _start(spec, band), doors, weights, spec.goal is not None, *_goal(spec, band))
    elif spec.algorithm == "prim":
        key, (way, a) = band_key(spec.seed, draws.PRIM, band), prim.pull_of(spec)
        in_c.prim(*where, key, band > 0, _start(spec, band), _PULLS[way], a, *_goal(spec, band))
    else:
        in_c.wilson(*where, band_key(spec.seed, draws.WILSON, band), band > 0)
    return Carved(north[0], east, north[1:])


def _dig_in_c(in_c: ModuleType, spec: MazeSpec, band: int) -> Plane:
    floor = _plane(rows_of(spec, band), spec)
    above = random_walk.gate(spec, band) if band else _NO_GATE
    below = _NO_GATE if is_last(spec, band) else random_walk.gate(spec, band + 1)
    key = band_key(spec.seed, draws.RANDOM_WALK, band)
    in_c.random_walk(floor.data, spec.width, key, above, below, spec.max_tunnels, spec.max_length)
    return floor


def _plane(rows: int, spec: MazeSpec) -> Plane:
    return np.empty((rows, row_bytes(spec.width)), np.uint8)


def _start(spec: MazeSpec, band: int) -> int:
    """Return the number of the first band's start cell, counted row by row."""
    return _NO_START if band or spec.start is None else spec.start[0] * spec.width + spec.start[1]


def _goal(spec: MazeSpec, band: int) -> tuple[int, int]:
    """Return the goal's row and column in the band, the row modulo 2**64."""
    if spec.goal is None:
        return 0, 0
    return (spec.goal[0] - band * band_rows(spec)) % 2**64, spec.goal[1]
