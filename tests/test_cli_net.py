"""The commands serve and fetch, from the outside: real processes, real sockets, signals and kills."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from net_helpers import ByHand, hello, open_spec, small
from test_net_access import certificate  # noqa: F401

from eller_stream import EllerStream, MazeFile, MazeWriter
from eller_stream.cli import main
from eller_stream.net.protocol import More

COMMAND = [sys.executable, "-m", "eller_stream"]
MAZE = ["--width", 1000, "--seed", 7, "--rows", 20_000]


def eller(*words, **environment):
    environment = os.environ | environment
    done = subprocess.run([*COMMAND, *map(str, words)], capture_output=True, check=False, timeout=60, env=environment)
    done.stderr = done.stderr.decode()
    return done


def works(*words, **environment):
    done = eller(*words, **environment)
    assert done.returncode == 0, done.stderr
    return done


def fails(code, message, *words, **environment):
    """Assert that the command leaves with the code and says the message, in one line."""
    done = eller(*words, **environment)
    assert done.returncode == code, done.stderr
    assert re.search(message, done.stderr), done.stderr
    assert done.stderr.count("\n") == 1
    return done


class Serving:
    """`eller-stream serve` as a process; `said` is what it has printed."""

    def __init__(self, *words, port=0, **environment):
        words = [*COMMAND, "serve", "--port", port, *words]
        environment = os.environ | environment
        self.process = subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True, env=environment)
        self.first = self.process.stderr.readline()
        found = re.search(r"on (\S+):(\d+)$", self.first)
        assert found, self.first
        self.port = int(found[2])
        self.address = f"127.0.0.1:{self.port}"

    def memory(self):
        """Return the resident bytes."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, said


@contextmanager
def serving(*words, **environment):
    server = Serving(*words, **environment)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.communicate()


@pytest.fixture(scope="module")
def plain():
    """A server that all may use who do it no harm."""
    with serving() as server:
        yield server


# ---- the same bytes --------------------------------------------------------------------------


def written(path, **options):
    """Write the maze that MAZE asks for, with more options, and return its bytes."""
    stream = EllerStream(**{"width": 1000, "seed": 7, "height": 20_000, **options})
    with MazeWriter(path, stream) as writer:
        writer.write(20_000)
    return path.read_bytes()


def test_fetch_writes_what_generate_writes(plain, tmp_path):
    maze = [*MAZE, "--p-east", "0:0.5,1000:0.6", "--loops", 0.03, "--braid", 1]
    works("fetch", plain.address, tmp_path / "there.emz", *maze)
    works("generate", tmp_path / "here.emz", *maze)
    assert (tmp_path / "there.emz").read_bytes() == (tmp_path / "here.emz").read_bytes()
    text = works("fetch", plain.address, "-", "--width", 65, "--rows", 9, "--seed", 7, "--format", "txt").stdout
    assert text == works("generate", "-", "--width", 65, "--rows", 9, "--seed", 7, "--format", "txt").stdout


@pytest.mark.parametrize(("width", "key_interval"), [(63, 1024), (64, 1024), (65, 0), (1000, 0)])
def test_fetch_writes_what_the_library_writes(plain, tmp_path, width, key_interval):
    maze = ["--width", width, "--seed", 7, "--rows", 20_000, "--key-interval", key_interval]
    works("fetch", plain.address, tmp_path / "there.emz", *maze)
    here = written(tmp_path / "here.emz", width=width, key_interval=key_interval)
    assert (tmp_path / "there.emz").read_bytes() == here


def test_fetch_writes_the_file_that_is_served(tmp_path):
    here = written(tmp_path / "a.emz", key_interval=0)
    with serving(tmp_path / "a.emz") as server:
        assert f"any spec and {tmp_path / 'a.emz'} on 127.0.0.1" in server.first
        works("fetch", server.address, tmp_path / "b.emz")
        fails(1, "exists already", "fetch", server.address, tmp_path / "b.emz")
        (tmp_path / "b.emz").rename(tmp_path / "c.emz")
        works("fetch", server.address, tmp_path / "b.emz", "--force")
    assert (tmp_path / "b.emz").read_bytes() == (tmp_path / "c.emz").read_bytes() == here


def test_a_fragment_and_a_count(plain, tmp_path):
    words = ["fetch", plain.address, tmp_path / "a.emz", "--width", 65, "--seed", 1]
    done = works(*words, "--from", 2**40, "--count", 9000, "--json")
    record = json.loads(done.stdout)
    assert (record["rows"], record["finished"]) == (9000, False)
    verified = works("verify", tmp_path / "a.emz", "--fragment")
    assert b"fragment: 9,000 rows" in verified.stdout
    with MazeFile(tmp_path / "a.emz") as maze:
        here = EllerStream(65, seed=1)
        here.seek(2**40)
        assert maze.read(2**40, 10_000) == here.read(9000)


def test_ctrl_c_finishes_an_endless_maze(plain, tmp_path):
    part = tmp_path / "a.emz.part"
    with fetching(plain.address, tmp_path / "a.emz", "--width", 1000, "--seed", 7) as process:
        until(lambda: part.exists() and part.stat().st_size > 3_000_000)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130, said
    assert "interrupted, finished, seed 7" in said
    works("verify", tmp_path / "a.emz")
    with MazeFile(tmp_path / "a.emz") as maze:
        rows = maze.stop
    assert maze.spec.height is None
    assert rows > 1000


def test_ctrl_c_gives_up_rows_that_were_counted(plain, tmp_path):
    """A count is a part of an endless maze: one row more would be none that was asked for."""
    part = tmp_path / "a.emz.part"
    with fetching(plain.address, tmp_path / "a.emz", "--width", 1000, "--count", 10**9) as process:
        until(lambda: part.exists() and part.stat().st_size > 1_000_000)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert (process.returncode, "interrupted, and not finished" in said) == (130, True)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".emz"] == []


@contextmanager
def fetching(*words):
    """Give `eller-stream fetch` as a process."""
    process = subprocess.Popen([*COMMAND, "fetch", *map(str, words)], stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


# ---- a server that dies ----------------------------------------------------------------------


def test_a_killed_server_that_comes_again_loses_no_row(tmp_path):
    """Killed in the middle, and started again on the same port; without key rows, so that states are asked for."""
    maze = ["--width", 1000, "--seed", 7, "--rows", 20_000, "--key-interval", 0, "--attempts", 12]
    part = tmp_path / "a.emz.part"
    with serving("--rate", 4_000_000) as server, fetching(server.address, tmp_path / "a.emz", *maze) as process:
        until(lambda: part.exists() and part.stat().st_size > 1_000_000)
        server.end(signal.SIGKILL)
        before = part.stat().st_size
        with serving(port=server.port):
            _, said = process.communicate(timeout=40)
    assert process.returncode == 0, said
    assert before < 10_000_000
    assert (tmp_path / "a.emz").read_bytes() == written(tmp_path / "b.emz", key_interval=0)


def test_a_killed_server_that_does_not_come_again_is_told(tmp_path):
    part = tmp_path / "a.emz.part"
    with (
        serving("--rate", 4_000_000) as server,
        fetching(server.address, tmp_path / "a.emz", "--width", 1000, "--attempts", 3) as process,
    ):
        until(lambda: part.exists() and part.stat().st_size > 1_000_000)
        server.end(signal.SIGKILL)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert re.fullmatch(
        rf"eller-stream: error: {server.address}: .*refused; given up before row \d+, at attempt 4\n", said
    )
    assert part.exists()
    assert not (tmp_path / "a.emz").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_server_that_is_told_to_end_says_so_to_its_clients(number, code):
    with serving() as server, ByHand(server.port, hello(), open_spec(small())) as client:
        client.packet()
        ended, said = server.end(number)
        assert ended == code
        assert client.all()[-1].word == "closing"
        assert ": error: interrupted" in said or code == 0


# ---- a reader that stops ---------------------------------------------------------------------


def test_a_reader_that_stops_reading_takes_no_memory():
    """It says that it has room for everything and reads nothing; others read 100 MB meanwhile."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("the resident memory of a process is read from /proc")
    with serving() as server:
        with ByHand(server.port, hello(), open_spec(small(1000, seed=2)), More(2**40)) as reader:
            read_rows(reader, 10_000_000)  # what the interpreter and the system's buffers take at the beginning
        stopped = [ByHand(server.port, hello(), open_spec(small(1000, seed=k)), More(2**40)) for k in range(4)]
        time.sleep(0.5)
        before = server.memory()
        with ByHand(server.port, hello(), open_spec(small(1000, seed=3)), More(2**40)) as reader:
            read_rows(reader, 100_000_000)
        grown = server.memory() - before
        for client in stopped:
            client.close()
    assert grown < 8_000_000


def read_rows(client, size):
    while size > 0:
        size -= len(client.packet())


# ---- tokens, TLS, wrong use ------------------------------------------------------------------


def test_tokens(tmp_path):
    (tmp_path / "token").write_text("open sesame\n")
    (tmp_path / "wrong").write_text("close sesame\n")
    out = ["--width", 9, "--rows", 9, "--force"]
    with serving("--token-file", tmp_path / "token") as server:
        words = ["fetch", server.address, tmp_path / "a.emz", *out]
        fails(1, "the token is missing or not the right one", *words, "--token-file", tmp_path / "wrong")
        works(*words, "--token-file", tmp_path / "token")
        works(*words, ELLER_STREAM_TOKEN="open sesame")
        _, said = server.end()
        assert "sesame" not in said
    with serving("--no-token", ELLER_STREAM_TOKEN="x") as server:
        works("fetch", server.address, tmp_path / "a.emz", *out)


def test_tls(tmp_path, certificate):  # noqa: F811
    cert, key = certificate
    maze = ["--width", 65, "--rows", 5000, "--seed", 1]
    with serving("--tls-cert", cert, "--tls-key", key) as server:
        works("fetch", server.address, tmp_path / "a.emz", *maze, "--tls-ca", cert)
        fails(1, "no TLS with this server: self", "fetch", server.address, tmp_path / "b.emz", *maze, "--tls")
    assert (tmp_path / "a.emz").read_bytes() == written(tmp_path / "c.emz", width=65, seed=1, height=5000)


WRONG = {
    "a seed and no width": (2, "go with --width", ["fetch", "127.0.0.1:1", "OUT", "--seed", "3"]),
    "no port": (2, "the port from 1 to 65535", ["fetch", "127.0.0.1", "OUT"]),
    "port 0": (2, "the port from 1 to 65535", ["fetch", "127.0.0.1:0", "OUT"]),
    "a row below 0": (2, r"--from is from 0 to 2\*\*48", ["fetch", "127.0.0.1:1", "OUT", "--from", "-1"]),
    "no maze": (2, "width is from 1", ["fetch", "127.0.0.1:1", "OUT", "--width", "0"]),
    "no limit": (2, "idle is a number above 0", ["fetch", "127.0.0.1:1", "OUT", "--idle", "0"]),
    "no server": (1, "127.0.0.1:1: .*refused", ["fetch", "127.0.0.1:1", "OUT"]),
    "no key": (2, "go together", ["serve", "--tls-cert", "OUT"]),
    "a token and none": (2, "not allowed with", ["serve", "--token-file", "OUT", "--no-token"]),
    "no clients": (2, "clients is a number above 0", ["serve", "--clients", "0"]),
    "no token beyond loopback": (1, "takes a token", ["serve", "--host", "0.0.0.0", "--port", "0"]),
    "no file": (1, "No such file", ["serve", "OUT"]),
    "no token file": (1, "No such file", ["serve", "--token-file", "OUT"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use(tmp_path, capfd, monkeypatch, name):
    code, message, words = WRONG[name]
    monkeypatch.delenv("ELLER_STREAM_TOKEN", raising=False)
    out = tmp_path / "a.emz"
    with pytest.raises(SystemExit) as ended:
        main([str(out) if word == "OUT" else word for word in words])
    said = capfd.readouterr().err
    assert ended.value.code == code
    assert re.search(message, said), said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken(plain):
    fails(1, "in use", "serve", "--port", plain.port)


def test_limits_are_told(tmp_path):
    with serving("--max-width", 100) as server:
        fails(1, "a row has 101 cells, the limit is 100", "fetch", server.address, tmp_path / "a.emz", "--width", 101)
