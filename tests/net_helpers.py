"""What the tests of sockets share: a server on a thread of its own, and plain sockets to talk to it by hand."""

import asyncio
import socket
import threading
from contextlib import contextmanager

from eller_stream.net import protocol
from eller_stream.net.client import RemoteStream
from eller_stream.net.limits import ClientLimits, ServerLimits
from eller_stream.net.server import MazeServer
from eller_stream.sealed import bin_head
from eller_stream.spec import MazeSpec

HOST = "127.0.0.1"
QUICK = ClientLimits(idle=10, connect=5, attempts=3, pause=0.01)


class Served:
    """A server that runs on a thread of its own."""

    def __init__(self, **options):
        self.server = MazeServer(**{"host": HOST, "port": 0, **options})
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    @property
    def port(self):
        return self.server.port

    def do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(20)

    def stop(self):
        try:
            self.do(self.server.close())
            left = self.do(tasks_left())
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
            self.loop.close()
        assert not left


async def tasks_left():
    await asyncio.sleep(0)
    return asyncio.all_tasks() - {asyncio.current_task()}


@contextmanager
def serving(maze=None, *, limits=None, **options):
    """Give a server; at the end nothing of it may be left."""
    served = Served(maze=maze, limits=limits or ServerLimits(), **options)
    try:
        served.do(served.server.start())
        yield served
    finally:
        served.stop()


def remote(served, spec=None, **options):
    return RemoteStream(HOST, served.port, spec, **{"limits": QUICK, **options})


class ByHand:
    """A client that says what a test wants said, in bytes or messages, and reads packet by packet."""

    def __init__(self, port, *said):
        self.socket = socket.create_connection((HOST, port), 10)
        self._file = self.socket.makefile("rb")
        self.say(*said)

    def say(self, *said):
        self.socket.sendall(b"".join(x if isinstance(x, bytes) else protocol.encode(x) for x in said))

    def packet(self):
        """Return the next packet's content, None at the end."""
        head = self._file.read(5)
        if not head:
            return None
        assert head[:1] == b"\xc6"
        content = self._file.read(int.from_bytes(head[1:], "big"))
        assert bin_head(len(content)) == head
        return content

    def message(self):
        """Return the next packet as a message, a frame's content as it is."""
        content = self.packet()
        if content is None or protocol.is_frame(content):
            return content
        return protocol.decode(content, protocol.FROM_SERVER)

    def all(self):
        """Return everything up to the end."""
        came = []
        while (message := self.message()) is not None:
            came.append(message)
        return came

    def close(self):
        self._file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def hello(token=None):
    return protocol.Hello(protocol.VERSION, token)


def open_spec(spec, row=0, stop=None, number=1):
    return protocol.Open(number, spec.to_data(), row, stop)


def small(width=64, **options):
    return MazeSpec(width, **{"seed": 1, **options})
