"""Mazes of which every spanning tree is equally likely, row by row, in the memory of a row: `UniformStream`.

table.py    the table of jumps: what the rows still to come do to a walk
rows.py     the rows in plain Python; _uniform.c has both in C
carve.py    the choice between the two
"""

from .stream import UniformStream as UniformStream
