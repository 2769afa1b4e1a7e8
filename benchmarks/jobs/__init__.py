"""The jobs by name, in the order in which they run; each is a module with `TITLE` and `run`."""

from . import bands, generate, iterate, read, socket, solve, verify, window, without_compiler, workers

JOBS = {
    "read": read,
    "without-compiler": without_compiler,
    "iterate": iterate,
    "generate": generate,
    "workers": workers,
    "verify": verify,
    "bands": bands,
    "solve": solve,
    "socket": socket,
    "window": window,
}
