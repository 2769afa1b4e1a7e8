"""What the tests of the page share: a viewer on a thread of its own, and requests by hand."""

import asyncio
import http.client
import json
import threading
from contextlib import contextmanager

from eller_stream.viewer import Viewer

HOST = "127.0.0.1"


@contextmanager
def viewing(maze=None, **options):
    """Give a viewer that is started; at the end nothing of it may be left."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    do = lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result(20)  # noqa: E731
    viewer = Viewer(maze, **options)
    try:
        do(viewer.start())
        yield viewer
        do(viewer.close())
        assert not do(tasks_left())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def tasks_left():
    await asyncio.sleep(0.05)
    return asyncio.all_tasks() - {asyncio.current_task()}


def port_of(viewer):
    return int(viewer.url.rstrip("/").rpartition(":")[2])


def request(viewer, method, path, body=None, **headers):
    """Return the status, the headers and the body of an answer; a header's `_` stands for `-`."""
    connection = http.client.HTTPConnection(HOST, port_of(viewer), timeout=20)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def ask(viewer, name, question):
    """Return the answer to a question, which has to be one."""
    status, _, body = request(viewer, "POST", f"/{name}", json.dumps(question))
    answer = json.loads(body)
    assert (status, answer.get("error")) == (200, None)
    return answer


def refused(viewer, name, question):
    """Return the reason why a question is refused."""
    status, _, body = request(viewer, "POST", f"/{name}", json.dumps(question))
    assert status == 200, body
    return json.loads(body)["error"]
