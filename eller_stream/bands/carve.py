"""Carves one band: the choice of the algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..block import pack_bits
from . import dfs, prim, random_walk, wilson
from .finish import map_of
from .grid import IN, Carved

if TYPE_CHECKING:
    from ..spec import MazeSpec

_CARVERS = {"dfs": dfs.carve, "prim": prim.carve, "wilson": wilson.carve}


def carve(spec: MazeSpec, band: int) -> Carved:
    """Return a band as its algorithm carves it."""
    if spec.algorithm == "random_walk":
        grid = random_walk.dig(spec, band)
        cells = np.frombuffer(grid.cells, np.uint8).reshape(grid.rows + 2, grid.stride)
        return map_of(spec, band, pack_bits(cells[1:-1, 1:-1] & IN != 0))
    return _CARVERS[spec.algorithm](spec, band)
