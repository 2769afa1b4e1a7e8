"""Paths between two cells of a maze, and the cells that make good ends.

`tree_path` finds the only path of a perfect maze of any size, in memory for a few rows (tree.py); `shortest_path`
searches any maze in memory, loops and maps too (search.py). Both take `MazeRows` and give a `Path`.
"""

from .path import Path as Path
from .rows import MazeRows as MazeRows
from .search import MOST_CELLS as MOST_CELLS
from .search import farthest_pair as farthest_pair
from .search import shortest_path as shortest_path
from .search import top_and_bottom as top_and_bottom
from .tree import tree_overlays as tree_overlays
from .tree import tree_path as tree_path

__all__ = [
    "MOST_CELLS",
    "MazeRows",
    "Path",
    "farthest_pair",
    "shortest_path",
    "top_and_bottom",
    "tree_overlays",
    "tree_path",
]
