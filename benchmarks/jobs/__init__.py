"""The jobs by name, in the order in which they run; each is a module with `TITLE` and `run`."""

from . import bands, generate, iterate, read, socket, solve, verify, window, without_compiler

JOBS = {
    "read": read,
    "without-compiler": without_compiler,
    "iterate": iterate,
    "generate": generate,
    "verify": verify,
    "bands": bands,
    "solve": solve,
    "socket": socket,
    "window": window,
}
