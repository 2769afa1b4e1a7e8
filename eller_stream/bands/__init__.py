"""Mazes that are carved band by band: `BandStream`, and the algorithms it carves with.

dfs.py          depth-first search
prim.py         randomized Prim
wilson.py       Wilson's loop-erased random walks
random_walk.py  maps of tunnels
"""

from .stream import BandStream as BandStream
from .stream import random_walk_map as random_walk_map
