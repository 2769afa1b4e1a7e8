"""The page's server: who may ask, what it answers, and the conversation over a WebSocket."""

import asyncio
import itertools
import json
import re
import signal
import subprocess
import sys
import time

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from net_helpers import hello, open_spec, small
from viewer_helpers import ask, port_of, refused, request, viewing

from eller_stream import EllerStream, MazeFile, MazeRows, MazeSpec, MazeWriter, open_stream, shortest_path, tree_path
from eller_stream.frames import FrameDecoder, Rows
from eller_stream.net import protocol
from eller_stream.net.limits import ServerLimits
from eller_stream.net.protocol import More, PacketDecoder, Refusal
from eller_stream.net.sources import StreamSource
from eller_stream.viewer import Viewer, answers
from eller_stream.viewer.server import STATIC, own_hosts


@pytest.fixture(scope="module")
def viewer():
    with viewing() as served:
        yield served


# ---- who may ask -----------------------------------------------------------------------------

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_the_page_is_sent_to_its_own_names(viewer, name):
    own = f"{name}:{port_of(viewer)}"
    status, headers, body = request(viewer, "GET", "/", Host=own)
    assert (status, headers.get_content_type(), headers.get_content_charset()) == (200, "text/html", "utf-8")
    assert body == (STATIC / "index.html").read_bytes()
    status, _, _ = request(
        viewer, "POST", "/maze", "{}", Host=own, Origin=f"http://{own}", Sec_Fetch_Site="same-origin"
    )
    assert status == 200


@pytest.mark.parametrize("path", ["/", "/page.js", "/maze", "/socket"])
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil:PORT", ""]
)
def test_another_host_is_refused(viewer, path, host):
    method = "POST" if path == "/maze" else "GET"
    host = host.replace("PORT", str(port_of(viewer)))
    status, _, body = request(viewer, method, path, "{}" if method == "POST" else None, Host=host, **UPGRADE)
    assert status == 403
    assert b"was expected" in body


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1:PORT", "http://127.0.0.1:1", "null", ""])
def test_another_origin_is_refused(viewer, origin):
    origin = origin.replace("PORT", str(port_of(viewer)))
    for method, path in (("GET", "/socket"), ("GET", "/page.js"), ("POST", "/maze"), ("POST", "/path")):
        status, _, body = request(viewer, method, path, "{}" if method == "POST" else None, Origin=origin, **UPGRADE)
        assert (status, b"was expected" in body) == (403, True)


def test_a_browser_leaves_the_usual_port_out():
    assert own_hosts(80) == {"127.0.0.1", "localhost"}
    assert own_hosts(8080) == {"127.0.0.1:8080", "localhost:8080"}


def test_a_socket_without_an_origin_is_refused(viewer):
    assert request(viewer, "GET", "/socket", **UPGRADE)[0] == 403
    assert request(viewer, "GET", "/socket", Origin=viewer.url.rstrip("/"), **UPGRADE)[0] == 101


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_sites_page_may_open_the_page_and_no_more(viewer, site):
    assert request(viewer, "GET", "/", Sec_Fetch_Site=site)[0] == 200
    for method, path in (("GET", "/page.js"), ("POST", "/path"), ("GET", "/socket")):
        assert request(viewer, method, path, Sec_Fetch_Site=site)[0] == 403


def test_nothing_may_come_from_elsewhere(viewer):
    for method, path in (("GET", "/"), ("GET", "/page.js"), ("POST", "/maze"), ("GET", "/nonsense")):
        _, headers, _ = request(viewer, method, path, "{}" if method == "POST" else None)
        if path != "/nonsense":
            assert headers["Content-Security-Policy"].startswith("default-src 'self'; base-uri 'none'")
            assert "unsafe" not in headers["Content-Security-Policy"]
            assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in headers


FILES = sorted(STATIC.iterdir())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_pages_files_name_no_other_host_and_need_no_build(viewer, file):
    text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.findall(r"(?:https?|wss?)://(?!\$\{location\.host\})|(?:src|href)=[\"']?//|@import|url\(", text)
    for name in re.findall(r"(?:from|import)\s*\(?\"([^\"]+)\"|(?:src|href)=\"([^\"]+)\"", text):
        assert (STATIC / "".join(name)).is_file(), name
    status, headers, body = request(viewer, "GET", "/" if file.name == "index.html" else f"/{file.name}")
    assert (status, body) == (200, file.read_bytes())
    assert headers.get_content_type() in ("text/html", "text/css", "text/javascript", "image/svg+xml")


@pytest.mark.parametrize(
    "path", ["/../server.py", "/%2e%2e/server.py", "/static/page.js", "/server.py", "//etc/passwd"]
)
def test_no_other_file_is_sent(viewer, path):
    assert request(viewer, "GET", path)[0] == 404


# ---- what is asked ---------------------------------------------------------------------------


def test_what_it_shows_first(viewer, tmp_path):
    begin = ask(viewer, "maze", {})
    assert (begin["file"], begin["first"], begin["stop"]) == (None, 0, None)
    assert MazeSpec.from_data(begin["spec"]).algorithm == "eller"
    with MazeWriter(tmp_path / "a.emz", EllerStream(9, seed=2**64 - 1, height=20)) as writer:
        writer.write(20)
    with MazeFile(tmp_path / "a.emz") as maze, viewing(maze) as other:
        assert ask(other, "maze", {}) == {"spec": maze.spec.to_json(), "file": "a.emz", "first": 0, "stop": 20}
        path = ask(other, "path", {"spec": None, "from": [0, 0], "to": [19, 8]})
        assert len(path["moves"]) == tree_path(MazeRows.of(maze.read(0, 20)), (0, 0), (19, 8)).steps
    assert "no file here" in refused(viewer, "path", {"spec": None, "from": [0, 0], "to": [0, 0]})


def spec(viewer, **words):
    return MazeSpec.from_data(ask(viewer, "spec", words)["spec"])


def test_a_spec_from_what_was_typed(viewer):
    assert spec(viewer, width="64", seed="18446744073709551615") == MazeSpec(64, seed=2**64 - 1)
    assert spec(viewer, width="9", height=" 7 ", seed="1", p_east="0:0.5,10:0.25", loops=".1", braid="1") == MazeSpec(
        9, height=7, seed=1, p_east=[(0, 0.5), (10, 0.25)], loops=0.1, braid=1
    )
    words = {"algorithm": "random_walk", "width": "30", "height": "20", "max_tunnels": "9", "max_length": "4"}
    assert spec(viewer, **words, seed="5", band="") == MazeSpec(
        30, algorithm="random_walk", height=20, max_tunnels=9, max_length=4, seed=5
    )
    drawn = {spec(viewer, width="9").seed for _ in range(3)}
    assert len(drawn) == 3


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({}, "a maze has a width"),
        ({"width": "9", "nonsense": "1"}, "options by their names"),
        ({"width": "0"}, "width is from 1"),
        ({"width": "-1"}, "width is a whole number"),
        ({"width": "9" * 5000}, "width is a whole number"),
        ({"width": "٣"}, "width is a whole number"),
        ({"width": "9", "p_east": "a"}, "p_east is a number from 0 to 1"),
        ({"width": "9", "p_east": "nan"}, "p_east is a number from 0 to 1"),
        ({"width": "9", "p_east": "0:0.5,x"}, "p_east is a number from 0 to 1"),
        ({"width": "9", "seed": str(2**64)}, "seed is from 0"),
        ({"width": "9", "algorithm": "nonsense"}, "algorithm is one of"),
        ({"width": "9", "band": "4"}, "eller has the options"),
    ],
)
def test_a_spec_that_is_none(viewer, words, reason):
    assert reason in refused(viewer, "spec", words)


@pytest.mark.parametrize("body", ["", "nonsense", "[]", "null", '"x"', "[" * 30_000, "\xff"])
@pytest.mark.parametrize("name", ["maze", "spec", "sets", "path"])
def test_a_question_that_is_none(viewer, name, body):
    status, _, answer = request(viewer, "POST", f"/{name}", body.encode("latin-1"))
    assert (status, answer) == (400, b"a question is a map in JSON")


def test_a_question_that_is_too_long(viewer):
    assert request(viewer, "POST", "/spec", b" " * 100_000)[0] == 413


@settings(max_examples=50)
@given(
    st.sampled_from(["spec", "row", "rows", "from", "to"]),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
        max_leaves=6,
    ),
)
def test_whatever_stands_in_a_question_is_answered(viewer, name, value):
    question = {"spec": small(9).to_json(), "row": 5, "rows": 2, "from": [0, 0], "to": [3, 3]} | {name: value}
    for kind in ("sets", "path"):
        assert request(viewer, "POST", f"/{kind}", json.dumps(question))[0] == 200


# ---- sets ------------------------------------------------------------------------------------


def joined_plainly(numbers, east):
    """Unite what a row's passages east connect, by relabelling again and again."""
    numbers = list(numbers)
    for column, is_open in enumerate(east[:-1]):
        if is_open:
            low, high = sorted(numbers[column : column + 2])
            numbers = [low if number == high else number for number in numbers]
    return numbers


@settings(max_examples=25)
@given(
    st.sampled_from([1, 2, 3, 9, 64, 65]),
    st.integers(0, 2**64 - 1),
    st.sampled_from([0, 5, 1023, 2**33 + 7]),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([0.0, 1.0]),
)
def test_sets_are_those_of_the_stream(width, seed, row, loops, braid):
    stream = EllerStream(width, seed=seed)
    stream.seek(row)
    expected = []
    for _ in range(8):
        before = stream.sets.tolist()
        expected.append(joined_plainly(before, next(stream).east.tolist()))
    spec = MazeSpec(width, seed=seed, loops=loops, braid=braid)
    assert answers.sets_of(spec, row, 8, ServerLimits()) == expected


def test_sets_are_the_same_with_loops_and_braid():
    """Loops and braids open passages in the output alone: the stream's own sets say so."""
    plain, woven = EllerStream(40, seed=3), EllerStream(40, seed=3, loops=0.2, braid=1)
    for _ in range(200):
        assert plain.sets.tolist() == woven.sets.tolist()
        next(plain)
        next(woven)


def test_sets_are_bounded(viewer):
    wide = ask(viewer, "sets", {"spec": small(2**12).to_json(), "row": 0, "rows": 64})
    assert [len(row) for row in wide["sets"]] == [2**12] * 16
    short = ask(viewer, "sets", {"spec": small(9, height=10).to_json(), "row": 8, "rows": 64})
    assert len(short["sets"]) == 2
    assert set(short["sets"][1]) == {0}
    assert "up to 4096 cells wide, not 4097" in refused(
        viewer, "sets", {"spec": small(2**12 + 1).to_json(), "row": 0, "rows": 1}
    )
    maze = small(9, algorithm="wilson").to_json()
    assert "sets are those of algorithm eller, wilson has none" in refused(
        viewer, "sets", {"spec": maze, "row": 0, "rows": 1}
    )
    far = {"spec": small(64, key_interval=0).to_json(), "row": 10**12, "rows": 1}
    assert "the limit is" in refused(viewer, "sets", far)
    assert "there is no row 11" in refused(
        viewer, "sets", {"spec": small(9, height=10).to_json(), "row": 11, "rows": 1}
    )


# ---- paths -----------------------------------------------------------------------------------

STEPS = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}


def check_path(spec, start, end, answer):
    """Assert that the moves lead from start to end, through passages, over no cell twice."""
    first, stop = answer["rows"]
    stream = open_stream(spec)
    stream.seek(first)
    block = stream.read(stop - first)
    here, seen = start, {start}
    for letter in answer["moves"]:
        there = (here[0] + STEPS[letter][0], here[1] + STEPS[letter][1])
        upper, left = min(here, there), min(here, there)
        row = block[upper[0] - first]
        assert (row.south if letter in "NS" else row.east)[left[1]]
        assert there not in seen
        seen.add(there)
        here = there
    assert here == end


@pytest.mark.parametrize(
    ("algorithm", "row"),
    [
        *itertools.product(["eller", "dfs", "prim", "wilson"], [0, 60, 1020, 2**33 + 1000]),
        ("uniform", 0),
    ],
)
def test_a_path_in_a_perfect_maze(viewer, algorithm, row):
    maze = small(33, algorithm=algorithm)
    start, end = (row + 2, 30), (row + 41, 1)
    answer = ask(viewer, "path", {"spec": maze.to_json(), "from": start, "to": end})
    check_path(maze, start, end, answer)
    assert answer["only"]


def test_a_shortest_path_with_loops(viewer):
    maze = small(33, loops=0.2)
    answer = ask(viewer, "path", {"spec": maze.to_json(), "from": [5, 5], "to": [70, 30]})
    check_path(maze, (5, 5), (70, 30), answer)
    first, stop = answer["rows"]
    block = EllerStream.from_spec(maze).read(stop)
    assert len(answer["moves"]) == shortest_path(MazeRows.of(block[first:]), (5, 5), (70, 30)).steps
    assert not answer["only"]


def test_a_path_that_leads_far_up_or_down():
    """Without key rows, and hardly a passage that joins: the first rows looked at do not connect the cells."""
    maze = small(3, p_east=0.0001, p_south=1, key_interval=0)
    source = StreamSource(maze, ServerLimits())
    first = next(answers._spans(source, 50_000, 50_000))
    answer = answers.path_between(source, (50_000, 0), (50_000, 2))
    assert (answer["rows"][0], answer["rows"][1]) != (first.start, first.stop)
    check_path(maze, (50_000, 0), (50_000, 2), answer)


def test_a_path_on_a_map(viewer):
    maze = small(40, algorithm="random_walk", seed=4)
    ground = open_stream(maze).read(64).floor_tiles()
    cells = [
        (row, column) for row, line in enumerate(ground.tolist()) for column, floor in enumerate(line) if floor == 0
    ]
    rock = next((r, c) for r, line in enumerate(ground.tolist()) for c, floor in enumerate(line) if floor)
    answer = ask(viewer, "path", {"spec": maze.to_json(), "from": cells[0], "to": cells[-1]})
    check_path(maze, cells[0], cells[-1], answer)
    assert "is a wall" in refused(viewer, "path", {"spec": maze.to_json(), "from": cells[0], "to": rock})


def test_paths_are_bounded(viewer):
    maze = small(1000, key_interval=4096, loops=0.1).to_json()
    assert "the page looks at" in refused(viewer, "path", {"spec": maze, "from": [0, 0], "to": [9000, 0]})
    assert "outside" in refused(viewer, "path", {"spec": small(9).to_json(), "from": [0, 0], "to": [0, 9]})
    assert "whole number" in refused(viewer, "path", {"spec": small(9).to_json(), "from": [0, 0], "to": [0.5, 1]})
    plain = small(9, height=10).to_json()
    assert refused(viewer, "path", {"spec": plain, "from": [0, 0], "to": [10, 0]})


def test_a_path_of_too_many_steps(monkeypatch):
    monkeypatch.setattr(answers, "MOST_STEPS", 3)
    with pytest.raises(answers.SolveError, match="the page draws 3 at most"):
        answers.path_between(StreamSource(small(9), ServerLimits()), (0, 0), (9, 8))


# ---- the socket ------------------------------------------------------------------------------


async def conversation(viewer, *said, count=None):
    """Say something to the socket, and return what comes: messages, and frames' contents, up to the end or `count`."""
    came, packets = [], PacketDecoder(2**26)
    origin = viewer.url.rstrip("/")
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{viewer.url}socket", origin=origin, max_msg_size=0) as ws,
    ):
        for words in said:
            await (ws.send_str(words) if isinstance(words, str) else ws.send_bytes(words))
        async for message in ws:
            came += [bytes(content) for content in packets.feed(message.data)]
            if count is not None and len(came) >= count:
                break
    return [
        content if protocol.is_frame(content) else protocol.decode(content, protocol.FROM_SERVER) for content in came
    ]


def talk(viewer, *said, **options):
    return asyncio.run(conversation(viewer, *said, **options))


def said(*messages):
    return [message if isinstance(message, bytes) else protocol.encode(message) for message in messages]


def rows_of(frames):
    decoder = FrameDecoder()
    decoder.feed(b"".join(frames))
    return [event.block for event in decoder.events() if isinstance(event, Rows)]


@pytest.mark.parametrize("cut", [None, 1, 7])
def test_rows_come_over_the_socket(viewer, cut):
    maze = small(64, height=5000)
    words = b"".join(said(hello(), open_spec(maze), More(5000)))
    pieces = [words] if cut is None else [words[i : i + cut] for i in range(0, len(words), cut)]
    came = talk(viewer, *pieces, count=6)
    assert [block.stop for block in rows_of(came[2:])] == [4096, 5000]
    assert rows_of(came[2:])[1] == EllerStream.from_spec(maze).read(5000)[4096:]


def test_the_servers_limits_hold(viewer):
    for maze, reason in [(small(2**21), "the limit is"), (small(1000, algorithm="dfs", band=2**20), "the limit is")]:
        refusal = talk(viewer, *said(hello(), open_spec(maze), More(10)))[-1]
        assert (refusal.word, reason in refusal.reason) == ("limit", True)
    assert talk(viewer, *said(hello(), open_spec(small(key_interval=0), row=10**12)))[-1].word == "limit"


def test_what_is_no_conversation_ends(viewer):
    assert talk(viewer, b"GET / HTTP/1.1")[-1].word == "request"
    assert talk(viewer, "a text") == []
    assert talk(viewer, b"\xc6\xff\xff\xff\xff")[-1].word == "request"
    assert talk(viewer, b"\xc6" * 300_000) == []
    assert len(talk(viewer, *said(hello(), open_spec(small()), More(1)), count=4)) == 4


def test_there_are_as_many_sockets_as_the_limit_says():
    async def both(viewer):
        origin = viewer.url.rstrip("/")
        async with aiohttp.ClientSession() as session, session.ws_connect(f"{viewer.url}socket", origin=origin) as ws:
            await ws.send_bytes(said(hello())[0])
            await ws.receive()
            return await conversation(viewer, *said(hello()))

    with viewing(limits=ServerLimits(clients=1)) as served:
        assert asyncio.run(both(served))[-1] == Refusal("busy", "there are 1 clients already")


def test_a_socket_that_says_nothing_is_given_up():
    with viewing(limits=ServerLimits(greeting=0.2, idle=0.4)) as served:
        assert talk(served)[-1].word == "idle"
        assert talk(served, *said(hello(), open_spec(small())))[-1].word == "idle"


def test_closing_tells_the_pages():
    async def until_closed(viewer):
        origin = viewer.url.rstrip("/")
        async with aiohttp.ClientSession() as session, session.ws_connect(f"{viewer.url}socket", origin=origin) as ws:
            await ws.send_bytes(said(hello())[0])
            await ws.receive()
            closing = asyncio.ensure_future(viewer.close())
            message = await ws.receive()
            await ws.close()
            await closing
        return message.data

    async def alone():
        async with Viewer() as viewer:
            return await until_closed(viewer)

    assert asyncio.run(alone()) == said(Refusal("closing", "the server is closing"))[0]


# ---- the command -----------------------------------------------------------------------------


def test_without_aiohttp_the_command_names_the_extra():
    code = (
        "import sys; sys.modules['aiohttp'] = None; from eller_stream.cli import main; main(['view', '--no-browser'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"eller-stream: error: this needs aiohttp: pip install 'eller_stream\[web\]'\n", done.stderr)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--port", "70000"], 2, "--port is from 0 to 65535"),
        (["nowhere.emz"], 1, "No such file"),
    ],
)
def test_wrong_use(words, code, message):
    command = [sys.executable, "-m", "eller_stream", "view", "--no-browser", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_that_is_taken(viewer):
    command = [sys.executable, "-m", "eller_stream", "view", "--no-browser", "--port", str(port_of(viewer))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert re.fullmatch(r"eller-stream: error: .*in use.*\n", done.stderr), done.stderr


@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
def test_it_says_where_the_page_is_opens_it_and_ends_when_told(number, tmp_path):
    opened = tmp_path / "opened"
    code = f"""
import webbrowser
from pathlib import Path
from eller_stream.cli import main
webbrowser.open = Path({str(opened)!r}).write_text
main(["view"])
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        url = re.fullmatch(r"eller-stream: (http://127\.0\.0\.1:\d+/)\n", process.stderr.readline())[1]
        while not opened.exists() or not opened.read_text():
            time.sleep(0.01)
        process.send_signal(getattr(signal, number))
        _, said_last = process.communicate(timeout=20)
    assert opened.read_text() == url
    assert process.returncode == {"SIGTERM": 0, "SIGINT": 130}[number], said_last
