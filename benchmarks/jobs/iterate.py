"""`for row in stream` at width 64 on the C kernel, reading `row.east` and `row.south`: what a game does."""

from itertools import islice

from eller_stream.stream import EllerStream

from ..contestants import SEED, c_kernel
from ..measure import Contestant, Figure, Options, Result, race, seconds_of

TITLE = "iterate: for row in stream, C kernel, width 64"
UNIT = "µs a row"
WIDTH = 64


def run(options: Options) -> Result:
    c_kernel()
    rows = options.pick(100_000, 5_000)
    (samples,) = race([_iteration(rows)], options.rounds)
    figure = Figure("row.east and row.south of each row", UNIT, samples.values, 2.0, at_most=True)
    return Result({"width": WIDTH, "rows": rows, "seed": SEED}, [samples], [figure])


def _iteration(rows: int) -> Contestant:
    stream = EllerStream(WIDTH, seed=SEED)

    def work() -> None:
        for row in islice(stream, rows):
            _ = row.east, row.south

    return Contestant("for row in stream", lambda: seconds_of(work) / rows * 1e6, UNIT)
