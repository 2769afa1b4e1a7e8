"""The stream for asyncio does what the blocking one does."""

import asyncio
import subprocess
import sys

import pytest
from helpers import specs
from hypothesis import given, settings
from hypothesis import strategies as st
from net_helpers import HOST, QUICK, serving, small

from eller_stream import EllerStream, StreamError
from eller_stream.errors import NetError
from eller_stream.net import AsyncRemoteStream, MazeServer
from eller_stream.net.limits import ClientLimits, ServerLimits


@pytest.fixture(scope="module")
def served():
    with serving() as server:
        yield server


def remote(served, spec=None, **options):
    return AsyncRemoteStream(HOST, served.port, spec, **{"limits": QUICK, **options})


@settings(max_examples=25)
@given(specs(heights=(None, 60)), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=5))
def test_rows_jumps_states_and_the_end(served, spec, places):
    async def talk():
        here = EllerStream.from_spec(spec)
        async with remote(served, spec) as stream:
            for place, rows in places:
                await stream.seek(place)
                here.seek(place)
                assert await stream.read(rows) == here.read(rows)
                assert await stream.snapshot() == here.snapshot()
            if here.position != here.height:
                await stream.finalize()
                here.finalize()
            assert [row async for row in stream] == list(here)
            assert (stream.position, stream.height, stream.spec) == (here.position, here.height, spec)
            with pytest.raises(StreamError):
                await stream.finalize()

    asyncio.run(talk())


def test_server_and_many_streams_in_one_loop():
    async def talk():
        async with MazeServer(port=0) as server:
            streams = [AsyncRemoteStream(HOST, server.port, small(1000, seed=k)) for k in range(20)]
            blocks = await asyncio.gather(*map(read_twice, streams))
        for k, block in enumerate(blocks):
            here = EllerStream(1000, seed=k)
            here.seek(3000)
            assert block == here.read(3000)

    async def read_twice(stream):
        async with stream:
            await stream.read(3000)
            return await stream.read(3000)

    asyncio.run(talk())


def test_a_call_that_is_cancelled_loses_no_row():
    async def talk():
        limits = ServerLimits(rate=2_000_000)
        spec = small(1000)
        async with MazeServer(port=0, limits=limits) as server, AsyncRemoteStream(HOST, server.port, spec) as stream:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(stream.read(4000), 0.2)
            assert stream.position == 0
            assert await stream.read(2000) == EllerStream(1000, seed=1).read(2000)

    asyncio.run(talk())


def test_a_server_that_is_started_again():
    async def talk():
        server = MazeServer(port=0)
        await server.start()
        limits = ClientLimits(attempts=20, pause=0.02)
        async with AsyncRemoteStream(HOST, server.port, small(), limits=limits) as stream:
            first = await stream.read(50_000)
            await server.close()
            async with MazeServer(port=server.port):
                assert await stream.read(50_000) == EllerStream(64, seed=1).read(100_000)[50_000:]
            assert first == EllerStream(64, seed=1).read(50_000)

    asyncio.run(talk())


def test_what_goes_wrong(served):
    async def talk():
        with pytest.raises(NetError, match=r"127\.0\.0\.1:1: .*Errno"):
            await AsyncRemoteStream(HOST, 1, small(), limits=QUICK).connect()
        with pytest.raises(NetError, match="offers no file"):
            await remote(served).connect()
        async with remote(served, small(height=9)) as stream:
            with pytest.raises(StreamError, match="from 0 to 9, not 10"):
                await stream.seek(10)
            assert len(await stream.read(100)) == 9
        with pytest.raises(NetError, match="closed"):
            await stream.seek(3)

    asyncio.run(talk())


def test_a_refused_jump_changes_nothing():
    async def talk():
        limits = ServerLimits(max_seek_cells=64_000)
        spec = small(key_interval=0)
        async with MazeServer(port=0, limits=limits) as server, AsyncRemoteStream(HOST, server.port, spec) as stream:
            await stream.read(10)
            with pytest.raises(NetError, match="the limit is 64000 cells"):
                await stream.seek(10**6)
            assert await stream.read(10) == EllerStream.from_spec(spec).read(20)[10:]

    asyncio.run(talk())


@pytest.mark.parametrize("name", ["eller_stream", "eller_stream.net", "eller_stream.net.client"])
def test_games_without_asyncio_do_without(name):
    code = f"import sys, {name}; print('asyncio' in sys.modules, 'eller_stream.net' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", str(name != "eller_stream")]
