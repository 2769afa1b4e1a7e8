"""An endless maze of which every spanning tree is equally likely, row by row, in the memory of a row.

table.py    the table of jumps: what the rows still to come do to a walk
rows.py     the rows, in plain Python
"""
