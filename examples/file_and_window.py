"""A maze file, and any window of it without reading the rest.

python examples/file_and_window.py maze.emz
"""

import sys

from eller_stream import EllerStream, MazeFile, MazeWriter

path = sys.argv[1]

with MazeWriter(path, EllerStream(width=1000, seed=42, height=20_000)) as writer:
    while writer.write(4096):  # rows at a time; the memory stays the same however long the maze
        pass

with MazeFile(path) as maze:
    print(f"{len(maze):,} rows of {maze.spec.width:,} cells, made from the seed {maze.spec.seed}")
    window = maze[12_000:12_008]  # reads only the frames that hold these rows
    for line in window.tiles()[:, 600:660]:  # 1 is wall, 0 is floor
        print("".join(" █"[tile] for tile in line))
