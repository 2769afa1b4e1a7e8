"""An endless runner in a maze that never ends.

    pip install 'eller_stream[game]'
    python examples/endless_runner.py [--seed 42]

The maze comes down from the top, faster and faster. Run up through it: the runner keeps going until a wall stops him,
and takes the turn you asked for last as soon as there is one. Whoever falls off the bottom has lost.
Arrow keys or WASD: turn. P: pause. R: the same maze again. N: a new one. Esc: leave.

The maze is a stream, so the game never holds more than the rows on the screen. A row's `south` passages lead to the row
that comes after it; here that is the one above it on the screen.
"""

import argparse
from collections import deque

import pygame

from eller_stream import EllerStream

COLUMNS, ROWS = 15, 18  # cells on the screen
CELL, HEAD = 40, 44  # pixels: a cell, the bar with the score
RUN = 9.0  # cells a second
SLOWEST, FASTEST, GROWTH = 0.8, 2.6, 0.003  # rows a second; more for each row reached
LEAD = 0.5  # a runner further up than this share of the screen pulls the maze along, so the ways round stay in view

LEFT, RIGHT, AHEAD, BACK, STILL = (0, -1), (0, 1), (1, 0), (-1, 0), (0, 0)  # (rows, columns)
KEYS = {pygame.K_LEFT: LEFT, pygame.K_RIGHT: RIGHT, pygame.K_UP: AHEAD, pygame.K_DOWN: BACK}
KEYS |= {pygame.K_a: LEFT, pygame.K_d: RIGHT, pygame.K_w: AHEAD, pygame.K_s: BACK}

NIGHT, INK, GOLD, EMBER = (14, 16, 28), (228, 232, 246), (255, 205, 84), (255, 84, 60)


class Run:
    """One run: the maze, the runner, the score. It knows nothing of pygame, so a program can play it as well."""

    def __init__(self, seed=None):
        # Braid opens the dead ends and loops give second ways, so that nobody has to turn back far: the maze is fair.
        self.stream = EllerStream(width=COLUMNS, seed=seed, loops=0.1, braid=1)
        self.rows = deque()  # the rows from self.first on
        self.first = 0
        self.bottom = 0.0  # what the lower edge of the screen shows, in rows; it only grows
        self.cell = (4, COLUMNS // 2)  # the cell the runner is in, or comes from
        self.heading = self.wish = STILL
        self.step = 0.0  # how much of the way to the next cell is done
        self.score = 0
        self.alive = True
        self.scroll(0)

    @property
    def place(self):
        """Where the runner is: (row, column), with fractions between two cells."""
        return tuple(at + self.step * way for at, way in zip(self.cell, self.heading, strict=True))

    @property
    def speed(self):
        return min(FASTEST, SLOWEST + GROWTH * self.score)

    def row(self, index):
        return self.rows[index - self.first]

    def is_open(self, cell, way):
        """Return whether a passage leads this way out of a cell."""
        row, column = cell
        if way == RIGHT:
            return self.row(row).east[column]
        if way == LEFT:
            return column > 0 and self.row(row).east[column - 1]
        if way == AHEAD:
            return self.row(row).south[column]
        return way == BACK and row > self.first and self.row(row - 1).south[column]

    def update(self, seconds):
        """Let time pass."""
        self.move(seconds * RUN)
        self.scroll(seconds)
        self.score = max(self.score, self.cell[0])
        self.alive = self.place[0] + 1 > self.bottom

    def scroll(self, seconds):
        """Move the maze down, take the rows that come into view and drop those that left it."""
        self.bottom = max(self.bottom + seconds * self.speed, self.place[0] - LEAD * ROWS)
        while self.first + len(self.rows) < self.bottom + ROWS + 1:
            self.rows.append(next(self.stream))
        while self.first < self.bottom - 2:
            self.rows.popleft()
            self.first += 1

    def move(self, cells):
        """Run so many cells, turning where the player wants to and stopping at walls."""
        while True:
            if self.step and self.wish == (-self.heading[0], -self.heading[1]):
                self.cell, self.heading, self.step = self.next_cell(), self.wish, 1 - self.step
            if not self.step:
                self.turn()
            if self.heading == STILL:
                return
            if self.step + cells < 1:
                self.step += cells
                return
            cells -= 1 - self.step
            self.cell, self.step = self.next_cell(), 0.0

    def turn(self):
        """Choose the way out of a cell: the player's, else straight on, else none."""
        if self.wish != STILL and self.is_open(self.cell, self.wish):
            self.heading = self.wish
        elif not self.is_open(self.cell, self.heading):
            self.heading = STILL

    def next_cell(self):
        return self.cell[0] + self.heading[0], self.cell[1] + self.heading[1]


class Game:
    """The window: keys in, pictures out."""

    def __init__(self, seed=None):
        pygame.display.init()
        pygame.font.init()
        pygame.display.set_caption("Endless runner")
        self.screen = pygame.display.set_mode((COLUMNS * CELL + 8, ROWS * CELL + HEAD))
        self.maze = self.screen.subsurface((4, HEAD, COLUMNS * CELL, ROWS * CELL))
        self.small, self.large = pygame.font.Font(None, 28), pygame.font.Font(None, 64)
        self.run, self.paused, self.open = Run(seed), False, True

    def frame(self, seconds):
        """Do one frame."""
        for event in pygame.event.get():
            self.open = self.open and event.type != pygame.QUIT
            if event.type == pygame.KEYDOWN:
                self.press(event.key)
        if self.run.alive and not self.paused:
            self.run.update(seconds)
        self.draw()
        pygame.display.flip()

    def press(self, key):
        if key in KEYS:
            self.run.wish = KEYS[key]
        elif key == pygame.K_p:
            self.paused = not self.paused
        elif key in (pygame.K_r, pygame.K_n):
            self.run, self.paused = Run(self.run.stream.spec.seed if key == pygame.K_r else None), False
        elif key == pygame.K_ESCAPE:
            self.open = False

    def draw(self):
        run, (width, height) = self.run, self.maze.get_size()
        self.screen.fill(NIGHT)
        for row in run.rows:
            self.draw_row(row)
        for line in range(24):
            shade = pygame.Color(NIGHT).lerp(EMBER, line / 24)
            pygame.draw.line(self.maze, shade, (0, height - 24 + line), (width, height - 24 + line))
        row, column = run.place
        centre = (column + 0.5) * CELL, self.y(row + 0.5)
        pygame.draw.circle(self.maze, GOLD, centre, CELL * 0.3)
        self.screen.fill(NIGHT, (0, 0, width + 8, HEAD))
        self.write(self.small, f"row {run.score}", INK, midleft=(12, HEAD // 2))
        self.write(self.small, f"seed {run.stream.spec.seed}", INK, midright=(width - 4, HEAD // 2))
        if self.paused or not run.alive:
            news = "paused" if run.alive else f"{run.score} rows"
            self.write(self.large, news, GOLD, center=(width // 2, height // 2))

    def y(self, rows):
        """Return the line of the screen where a place in the maze is drawn: further rows stand further up."""
        return self.maze.get_height() - (rows - self.run.bottom) * CELL

    def draw_row(self, row):
        """Draw the walls on the right of a row's cells and ahead of them; their colour changes with the rows."""
        colour = pygame.Color(0)
        colour.hsva = (210 + row.index // 4) % 360, 55, 85, 100
        floor, roof = self.y(row.index), self.y(row.index + 1)
        pygame.draw.line(self.maze, colour, (0, floor), (0, roof), 4)
        for column, (east, south) in enumerate(zip(row.east, row.south, strict=True)):
            left, right = column * CELL, (column + 1) * CELL
            if not east:
                pygame.draw.line(self.maze, colour, (right, floor), (right, roof), 4)
            if not south:
                pygame.draw.line(self.maze, colour, (left, roof), (right, roof), 4)

    def write(self, font, text, colour, **place):
        picture = font.render(text, True, colour, NIGHT)
        self.screen.blit(picture, picture.get_rect(**place))


def main():
    parser = argparse.ArgumentParser(description="Run up through a maze that never ends.")
    parser.add_argument("--seed", type=int, help="the maze's seed; without, each run has a new one")
    game, clock = Game(parser.parse_args().seed), pygame.time.Clock()
    while game.open:
        game.frame(min(clock.tick(60) / 1000, 0.1))
    pygame.quit()


if __name__ == "__main__":
    main()
