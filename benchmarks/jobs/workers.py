"""Several threads against one: rows in memory, `verify`, and `eller-stream generate` to nothing, a pipe and the disk.

Two workers on two free cores must carve 1.8 times what one carves, coins at any probability included. What two cores of
this machine have to give at the time is told by the kernel alone, on two threads that share nothing. What the command
writes is held against the kernel's own rate on one core, and against `dd`, which writes as many zeros the same way;
so one sees what stands between the kernel and the bytes that leave: checksums, packing, copies.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from eller_stream.bench import child
from eller_stream.block import row_bytes
from eller_stream.parallel import side_by_side
from eller_stream.stream import EllerStream
from eller_stream.verify import verify

from ..contestants import EIGHT_BANDS, SEED, WIDTH, K, Kernel, band_kernel, c_kernel, filling
from ..measure import (
    LONG_ROUNDS,
    MEGABYTES_A_SECOND,
    Contestant,
    Figure,
    Options,
    Result,
    Sampler,
    Samples,
    millions_a_second,
    race,
    ratios,
)

TITLE = "workers: rows and verify on two threads, generate --workers 2, width 1,000"
TWO_CORES = 1.8
ROW = 2 * row_bytes(WIDTH)
ROWS_AT_ONCE = 2**16
CHECKED_SHARE = 16
COINS = {"even coins": {}, "p_east = p_south = 0.3": {"p_east": 0.3, "p_south": 0.3}}
KERNEL, TWO_KERNELS = "kernel alone, one core", "kernel alone, two threads"


def run(options: Options) -> Result:
    c_kernel()
    rows = options.pick(64, 2) * ROWS_AT_ONCE
    kernels = [band_kernel(KERNEL, rows), _two_kernels(rows)]
    readers = [_reader(name, workers, rows) for name in COINS for workers in (1, 2)]
    readers += [_verifier(workers, rows) for workers in (1, 2)]
    with TemporaryDirectory() as folder:
        commands = [contestant for to in _TARGETS for contestant in _commands(to, Path(folder, "rate"), rows)]
        measured = {samples.name: samples for samples in race([*kernels, *readers, *commands], LONG_ROUNDS)}
    settings = {"width": WIDTH, "seed": SEED, "rows": rows, "cores": os.cpu_count()}
    return Result(settings, list(measured.values()), [*_read_figures(measured), *_command_figures(measured)])


def _two_kernels(rows: int) -> Contestant:
    kernels = [filling(Kernel(key_interval=K), rows // 2, EIGHT_BANDS) for _ in range(2)]
    work = millions_a_second(rows * ROW, lambda: side_by_side(kernels))
    return Contestant(TWO_KERNELS, work, MEGABYTES_A_SECOND)


# ---- rows in memory ------------------------------------------------------------------------------


def _reader(coins: str, workers: int, rows: int) -> Contestant:
    stream = EllerStream(WIDTH, seed=SEED, **COINS[coins])

    def work() -> None:
        for _ in range(rows // ROWS_AT_ONCE):
            stream.read(ROWS_AT_ONCE, workers=workers)

    return Contestant(_read_name(coins, workers), millions_a_second(rows * ROW, work), MEGABYTES_A_SECOND)


def _verifier(workers: int, rows: int) -> Contestant:
    count = rows // CHECKED_SHARE
    block = EllerStream(WIDTH, seed=SEED, height=count).read(count)
    blocks = [block[first : first + 1024] for first in range(0, count, 1024)]
    work = millions_a_second(count * WIDTH, lambda: verify(blocks, workers=workers))
    return Contestant(_verify_name(workers), work)


def _verify_name(workers: int) -> str:
    return f"verify, {workers} worker{'s' if workers > 1 else ''}"


def _read_name(coins: str, workers: int) -> str:
    return f"read, {coins}, {workers} worker{'s' if workers > 1 else ''}"


def _read_figures(measured: dict[str, Samples]) -> list[Figure]:
    figures = [Figure(f"{TWO_KERNELS}, against one core", "times", ratios(measured[TWO_KERNELS], measured[KERNEL]))]
    for coins in COINS:
        one, two = (measured[_read_name(coins, workers)] for workers in (1, 2))
        figures.append(Figure(f"read, {coins}, two workers against one", "times", ratios(two, one), TWO_CORES))
    one, two = (measured[_verify_name(workers)] for workers in (1, 2))
    return [*figures, Figure("verify, two workers against one", "times", ratios(two, one))]


# ---- the command ----------------------------------------------------------------------------------

_TARGETS = ("/dev/null", "a pipe", "a file")
_WRITERS = ("generate, 1 worker", "generate, 2 workers", "dd")


def _commands(to: str, file: Path, rows: int) -> list[Contestant]:
    size = rows * ROW
    out, behind = {"/dev/null": ("-", ""), "a pipe": ("-", " | cat"), "a file": (file, "")}[to]
    dd = f"dd if=/dev/zero bs=256K count={size >> 18}" + (f" of={file} conv=fsync" if out == file else "")
    lines = [*(_generate(out, rows, workers) for workers in (1, 2)), dd]
    return [
        Contestant(f"{writer}, to {to}", _timed(line + behind, size, file), MEGABYTES_A_SECOND)
        for writer, line in zip(_WRITERS, lines, strict=True)
    ]


def _generate(out: object, rows: int, workers: int) -> str:
    command = f"{sys.executable} -P -m eller_stream generate {out} --format emz"
    return f"{command} --width {WIDTH} --rows {rows} --seed {SEED} --workers {workers}"


def _timed(line: str, size: int, file: Path) -> Sampler:
    """Return the sampler of a shell line that writes `size` bytes; a file goes away afterwards."""

    def sample() -> float:
        seconds = child.run("sh", "-c", line).seconds
        file.unlink(missing_ok=True)
        return size / seconds / 1e6

    return sample


def _command_figures(measured: dict[str, Samples]) -> list[Figure]:
    figures = []
    for to in _TARGETS:
        one, two, dd = (measured[f"{writer}, to {to}"] for writer in _WRITERS)
        figures += [
            Figure(f"generate to {to}, two workers against one", "times", ratios(two, one)),
            Figure(f"generate to {to}, two workers against {KERNEL}", "times", ratios(two, measured[KERNEL])),
            Figure(f"generate to {to}, two workers against dd", "times", ratios(two, dd)),
        ]
    return figures
