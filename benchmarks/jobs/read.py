"""`EllerStream.read` on the C kernel at width 1,000 against the textbook row in C, coins included on both sides.

Beside even coins it runs loops, key rows and uneven coins (0.3 draws sixteen words where 0.5 draws one); 8,192 rows
at a time, which are 8 bands that the kernel carves side by side; and the kernel with each number of lanes and of
bands at a time that this machine has, so that one sees what a machine without AVX-512 (4) or without AVX2 (1 lane,
2 bands) would reach.
"""

from eller_stream.stream import EllerStream

from ..contestants import (
    EIGHT_BANDS,
    SEED,
    TEXTBOOK_C,
    WIDTH,
    K,
    Kernel,
    c_kernel,
    cells_by,
    filling,
    reading,
    textbook_c,
)
from ..measure import TIMES_C, Contestant, Figure, Options, Result, Samples, race, ratios
from ..textbook import prove

TITLE = "read: EllerStream.read, C kernel, width 1,000"
EVEN, LOOPS = "even coins, K = 0", "loops = 0.03, K = 0"
KINDS = {
    EVEN: {"key_interval": 0},
    LOOPS: {"key_interval": 0, "loops": 0.03},
    "key rows, K = 1,024": {"key_interval": 1024},
    "p_east = p_south = 0.3, K = 0": {"key_interval": 0, "p_east": 0.3, "p_south": 0.3},
}
BANDS = "key rows, K = 1,024, 8 bands at a time"
BAND_TARGETS = {4: 18.0, 8: 30.0}  # by the bands that the machine carves side by side
FASTER = {1: 4, 4: 8, 8: 24}  # the rows of a sample by lanes, so that all samples take about as long


def run(options: Options) -> Result:
    prove()
    rows, most_lanes = options.pick(10_000, 1_000), c_kernel().LANES
    readers = [_reader(kind, rows * FASTER[most_lanes]) for kind in KINDS]
    readers.append(_band_reader(options.pick(50, 5) * EIGHT_BANDS))
    by_lanes = [_by_lanes(lanes, rows * FASTER[lanes]) for lanes in FASTER if lanes <= most_lanes]
    by_bands = [
        _by_bands(bands, options.pick(5, 1) * EIGHT_BANDS * bands) for bands in (1, 2, 4, 8) if bands <= most_bands()
    ]
    all_samples = race([textbook_c(rows), *readers, *by_lanes, *by_bands], options.rounds)
    settings = {"width": WIDTH, "seed": SEED, "textbook_rows": rows, "kinds": KINDS}
    return Result(settings, all_samples, _figures({samples.name: samples for samples in all_samples}))


def _reader(kind: str, rows: int) -> Contestant:
    return Contestant(kind, cells_by(reading(EllerStream(WIDTH, seed=SEED, **KINDS[kind]), rows), rows))


def _by_lanes(lanes: int, rows: int) -> Contestant:
    name = f"kernel alone, {lanes} lane{'s' if lanes > 1 else ''}"
    return Contestant(name, cells_by(filling(Kernel(lanes=lanes), rows), rows))


def _band_reader(rows: int) -> Contestant:
    stream = EllerStream(WIDTH, seed=SEED, key_interval=K)
    return Contestant(BANDS, cells_by(reading(stream, rows, EIGHT_BANDS), rows))


def _by_bands(bands: int, rows: int) -> Contestant:
    name = f"kernel alone, key rows, {bands} band{'s' if bands > 1 else ''} at a time"
    return Contestant(name, cells_by(filling(Kernel(key_interval=K, bands=bands), rows, EIGHT_BANDS), rows))


def most_bands() -> int:
    """Return how many bands the C kernel carves side by side on this machine."""
    most: int = c_kernel().BANDS
    return most


def _figures(samples: dict[str, Samples]) -> list[Figure]:
    yardstick = samples.pop(TEXTBOOK_C)
    targets = {EVEN: 6.0, BANDS: BAND_TARGETS.get(most_bands())}
    figures = [Figure(name, TIMES_C, ratios(s, yardstick), targets.get(name)) for name, s in samples.items()]
    loops = Figure("loops = 0.03, against no loops", "times", ratios(samples[LOOPS], samples[EVEN]), 0.5)
    return [figures[0], loops, *figures[1:]]
