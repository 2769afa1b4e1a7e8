"""A socket client: rows that a server carves, `eller-stream serve --port 3553` for one.

python examples/socket_client.py 127.0.0.1 3553
"""

import sys

from eller_stream import MazeSpec, RemoteStream

host, port = sys.argv[1], int(sys.argv[2])

# The client asks for the maze it wants; a connection that is lost is made again by itself.
with RemoteStream(host, port, MazeSpec(width=64, seed=42, loops=0.05)) as stream:
    for row in stream:
        print(row.index, "".join("." if open_ else "|" for open_ in row.east))
        if row.index == 9:
            break
    stream.seek(10**12)  # cheap, on the server too
    block = stream.read(1000)  # packed bit planes: block.east, block.south
print(f"rows {block.start:,} to {block.stop - 1:,} in {block.nbytes:,} bytes")
