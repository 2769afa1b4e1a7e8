"""Save and resume a game: a snapshot holds all there is to a stream, and is small.

python examples/save_and_resume.py game.save
"""

import sys
from pathlib import Path

from eller_stream import EllerStream

save = Path(sys.argv[1])

stream = EllerStream.restore(save.read_bytes()) if save.exists() else EllerStream(width=32, seed=42)

for _ in range(5):  # five rows a day
    row = next(stream)
    print(f"{row.index:4}", "".join("." if open_ else "_" for open_ in row.south))

save.write_bytes(stream.snapshot())  # the next time it goes on with the row that follows
print(f"saved before row {stream.position}: {save.stat().st_size} bytes")
