"""The Eller stream once more, in one file that runs unchanged on MicroPython and on CPython.

    from micro import EllerStream, FrameWriter

    stream = EllerStream(64, seed=42)
    east, south = next(stream)      # bytes: column c is bit c % 8 of byte c // 8, a set bit is an open passage

Copy this file to a board; nothing else of the package is needed. The rows are those of docs/STREAM.md, the frames and
snapshots those of docs/FORMAT.md, byte for byte what the package gives. docs/BOARDS.md tells what a board pays.

*A row is the textbook's scan.* Each set is a circular list of its columns in rising order. Sets of a row never cross,
so neighbours c and c + 1 are in one set if, and only if, c + 1 comes after c in its list. Two lists are united, and a
column leaves its list, by changing a few links.

*A row makes no garbage* but what it gives out. Lists and bit planes are made once and written over. Numbers below 2**30
take no memory in MicroPython; so a word of 64 bits is kept as five *limbs* of 13 bits, the lowest first: the product
of two limbs has 26 bits, and a sum of five such products still fits. MicroPython's collector keeps whatever any word in
memory could be the address of; so what is kept in arrays, column c of a link or a limb c, is kept as the odd number
2 * c + 1, which is none.

Whatever is wrong with a value, or cannot be done, is a ValueError.
"""

from array import array
from binascii import crc32

_MAX_ROW = 2**48
_MAX_CELLS = 2**34
_MAX_FRAME = 2**26
_MAX_SCHEDULE = 256
_CHECKPOINT_EVERY = 16
_MAX_SEED = 2**64 - 1
_ALWAYS = 2**16

_EAST, _SOUTH, _LOOPS_EAST, _LOOPS_SOUTH, _BRAID, _THIRD, _EVEN, _LANES = 0, 16, 32, 48, 64, 80, 96, 112
_NAMES = ("algorithm", "width", "seed", "height", "p_east", "p_south", "key_interval", "loops", "braid")
_SNAPSHOT = b"\x99\xaeeller-snapshot\x01"
_HEADER = b"\x97\xaceller-stream\x01"


# ---- words and coins ---------------------------------------------------------------------------


def _set(word: list[int], number: int) -> None:
    """Make a word that of a number modulo 2**64."""
    for i in range(5):
        word[i] = number & 8191
        number >>= 13
    word[4] &= 4095


def _limbs(number: int) -> list[int]:
    word = [0, 0, 0, 0, 0]
    _set(word, number)
    return word


_GOLDEN = _limbs(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = _limbs(0xBF58476D1CE4E5B9), _limbs(0x94D049BB133111EB)


def _add(word: list[int], more: list[int]) -> None:
    carry = 0
    for i in range(5):
        carry += word[i] + more[i]
        word[i] = carry & 8191
        carry >>= 13
    word[4] &= 4095


def _multiply(word: list[int], factor: list[int]) -> None:
    a, b, c, d, e = word
    m0, m1, m2, m3, m4 = factor
    e = a * m4 + b * m3 + c * m2 + d * m1 + e * m0
    d = a * m3 + b * m2 + c * m1 + d * m0
    c = a * m2 + b * m1 + c * m0
    b = a * m1 + b * m0
    a *= m0
    b += a >> 13
    c += b >> 13
    d += c >> 13
    e += d >> 13
    word[0], word[1] = a & 8191, b & 8191
    word[2], word[3] = c & 8191, d & 8191
    word[4] = e & 4095


def _fold(word: list[int], s: int) -> None:
    """Do word ^= word >> 26 + s, for s from 0 to 13."""
    word[0] ^= (word[2] >> s | word[3] << 13 - s) & 8191
    word[1] ^= (word[3] >> s | word[4] << 13 - s) & 8191
    word[2] ^= word[4] >> s


def _mix(word: list[int]) -> None:
    """Make a word SplitMix64's output for it."""
    _fold(word, 4)
    _multiply(word, _MIX_1)
    _fold(word, 1)
    _multiply(word, _MIX_2)
    _fold(word, 5)


def _put_word(word: list[int], out: bytearray, at: int) -> None:
    """Put the eight bytes of a word, the lowest first, at out[at]."""
    a, b, c, d, e = word
    out[at] = a & 255
    out[at + 1] = (a >> 8 | b << 5) & 255
    out[at + 2] = b >> 3 & 255
    out[at + 3] = (b >> 11 | c << 2) & 255
    out[at + 4] = (c >> 6 | d << 7) & 255
    out[at + 5] = d >> 1 & 255
    out[at + 6] = (d >> 9 | e << 4) & 255
    out[at + 7] = e >> 4


class _Coins:
    """The coins of a row, from the lanes of a seed: docs/STREAM.md, "Words" and "Coins"."""

    def __init__(self, width: int, seed: int) -> None:
        self._words = (width + 63) // 64
        self._seed, self._first = _limbs(seed), _limbs(0)
        self._word, self._mixed = _limbs(0), _limbs(0)
        self._more = bytearray(8 * self._words)
        self._keys = array("H", bytes(2 * 5 * _LANES))

    def go_to(self, row: int) -> None:
        """Let the coins be those of a row."""
        _set(self._first, row * self._words + 1)
        _multiply(self._first, _GOLDEN)

    def draw(self, coins: bytearray, base: int, n: int, columns: int) -> None:
        """Fill `coins` with those that fall with n of 65,536; none falls behind the first `columns`."""
        bit = 0
        while bit < 16 and not n >> bit & 1:
            bit += 1
        if bit == 16:
            _fill(coins, 255 if n else 0)
        else:
            self._draw_lane(coins, base + bit)
        for higher in range(bit + 1, 16):
            self._draw_lane(self._more, base + higher)
            _combine(coins, self._more, n >> higher & 1)
        for at in range(columns >> 3, len(coins)):
            coins[at] &= (1 << (columns & 7)) - 1 if at == columns >> 3 else 0

    def _draw_lane(self, out: bytearray, lane: int) -> None:
        """Put the row's words of a lane into `out`."""
        word, mixed = self._word, self._mixed
        self._begin_lane(word, lane)
        for at in range(0, len(out), 8):
            for i in range(5):
                mixed[i] = word[i]
            _mix(mixed)
            _put_word(mixed, out, at)
            _add(word, _GOLDEN)

    def _begin_lane(self, word: list[int], lane: int) -> None:
        """Make a word the lane's key, which is found once, and go to the row."""
        keys, at = self._keys, 5 * lane
        if not keys[at]:
            _set(word, lane + 1)
            _mix(word)
            for i in range(5):
                word[i] ^= self._seed[i]
            _mix(word)
            for i in range(5):
                keys[at + i] = 2 * word[i] + 1
        for i in range(5):
            word[i] = keys[at + i] >> 1
        _add(word, self._first)


def _fill(plane: bytearray, byte: int) -> None:
    for i in range(len(plane)):
        plane[i] = byte


def _combine(plane: bytearray, more: bytearray, either: int) -> None:
    """Keep in `plane` the bits that either has, or both have."""
    for i in range(len(plane)):
        plane[i] = plane[i] | more[i] if either else plane[i] & more[i]


# ---- values ------------------------------------------------------------------------------------


def _shown(value: object) -> str:
    """Return what a message says of a value: never long, never costly."""
    return "an integer of more than 64 bits" if type(value) is int and abs(value) > _MAX_SEED else repr(value)[:80]


def _whole(name: str, value: object, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name} is an integer from {low} to {high}, not {_shown(value)}")
    return value


def _probability(name: str, value: object) -> int:
    """Return the nearest 65,536th to a number, ties to even; only 0 becomes 0, only 1 becomes 65,536."""
    if not isinstance(value, (int, float)) or value is True or value is False or not 0 <= value <= 1:
        raise ValueError(f"{name} is a number from 0 to 1, not {_shown(value)}")
    return min(max(round(value * _ALWAYS), 1), _ALWAYS - 1) if 0 < value < 1 else int(value) * _ALWAYS


def _schedule(name: str, value: object) -> list[tuple[int, int]]:
    """Return a schedule's pairs (first row, n): of them none repeats the n of the pair before."""
    if not isinstance(value, (list, tuple)):
        value = [(0, value)]
    if not 1 <= len(value) <= _MAX_SCHEDULE or not all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in value
    ):
        raise ValueError(f"{name} is a number or 1 to {_MAX_SCHEDULE} pairs (first row, number), not {_shown(value)}")
    schedule: list[tuple[int, int]] = []
    low = high = 0
    for first, number in value:
        row, n = _whole(f"a first row of {name}", first, low, high), _probability(name, number)
        low, high = row + 1, _MAX_ROW
        if not schedule or schedule[-1][1] != n:
            schedule.append((row, n))
    return schedule


def _at(schedule: list[tuple[int, int]], row: int) -> int:
    """Return the n that holds at a row."""
    found = 0
    for first, n in schedule:
        if first <= row:
            found = n
    return found


def _interval(value: int | None, width: int) -> int:
    """Return a key interval."""
    if value is None:
        return 1024 if width * 1024 <= _MAX_CELLS else 0
    if _whole("key_interval", value, 0, _MAX_CELLS // width) % 2:
        raise ValueError(f"key_interval is an even number of rows, or 0 for no key rows, not {value}")
    return value


def _scan(row: int, count: int) -> range:
    """Return the first `count` columns in the scan's order."""
    return range(count - 1, -1, -1) if row % 2 else range(count)


# ---- the stream --------------------------------------------------------------------------------


class EllerStream:
    """An infinite maze, row by row: iteration gives (east, south), each a packed row as bytes.

    width         cells in a row, 1 to 2**31 - 1
    seed          0 to 2**64 - 1
    height        rows of the whole maze, 1 to 2**48; None: endless until `finalize()`
    p_east, p_south, loops, braid   probabilities, 0 to 1; all but braid may be schedules, lists of (first row,
                  probability). Each becomes the nearest n / 65,536. Where floats are of single precision,
                  write n / 65536, which is exact everywhere
    key_interval  a key row every so many rows, even; 0 for none; None for 1,024 (0 for widths above 2**24)

    `position` is the index of the row to come, `height` the rows of the maze as planned or as finalized.
    """

    def __init__(
        self,
        width: int,
        *,
        seed: int,
        height: int | None = None,
        p_east: object = 0.5,
        p_south: object = 0.5,
        key_interval: int | None = None,
        loops: object = 0.0,
        braid: object = 0.0,
    ) -> None:
        self.width = _whole("width", width, 1, 2**31 - 1)
        self.height = self._planned = None if height is None else _whole("height", height, 1, _MAX_ROW)
        self._p_east, self._p_south = _schedule("p_east", p_east), _schedule("p_south", p_south)
        self._loops, self._braid = _schedule("loops", loops), _probability("braid", braid)
        self.key_interval = interval = _interval(key_interval, width)
        seed = _whole("seed", seed, 0, _MAX_SEED)
        values = ("eller", width, seed, height, self._p_east, self._p_south, interval, self._loops, self._braid)
        self.packed_spec = b"\x89" + b"".join(_packed(name) + _packed(values[i]) for i, name in enumerate(_NAMES))
        self._coins = _Coins(width, seed)
        self._drawn, self._third, self._even = (bytearray((width + 63) // 64 * 8) for _ in range(3))
        self._east, self._south, self._above = (bytearray((width + 7) // 8) for _ in range(3))
        kind, size = ("H", 2) if width <= 2**15 else ("I", 4)
        self._after, self._before = (array(kind, bytes(size * width)) for _ in range(2))
        self.position = 0
        self._begin(0)

    def __iter__(self) -> "EllerStream":
        return self

    def __next__(self) -> tuple[bytes, bytes]:
        if self.position == self.height:
            raise StopIteration
        self._carve()
        return bytes(self._east), bytes(self._south)

    @property
    def sets(self) -> "array[int]":
        """Set number of each cell of the row to come: the smallest column of its set."""
        numbers = self._before[:]
        for c in range(self.width):
            numbers[c] = numbers[numbers[c] >> 1] if numbers[c] >> 1 < c else c
        return numbers

    def north(self) -> bytes:
        """Return the passages south of the row above as they were given out, with its loops; zeros for row 0."""
        north = bytearray(self._above)
        if self.position and self.position != self.height:
            self._coins.go_to(self.position - 1)
            self._open_loops(north, _LOOPS_SOUTH, self.position - 1, self.width)
        return bytes(north)

    def _carve(self) -> None:
        """Carve the row to come into `_east` and `_south`, and make the next one the row to come."""
        row, width, drawn = self.position, self.width, self._drawn
        if row == _MAX_ROW:
            raise ValueError(f"row {_MAX_ROW - 1} is the last that a stream can have")
        last = row + 1 == self.height
        merging = last or (self.key_interval > 0 and (row + 1) % self.key_interval == 0)
        _fill(self._east, 0)
        _fill(self._south, 0)
        self._coins.go_to(row)
        self._coins.draw(drawn, _EAST, _at(self._p_east, row), width)
        self._join(drawn, row)
        if merging:
            _fill(drawn, 255)
            self._join(drawn, row)
        if not last:
            self._coins.draw(drawn, _SOUTH, _at(self._p_south, row), width)
            self._keep(drawn, row)
        if self._braid:
            self._open_dead_ends(merging)
        if last:
            self._begin(row + 1)
        else:
            self.position, self._above[:] = row + 1, self._south
            self._open_loops(self._south, _LOOPS_SOUTH, row, width)
        self._open_loops(self._east, _LOOPS_EAST, row, width - 1)

    def _join(self, coins: bytearray, row: int) -> None:
        """Open each boundary between two sets where the coin says so."""
        after, before, east = self._after, self._before, self._east
        for c in _scan(row, self.width - 1):
            if coins[c >> 3] >> (c & 7) & 1 and after[c] != 2 * c + 3:
                behind, ahead = after[c], before[c + 1]
                after[c], before[c + 1] = 2 * c + 3, 2 * c + 1
                after[ahead >> 1], before[behind >> 1] = behind, ahead
                east[c >> 3] |= 1 << (c & 7)

    def _keep(self, coins: bytearray, row: int) -> None:
        """Open south where the coin says so or no other cell is left in the set; the others leave their sets."""
        after, before, south = self._after, self._before, self._south
        _combine(south, coins, 1)
        for c in _scan(row, self.width):
            if coins[c >> 3] >> (c & 7) & 1:
                continue
            if after[c] >> 1 == c:
                south[c >> 3] |= 1 << (c & 7)
            else:
                behind, ahead = after[c], before[c]
                after[ahead >> 1], before[behind >> 1] = behind, ahead
                after[c] = before[c] = 2 * c + 1

    def _open_dead_ends(self, merging: bool) -> None:
        """Braid the row, eight cells at a time: a bit of n, w, e, s for the passage of each."""
        east, south = self._east, self._south
        braid, third, even = self._drawn, self._third, self._even
        self._coins.draw(braid, _BRAID, self._braid, self.width)
        self._coins.draw(third, _THIRD, 21845, self.width)
        self._coins.draw(even, _EVEN, 32768, self.width)
        last, carry = len(east) - 1, 0
        for i in range(last + 1):
            n, e, s = self._above[i], east[i], south[i]
            w = (e << 1 | carry) & 255
            carry = e >> 7
            dead = (n ^ w ^ e ^ s) & ~(n & w) & ~(e & s) & braid[i]  # an odd number of them, but not three
            w = dead & ~w & (255 if i else 254)
            e = dead & ~e & (255 if i < last else (1 << (self.width - 1 & 7)) - 1)
            s = 0 if merging else dead & ~s
            s &= (w & e & third[i]) | ((w ^ e) & ~even[i]) | ~(w | e)
            w &= ~s & (even[i] | ~e)
            e &= ~s & ~w
            east[i] |= e | w >> 1
            south[i] |= s
            if w & 1:
                east[i - 1] |= 128

    def _open_loops(self, plane: bytearray, base: int, row: int, columns: int) -> None:
        n = _at(self._loops, row)
        if n:
            self._coins.draw(self._drawn, base, n, columns)
            _combine(plane, self._drawn, 1)

    def _begin(self, row: int) -> None:
        """Make `row` the row to come, with nothing above it and every cell a set of its own."""
        self.position = row
        _fill(self._above, 0)
        for c in range(self.width):
            self._after[c] = self._before[c] = 2 * c + 1

    def _link(self, latest: int, c: int) -> None:
        """Put cell c, which is alone, into the set whose last cell is `latest`."""
        first = self._after[latest]
        self._after[latest], self._before[c] = 2 * c + 1, 2 * latest + 1
        self._after[c], self._before[first >> 1] = first, 2 * c + 1

    def seek(self, row: int) -> None:
        """Make `row` the row to come, from 0 to the height (2**48 for an endless maze).

        With key rows this costs fewer than `key_interval` rows, else all those from here, or from row 0, to there.
        """
        _whole("the row to seek", row, 0, _MAX_ROW if self.height is None else self.height)
        start = row - row % self.key_interval if self.key_interval else 0
        if row == self.height:
            start = row
        elif start <= self.position <= row:
            start = self.position
        if (row - start) * self.width > _MAX_CELLS:
            raise ValueError(f"row {row} is {row - start} rows away; at most {_MAX_CELLS // self.width} are carved")
        if start != self.position:
            self._begin(start)
            if start != self.height and start:
                self._begin_below_key_row(start)
        while self.position < row:
            self._carve()

    def _begin_below_key_row(self, row: int) -> None:
        """Make one set of the cells below the passages of the key row above, which its own coins tell."""
        kept, above, latest = self._drawn, self._above, -1
        self._coins.go_to(row - 1)
        self._coins.draw(kept, _SOUTH, _at(self._p_south, row - 1), self.width)
        _combine(above, kept, 1)
        if not any(above):
            above[0] = 1
        for c in range(self.width):
            if above[c >> 3] >> (c & 7) & 1:
                if latest >= 0:
                    self._link(latest, c)
                latest = c

    def finalize(self) -> None:
        """Make the row to come the maze's last one: it unites all sets and opens nothing south."""
        if self.height != self._planned:
            raise ValueError("finalize was called already")
        if self.position == (_MAX_ROW if self.height is None else self.height):
            raise ValueError(f"the maze has ended with row {self.position - 1}")
        self.height = self.position + 1

    def snapshot(self) -> bytes:
        """Return the state at the row to come: docs/FORMAT.md, "Snapshot". The package's `restore` takes it too."""
        has_next, has_prev = bytearray(len(self._above)), bytearray(len(self._above))
        for c in range(self.width):
            has_next[c >> 3] |= (self._after[c] >> 1 > c) << (c & 7)
            has_prev[c >> 3] |= (self._before[c] >> 1 < c) << (c & 7)
        return self._sealed(self.height, self.position, (has_next, has_prev, self._above))

    def _sealed(self, end: int | None, row: int, planes: "tuple[bytes | bytearray, ...]") -> bytes:
        data = bytearray(_SNAPSHOT)
        data += self.packed_spec
        data += _u64(end or 0)
        data += _u64(row)
        for plane in planes:
            _add_bin(data, plane)
        data += _u32(crc32(data))
        return bytes(data)

    def restore(self, snapshot: bytes) -> None:
        """Go on from a snapshot that was taken, here or by the package, of a stream of the same values.

        ValueError for all other bytes; then the stream stays as it is.
        """
        data, head, size = bytes(snapshot), _SNAPSHOT + self.packed_spec, len(self._above)
        at = len(data) - 3 * (size + 5) - 14
        if not data.startswith(head) or at - len(head) != 9:
            raise ValueError(f"a snapshot of this maze was expected, not {len(data)} bytes that begin {data[:80]!r}")
        end = int.from_bytes(data[at - 8 : at], "big") or None
        row, most = int.from_bytes(data[at + 1 : at + 9], "big"), self._planned or _MAX_ROW
        planes = tuple(data[start : start + size] for start in range(at + 14, len(data) - 5, size + 5))
        fits = 0 < end <= most if end else end is self._planned
        fits = fits and row <= (end or most) and any(planes[2]) != (row in (0, end))
        if not fits or self._sealed(end, row, planes) != data or not _are_sets(planes, self.width):
            raise ValueError("the snapshot was changed or forged: its checksum or its state does not fit")
        self.height = end
        self._begin(row)
        self._above[:] = planes[2]
        waiting: list[int] = []  # the latest cell of each set that goes on further right
        for c in range(self.width):
            if planes[1][c >> 3] >> (c & 7) & 1:
                self._link(waiting.pop(), c)
            if planes[0][c >> 3] >> (c & 7) & 1:
                waiting.append(c)


def _are_sets(planes: tuple[bytes, ...], width: int) -> bool:
    """Return whether has_next and has_prev balance like brackets, and stand below passages of the row."""
    depth = 0
    for c in range(8 * len(planes[0])):
        n, p, passage = (plane[c >> 3] >> (c & 7) & 1 for plane in planes)
        if (n | p) > passage or (passage and c >= width) or p > depth:
            return False
        depth += n - p
    return depth == 0


# ---- frames ------------------------------------------------------------------------------------


def _u32(number: int) -> bytes:
    return b"\xce" + number.to_bytes(4, "big")


def _u64(number: int) -> bytes:
    return b"\xcf" + number.to_bytes(8, "big")


def _add_bin(data: bytearray, plane: "bytes | bytearray | memoryview") -> None:
    """Add msgpack's bin; a bytearray grows where it stands, so that no garbage is made."""
    data += b"\xc6" + len(plane).to_bytes(4, "big")
    data += plane


def _bool(value: bool) -> bytes:
    return b"\xc3" if value else b"\xc2"


def _packed(value: "int | str | list[tuple[int, int]] | tuple[int, int] | None") -> bytes:
    """Return the shortest msgpack of what a spec holds."""
    if value is None:
        return b"\xc0"
    if isinstance(value, str):
        return bytes([0xA0 + len(value)]) + value.encode()
    if isinstance(value, (list, tuple)):
        head = bytes([0x90 + len(value)]) if len(value) < 16 else b"\xdc" + len(value).to_bytes(2, "big")
        return head + b"".join(_packed(item) for item in value)
    for size, head in ((1, b"\xcc"), (2, b"\xcd"), (4, b"\xce"), (8, b"\xcf")):
        if value < 128:
            return bytes([value])
        if value < 1 << 8 * size:
            return head + value.to_bytes(size, "big")
    raise ValueError("an integer of more than 64 bits")


class FrameWriter:
    """Writes a stream's rows as frames: the header at once, then rows as asked for, at last the end.

    out             has `write(data)`; it gets bytearrays, which it may keep, and may return how many bytes it
                    took, None meaning all
    stream          gives the rows, from where it stands; nobody else may take rows from it
    rows_per_frame  R; so many rows wait in memory. None for as many as have 256 bytes a plane, at most 64

    After a write that failed every later one is a ValueError.
    """

    def __init__(self, out: object, stream: EllerStream, *, rows_per_frame: int | None = None) -> None:
        self._size = size = (stream.width + 7) // 8
        rows = max(1, min(64, 256 // size)) if rows_per_frame is None else rows_per_frame
        self._rows = _whole("rows_per_frame", rows, 1, max(1, (_MAX_FRAME - 46 - size) // (3 * size)))
        self._stream, self._write = stream, out.write  # type: ignore[attr-defined]
        self._first = self._start = stream.position
        self._north, self._east, self._south = stream.north(), bytearray(rows * size), bytearray(rows * size)
        self._count, self._checkpoint = 0, b""
        self._usable, self._last = True, False
        self._every = 0 if stream.key_interval else _CHECKPOINT_EVERY
        self._put(bytearray(_HEADER + stream.packed_spec + _u32(rows) + _u32(self._every) + _u64(self._first)))

    def write(self, rows: int) -> int:
        """Take `rows` rows from the stream, fewer at the end of the maze, and return how many."""
        left = _whole("the number of rows to write", rows, 0, _MAX_ROW)
        self._check_usable()
        while left and self._stream.position != self._stream.height:
            self._take()
            left -= 1
        return rows - left

    def finish(self) -> None:
        """Write the rows of the frame that is not full, and the end frame; then nothing more can be written."""
        self._check_usable()
        if self._count:
            self._put_rows()
        self._put(bytearray(b"\x94\xa3end" + _u64(self._start - self._first) + _bool(self._last)))
        self._usable = False

    def _check_usable(self) -> None:
        if not self._usable:
            raise ValueError("a write failed before or the end frame is written, so nothing more can be")

    def _take(self) -> None:
        """Take a row, and write the frame if it is full."""
        stream, at = self._stream, self._count * self._size
        if stream.position != self._start + self._count:
            raise ValueError(f"row {self._start + self._count} was expected, the stream stands at {stream.position}")
        self._east[at : at + self._size], self._south[at : at + self._size] = next(stream)
        self._count += 1
        self._last = stream.position == stream.height
        if self._last or stream.position % self._rows == 0:
            self._put_rows()

    def _put_rows(self) -> None:
        """Write the rows, behind the checkpoint that is due; the state for the next one is taken at once."""
        size, start = self._count * self._size, self._start
        if self._checkpoint:
            frame = bytearray(b"\x94\xaacheckpoint")
            frame += _u64(start)
            _add_bin(frame, self._checkpoint)
            self._put(frame)
        frame = bytearray(b"\x99\xa4rows")
        frame += _u64(start)
        frame += _u32(self._count)
        frame += _bool(self._last)
        for plane in (self._north, memoryview(self._east)[:size], memoryview(self._south)[:size]):
            _add_bin(frame, plane)
        frame += b"\xc0"
        self._put(frame)
        self._start, self._count, self._north = start + self._count, 0, bytes(self._south[size - self._size : size])
        due = self._every and self._start % (self._every * self._rows) == 0
        self._checkpoint = self._stream.snapshot() if due else b""

    def _put(self, frame: bytearray) -> None:
        """Write a frame, with its checksum behind it."""
        frame += _u32(crc32(frame))
        self._usable = False
        self._send(frame)
        self._usable = True

    def _send(self, data: bytearray) -> None:
        while data:
            taken = self._write(data)
            if taken is None:
                return
            if not 0 < taken <= len(data):
                raise OSError(f"the output took {taken} of {len(data)} bytes")
            data = data[taken:]
