"""A socket on loopback: the command `eller-stream serve` as a process, and rows that the blocking client reads here.

Width 1,000, key rows, packed rows counted alone. One contestant asks for a spec, whose rows the server carves; one for
the offered file, which it reads. Beside them run the kernel alone, and a bare socket of the same system, which moves
bytes from another process and looks at none of them. The kernel alone carves key intervals side by side, as it does for
the server.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from eller_stream.bench import child
from eller_stream.block import row_bytes
from eller_stream.net.client import RemoteStream
from eller_stream.sealed import crc32
from eller_stream.spec import MazeSpec

from ..contestants import EIGHT_BANDS, SEED, WIDTH, band_kernel, c_kernel
from ..measure import (
    LONG_ROUNDS,
    MEGABYTES_A_SECOND,
    Contestant,
    Figure,
    Options,
    Result,
    millions_a_second,
    race,
    ratios,
)

TITLE = "socket: rows from eller-stream serve on loopback, width 1,000"
TARGET = 500.0
AT_ONCE = 2**18
BARE = f"""
import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
data = bytes({AT_ONCE})
while True:
    connection, _ = s.accept()
    try:
        while True:
            connection.sendall(data)
    except OSError:
        connection.close()
"""


def run(options: Options) -> Result:
    c_kernel()
    rows = options.pick(125, 5) * EIGHT_BANDS
    spec = MazeSpec(WIDTH, seed=SEED)
    size = rows * 2 * row_bytes(WIDTH)
    with TemporaryDirectory() as folder:
        file = Path(folder, "offered.emz")
        child.eller_stream("generate", file, "--width", WIDTH, "--rows", rows, "--seed", SEED)
        serve = [sys.executable, "-P", "-m", "eller_stream", "serve", "--port", "0", str(file)]
        with listening(serve, "stderr") as port, listening([sys.executable, "-c", BARE], "stdout") as bare_port:
            kernel, bare, carved, offered = race(
                [
                    band_kernel("kernel alone", rows),
                    contestant("a bare socket", size, lambda: take_bytes(bare_port, size)),
                    contestant("rows of a spec", size, lambda: take_rows(port, spec, rows)),
                    contestant("rows of the offered file", size, lambda: take_rows(port, None, rows)),
                ],
                LONG_ROUNDS,
            )
    figures = [
        Figure("packed rows of a spec", MEGABYTES_A_SECOND, carved.values, TARGET),
        Figure("packed rows of the offered file", MEGABYTES_A_SECOND, offered.values),
        Figure("a spec, against the kernel alone", "times", ratios(carved, kernel)),
        Figure("the offered file, against a bare socket", "times", ratios(offered, bare)),
    ]
    settings = {"width": WIDTH, "rows": rows, "seed": SEED, "crc32": crc32.__module__}
    return Result(settings, [kernel, bare, carved, offered], figures)


def contestant(name: str, size: int, work: Callable[[], object]) -> Contestant:
    return Contestant(name, millions_a_second(size, work), MEGABYTES_A_SECOND)


@contextmanager
def listening(command: list[str], said_on: str) -> Iterator[int]:
    """Run a server as a process; give the port that it prints at the end of its first line."""
    with subprocess.Popen(command, text=True, **{said_on: subprocess.PIPE}) as process:
        try:
            yield int(re.findall(r"\d+", getattr(process, said_on).readline())[-1])
        finally:
            process.kill()


def take_bytes(port: int, size: int) -> None:
    """Read bytes from the bare socket."""
    space = bytearray(AT_ONCE)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        while size > 0:
            size -= connection.recv_into(space)


def take_rows(port: int, spec: MazeSpec | None, rows: int) -> None:
    """Read rows, a frame at a time, as a consumer would that keeps none."""
    with RemoteStream("127.0.0.1", port, spec, count=rows) as stream:
        at_once = stream.header.rows_per_frame
        while len(stream.read(at_once)):
            pass
