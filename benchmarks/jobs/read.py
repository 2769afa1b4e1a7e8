"""`EllerStream.read` on the C kernel at width 1,000 against the textbook row in C, coins included on both sides.

Beside even coins it runs loops, key rows and uneven coins (0.3 draws sixteen words where 0.5 draws one), and
the kernel with each number of lanes that this machine has, so that one sees what a machine without AVX-512 (4
lanes) or without AVX2 (1 lane) would reach.
"""

from eller_stream.stream import EllerStream

from ..contestants import SEED, TEXTBOOK_C, WIDTH, Kernel, c_kernel, cells_by, filling, reading, textbook_c
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
FASTER = {1: 4, 4: 8, 8: 24}  # the rows of a sample by lanes, so that all samples take about as long


def run(options: Options) -> Result:
    prove()
    rows, most_lanes = options.pick(10_000, 1_000), c_kernel().LANES
    readers = [_reader(kind, rows * FASTER[most_lanes]) for kind in KINDS]
    by_lanes = [_by_lanes(lanes, rows * FASTER[lanes]) for lanes in FASTER if lanes <= most_lanes]
    all_samples = race([textbook_c(rows), *readers, *by_lanes], options.rounds)
    settings = {"width": WIDTH, "seed": SEED, "textbook_rows": rows, "kinds": KINDS}
    return Result(settings, all_samples, _figures({samples.name: samples for samples in all_samples}))


def _reader(kind: str, rows: int) -> Contestant:
    return Contestant(kind, cells_by(reading(EllerStream(WIDTH, seed=SEED, **KINDS[kind]), rows), rows))


def _by_lanes(lanes: int, rows: int) -> Contestant:
    name = f"kernel alone, {lanes} lane{'s' if lanes > 1 else ''}"
    return Contestant(name, cells_by(filling(Kernel(lanes=lanes), rows), rows))


def _figures(samples: dict[str, Samples]) -> list[Figure]:
    yardstick = samples.pop(TEXTBOOK_C)
    targets = {EVEN: 6.0}
    figures = [Figure(name, TIMES_C, ratios(s, yardstick), targets.get(name)) for name, s in samples.items()]
    loops = Figure("loops = 0.03, against no loops", "times", ratios(samples[LOOPS], samples[EVEN]), 0.5)
    return [figures[0], loops, *figures[1:]]
