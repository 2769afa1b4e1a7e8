"""Write docs/vectors/stream-v1.json, as docs/STREAM.md describes it, with the second implementation of the stream.

    python tests/make_stream_vectors.py

The vectors are a contract: cases may be added, those there never change.
"""

import json
from pathlib import Path

import second_stream as stream

FILE = Path(__file__).parent.parent / "docs" / "vectors" / "stream-v1.json"
PLAIN = {
    "algorithm": "eller",
    "width": 64,
    "seed": "42",
    "height": None,
    "p_east": [[0, 32768]],
    "p_south": [[0, 32768]],
    "key_interval": 1024,
    "loops": [[0, 0]],
    "braid": 0,
}
WIDTHS = [1, 2, 3, 7, 8, 63, 64, 65, 100, 128, 129, 600, 1000]
CHANCES = [0, 1, 6554, 59000, 65536]
MANY_CHANGES = [[row, 65536 - 7 * row if row % 2 else 300 * row] for row in range(200)]


# Each of these yields (changes to the plain spec, first row, number of rows, whether the last of them is finalized).


def widths():
    for width in WIDTHS:
        yield {"width": width}, 0, 4, False
        yield {"width": width, "seed": str(2**64 - 1), "height": 3, "loops": [[0, 6554]], "braid": 32768}, 0, 3, False
    for width in WIDTHS:
        yield {"width": width, "seed": "7", "key_interval": 4}, 2, 3, False
    for width in (1, 2, 3, 65):
        yield {"width": width, "loops": [[0, 65536]], "braid": 65536, "key_interval": 2}, 0, 4, False


def probabilities():
    for p_east in CHANCES:
        for p_south in CHANCES:
            changed = {"width": 20, "p_east": [[0, p_east]], "p_south": [[0, p_south]], "key_interval": 4}
            yield changed, 1, 4, False
    for p in (3, 21845, 49152, 65535):
        yield {"width": 70, "p_east": [[0, p]], "p_south": [[0, 65536 - p]], "key_interval": 0}, 0, 5, False


def schedules():
    east = {"p_east": [[0, 6554], [2, 59000], [3, 32768]]}
    south = {"p_south": [[0, 65536], [1, 0], [3, 49152], [1027, 6554]]}
    loops = {"loops": [[0, 0], [2, 32768], [4, 0]]}
    for changed in (east, south, loops, east | south | loops):
        yield changed | {"width": 40}, 0, 6, False
    yield south | {"width": 40}, 1023, 5, False
    at_key_rows = {"p_east": [[0, 0], [3, 65536], [4, 20000]], "p_south": [[0, 32768], [3, 0], [4, 60000]]}
    yield at_key_rows | {"width": 33, "key_interval": 4, "loops": [[0, 6554], [3, 0]]}, 1, 5, False
    yield at_key_rows | {"width": 33, "key_interval": 4}, 4, 2, False
    far = {"p_east": [[0, 0], [10**12, 50000]], "p_south": [[0, 0], [10**12 + 1, 50000]], "key_interval": 8}
    yield far, 10**12 - 1, 4, False
    last = {"p_east": [[0, 9], [2**48 - 1, 50000]], "p_south": [[0, 60000], [2**48 - 2, 1]], "key_interval": 4}
    yield last, 2**48 - 4, 3, False
    yield {"width": 24, "p_east": MANY_CHANGES, "key_interval": 4}, 196, 6, False


def key_rows():
    for interval in (0, 2, 4):
        yield {"key_interval": interval}, 0, 7, False
        yield {"width": 9, "key_interval": interval, "p_east": [[0, 13107]], "p_south": [[0, 1]]}, 0, 7, False
    yield {}, 1021, 5, False
    yield {}, 1024, 2, False
    yield {}, 2047, 1, False
    yield {"key_interval": 0}, 1022, 4, False
    yield {"width": 5, "key_interval": 6, "p_south": [[0, 0]]}, 4, 5, False
    for width in (1, 2, 5, 70):
        yield {"width": width, "key_interval": 8, "p_south": [[0, 0]], "braid": 40000}, 8, 2, False
        yield {"width": width, "key_interval": 8, "p_south": [[0, 0], [16, 32768]]}, 16, 2, False
    yield {"width": 600, "key_interval": 2}, 2**40 - 1, 2, False


def loops_and_braid():
    for n in (1, 6554, 32768, 65536):
        yield {"width": 66, "loops": [[0, n]], "key_interval": 4}, 2, 4, False
        yield {"width": 66, "braid": n, "key_interval": 4}, 2, 4, False
        yield {"width": 66, "loops": [[0, n // 2]], "braid": n, "key_interval": 4}, 1, 5, False
    for width in (1, 2, 3, 10, 64, 65, 200):
        yield {"width": width, "braid": 65536, "height": 5}, 0, 5, False
    yield {"braid": 65536, "p_east": [[0, 6554]]}, 1021, 5, False
    yield {"braid": 65536, "p_south": [[0, 6554]]}, 1024, 3, False
    yield {"braid": 50000, "loops": [[0, 20000]], "key_interval": 2}, 2, 3, True
    yield {"width": 30, "braid": 65536, "p_east": [[0, 0]], "p_south": [[0, 65536]]}, 0, 3, True
    yield {"width": 30, "braid": 65536, "p_east": [[0, 65536]], "p_south": [[0, 0]], "key_interval": 2}, 0, 4, False


def heights():
    for height in (1, 2, 5):
        for width in (1, 2, 40):
            yield {"width": width, "height": height}, 0, height, False
        yield {"width": 40, "height": height, "braid": 65536, "loops": [[0, 8000]]}, 0, height, False
    yield {"height": 5}, 0, 4, False
    for height in (3, 4, 5):
        yield {"width": 40, "height": height, "key_interval": 4, "braid": 30000}, height - 3, 3, False
    for height in (2047, 2048, 2049):
        yield {"height": height}, height - 1, 1, False
    for after in (1, 2, 3, 4, 5):
        yield {"width": 40, "key_interval": 4}, 0, after, True
        yield {"width": 40, "key_interval": 4, "braid": 65536, "loops": [[0, 8000]], "height": 9}, 0, after, True
    for row in (1023, 1024, 1025):
        yield {"width": 50, "braid": 40000}, row, 1, True


def far_off():
    band = 10**12 // 1024 * 1024
    both = {"width": 65, "braid": 20000, "loops": [[0, 3000]]}
    yield {}, 10**12, 3, False
    yield {}, band - 2, 4, False
    yield both, band, 3, False
    yield {"width": 129}, band + 1, 2, False
    yield both | {"height": band + 2}, band - 1, 3, False
    for power in (31, 32, 33, 47):
        yield {"seed": str(2**64 - power)}, 2**power - 1, 3, False
        yield both | {"key_interval": 4}, 2**power - 2, 4, False
    yield {"width": 100, "key_interval": 0, "seed": "18446744073709551615"}, 0, 2, False
    yield {}, 2**48 - 1024, 2, False
    yield {}, 2**48 - 3, 2, False
    yield both | {"key_interval": 2}, 2**48 - 5, 4, False
    yield both | {"height": 2**48}, 2**48 - 2, 2, False
    yield both | {"key_interval": 4}, 2**48 - 3, 3, True
    yield {"width": 1000, "key_interval": 4, "height": 2**48}, 2**48 - 3, 3, False


# The file


def digits(word):
    return f"{word:016x}"


def mix_vectors():
    numbers = [0, 1, 2, 42, 2**32, 2**63, stream.G, stream.ALL]
    return [[digits(z), digits(stream.mix(z))] for z in numbers]


def word_vectors():
    for seed in (0, 1, 42, 2**32, 2**64 - 1):
        for lane in (0, 15, 111):
            for first in (0, 2**32 - 1, 2**48, 2**64 - 2):
                found = [digits(stream.word(seed, lane, (first + i) % 2**64)) for i in range(4)]
                yield {"seed": str(seed), "lane": lane, "first": str(first), "words": found}


def coin_vectors():
    for base in range(0, 112, 16):
        for n in (0, 1, 2, 21845, 32768, 49152, 65535, 65536):
            seed, first = (42, 0) if base else (2**64 - 1, 2**64 - 1)
            found = [digits(stream.coin_word(seed, base, n, (first + i) % 2**64)) for i in range(2)]
            yield {"seed": str(seed), "base": base, "n": n, "first": str(first), "words": found}


def row_vectors():
    for cases in (widths, probabilities, schedules, key_rows, loops_and_braid, heights, far_off):
        for changed, first, count, finalized in cases():
            yield row_vector(PLAIN | changed, first, count, finalized)


def row_vector(spec, first, count, finalized):
    found = stream.rows(spec, first, count, finalized)
    return {
        "spec": spec,
        "row": first,
        "finalized": finalized,
        "east": [stream.packed(row).hex() for row in found.east],
        "south": [stream.packed(row).hex() for row in found.south],
        "sets": found.sets,
    }


def vectors():
    return {
        "mix": mix_vectors(),
        "words": list(word_vectors()),
        "coins": list(coin_vectors()),
        "rows": list(row_vectors()),
    }


def text():
    """The file: a case of `rows` takes a line for each field, any other case one line."""
    kinds = []
    for kind, cases in vectors().items():
        lines = ",\n".join(row_case(case) if kind == "rows" else json.dumps(case) for case in cases)
        kinds.append(f'"{kind}": [\n{lines}\n]')
    return "{\n" + ",\n".join(kinds) + "\n}\n"


def row_case(case):
    fields = ",\n ".join(f'"{name}": {json.dumps(value)}' for name, value in case.items())
    return "{" + fields + "}"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8", newline="\n")
