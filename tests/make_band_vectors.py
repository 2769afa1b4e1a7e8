"""Makes docs/vectors/bands-v1.json with the second implementation: python tests/make_band_vectors.py"""

import json
from pathlib import Path

import second_bands
import second_stream

FILE = Path(__file__).resolve().parent.parent / "docs" / "vectors" / "bands-v1.json"
OWN = {
    "dfs": {"start": None, "goal": None, "weights": [1, 1, 1, 1], "doors": 2},
    "prim": {"start": None, "goal": None, "weights": "even"},
    "wilson": {},
    "random_walk": {"max_tunnels": 12, "max_length": 5},
}
FAR = 2**48 - 3


def plain(algorithm, **changed):
    """A spec with the keys of its algorithm, in their order."""
    first = {"algorithm": algorithm, "width": 12, "seed": "1", "height": None, "band": 6, "loops": [[0, 0]], "braid": 0}
    return first | OWN[algorithm] | changed


# Each of these yields (spec, first row, number of rows, whether the last of them is finalized).


def of_all(algorithm):
    for width in (1, 2, 7, 8, 9, 63, 64, 65):
        if width > 1 or algorithm != "random_walk":
            doors = {"doors": max(1, width // 4)} if algorithm == "dfs" else {}
            yield plain(algorithm, width=width, seed=str(2**64 - width), band=3, **doors), 1, 4, False
            yield plain(algorithm, width=width, seed=str(width), band=3, height=5, **doors), 0, 5, False
    for finalized_after in (1, 4, 6, 7, 9, 12):
        yield plain(algorithm), max(0, finalized_after - 3), min(3, finalized_after), True
        yield plain(algorithm, seed="2", loops=[[0, 9000]], braid=65536), finalized_after - 1, 1, True
    for braid, loops in ((65536, [[0, 0]]), (40000, [[0, 2000], [4, 50000], [8, 0]]), (0, [[0, 65536]])):
        yield plain(algorithm, width=20, braid=braid, loops=loops), 0, 13, False
        yield plain(algorithm, width=20, braid=braid, loops=loops, height=9), 5, 4, False
    yield plain(algorithm, seed="7"), 2**32 - 2, 4, False
    yield plain(algorithm, seed="7", band=4), FAR, 3, False
    yield plain(algorithm, seed="7", band=40, height=10), 0, 10, False


def of_dfs():
    for start in ([0, 0], [5, 11], [2, 3]):
        yield plain("dfs", start=start), 0, 6, False
    for doors in (1, 5, 12):
        yield plain("dfs", doors=doors), 5, 3, False
    for weights in ([3, 1, 1, 1], [0, 1, 0, 0], [65536, 65535, 1, 7], [0, 1, 0, 1]):
        yield plain("dfs", weights=weights), 4, 5, False
    for goal in ([0, 0], [9, 5], [2**48 - 1, 11]):
        yield plain("dfs", goal=goal, weights=[5, 1]), 3, 6, False


def of_prim():
    yield plain("prim", start=[5, 11]), 0, 6, False
    for goal in ([0, 0], [9, 5], [2**48 - 1, 11]):
        for weights in (["away", 3277], ["toward", 3277], ["away", 2**22], ["toward", 2**22], ["toward", 1]):
            yield plain("prim", goal=goal, weights=weights), 3, 6, False


def of_random_walk():
    for max_tunnels, max_length in ((1, 1), (1, 20), (40, 1), (30, 3), (3, 2**31 - 1)):
        yield plain("random_walk", max_tunnels=max_tunnels, max_length=max_length), 3, 7, False
        yield plain("random_walk", width=2, band=2, max_tunnels=max_tunnels, max_length=max_length), 0, 7, False
    for seed in ("5", "37", "38"):  # those with a dead end that braid digs on from
        few = {"max_tunnels": 3, "max_length": 3}
        yield plain("random_walk", width=10, seed=seed, braid=65536, **few), 0, 6, False
    yield plain("random_walk", height=13), 10, 3, False
    yield plain("random_walk", width=30, band=30, height=30, max_tunnels=60, max_length=9), 0, 30, False


def cases():
    for algorithm in OWN:
        yield from of_all(algorithm)
    for own in (of_dfs, of_prim, of_random_walk):
        yield from own()


def vector(spec, first, count, finalized):
    found = second_bands.rows(spec, first, count, finalized)
    planes = {
        name: None if plane is None else [second_stream.packed(row).hex() for row in plane]
        for name, plane in found._asdict().items()
    }
    return {"spec": spec, "row": first, "finalized": finalized, **planes}


def text():
    """The file: a case takes a line for each field."""
    lines = []
    for case in cases():
        fields = ",\n ".join(f'"{name}": {json.dumps(value)}' for name, value in vector(*case).items())
        lines.append("{" + fields + "}")
    return '{\n"rows": [\n' + ",\n".join(lines) + "\n]\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8", newline="\n")
