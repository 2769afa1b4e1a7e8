"""Makes one maze with a generator from PyPI and prints the seconds it took: generators.py NAME WIDTH HEIGHT.

It runs in the environment where that generator is installed, so it imports nothing of the project. Importing and what a
generator prepares for any maze are not counted, the grid is.
"""

import sys
import time
from importlib import import_module


def daedalus(create):
    maze_class = import_module("daedalus").Maze
    return lambda width, height: getattr(maze_class(2 * width + 1, 2 * height + 1), create)()


def mazelib(name):
    generator = getattr(import_module(f"mazelib.generate.{name}"), name)
    return lambda width, height: generator(height, width).generate()


def mazepy(name):
    package = import_module("mazepy")
    return lambda width, height: getattr(package.algorithms, name)(package.grids.Grid(height, width))


def lapyrinth(method):
    maze_class = import_module("lapyrinth").Maze
    return lambda width, height: getattr(maze_class(height, width), method)()


def labyrinth(name):
    generator = getattr(import_module("labyrinth.generate"), name)
    maze_class = import_module("labyrinth.maze").Maze
    return lambda width, height: maze_class(width, height, generator())


def eller_stream(_):
    stream_class = import_module("eller_stream").EllerStream
    return lambda width, height: stream_class(width, seed=1, height=height).read(height)


GENERATORS = {
    "daedalus": daedalus,
    "mazelib": mazelib,
    "mazepy": mazepy,
    "lapyrinth": lapyrinth,
    "labyrinth": labyrinth,
    "eller_stream": eller_stream,
}


def main(package, algorithm, width, height):
    generate = GENERATORS[package](algorithm)
    start = time.perf_counter()
    generate(int(width), int(height))
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main(*sys.argv[1:])
