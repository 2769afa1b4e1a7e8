"""What the page asks for besides rows: a spec from what was typed, the sets of some rows, the path between two cells.

Each answer is bounded work on a bounded number of rows, which `ServerLimits` and the numbers below say, and is plain
data for JSON. What is wrong with a question raises an EllerStreamError.

*Where a path is looked for.* An endless maze cannot be searched wholly. In a perfect one with key rows or bands, all
cells above such a row are connected by the rows above it; so the path between two cells lies above the first such row
below them. How far it leads up is not known: the rows looked at begin one band above the cells, then eight, then 64.
Without such rows they grow downwards as well. With loops, and on maps, it is the shortest path among the rows looked
at; beyond them there might be a shorter one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..chance import written_schedule
from ..errors import SolveError, SpecError
from ..net.sources import FileSource, StreamSource
from ..solve import MazeRows, shortest_path, tree_path
from ..spec import MAX_ROW, MazeSpec, shown
from ..stream import EllerStream

if TYPE_CHECKING:
    from ..block import Block, Cell
    from ..net.limits import ServerLimits
    from ..net.sources import RowSource
    from ..solve import Path
    from ..store import MazeFile

MOST_SETS = 2**16
MOST_SETS_WIDTH = 2**12
MOST_CELLS = 2**23
MOST_STEPS = 2**18
_ROWS_AROUND = 1024
_REACHES = (1, 8, 64)
_CHANCES = ("p_east", "p_south", "loops", "braid")


def spec_of_words(words: Mapping[str, Any]) -> MazeSpec:
    """Return the spec of what was typed: options by their names, as text; an empty one takes its default."""
    given = {name: text.strip() for name, text in words.items() if isinstance(text, str) and text.strip()}
    algorithm = given.pop("algorithm", "eller")
    options: dict[str, Any] = {
        name: (_chance if name in _CHANCES else _whole)(name, text) for name, text in given.items()
    }
    try:
        return MazeSpec(algorithm=algorithm, **options)
    except TypeError:
        raise SpecError(f"a maze has a width and options by their names, not {shown(sorted(given))}") from None


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 20):
        raise SpecError(f"{name} is a whole number, not {shown(text)}")
    return int(text)


def _chance(name: str, text: str) -> float | list[tuple[int, float]]:
    """Return a probability, or the schedule written 0:0.5,1000:0.6."""
    try:
        return written_schedule(text)
    except ValueError:
        raise SpecError(f"{name} is a number from 0 to 1, or row:number,row:number..., not {shown(text)}") from None


def row_of(question: Mapping[str, Any], name: str) -> int:
    """Return a row that a question names."""
    return _within(name, question.get(name), MAX_ROW)


def cell_of(question: Mapping[str, Any], name: str) -> Cell:
    """Return a cell [row, column] that a question names."""
    cell = question.get(name)
    if not isinstance(cell, list) or len(cell) != 2:
        raise SpecError(f"{name} is a cell [row, column], not {shown(cell)}")
    return _within(f"the row of {name}", cell[0], MAX_ROW), _within(f"the column of {name}", cell[1], MAX_ROW)


def _within(name: str, value: object, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise SpecError(f"{name} is a whole number from 0 to {most}, not {shown(value)}")
    return value


def sets_of(spec: MazeSpec, row: int, rows: int, limits: ServerLimits) -> list[list[int]]:
    """Return the set number of each cell of up to `rows` rows from `row` on, once each row's joins are made.

    Fewer come where they would be more than 65,536 numbers, or the maze ends. SpecError for a maze that is not
    Eller's or is wider than 4,096 cells.
    """
    if spec.algorithm != "eller":
        raise SpecError(f"sets are those of algorithm eller, {spec.algorithm} has none")
    if spec.width > MOST_SETS_WIDTH:
        raise SpecError(f"sets are shown of rows up to {MOST_SETS_WIDTH} cells wide, not {spec.width}")
    tree = MazeSpec.from_data(spec.to_data() | {"loops": [[0, 0]], "braid": 0})  # which the sets never see
    source = StreamSource(tree, limits)
    _go(source, row)
    stream = EllerStream.restore(source.snapshot(row))
    end = MAX_ROW if stream.height is None else stream.height
    return [_joined_sets(stream) for _ in range(min(rows, end - row, MOST_SETS // spec.width))]


def _joined_sets(stream: EllerStream) -> list[int]:
    """Take a row, and return the sets of its cells: those from above, united by its passages east."""
    numbers = stream.sets.tolist()
    root = list(range(len(numbers)))
    for column, is_open in enumerate(next(stream).east[:-1].tolist()):
        if is_open:
            low, high = sorted((_root(root, numbers[column]), _root(root, numbers[column + 1])))
            root[high] = low
    return [_root(root, number) for number in numbers]


def _root(root: list[int], number: int) -> int:
    while root[number] != number:
        root[number] = number = root[root[number]]
    return number


def path_between(source: RowSource, start: Cell, end: Cell) -> dict[str, Any]:
    """Return the path between two cells.

    `moves` is a text of N, E, S, W; `only` tells whether the maze has no other path; `rows` are the rows looked at.
    """
    spec = source.header.spec
    for rows in _spans(source, min(start[0], end[0]), max(start[0], end[0])):
        if len(rows) * spec.width > MOST_CELLS:
            raise SolveError(
                f"the way would be looked for in {len(rows):,} rows, the page looks at {MOST_CELLS:,} cells"
            )
        maze = MazeRows.of(_read(source, rows), _band(spec))
        try:
            path = (tree_path if _is_perfect(spec) else shortest_path)(maze, start, end)
        except SolveError as error:
            apart = error
            continue
        return {"moves": _moves(path), "only": _is_perfect(spec), "rows": [rows.start, rows.stop]}
    raise apart


def _band(spec: MazeSpec) -> int:
    return spec.key_interval or spec.band or 0


def _is_perfect(spec: MazeSpec) -> bool:
    return spec.algorithm != "random_walk" and not spec.promises_loops


def _spans(source: RowSource, low: int, high: int) -> Iterator[range]:
    """Yield the rows to look for a path in, more and more of them."""
    size = _band(source.header.spec) or _ROWS_AROUND
    end = MAX_ROW if source.stop is None else source.stop
    for reach in _REACHES:
        below = 1 if _band(source.header.spec) else 1 + reach
        first = max(source.header.first_row, (low // size - reach) * size)
        yield range(first, min(end, (high // size + below) * size))


def _read(source: RowSource, rows: range) -> Block:
    _go(source, rows.start)
    return source.read(rows.start, len(rows))


def _go(source: RowSource, row: int) -> None:
    while source.approach(row) != row:
        pass


def _moves(path: Path) -> str:
    """Return a path's steps as letters."""
    if path.steps > MOST_STEPS:
        raise SolveError(f"the path has {path.steps:,} steps, the page draws {MOST_STEPS:,} at most")
    letters = {(-1, 0): "N", (0, 1): "E", (1, 0): "S", (0, -1): "W"}
    cells = path.cells()
    return "".join(letters[b[0] - a[0], b[1] - a[1]] for a, b in pairwise(cells))


def source_of(spec: object, maze: MazeFile | None, limits: ServerLimits) -> RowSource:
    """Return where the rows of a question come from: of the spec it holds, or of the file if it holds none."""
    if spec is not None:
        return StreamSource(MazeSpec.from_data(spec), limits)
    if maze is None:
        raise SpecError("there is no file here, so a spec is to be told")
    return FileSource(maze, limits)
