"""What machine it was: what a record of figures has to tell so that anyone can judge them."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import __version__
from ..kernel import BACKEND


def facts() -> dict[str, Any]:
    """Return the machine and the versions, as plain data."""
    return {
        "machine": machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": _version_of("numpy"),
        "backend": BACKEND,
        "lanes": lanes(),
        "version": __version__,
    }


def machine() -> dict[str, Any]:
    """Return what the machine is."""
    return {
        "cpu": _cpu_model(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "memory_bytes": _memory(),
        "os": _system(),
    }


def in_words(told: dict[str, Any]) -> str:
    """Return the facts as one line for people."""
    here = told["machine"]
    memory = f"{here['memory_bytes'] / 1e9:.0f} GB" if here["memory_bytes"] else "memory unknown"
    words = [here["cpu"], here["architecture"], f"{here['cores']} cores", memory, here["os"], told["python"]]
    kernel = f"{told['backend']} kernel" + (f", {told['lanes']} lanes" if told["lanes"] else "")
    return " · ".join([*words, f"numpy {told['numpy']}", f"eller_stream {told['version']}", kernel])


def lanes() -> int | None:
    """Return how many 64-bit words the C kernel takes at a time here; None where it was not built."""
    try:
        from .. import _kernel
    except ImportError:
        return None
    return _kernel.LANES


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    """Return the processor's name; on boards, where /proc/cpuinfo has none, the board's."""
    board = Path("/proc/device-tree/model")
    told = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = (line.partition(":")[2].strip() for line in told if line.startswith("model name"))
    on_board = board.read_text().strip("\0\n") if board.exists() else ""
    return next(models, "") or on_board or platform.processor() or "unknown"


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"
