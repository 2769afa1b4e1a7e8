"""Builds the C extensions; everything else about the package stands in pyproject.toml.

ELLER_STREAM_EXTENSION = yes: a failed build is an error; no: skip it; unset: without a working compiler
the package is installed with its Python kernel alone.
"""

import os
import platform
import sys

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

WANTED = os.environ.get("ELLER_STREAM_EXTENSION", "")
if WANTED not in ("", "yes", "no"):
    sys.exit(f"ELLER_STREAM_EXTENSION is yes, no or unset, not {WANTED!r}")

MSVC = sys.platform == "win32"
FLAGS = ["/O2", "/std:c11", "/fp:precise"] if MSVC else ["-O3", "-std=c11", "-ffp-contract=off", "-Wall", "-Wextra"]
if not MSVC and sys.maxsize < 2**32 and platform.machine() in {"i386", "i486", "i586", "i686", "x86_64"}:
    FLAGS += ["-msse2", "-mfpmath=sse"]  # doubles are rounded to 64 bits after each operation, as everywhere


class StableWheel(bdist_wheel):
    """One wheel for every CPython from 3.11 on."""

    def get_tag(self):
        python, abi, platform = super().get_tag()
        return (python, abi, platform) if python.startswith("py") else ("cp311", "abi3", platform)


def extension(name, *sources):
    return Extension(
        f"eller_stream.{name}",
        [f"eller_stream/{source}.c" for source in sources],
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        extra_compile_args=FLAGS,
        py_limited_api=True,
        optional=WANTED != "yes",
    )


CARVERS = [f"bands/{name}" for name in ("_carvers", "_dfs", "_prim", "_wilson", "_random_walk")]
SOURCES = {
    "_kernel": ["_kernel"],
    "_verify": ["_verify", "_spans"],
    "_solve": ["_solve"],
    "bands._carvers": CARVERS,
    "uniform._uniform": ["uniform/_uniform"],
}

setup(
    ext_modules=[] if WANTED == "no" else [extension(name, *sources) for name, sources in SOURCES.items()],
    cmdclass={"bdist_wheel": StableWheel},
)
