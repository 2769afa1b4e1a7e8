"""Makes docs/vectors/uniform-v1.json with the second implementation: python tests/make_uniform_vectors.py"""

import json
from pathlib import Path

import second_stream
import second_uniform

FILE = Path(__file__).resolve().parent.parent / "docs" / "vectors" / "uniform-v1.json"
FAR = 2**48 - 5


def plain(**changed):
    """A spec with the keys of uniform, in their order."""
    first = {"algorithm": "uniform", "width": 12, "seed": "1", "height": None, "loops": [[0, 0]], "braid": 0}
    return first | changed


def tables():
    """Yields (width, below)."""
    for width in (1, 2, 3, 7, 8, 9):
        for below in (None, 1, 2, 10, 7 * width, 9 * width, 13 * width):
            yield width, below
    yield from [(33, None), (64, None), (64, 1), (64, 40), (65, None), (65, 2**47)]


def cases():
    """Yields (spec, end, row, sets, above, number of rows)."""
    for width in (1, 2, 3, 7, 8, 9, 63, 64, 65):
        top = list(range(width)), [0] * width
        yield plain(width=width, seed=str(2**64 - width)), None, 0, *top, 4
        yield plain(width=width, seed=str(width), height=5), 5, 0, *top, 5
    some = [0, 1, 2, 1, 0, 5, 5, 7, 5, 9, 10, 0], [1, 1, 0, 1, 1, 1, 1, 0, 1, 0, 0, 1]
    nested = [min(c, 11 - c) for c in range(12)], [1] * 12
    for sets, above in (some, nested, ([0] * 12, [1] * 12), (list(range(12)), [0] * 11 + [1])):
        for row in (7, 2**32 - 2, FAR):
            yield plain(seed="2"), None, row, sets, above, 3
            yield plain(seed="3"), row + 2, row, sets, above, 2
            yield plain(seed="4", braid=65536, loops=[[0, 0], [8, 9000]]), row + 4, row, sets, above, 3
    for braid, loops in ((65536, [[0, 0]]), (40000, [[0, 2000], [4, 50000], [8, 0]]), (0, [[0, 65536]])):
        yield plain(width=20, braid=braid, loops=loops), None, 0, list(range(20)), [0] * 20, 12
        yield plain(width=20, braid=braid, loops=loops, height=9), 9, 0, list(range(20)), [0] * 20, 9
    for end in (11, 20, 100):
        yield plain(seed="9"), end, 10, *some, 1


def table_vector(width, below):
    chances = second_uniform.chances(width, below)[: width + 1]
    words = {"chances": chances, "entries": second_uniform.entries(width, below)}
    return {"width": width, "below": below} | {name: [f"{w:016x}" for w in found] for name, found in words.items()}


def rows_vector(spec, end, row, sets, above, count):
    found = second_uniform.rows(spec, end, row, sets, above, count)
    planes = {name: [hexadecimal(r) for r in getattr(found, name)] for name in ("east", "south")}
    first = {"spec": spec, "end": end, "row": row, "sets": sets, "above": hexadecimal(above)}
    return first | planes | {"sets_below": found.sets_below}


def hexadecimal(row):
    return second_stream.packed(row).hex()


def text():
    """The file: a vector takes a line."""
    lists = {
        "tables": [table_vector(*case) for case in tables()],
        "rows": [rows_vector(*case) for case in cases()],
    }
    parts = [f'"{name}": [\n' + ",\n".join(map(json.dumps, vectors)) + "\n]" for name, vectors in lists.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8", newline="\n")
