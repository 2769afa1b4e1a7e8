"""The Python kernel, coins included, against the textbook row in plain Python, whose coins were drawn ahead."""

from eller_stream.stream import EllerStream

from ..contestants import SEED, WIDTH, cells_by, python_backend, reading
from ..measure import TIMES_PYTHON, Contestant, Figure, Options, Result, race, ratios
from ..textbook import PythonTextbook, coins_ahead, prove

TITLE = "without a compiler: EllerStream.read, Python kernel, width 1,000"
TEXTBOOK, KERNEL = "textbook row in plain Python", "even coins, K = 0"
ROWS_AHEAD = 200


def run(options: Options) -> Result:
    prove(with_c=False)
    rows = options.pick(5_000, 1_000)
    contestants = [_textbook(rows // 5), _kernel(rows)]
    with python_backend():
        textbook, kernel = race(contestants, options.rounds)
    figure = Figure(KERNEL, TIMES_PYTHON, ratios(kernel, textbook), 7.0)
    return Result({"width": WIDTH, "rows": rows, "seed": SEED}, [textbook, kernel], [figure])


def _textbook(rows: int) -> Contestant:
    textbook, drawn = PythonTextbook(WIDTH), coins_ahead(WIDTH, SEED, ROWS_AHEAD)

    def work() -> None:
        for number in range(rows):
            joins, keeps = drawn[number % ROWS_AHEAD]
            textbook.row(joins, keeps, backwards=number % 2 == 1)

    return Contestant(TEXTBOOK, cells_by(work, rows))


def _kernel(rows: int) -> Contestant:
    return Contestant(KERNEL, cells_by(reading(EllerStream(WIDTH, seed=SEED, key_interval=0), rows), rows))
