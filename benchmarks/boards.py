"""Print what `micro.py` costs in a real MicroPython: the table of docs/BOARDS.md.

    npm install @micropython/micropython-webassembly-pyscript@1.27.0
    python benchmarks/boards.py node_modules/@micropython/micropython-webassembly-pyscript/micropython.mjs

Bytes are those of MicroPython's heap over what it held with the module imported. Within a call from the top level that
build collects nothing; so the bytes behind a row are the live ones and all garbage that the row made.
"""

import argparse
import json
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPECS = {"plain": "", "p = 0.3": ", p_east=0.3, p_south=0.3", "loops, braid": ", loops=0.1, braid=0.3"}
WIDTHS = 64, 256, 1024
REPEATS = 5

BEGIN = """
import gc, time
import micro

class Nowhere:
    def write(self, data):
        pass

def look():
    print(gc.mem_alloc() - base)

def timed(rows):
    begin = time.ticks_us()
    for _ in range(rows):
        next(stream)
    print(1e6 * rows / (time.ticks_us() - begin))

stream = writer = row = None
base = 0
"""


def calls(width, options):
    """Look at the live bytes, those behind a row, those behind a frame; then time some rows, several times."""
    yield from (BEGIN, "gc.collect()", "base = gc.mem_alloc()", f"stream = micro.EllerStream({width}, seed=1{options})")
    yield from ("gc.collect()", "look()", "row = next(stream); look()", "row = None; gc.collect()")
    yield from ("writer = micro.FrameWriter(Nowhere(), stream)", "writer.write(64 - stream.position - 1); gc.collect()")
    yield "writer.write(1); look()"
    for _ in range(REPEATS):
        yield from ("gc.collect()", f"timed({4096 // width})")


def figures(main, width, options):
    job = {"heapsize": 2**20, "files": {"micro.py": (ROOT / "eller_stream" / "micro.py").read_text(encoding="utf-8")}}
    job["calls"] = list(calls(width, options))
    command = ["node", str(ROOT / "tests" / "micropython.mjs"), main]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, encoding="utf-8", check=True)
    live, row, frame, *rates = map(float, done.stdout.split())
    return f"{live:6.0f} {row:6.0f} {frame:6.0f} {statistics.median(rates):10.0f}"


def main():
    words = argparse.ArgumentParser(description="Print what micro.py costs in a real MicroPython.")
    words.add_argument("micropython", help="micropython.mjs of the npm package")
    package = words.parse_args().micropython
    print("width  rows           live    row  frame   rows/second")
    for width in WIDTHS:
        for name, options in SPECS.items():
            print(f"{width:5}  {name:12}", figures(package, width, options))


if __name__ == "__main__":
    main()
