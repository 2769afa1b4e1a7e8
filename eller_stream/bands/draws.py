"""The draws of a band: numbers below a bound, from a key for each (seed, lane, band). docs/STREAM.md, "Draws".

A band's words are counted from 0, and each draw takes the next one; a word that would make some numbers likelier
than others is passed over. So what is drawn in a band depends on nothing outside it.
"""

from __future__ import annotations

from ..coins import endless_words, numbered_key

DFS, PRIM, WILSON, RANDOM_WALK, GATES = 128, 129, 130, 131, 132

_WORDS = 2**64


def band_key(seed: int, lane: int, band: int) -> int:
    """Return the key of a band's words in a lane."""
    return numbered_key(seed, lane, band)


class Draws:
    """Bounded integers, drawn one after another from the words of a key."""

    def __init__(self, key: int) -> None:
        self._words = endless_words(key)

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1, each as likely; no word is drawn where n is 1."""
        if n == 1:
            return 0
        most = _WORDS - _WORDS % n
        word = next(self._words)
        while word >= most:
            word = next(self._words)
        return word % n
