"""What the command says: one line on stderr, quantities for people, exit codes."""

from __future__ import annotations

import os
import sys

from ..errors import EllerStreamError

OK, NO, WRONG_USE, INTERRUPTED = 0, 1, 2, 130


class UsageError(EllerStreamError):
    """The command's words do not fit together."""


class MissingExtraError(EllerStreamError):
    """The command needs a package that is not installed."""


def fail(error: BaseException | str, code: int) -> int:
    """Say what went wrong, in one line, and return the exit code."""
    message = str(error)
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    elif not message:
        message = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
    say(f"eller-stream: error: {message}")
    return code


def say(text: str) -> None:
    """Print one line on stderr."""
    print(printable(text), file=sys.stderr)


def printable(text: str) -> str:
    """Return a text with what could steer a terminal escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def forget_stdout() -> None:
    """Let the interpreter's last flush go nowhere, since the pipe is closed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def size(count: float) -> str:
    """Return a number of bytes for people."""
    return quantity(count, "B")


def quantity(number: float, unit: str) -> str:
    """Return a number with a decimal prefix: 1 kB is 1,000 bytes."""
    for prefix in ("", "k", "M", "G", "T"):
        if number < 999.5 or prefix == "T":
            break
        number /= 1000
    return f"{number:.0f} {unit}" if not prefix else f"{number:.3g} {prefix}{unit}"
