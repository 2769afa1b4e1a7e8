"""Runs commands as processes of their own, as users do, and tells their seconds and their peak resident memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..errors import BenchError

LAUNCHER = Path(__file__).with_name("launcher.py")


class Confines(NamedTuple):
    """What a command must get on with: bytes of address space, a cgroup's folder, seconds; 0 and "" for no limit."""

    address_space: int = 0
    cgroup: str = ""
    seconds: float = 0.0


FREE = Confines()


class Child(NamedTuple):
    """How a command ran: seconds, bytes of resident memory at its peak, exit code, and what it said."""

    seconds: float
    peak_bytes: int
    code: int
    output: str
    error: str


def launch(
    *command: object, out: str = os.devnull, confines: Confines = FREE, environment: Mapping[str, str] | None = None
) -> Child:
    """Run a command and return how it ran, whatever its exit code; where it could not even be started, its peak is 0.

    out          the file that its stdout goes to; "" keeps it as `output`
    environment  variables beside those of this process

    Raises BenchError where this operating system does not tell the memory of a process that has ended (Windows).
    """
    if not hasattr(os, "wait4"):
        raise BenchError(f"{sys.platform} does not tell the peak memory of a process as Linux and macOS do")
    words = [str(word) for word in (out, *confines, *command)]
    ended = subprocess.run(
        [sys.executable, "-S", "-E", LAUNCHER, *words],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        return Child(0.0, 0, ended.returncode, "", ended.stderr)
    output, _, numbers = ended.stdout.rstrip("\n").rpartition("\n")
    seconds, peak_bytes, code = numbers.split()
    return Child(float(seconds), int(peak_bytes), int(code), output, ended.stderr)


def run(*command: object) -> Child:
    """Run a command that is to end well; BenchError with its stderr if it fails."""
    ran = launch(*command)
    if ran.code:
        raise BenchError(f"{' '.join(map(str, command))}: exit code {ran.code}: {ran.error.strip()}")
    return ran


def eller_stream(*words: object) -> Child:
    """Run the command `eller-stream` of the package that a plain import finds."""
    return run(sys.executable, "-P", "-m", "eller_stream", *words)
