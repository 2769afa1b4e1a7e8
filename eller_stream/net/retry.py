"""How a client looks for a server that went away: how often, and after which pauses."""

from __future__ import annotations

from ..errors import NetError
from .conversation import Conversation, PassingError
from .limits import ClientLimits

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
