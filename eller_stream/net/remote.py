"""What both clients have: where the server is, the conversation with it, and how they look for one that went away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NetError
from . import protocol
from .conversation import Conversation, PassingError
from .limits import ClientLimits

if TYPE_CHECKING:
    import ssl

    from ..frames import Header
    from ..spec import MazeSpec

_LONGEST_PAUSE = 5.0


class LostError(NetError):
    """The connection is gone."""


PASSES = (OSError, LostError, PassingError)


class Retry:
    """Counts the attempts in a row after which no row came."""

    def __init__(self, talk: Conversation, limits: ClientLimits, where: str) -> None:
        self._talk, self._limits, self._where = talk, limits, where
        self._failures = 0
        self._row: int | None = None

    def pause(self, error: BaseException) -> float:
        """Return the seconds to wait before the next attempt.

        Raises NetError if there is to be none: there were too many, or the server was never there.
        """
        row = self._talk.received
        self._failures = self._failures + 1 if row == self._row else 1
        self._row = row
        was_there = self._talk.header is not None or isinstance(error, PassingError)
        if not was_there or self._failures > self._limits.attempts:
            why = str(error) or type(error).__name__
            given_up = f"; given up before row {row}, at attempt {self._failures}" if was_there else ""
            raise NetError(f"{self._where}: {why}{given_up}") from error
        if self._failures == 1:
            return 0.0
        return min(self._limits.pause * 2.0 ** (self._failures - 2), _LONGEST_PAUSE)


class Remote:
    """A maze that a server streams.

    host, port   the server
    spec         the maze; None for the file that the server offers
    row          the first row (None: 0, or the offered file's first)
    count        how many rows at most; None: to the maze's end
    token        what the server wants to see, see `access.token_from`
    tls          see `access.client_tls`; None: in the clear
    clear_token  send the token in the clear to another machine, too
    limits       what is taken from the server, and how often it is looked for when it has gone
    """

    def __init__(
        self,
        host: str,
        port: int = protocol.DEFAULT_PORT,
        spec: MazeSpec | None = None,
        *,
        row: int | None = None,
        count: int | None = None,
        token: bytes | None = None,
        tls: ssl.SSLContext | None = None,
        clear_token: bool = False,
        limits: ClientLimits | None = None,
    ) -> None:
        self._limits = limits or ClientLimits()
        self._host, self._port = host, port
        self._token, self._tls, self._clear_token = token, tls, clear_token
        self._talk = Conversation(spec, row, count, token, self._limits)
        self._retry = Retry(self._talk, self._limits, f"{host}:{port}")
        self._closed = False
        self._start()

    def _start(self) -> None:
        """Do what there is to do before the first call."""

    @property
    def spec(self) -> MazeSpec:
        """Everything that determines the maze; known once it is connected."""
        return self._talk.spec

    @property
    def header(self) -> Header:
        """The header of the rows as the server sends them: the spec, and the rows a frame."""
        assert self._talk.header is not None
        return self._talk.header

    @property
    def position(self) -> int:
        """Index of the row to come."""
        return self._talk.position

    @property
    def height(self) -> int | None:
        """Rows of the whole maze; None while it is endless or not known."""
        return self._talk.height

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._host}:{self._port} at row {self.position}>"
