"""Makes one maze with a generator from PyPI; prints the seconds it took and the passages it has.

    generators.py PACKAGE ALGORITHM WIDTH HEIGHT

It runs in the environment where that generator is installed, perhaps in an old Python, so it imports nothing of the
project. Importing and what a generator prepares for any maze are not counted, the grid is. Each entry of GENERATORS
takes the name of an algorithm and returns two functions: to make a maze of a width and a height, and to count the
passages of one.
"""

import sys
import time
from importlib import import_module


def daedalus(create):
    maze_class = import_module("daedalus").Maze

    def make(width, height):
        maze = maze_class(2 * width + 1, 2 * height + 1)
        getattr(maze, create)()
        return maze

    return make, lambda maze: open_tiles(maze.width, maze.height, lambda x, y: not maze.get(x, y))


def mazelib(name):
    generator = getattr(import_module("mazelib.generate." + name), name)
    return lambda width, height: generator(height, width).generate(), lambda grid: open_tiles_of(grid == 0)


def mazepy(name):
    package = import_module("mazepy")
    carve = getattr(package.algorithms, name)

    def make(width, height):
        grid = package.grids.Grid(height, width)
        carve(grid)
        return grid

    return make, lambda grid: sum(len(cell.links()) for cell in grid.each_cell()) // 2


def lapyrinth(method):
    maze_class = import_module("lapyrinth").Maze

    def make(width, height):
        maze = maze_class(height, width)
        getattr(maze, method)()
        return maze

    return make, lambda maze: open_tiles_of(maze.maze > 1)


def labyrinth(name):
    generator = getattr(import_module("labyrinth.generate"), name)
    maze_class = import_module("labyrinth.maze").Maze

    def passages(maze):
        cells = (maze[row, column] for row in range(maze.height) for column in range(maze.width))
        return sum(len(cell.open_walls) for cell in cells) // 2

    return lambda width, height: maze_class(width, height, generator()), passages


def eller_stream(_):
    stream_class = import_module("eller_stream").EllerStream
    make = lambda width, height: stream_class(width, seed=1, height=height).read(height)  # noqa: E731
    return make, lambda block: sum(bin(byte).count("1") for plane in (block.east, block.south) for byte in plane.flat)


def open_tiles(columns, rows, is_open):
    """Count the openings between cells on a grid of tiles, two for each cell and one more."""
    east = sum(is_open(x, y) for y in range(1, rows, 2) for x in range(2, columns - 1, 2))
    return east + sum(is_open(x, y) for y in range(2, rows - 1, 2) for x in range(1, columns, 2))


def open_tiles_of(grid):
    """Count the same on an array of bools."""
    return int(grid[1::2, 2:-1:2].sum() + grid[2:-1:2, 1::2].sum())


GENERATORS = {
    "daedalus": daedalus,
    "mazelib": mazelib,
    "mazepy": mazepy,
    "lapyrinth": lapyrinth,
    "labyrinth": labyrinth,
    "eller_stream": eller_stream,
}


def main(package, algorithm, width, height):
    make, passages = GENERATORS[package](algorithm)
    start = time.perf_counter()
    maze = make(int(width), int(height))
    seconds = time.perf_counter() - start
    print(seconds, passages(maze))


if __name__ == "__main__":
    main(*sys.argv[1:])
