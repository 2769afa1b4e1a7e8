"""The jobs by name, in the order in which they run: modules with `TITLE` and `run`; some have `panels`, their plots."""

from . import (
    bands,
    curve,
    field,
    generate,
    iterate,
    lean,
    read,
    socket,
    solve,
    uniform,
    verify,
    window,
    without_compiler,
    workers,
)

JOBS = {
    "read": read,
    "without-compiler": without_compiler,
    "iterate": iterate,
    "generate": generate,
    "workers": workers,
    "verify": verify,
    "bands": bands,
    "uniform": uniform,
    "solve": solve,
    "socket": socket,
    "window": window,
    "lean": lean,
    "curve": curve,
    "field": field,
}
