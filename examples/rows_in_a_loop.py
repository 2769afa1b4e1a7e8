"""Rows in a loop: an endless maze, a row at a time.

python examples/rows_in_a_loop.py
"""

from itertools import islice

from eller_stream import EllerStream

stream = EllerStream(width=20, seed=42)

print("+---" * stream.spec.width + "+")
for row in islice(stream, 10):  # without islice it goes on for ever
    print("|" + "".join("    " if open_ else "   |" for open_ in row.east))
    print("+" + "".join("   +" if open_ else "---+" for open_ in row.south))

stream.finalize()  # the next row is the last: it joins what is left, and the maze is perfect
last = next(stream)
print("|" + "".join("    " if open_ else "   |" for open_ in last.east))
print("+---" * last.width + "+")
