"""Mazes over sockets: a server of any spec's rows, a blocking client, and one for asyncio.

    from eller_stream.net import RemoteStream

    with RemoteStream("127.0.0.1", spec=MazeSpec(64, seed=42)) as stream:
        block = stream.read(1000)

docs/PROTOCOL.md tells what is said. Names are loaded when they are first used, so the blocking client does without
asyncio.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .access import client_tls as client_tls
    from .access import server_tls as server_tls
    from .access import token_from as token_from
    from .aio import AsyncRemoteStream as AsyncRemoteStream
    from .client import RemoteStream as RemoteStream
    from .limits import ClientLimits as ClientLimits
    from .limits import ServerLimits as ServerLimits
    from .protocol import DEFAULT_PORT as DEFAULT_PORT
    from .server import MazeServer as MazeServer

_MODULES = {
    "access": ("client_tls", "server_tls", "token_from"),
    "aio": ("AsyncRemoteStream",),
    "client": ("RemoteStream",),
    "limits": ("ClientLimits", "ServerLimits"),
    "protocol": ("DEFAULT_PORT",),
    "server": ("MazeServer",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value
