"""Runs commands as processes of their own, as users do, and tells their seconds and their peak resident memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

LAUNCHER = Path(__file__).with_name("launcher.py")


class Child(NamedTuple):
    """How a command ran."""

    seconds: float
    peak_bytes: int


def run(*command: object) -> Child:
    """Run a command, its stdout thrown away; RuntimeError with its stderr if it fails."""
    words = [str(word) for word in command]
    ended = subprocess.run([sys.executable, "-S", "-E", LAUNCHER, *words], capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"{' '.join(words)}: exit code {ended.returncode}: {ended.stderr.strip()}")
    seconds, peak_bytes = ended.stdout.split()
    return Child(float(seconds), int(peak_bytes))


def eller_stream(*words: object) -> Child:
    """Run the command `eller-stream` of the package that a plain import finds."""
    return run(sys.executable, "-P", "-m", "eller_stream", *words)
