"""The command `eller-stream generate FILE` as a process, from its start to the file safe on disk.

It is held against two things measured by turns with it: the bytes of rows that the kernel alone carves a second,
and the bytes that `dd ... conv=fsync` writes a second to the same disk (the folder for temporary files; TMPDIR
chooses another). It must reach 60 % of the first or 80 % of the second, whichever is less. The peak
resident memory must not grow with the number of rows; two runs of one size differ by a few pages.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from eller_stream.bench import child
from eller_stream.block import row_bytes

from ..contestants import EIGHT_BANDS, SEED, WIDTH, band_kernel, c_kernel
from ..measure import (
    LONG_ROUNDS,
    MEGABYTES,
    MEGABYTES_A_SECOND,
    Contestant,
    Figure,
    Options,
    Result,
    Samples,
    race,
    ratios,
)

TITLE = "generate: the command eller-stream generate, to a file, width 1,000"
KERNEL_SHARE, DISK_SHARE = 0.6, 0.8
NARROW, FEW = 100, 10_000


def run(options: Options) -> Result:
    c_kernel()
    rows, many = options.pick(500, 5) * EIGHT_BANDS, options.pick(10_000_000, 100_000)
    with TemporaryDirectory() as folder:
        rates = race(_writers(Path(folder, "rate.emz"), rows), LONG_ROUNDS)
        peaks = race([_peak(Path(folder, "peak.emz"), count) for count in (FEW, many)], LONG_ROUNDS)
    settings = {"width": WIDTH, "rows": rows, "seed": SEED, "memory_width": NARROW, "memory_rows": [FEW, many]}
    return Result(settings, [*rates, *peaks], [*_rate_figures(*rates), memory_figure(*peaks)])


def _writers(file: Path, rows: int) -> list[Contestant]:
    size = rows * 2 * row_bytes(WIDTH)
    dd = ["dd", "if=/dev/zero", f"of={file}", "bs=1M", f"count={size >> 20}", "conv=fsync"]
    return [
        band_kernel("kernel alone", rows),
        Contestant("dd, conv=fsync", lambda: _rate(file, child.run(*dd)), MEGABYTES_A_SECOND),
        Contestant("generate", lambda: _rate(file, generate(file, rows, WIDTH)), MEGABYTES_A_SECOND),
    ]


def generate(file: Path, rows: int, width: int) -> child.Child:
    """Generate a finished maze with key rows, the default."""
    return child.eller_stream("generate", file, "--width", width, "--rows", rows, "--seed", SEED)


def _rate(file: Path, ran: child.Child) -> float:
    """Return the megabytes that were written a second; the file goes away."""
    size = file.stat().st_size
    file.unlink()
    return size / ran.seconds / 1e6


def _peak(file: Path, rows: int) -> Contestant:
    def sample() -> float:
        peak = generate(file, rows, NARROW).peak_bytes / 1e6
        file.unlink()
        return peak

    return Contestant(f"peak memory, {rows:,} rows of {NARROW}", sample, MEGABYTES)


def _rate_figures(kernel: Samples, dd: Samples, generated: Samples) -> list[Figure]:
    bounds = [min(KERNEL_SHARE * k, DISK_SHARE * d) for k, d in zip(kernel.values, dd.values, strict=True)]
    return [
        Figure(
            "rate, against 60 % of the kernel's or 80 % of dd's", "times the lesser", ratios(generated, bounds), 1.0
        ),
        Figure("rate, against the kernel's", "times", ratios(generated, kernel)),
        Figure("rate, against dd's", "times", ratios(generated, dd)),
    ]


def memory_figure(few: Samples, many: Samples) -> Figure:
    """Return the peak at many rows beside that at few; 2 % are allowed for what two equal runs differ by."""
    return Figure(f"{many.name}, against {FEW:,}", "times", ratios(many, few), 1.02, at_most=True)
