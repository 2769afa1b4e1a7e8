"""`micro.py` in a real MicroPython, the npm package @micropython/micropython-webassembly-pyscript under Node.

The package is installed once into pytest's cache. Only `--without-micropython` leaves these tests out.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from eller_stream import micro
from eller_stream.frames import FrameDecoder, Rows
from eller_stream.stream import EllerStream

ROOT = Path(__file__).parent.parent
RUNNER = Path(__file__).with_name("micropython.mjs")
PACKAGE = "@micropython/micropython-webassembly-pyscript"
VERSION = "1.27.0"
STREAM_VECTORS = json.loads((ROOT / "docs/vectors/stream-v1.json").read_text(encoding="utf-8"))
FORMAT_VECTORS = json.loads((ROOT / "docs/vectors/format-v1.json").read_text(encoding="utf-8"))

BEGIN = """
import gc, json, sys
from binascii import hexlify
import micro

def hexadecimal(data):
    return hexlify(data).decode()

def stream_of(spec):
    spec = {name: spec[name] for name in spec if name != "algorithm"}
    for name in ("p_east", "p_south", "loops"):
        spec[name] = [(row, n / 65536) for row, n in spec[name]]
    spec["braid"] /= 65536
    spec["seed"] = int(spec["seed"])
    return micro.EllerStream(spec.pop("width"), **spec)

class Sink:
    def __init__(self):
        self.pieces = []
    def write(self, data):
        self.pieces.append(hexadecimal(data))
"""


@pytest.fixture(scope="session")
def micropython(request):
    """Runs Python there: `run(*calls, **files)` returns the lines printed; each call is one from the top level."""
    if request.config.getoption("--without-micropython"):
        pytest.skip("MicroPython is left out")
    folder = request.config.cache.mkdir(f"micropython-{VERSION}")
    main = folder / "node_modules" / PACKAGE / "micropython.mjs"
    if not main.exists():
        install = [
            "npm",
            "install",
            "--no-save",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--prefix",
            str(folder),
        ]
        subprocess.run([*install, f"{PACKAGE}@{VERSION}"], check=True)

    def run(*calls, **files):
        texts = {"micro.py": Path(micro.__file__).read_text(encoding="utf-8")}
        texts |= {f"{name}.json": json.dumps(data) for name, data in files.items()}
        job = json.dumps({"heapsize": 2**18, "files": texts, "calls": [BEGIN, *calls]})
        done = subprocess.run(["node", RUNNER, main], input=job, capture_output=True, encoding="utf-8", check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return run


def test_it_is_micropython(micropython):
    assert micropython(
        "print(sys.implementation.name, sys.implementation.version[:2], hasattr(int, 'bit_length'))"
    ) == ["micropython (1, 27) False"]


# ---- vectors -----------------------------------------------------------------------------------

WORDS = """
def words(case, draw):
    coins, found, out = micro._Coins(64, int(case["seed"])), [], bytearray(8)
    for i in range(len(case["words"])):
        coins.go_to(int(case["first"]) + i)
        draw(coins, out)
        found.append("".join("%02x" % byte for byte in reversed(out)))
    print(json.dumps(found))

vectors = json.load(open("/vectors.json"))
for z, _ in vectors["mix"]:
    word = micro._limbs(int(z, 16))
    micro._mix(word)
    print("%016x" % sum(limb << 13 * i for i, limb in enumerate(word)))
for case in vectors["words"]:
    words(case, lambda coins, out: coins._draw_lane(out, case["lane"]))
for case in vectors["coins"]:
    words(case, lambda coins, out: coins.draw(out, case["base"], case["n"], 64))
"""


def test_words_and_coins(micropython):
    lines = micropython(WORDS, vectors=STREAM_VECTORS | {"rows": []})
    expected = [mixed for _, mixed in STREAM_VECTORS["mix"]]
    assert lines[: len(expected)] == expected
    found = [json.loads(line) for line in lines[len(expected) :]]
    assert found == [case["words"] for kind in ("words", "coins") for case in STREAM_VECTORS[kind]]


ROWS = """
def rows(case):
    stream, given = stream_of(case["spec"]), []
    stream.seek(case["row"])
    for i in range(case["count"]):
        if case["finalized"] and i + 1 == case["count"]:
            stream.finalize()
        given.append([hexadecimal(plane) for plane in next(stream)])
    ended = stream.position == stream.height
    print(json.dumps([given, None if ended else list(stream.sets), hexadecimal(stream.snapshot())]))

cases = json.load(open("/cases.json"))
"""


def test_rows(micropython):
    """The rows of all vectors; and the snapshots are those of micro.py on CPython."""
    cases = STREAM_VECTORS["rows"]
    asked = [
        {name: case[name] for name in ("spec", "row", "finalized")} | {"count": len(case["east"])} for case in cases
    ]
    lines = micropython(ROWS, *(f"rows(cases[{i}])" for i in range(len(cases))), cases=asked)
    for case, line in zip(cases, lines, strict=True):
        rows, sets, snapshot = json.loads(line)
        assert rows == [list(row) for row in zip(case["east"], case["south"], strict=True)]
        assert sets == case["sets"]
        restored = EllerStream.restore(bytes.fromhex(snapshot))
        assert restored.position == case["row"] + len(rows)
        assert restored.snapshot().hex() == snapshot


FRAMES = """
def frames(case):
    header, finalized, count = case["header"], case["finalized"], case["count"]
    stream, sink = stream_of(header["spec"]), Sink()
    stream.seek(header["first_row"])
    writer = micro.FrameWriter(sink, stream, rows_per_frame=header["rows_per_frame"])
    writer.write(count - finalized)
    if finalized:
        stream.finalize()
        writer.write(1)
    writer.finish()
    print("".join(sink.pieces))

for case in json.load(open("/cases.json")):
    frames(case)
"""


def is_of_this_writer(header):
    """Whether micro.py writes such headers: a checkpoint every 16 frames if there are no key rows; no huge rows."""
    due = 0 if header["spec"]["key_interval"] else 16
    return header["checkpoint_every"] == due and header["spec"]["width"] < 2**16


def test_frames(micropython):
    cases, expected = [], []
    for good in FORMAT_VECTORS["good"]:
        header, end = good["events"][0], good["events"][-1]
        if is_of_this_writer(header) and good["name"] != "floor":
            planned = header["spec"]["height"] is not None
            cases.append({"header": header, "finalized": end["finished"] and not planned, "count": end["rows"]})
            expected.append("".join(good["frames"]))
    assert len(cases) == 7
    assert micropython(FRAMES, cases=cases) == expected


def test_checkpoints(micropython):
    spec = {"algorithm": "eller", "width": 65, "seed": "7", "height": 40, "key_interval": 0, "braid": 9000}
    spec |= {"p_east": [[0, 32768], [9, 20000]], "p_south": [[0, 32768]], "loops": [[0, 3000]]}
    case = {"header": {"spec": spec, "first_row": 0, "rows_per_frame": 2}, "finalized": False, "count": 40}
    [line] = micropython(FRAMES, cases=[case])
    decoder = FrameDecoder()
    decoder.feed(bytes.fromhex(line))
    header, *events = decoder.events()
    decoder.close()
    stream = EllerStream.from_spec(header.spec)
    for event in events[:-1]:
        if isinstance(event, Rows):
            assert event.block == stream.read(len(event.block))
        else:
            assert (event.row, event.snapshot) == (32, stream.snapshot())


def test_snapshots_are_restored(micropython):
    stream = EllerStream(129, seed=3, key_interval=0, p_south=0.3)
    stream.seek(9)
    snapshot = stream.snapshot()
    calls = f"""
stream = micro.EllerStream(129, seed=3, key_interval=0, p_south=0.3)
snapshot = bytes.fromhex("{snapshot.hex()}")
for wrong in (snapshot[:-1], snapshot[:-9] + bytes(9), b""):
    try:
        stream.restore(wrong)
    except ValueError as error:
        print(error)
stream.restore(snapshot)
print(stream.position, [hexadecimal(plane) for plane in next(stream)])
"""
    *errors, last = micropython(calls)
    block = stream.read(1)
    assert last == f"9 {[block.east.tobytes().hex(), block.south.tobytes().hex()]}"
    assert len(errors) == 3
    assert all("snapshot" in error for error in errors)


def test_wrong_values(micropython):
    wrong = ["width=0", "width=True", "width=2.0", "seed=-1", "height=0", "key_interval=3", "braid=2", "loops='1'"]
    wrong += ["p_east=[]", "p_east=[(1, 0.5)]", "p_south=[(0, 0.5), (0, 0.4)]", "width=10**90"]
    code = "try:\n    micro.EllerStream(**values({}))\nexcept ValueError as error:\n    print(error)"
    values = (
        "def values(**changed):\n    values = {'width': 5, 'seed': 1}\n    values.update(changed)\n    return values"
    )
    lines = micropython(values, *(code.format(change) for change in wrong))
    assert [line.rpartition(" is ")[0].split()[-1] for line in lines] == [change.partition("=")[0] for change in wrong]


# ---- memory ------------------------------------------------------------------------------------

PLAIN = "micro.EllerStream({width}, seed=1, key_interval=4)"
ALL_COINS = (
    "micro.EllerStream({width}, seed=1, key_interval=0, p_east=0.3, p_south=[(0, 0.3), (5, 0.7)], loops=0.1, braid=0.3)"
)
MEASURE = """
class Nowhere:
    def write(self, data):
        pass

stream = writer = row = None
base = peak = live = 0

def look():
    global peak
    peak = max(peak, gc.mem_alloc() - base)
"""


@pytest.mark.parametrize("width", [64, 256, 1024])
@pytest.mark.parametrize("stream", [PLAIN, ALL_COINS], ids=["plain", "all coins"])
@pytest.mark.parametrize(("take", "rows"), [("row = next(stream)", 8), ("writer.write(1)", 40)], ids=["rows", "frames"])
def test_the_peak_of_a_row(micropython, width, stream, take, rows):
    """All that a row takes, garbage and the code of the call too, since nothing is collected within a call."""
    make = [f"stream = {stream.format(width=width)}"]
    if rows == 40:
        make.append("writer = micro.FrameWriter(Nowhere(), stream)")
    takes = [f"{take}; look()", "row = None; gc.collect()"] * rows
    begin = [MEASURE, "gc.collect()", "base = gc.mem_alloc()", *make, "gc.collect()"]
    [line] = micropython(*begin, *takes, "print(stream.position, peak)")
    position, peak = map(int, line.split())
    assert position == rows
    assert 4 * width < peak <= 4 * width + 8 * 1024


def test_nothing_grows_with_the_rows(micropython):
    """Live bytes after 100 and after 10,000 rows; 100 rows a call, so that the heap need not grow for their garbage."""
    make = "stream = micro.EllerStream(64, seed=1); writer = micro.FrameWriter(Nowhere(), stream)"
    look = ["gc.collect()", "live = gc.mem_alloc()", "print(stream.position, live)"]
    lines = micropython(MEASURE, make, "writer.write(100)", *look, *["writer.write(100)"] * 99, *look)
    (first, before), (last, after) = (map(int, line.split()) for line in lines)
    assert (first, last) == (100, 10_000)
    assert before == after


# ---- the page for board users ------------------------------------------------------------------

SHOW = """
shown = 0

def show(buffer):
    global shown
    shown += 1
    if shown == 40:
        raise SystemExit
"""
PIXELS = """
for y in range(HEIGHT):
    print("".join(str(screen.pixel(x, y)) for x in range(WIDTH)))
"""


def examples():
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs/BOARDS.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_rows_of_the_page(micropython):
    lines = micropython(examples()[0], "print(hexadecimal(east), hexadecimal(south), stream.position, stream.height)")
    [row] = EllerStream(64, seed=42, p_south=0.4).read(1)
    assert lines == [f"{row.block().east.tobytes().hex()} {row.block().south.tobytes().hex()} {10**12} {10**12 + 1}"]


def test_the_example_of_the_page(micropython):
    """After 40 rows the last 16 of them stand on the display."""
    [example] = [code for code in examples() if "framebuf" in code]
    assert len(example.splitlines()) <= 20
    guarded = "try:\n    exec(json.load(open('/example.json')))\nexcept SystemExit:\n    pass"
    pixels = micropython(SHOW, guarded, PIXELS, example=example)
    assert (len(pixels), {len(line) for line in pixels}) == (64, {128})
    stream = EllerStream(32, seed=42)
    stream.seek(24)
    for row in stream.read(16):
        y = 4 * (row.index - 24)
        for c in range(32):
            assert (pixels[y][4 * c + 3] == "0") == row.east[c]
            assert (pixels[y + 3][4 * c] == "0") == row.south[c]
            assert pixels[y][4 * c : 4 * c + 3] == "000"
