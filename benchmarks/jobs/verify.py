"""`verify` in memory and as the command `eller-stream verify FILE`, against the textbook row in C.

The yardstick carves rows and `verify` checks them, both of width 1,000 at even coins. The command is timed from
the start of its process, reading the file and its checksums included. Its peak resident memory must not grow
with the number of rows.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from eller_stream.bench import child
from eller_stream.stream import EllerStream
from eller_stream.verify import PERFECT, verify

from ..contestants import ROWS_AT_ONCE, SEED, WIDTH, c_kernel, cells_by, textbook_c
from ..measure import LONG_ROUNDS, MEGABYTES, TIMES_C, Contestant, Figure, Options, Result, race, ratios
from ..textbook import prove
from .generate import FEW, NARROW, generate, memory_figure

TITLE = "verify: rows checked, width 1,000"


def run(options: Options) -> Result:
    c_kernel()
    prove()
    rows, file_rows, many = options.pick(20_000, 2_000), options.pick(400_000, 20_000), options.pick(1_000_000, 100_000)
    with TemporaryDirectory() as folder:
        contestants = [textbook_c(rows), _in_memory(rows), _command(Path(folder, "rate.emz"), file_rows)]
        rates = textbook, *verified = race(contestants, options.rounds)
        peaks = race([_peak(Path(folder, f"{count}.emz"), count) for count in (FEW, many)], LONG_ROUNDS)
    figures = [Figure(samples.name, TIMES_C, ratios(samples, textbook), 1.0) for samples in verified]
    settings = {"width": WIDTH, "rows": rows, "rows_in_file": file_rows, "seed": SEED, "memory_width": NARROW}
    return Result(settings, [*rates, *peaks], [*figures, memory_figure(*peaks)])


def _in_memory(rows: int) -> Contestant:
    stream = EllerStream(WIDTH, seed=SEED, height=rows)
    blocks = [stream.read(ROWS_AT_ONCE) for _ in range(rows // ROWS_AT_ONCE)]

    def work() -> None:
        report = verify(blocks)
        if report.answer != PERFECT:
            raise RuntimeError(f"the maze is not perfect: {report}")

    return Contestant("verify, blocks in memory", cells_by(work, rows))


def _command(file: Path, rows: int) -> Contestant:
    generate(file, rows, WIDTH)
    return Contestant(
        "eller-stream verify FILE", lambda: rows * WIDTH / child.eller_stream("verify", file).seconds / 1e6
    )


def _peak(file: Path, rows: int) -> Contestant:
    generate(file, rows, NARROW)
    name = f"peak memory, {rows:,} rows of {NARROW}"
    return Contestant(name, lambda: child.eller_stream("verify", file).peak_bytes / 1e6, MEGABYTES)
