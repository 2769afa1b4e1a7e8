"""A server among clients that leave, stall, send garbage or ask too much: each is told why, and it serves on."""

import asyncio
import gc
import logging
import socket
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from helpers import EDGE_WIDTHS
from hypothesis import given, settings
from hypothesis import strategies as st
from net_helpers import HOST, ByHand, hello, open_spec, remote, serving, small

from eller_stream import BACKEND, EllerStream, MazeFile, MazeSpec, MazeWriter, open_stream
from eller_stream.block import row_bytes
from eller_stream.errors import NetError
from eller_stream.net import protocol
from eller_stream.net.client import RemoteStream
from eller_stream.net.limits import ClientLimits, ServerLimits
from eller_stream.net.protocol import Answer, Finalize, Jump, More, Refusal, State, Welcome
from eller_stream.net.server import MazeServer
from eller_stream.net.sources import Frames, StreamSource


@pytest.fixture(scope="module")
def served():
    with serving(limits=ServerLimits(idle=30)) as server:
        yield server


def serves_on(served):
    """Assert that a new client gets its rows."""
    with remote(served, small()) as stream:
        assert stream.read(5000) == EllerStream(64, seed=1).read(5000)


def until(condition, seconds=10):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


# ---- what is wrong with what a client says ---------------------------------------------------

FAR = b"".join(protocol.packet(b"x" * 5000))
SAID = {
    "another protocol": ([b"GET / HTTP/1.1\r\n\r\n"], "request", "no packet"),
    "TLS where there is none": ([bytes.fromhex("16030100f8010000f4")], "request", "no packet"),
    "a hostile length": ([b"\xc6\xff\xff\xff\xff"], "request", "4294967295 bytes, at most 4096"),
    "a greeting too long": ([FAR], "request", "5000 bytes, at most 4096"),
    "no greeting": ([More(1)], "request", "'more' came; eller-net was expected"),
    "another version": ([protocol.Hello(2, None)], "version", "version 2 was asked for, this server speaks 1"),
    "a second greeting": ([hello(), hello()], "request", "'eller-net' came"),
    "a hostile length later": ([hello(), b"\xc6\x00\x01\x00\x01"], "request", "65537 bytes, at most 65536"),
    "garbage later": ([hello(), b"\x00" * 9], "request", "no packet"),
    "damaged": ([hello(), *protocol.packet(b"\x93\xa4more\x01\xce\x00\x00\x00\x00")], "request", "checksum"),
    "what a server says": ([hello(), Welcome(1)], "request", "'welcome' came"),
    "no such maze": ([hello(), protocol.Open(1, {"width": 0}, 0, None)], "request", "a spec is a map with the keys"),
    "no file": ([hello(), protocol.Open(1, None, 0, None)], "request", "offers no file"),
    "a jump from nowhere": ([hello(), Jump(1, 0)], "request", "nothing is open"),
    "an end of nothing": ([hello(), Finalize(1, 0)], "request", "nothing is open"),
    "a state of nothing": ([hello(), State(1, 0)], "request", "nothing is open"),
    "no such row": ([hello(), open_spec(small(height=9), 10)], "request", "the maze has 9 rows, there is no row 10"),
    "a jump too far": ([hello(), open_spec(small(height=9)), Jump(2, 10)], "request", "there is no row 10"),
    "an end too far": ([hello(), open_spec(small(height=9)), Finalize(2, 9)], "request", "has ended with row 8"),
    "two ends": ([hello(), open_spec(small()), Finalize(2, 9), Finalize(3, 4)], "request", "called already: row 9"),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_wrong_is_told(served, name):
    said, word, reason = SAID[name]
    with ByHand(served.port, *said) as client:
        came = client.all()
    assert isinstance(came[-1], Refusal)
    assert came[-1].word == word
    assert reason in came[-1].reason
    serves_on(served)


@pytest.mark.parametrize("said", [[], [hello()], [hello(), b"\xc6\x00"], [hello(), open_spec(small()), More(2**40)]])
@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_client_that_leaves_in_the_middle(served, said, how):
    with ByHand(served.port, *said) as client:
        if said:
            client.packet()
        if how == "reset":
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    until(lambda: served.server.clients == 0)
    serves_on(served)


def test_what_happened_is_in_the_log(served, caplog):
    caplog.set_level(logging.INFO, "eller_stream.net")
    with ByHand(served.port, b"garbage"):
        until(lambda: "request: no packet" in caplog.text)
    with ByHand(served.port, hello(), b"\xc6\x00\x00") as client:
        assert client.message() == Welcome(16)
    until(lambda: "has gone (in the middle of a message)" in caplog.text)


def test_a_failure_of_the_server_is_told(served, monkeypatch, caplog):
    monkeypatch.setattr("eller_stream.net.server.StreamSource", lambda *_: 1 / 0)
    with ByHand(served.port, hello(), open_spec(small())) as client:
        assert client.all()[-1] == Refusal("failed", "the server failed (ZeroDivisionError)")
    assert "ZeroDivisionError: division by zero" in caplog.text
    monkeypatch.undo()
    serves_on(served)


def test_a_damaged_file_is_told(tmp_path):
    with MazeWriter(tmp_path / "a.emz", EllerStream(64, seed=1)) as writer:
        writer.write(10_000)
    data = bytearray((tmp_path / "a.emz").read_bytes())
    data[100_000] ^= 1
    (tmp_path / "a.emz").write_bytes(data)
    with MazeFile(tmp_path / "a.emz") as maze, serving(maze) as served:
        with remote(served) as stream:
            assert len(stream.read(4096)) == 4096
            with pytest.raises(NetError, match=r"a.emz: rows frame at row 4096: the checksum.*\(failed\)"):
                stream.read(1)
        serves_on(served)


def test_what_cannot_be_offered_is_told_at_once(tmp_path):
    with MazeWriter(tmp_path / "a.emz", EllerStream(64, seed=1)) as writer:
        writer.write(10)
    with MazeFile(tmp_path / "a.emz") as maze, pytest.raises(NetError, match="64 cells, the limit is 63"):
        MazeServer(maze, limits=ServerLimits(max_width=63))


plain_data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=9)
    | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(st.sampled_from(sorted(small().to_data())), plain_data)
def test_whatever_stands_in_a_spec_is_answered(served, caplog, name, value):
    caplog.clear()
    spec = small().to_data() | {name: value}
    with ByHand(served.port, hello(), protocol.Open(1, spec, 0, 3), More(3)) as client:
        assert client.message() == Welcome(16)
        answer = client.message()
    assert isinstance(answer, Answer) or answer.word in ("request", "limit")
    assert "Traceback" not in caplog.text


# ---- time ------------------------------------------------------------------------------------


def test_half_open_connections_are_given_up():
    """One says nothing, one half a greeting, one nothing more, one takes nothing: each is told, and forgotten."""
    with serving(limits=ServerLimits(greeting=0.3, idle=0.6)) as served:
        said = [[], [b"\xc6\x00"], [hello()], [hello(), open_spec(small())]]
        clients = [ByHand(served.port, *words) for words in said]
        for client in clients:
            with client:
                assert client.all()[-1] == Refusal("idle", "no progress for too long")
        until(lambda: served.server.clients == 0)
        serves_on(served)


def test_a_reader_that_stops_is_given_up():
    with serving(limits=ServerLimits(idle=0.5)) as served:
        with ByHand(served.port, hello(), open_spec(small(10_000)), More(2**40)):
            until(lambda: served.server.clients == 1)
            until(lambda: served.server.clients == 0)
        serves_on(served)


def test_a_client_gives_up_a_server_that_says_nothing():
    with closing(socket.create_server((HOST, 0))) as silent:
        port = silent.getsockname()[1]
        limits = ClientLimits(idle=0.2, attempts=2, pause=0.01)
        with pytest.raises(NetError, match=f"{HOST}:{port}: nothing came for 0.2 seconds"):
            RemoteStream(HOST, port, small(), limits=limits)


def test_an_idle_client_goes_on_where_it_stood():
    """The server has given it up meanwhile; without key rows and finalized it is the same."""
    for spec in (small(), small(key_interval=0)):
        with serving(limits=ServerLimits(idle=0.3)) as served, remote(served, spec) as stream:
            here = EllerStream.from_spec(spec)
            assert stream.read(10_000) == here.read(10_000)
            until(lambda: served.server.clients == 0)
            assert stream.read(20_000) == here.read(20_000)
            stream.finalize()
            here.finalize()
            until(lambda: served.server.clients == 0)
            stream.seek(29_990)
            here.seek(29_990)
            assert stream.read(20_000) == here.read(20_000)
            assert stream.height == here.height


# ---- limits ----------------------------------------------------------------------------------


def refused(served, *said):
    with ByHand(served.port, hello(), *said) as client:
        return client.all()[-1]


ASKED = {
    "max_frame": (45_000, small(65), small(20), "4096 rows of 65 cells has 73779 bytes, the limit is 45000"),
    "max_width": (64, small(65), small(64), "a row has 65 cells, the limit is 64"),
    "max_band_cells": (
        640,
        small(64, algorithm="dfs", band=11),
        small(64, algorithm="dfs", band=10),
        "is 11 * 64, the limit is 640",
    ),
    "max_schedule": (
        2,
        small(p_south=[(0, 0.5), (1, 0.2), (2, 0.5)]),
        small(p_east=[(0, 0.5), (9, 1)]),
        "p_south has 3 pairs, the limit is 2",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_limits_of_a_spec(name):
    limit, too_much, just_right, reason = ASKED[name]
    with serving(limits=ServerLimits(**{name: limit})) as served:
        refusal = refused(served, open_spec(too_much))
        assert refusal.word == "limit"
        assert reason in refusal.reason
        with remote(served, just_right) as stream:
            assert stream.read(10) == open_stream(just_right).read(10)


def test_the_limit_of_a_seek():
    spec = small(100, key_interval=0)
    with serving(limits=ServerLimits(max_seek_cells=100_000)) as served:
        with remote(served, spec, row=1000) as stream:
            assert stream.read(1) == EllerStream.from_spec(spec).read(1001)[1000:]
        for said in (open_spec(spec, 1001),), (open_spec(spec), Jump(2, 1001)), (open_spec(spec), Finalize(2, 1001)):
            refusal = refused(served, *said)
            assert (refusal.word, "1001 rows of 100 cells would be carved" in refusal.reason) == ("limit", True)
        with remote(served, small(100), row=10**9) as stream:
            assert stream.read(1).start == 10**9


def test_a_key_interval_is_bounded_by_the_way_alone():
    """What it costs is the rows from the key row to the row asked for."""
    spec = small(100, key_interval=2000)
    with serving(limits=ServerLimits(max_seek_cells=100_000, max_band_cells=64)) as served:
        with remote(served, spec, row=2 * 10**9 + 1000) as stream:
            assert stream.read(1).start == 2 * 10**9 + 1000
        assert "1001 rows of 100 cells" in refused(served, open_spec(spec, 2 * 10**9 + 1001)).reason


def test_the_limit_of_clients():
    limits = ServerLimits(clients=2)
    with serving(limits=limits) as served, remote(served, small()) as one, remote(served, small()) as two:
        with ByHand(served.port, hello()) as client:
            assert client.all() == [Refusal("busy", "there are 2 clients already")]
        with pytest.raises(NetError, match=r"2 clients already \(busy\); given up before row 0, at attempt 4"):
            remote(served, small())
        assert one.read(10) == two.read(10)
        threading.Timer(0.3, one.close).start()
        with remote(served, small(), limits=ClientLimits(attempts=20, pause=0.05)) as three:
            assert three.read(20)[10:] == two.read(10)


def test_the_rate():
    """Bytes go out in eighths of a second's worth, each followed by its time; the client counts what has come."""
    rate = 200_000
    said = hello(), open_spec(small(4000)), More(2**40)
    with serving(limits=ServerLimits(rate=rate)) as served, ByHand(served.port, *said) as client:
        begin, came = time.monotonic(), 0
        while (elapsed := time.monotonic() - begin) < 1:
            came += len(client.socket.recv(2**20))
        assert came <= rate * (elapsed + 0.5)


@pytest.mark.parametrize("values", [{"max_width": 0}, {"idle": -1}, {"rate": float("inf")}, {"clients": 0}])
def test_limits_are_numbers_above_0(values):
    with pytest.raises(NetError, match="is a number above 0"):
        ServerLimits(**values)


def test_the_clients_limits(served):
    with pytest.raises(NetError, match="a row has 64 cells, the limit is 63"):
        remote(served, small(), limits=ClientLimits(max_width=63))
    with pytest.raises(NetError, match="this reader takes 10000"):
        remote(served, small(), limits=ClientLimits(max_frame=10_000))


def test_the_way_to_a_row_is_gone_in_steps(monkeypatch):
    """Whoever waits is told how far the server is, and others have their turns between the steps."""
    monkeypatch.setattr("eller_stream.net.sources._CELLS_A_STEP", 64 * 100)
    monkeypatch.setattr("eller_stream.net.server._TELL_EVERY", 0)
    spec = small(key_interval=0)
    with serving() as served, ByHand(served.port, hello(), open_spec(spec, 450), More(451)) as client:
        assert client.message() == Welcome(16)
        assert [client.message() for _ in range(4)] == [protocol.Wait(row) for row in (100, 200, 300, 400)]
        assert client.message() == Answer(1, 450, None)
        client.say(Jump(2, 4096 + 150))
        assert isinstance(client.message(), bytes)


# ---- fairness --------------------------------------------------------------------------------


def test_clients_take_turns(monkeypatch):
    """One thread carves for a client with endless room and for six that ask a frame at a time; none waits for long."""
    turns = []
    rows = Frames.rows

    def counted(self, room):
        turns.append(self._header.spec.seed)
        time.sleep(0.002)
        return rows(self, room)

    monkeypatch.setattr(Frames, "rows", counted)
    with serving(limits=ServerLimits(workers=1)) as served:
        greedy = ByHand(served.port, hello(), open_spec(small(seed=0, key_interval=0)), More(2**40))
        drain = threading.Thread(target=drained, args=(greedy.socket,))
        drain.start()
        others = [remote(served, small(seed=k, key_interval=0), limits=ClientLimits(ahead=1)) for k in range(1, 7)]
        threads = [threading.Thread(target=stream.read, args=(20 * 4096,)) for stream in others]
        begin = len(turns)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        shared = turns[begin:]
        greedy.socket.shutdown(socket.SHUT_RDWR)
        drain.join()
        for stream in (greedy, *others):
            stream.close()
    assert all(shared.count(k) >= 19 for k in range(1, 7))
    assert shared.count(0) <= 2 * 20


def drained(connection):
    while connection.recv(2**20):
        pass


# ---- bounds ----------------------------------------------------------------------------------


def test_no_more_is_carved_than_there_is_room_for(monkeypatch):
    carved = []
    frames = StreamSource.frames
    monkeypatch.setattr(
        StreamSource, "frames", lambda self, row, stop: (carved.append((row, stop)), frames(self, row, stop))[1]
    )
    with serving() as served:
        with ByHand(served.port, hello(), open_spec(small()), More(2 * 4096 + 1)) as client:
            for _ in range(6):
                client.packet()
            time.sleep(0.2)
            assert carved[0][0] == 0
            assert carved[-1][1] == 3 * 4096
        carved.clear()
        with remote(served, small(), limits=ClientLimits(ahead=3)) as stream:
            stream.read(1)
            time.sleep(0.2)
            assert carved[-1][1] <= 4 * 4096


class StuckClient:
    """The two ends of a conversation: a client that has said all it will say, and takes nothing behind the answer."""

    def __init__(self, *said):
        self._said = [*map(protocol.encode, said)]
        self.written = 0
        self.transport = self

    async def read(self, _):
        return self._said.pop(0) if self._said else await asyncio.Event().wait()

    def write(self, data):
        self.written += len(data)

    async def drain(self):
        if self.written > 10_000:
            await asyncio.Event().wait()

    def get_extra_info(self, _):
        return None

    def can_write_eof(self):
        return False

    def abort(self):
        pass


@pytest.mark.parametrize("key_interval", [0, 1024])
def test_of_what_is_not_taken_no_more_than_two_turns_wait(monkeypatch, key_interval):
    carved = []
    frames = StreamSource.frames
    monkeypatch.setattr(
        StreamSource, "frames", lambda self, row, stop: (carved.append((row, stop)), frames(self, row, stop))[1]
    )
    spec = small(1000, key_interval=key_interval)
    client = StuckClient(hello(), open_spec(spec), More(2**40))
    with serving() as served:
        meeting = asyncio.run_coroutine_threadsafe(served.server.meet(client, client), served.loop)
        until(lambda: len(carved) == 2)
        time.sleep(0.2)
        turn = StreamSource(spec, ServerLimits()).rows_a_turn
        assert carved == [(0, turn), (turn, 2 * turn)]
        assert client.written < 2**19
        served.do(served.server.close())
        meeting.exception(10)


@pytest.mark.parametrize("width", [*EDGE_WIDTHS, 1000, 2**16, 2**20])
@pytest.mark.parametrize("key_interval", [0, 2, 1024, 2**14])
def test_a_turn_is_a_frame_or_2_mib_of_rows(width, key_interval):
    spec = MazeSpec(width, seed=1, key_interval=key_interval)
    source = StreamSource(spec, ServerLimits(max_band_cells=2**34))
    frame = source.header.rows_per_frame
    assert source.rows_a_turn % frame == 0
    assert source.rows_a_turn == frame or source.rows_a_turn * 2 * row_bytes(width) <= 2**21
    assert source.rows_a_turn <= 32 * frame
    if not 0 < key_interval <= frame or BACKEND == "python":
        assert source.rows_a_turn == frame


def test_a_flood_of_requests_is_held_back(served):
    """Ten thousand jumps, and nobody reads the answers: the inbox is bounded, and the server serves on meanwhile."""
    with ByHand(served.port, hello(), open_spec(small(1000))) as client:
        client.socket.settimeout(1)
        flood = b"".join(protocol.encode(Jump(k, k)) for k in range(2, 10_002))
        with suppress(TimeoutError):
            client.say(flood)
        serves_on(served)


def test_answers_to_many_requests_come_in_order(served):
    with ByHand(served.port, hello(), open_spec(small())) as client:
        client.say(*(Jump(k, 100 + k) for k in range(2, 300)))
        answers = []
        while len(answers) < 299:
            message = client.message()
            if isinstance(message, Answer):
                answers.append((message.number, message.row))
        assert answers == [(1, 0), *((k, 100 + k) for k in range(2, 300))]


# ---- the end of a server ---------------------------------------------------------------------


def test_closing_tells_every_client_and_leaves_nothing():
    """`serving` asserts that no task is left; here, that clients hear of it, even those that do not read."""
    with serving() as served:
        client = ByHand(served.port, hello(), open_spec(small()), More(1))
        stuck = ByHand(served.port, hello(), open_spec(small(10_000)), More(2**40))
        until(lambda: served.server.clients == 2)
        for _ in range(4):
            client.packet()
        served.do(served.server.close())
        assert client.all() == [Refusal("closing", "the server is closing")]
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((HOST, served.port), 5)
        client.close()
        stuck.close()


def test_a_port_that_is_taken(served):
    other = MazeServer(host=HOST, port=served.port)
    with pytest.raises(OSError, match="in use"):
        served.do(other.start())
    served.do(other.close())


def test_nothing_leaks():
    """Threads, sockets and conversations are as many after fifty clients as before."""
    with serving() as served:
        serves_on(served)
        until(lambda: served.server.clients == 0)
        before = threading.active_count(), open_files()
        for k in range(50):
            with ByHand(served.port, *([hello(), open_spec(MazeSpec(64, seed=k)), More(2**40)] if k % 2 else [b"x"])):
                pass
        until(lambda: served.server.clients == 0)
        gc.collect()
        until(lambda: (threading.active_count() <= before[0] + 1, open_files()) == (True, before[1]))


def open_files():
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0
