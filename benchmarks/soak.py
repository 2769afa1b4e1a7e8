"""Lets many clients read from one server for a while: no row may be lost, and the server's memory stays flat.

    python benchmarks/soak.py [--seconds 60] [--clients 20]

One client is slow, one is malicious (garbage, hostile lengths, floods of jumps, leaving in the middle); the others
read, jump and finalize, and hold every row against the stream's own. Both results are printed; the exit code is 1 if
one is not as it should be. Linux only: the server's resident memory is read from /proc.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from eller_stream import EllerStream, MazeSpec
from eller_stream.net import protocol
from eller_stream.net.client import RemoteStream

HOST, SEED = "127.0.0.1", 20_261_130
ROWS_AT_ONCE = 700
WARM_UP = 0.3  # of the time: memory counts from then on
GROWTH = 1.05


@dataclass
class Tally:
    """What one client took, and how much of it was not as it should be."""

    rows: int = 0
    lost: int = 0
    mazes: int = 0


def main() -> None:
    words = argparse.ArgumentParser(description="Many clients at one server, for a while.")
    words.add_argument("--seconds", type=float, default=60)
    words.add_argument("--clients", type=int, default=20)
    options = words.parse_args()
    command = [sys.executable, "-P", "-m", "eller_stream", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            sys.exit(soak(server, options.seconds, options.clients))
        finally:
            server.kill()


def soak(server: subprocess.Popen[str], seconds: float, clients: int) -> int:
    """Run all clients, print what came of it, and return the exit code."""
    assert server.stderr is not None
    port = int(re.findall(r"\d+", server.stderr.readline())[-1])
    threading.Thread(target=drain, args=(server.stderr,), daemon=True).start()
    end = time.monotonic() + seconds
    tallies = [Tally() for _ in range(clients - 1)]
    threads = [threading.Thread(target=malicious, args=(port, end))]
    threads += [threading.Thread(target=reader, args=(port, end, k, tally)) for k, tally in enumerate(tallies)]
    for thread in threads:
        thread.start()
    memory = watch(server.pid, end, seconds)
    for thread in threads:
        thread.join()
    return tell(tallies, memory, server.poll() is None)


def drain(said: object) -> None:
    """Take what the server prints, so that it does not wait for a reader."""
    for _ in said:  # type: ignore[attr-defined]
        pass


def watch(process: int, end: float, seconds: float) -> list[int]:
    """Return the resident memory of a process, in bytes, every tenth of a second once it is warm."""
    samples: list[int] = []
    while (left := end - time.monotonic()) > 0:
        if left < seconds * (1 - WARM_UP):
            samples.append(resident(process))
        time.sleep(0.1)
    return samples


def resident(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def reader(port: int, end: float, number: int, tally: Tally) -> None:
    """Be an honest client; what fails counts as rows lost."""
    try:
        honest(port, end, number, tally)
    except Exception as error:
        print(f"client {number}: {error}", file=sys.stderr)
        tally.lost += ROWS_AT_ONCE


def honest(port: int, end: float, number: int, tally: Tally) -> None:
    """Read mazes, each from a row of its own, jump in them, finalize them; client 0 is slow."""
    chance = random.Random(SEED + number)
    while time.monotonic() < end:
        spec = MazeSpec(chance.choice([64, 100, 1000]), seed=SEED + number, key_interval=chance.choice([64, 1024]))
        row = chance.choice([0, 10**6, 2**40]) + chance.randrange(5000)
        with RemoteStream(HOST, port, spec, row=row) as stream:
            here = EllerStream.from_spec(spec)
            here.seek(row)
            for _ in range(chance.randrange(1, 200)):
                compare(stream, here, ROWS_AT_ONCE, tally)
                if number == 0:
                    time.sleep(0.2)
                if time.monotonic() > end:
                    break
                if chance.random() < 0.05:
                    row = chance.randrange(2**40)
                    stream.seek(row)
                    here.seek(row)
            stream.finalize()
            here.finalize()
            compare(stream, here, 1, tally)
            tally.mazes += 1


def compare(stream: RemoteStream, here: EllerStream, rows: int, tally: Tally) -> None:
    came, expected = stream.read(rows), here.read(rows)
    tally.rows += len(expected)
    tally.lost += 0 if came == expected else rows


def malicious(port: int, end: float) -> None:
    """Do what no client should, again and again."""
    chance = random.Random(SEED)
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection((HOST, port), 5) as connection:
            connection.settimeout(0.5)
            connection.sendall(chance.choice(HARM)(chance))
            if chance.random() < 0.5:
                connection.recv(chance.choice([1, 1000, 2**20]))


def hello() -> bytes:
    spec = MazeSpec(10_000, seed=1).to_data()
    return protocol.encode(protocol.Hello(1, None)) + protocol.encode(protocol.Open(1, spec, 0, None))


def jumps(chance: random.Random) -> bytes:
    asked = [protocol.encode(protocol.Jump(k, chance.randrange(2**48))) for k in range(2, 300)]
    return hello() + b"".join(asked)


HARM = [
    lambda chance: chance.randbytes(chance.randrange(1, 5000)),
    lambda chance: b"\xc6" + chance.randbytes(4),
    lambda chance: hello() + b"\xc6\xff" + chance.randbytes(3),
    lambda chance: hello()[: chance.randrange(1, 100)],
    lambda chance: hello() + protocol.encode(protocol.More(chance.randrange(2**40))),
    jumps,
]


def tell(tallies: list[Tally], memory: list[int], serves: bool) -> int:
    """Print the two results and return the exit code."""
    rows, lost, mazes = (sum(getattr(tally, name) for tally in tallies) for name in ("rows", "lost", "mazes"))
    half = len(memory) // 2
    before, after = max(memory[:half]), max(memory[half:])
    flat = after <= before * GROWTH
    least = min(tally.rows for tally in tallies[1:])
    print(f"rows read {rows:,} in {mazes:,} mazes by {len(tallies)} clients (the slowest but one: {least:,})")
    print(f"rows lost {lost:,}")
    print(f"memory {'flat' if flat else 'NOT FLAT'}: {before / 1e6:.1f} MB at most, then {after / 1e6:.1f} MB at most")
    if not serves:
        print("the server has ended")
    return 0 if flat and not lost and serves and rows else 1


if __name__ == "__main__":
    main()
