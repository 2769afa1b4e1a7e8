"""The algorithms that are carved in bands as textbooks have them: plain Python, one whole maze, cell by cell.

Each fills `width` times `height` cells and returns (east, south), lists of rows of bools; the random walk returns its
map, 1 for a wall. They draw from Python's own generator, so they give other mazes of the same kind.
"""

from __future__ import annotations

from random import Random
from typing import TypeAlias

Rows: TypeAlias = list[list[bool]]
Cell: TypeAlias = tuple[int, int]

STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))


class Maze:
    """Cells, of which some are in the maze, and their passages."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.east, self.south, self.inside = ([[False] * width for _ in range(height)] for _ in range(3))

    def neighbours(self, cell: Cell) -> list[Cell]:
        """Return the cells beside a cell."""
        row, column = cell
        around = [(row + down, column + right) for down, right in STEPS]
        return [(r, c) for r, c in around if 0 <= r < self.height and 0 <= c < self.width]

    def new_neighbours(self, cell: Cell) -> list[Cell]:
        """Return those that are not in the maze."""
        (row, column), height, width, inside = cell, self.height, self.width, self.inside
        around = ((row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1))
        return [(r, c) for r, c in around if 0 <= r < height and 0 <= c < width and not inside[r][c]]

    def enter(self, cell: Cell) -> None:
        self.inside[cell[0]][cell[1]] = True

    def open(self, a: Cell, b: Cell) -> None:
        """Open the passage between two neighbours."""
        row, column = min(a, b)
        if row == max(a, b)[0]:
            self.east[row][column] = True
        else:
            self.south[row][column] = True

    def random_cell(self, random: Random) -> Cell:
        return random.randrange(self.height), random.randrange(self.width)


def dfs(width: int, height: int, random: Random) -> tuple[Rows, Rows]:
    """Depth-first search with a stack."""
    maze = Maze(width, height)
    stack = [maze.random_cell(random)]
    maze.enter(stack[0])
    while stack:
        new = maze.new_neighbours(stack[-1])
        if not new:
            stack.pop()
            continue
        cell = random.choice(new)
        maze.open(stack[-1], cell)
        maze.enter(cell)
        stack.append(cell)
    return maze.east, maze.south


def prim(width: int, height: int, random: Random) -> tuple[Rows, Rows]:
    """Randomized Prim: a random wall of the frontier."""
    maze = Maze(width, height)
    start = maze.random_cell(random)
    maze.enter(start)
    walls = [(start, cell) for cell in maze.new_neighbours(start)]
    while walls:
        i = random.randrange(len(walls))
        walls[i], walls[-1] = walls[-1], walls[i]
        inside, cell = walls.pop()
        if not maze.inside[cell[0]][cell[1]]:
            maze.open(inside, cell)
            maze.enter(cell)
            walls += [(cell, beyond) for beyond in maze.new_neighbours(cell)]
    return maze.east, maze.south


def wilson(width: int, height: int, random: Random) -> tuple[Rows, Rows]:
    """Wilson's loop-erased random walks."""
    maze = Maze(width, height)
    maze.enter(maze.random_cell(random))
    for start in [(row, column) for row in range(height) for column in range(width)]:
        cell, left_to = start, {}
        while not maze.inside[cell[0]][cell[1]]:
            left_to[cell] = cell = random.choice(maze.neighbours(cell))
        cell = start
        while not maze.inside[cell[0]][cell[1]]:
            maze.enter(cell)
            maze.open(cell, left_to[cell])
            cell = left_to[cell]
    return maze.east, maze.south


def random_walk(width: int, height: int, random: Random, max_tunnels: int, max_length: int) -> list[list[int]]:
    """Random-walk tunnels, as their source has them, but that the last cell of a tunnel is dug too."""
    walls = [[1] * width for _ in range(height)]
    row, column = random.randrange(height), random.randrange(width)
    walls[row][column] = 0
    last = (0, 0)
    while max_tunnels:
        down, right = random.choice(STEPS)
        while (down, right) == last or (-down, -right) == last:
            down, right = random.choice(STEPS)
        length = 0
        for _ in range(random.randint(1, max_length)):
            if not (0 <= row + down < height and 0 <= column + right < width):
                break
            row, column, length = row + down, column + right, length + 1
            walls[row][column] = 0
        if length:
            last = (down, right)
            max_tunnels -= 1
    return walls
