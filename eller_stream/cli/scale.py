"""Zarr stores on the command line: `generate OUT.zarr` and `verify FILE.zarr`, on threads or on a Dask cluster."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .say import OK, UsageError, quantity, say, size
from .words import STDIO

if TYPE_CHECKING:
    from ..spec import MazeSpec
    from ..verify import Report

ZARR = "zarr"


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a cluster."""
    parser.add_argument("--scheduler", metavar="URL", help="zarr: a Dask cluster's scheduler, as in tcp://host:8786")


def check_zarr(options: argparse.Namespace, *, is_zarr: bool) -> None:
    """Raise UsageError for options that do not go with the format."""
    if not is_zarr and options.scheduler is not None:
        raise UsageError("--scheduler is for the format zarr")
    if is_zarr and options.scheduler is not None and options.workers != 1:
        raise UsageError("--workers are threads here, and --scheduler a cluster elsewhere: give one of them")


def generate_zarr(options: argparse.Namespace, spec: MazeSpec) -> int:
    """Write a maze as a Zarr store, and return the exit code."""
    if options.out == STDIO:
        raise UsageError("a zarr store is no stream of bytes: give OUT a name")
    if spec.height is None:
        raise UsageError("zarr arrays have a height, so they cannot be endless: give --rows")
    started = time.perf_counter()
    with _scheduler(options):
        from ..scale import write_zarr

        count = write_zarr(options.out, spec, overwrite=options.force)
    seconds = max(time.perf_counter() - started, 1e-9)
    rate = quantity(spec.height * spec.width / seconds, "cells/s")
    say(
        f"{options.out}: {spec.height:,} rows of {spec.width:,} cells, finished, seed {spec.seed}; "
        f"{size(count)} in {seconds:.2f} s, {rate}"
    )
    if options.json:
        print(json.dumps(_record(options, spec, count, seconds)))
    return OK


def _record(options: argparse.Namespace, spec: MazeSpec, count: int, seconds: float) -> dict[str, Any]:
    told = {"file": options.out, "rows": spec.height, "resumed_at": None, "finished": True}
    return told | {"bytes": count, "seconds": round(seconds, 6), "spec": spec.to_json()}


def verify_store(options: argparse.Namespace) -> Report:
    """Return the report of a Zarr store."""
    with _scheduler(options):
        from ..scale import verify_zarr

        return verify_zarr(options.file)


@contextmanager
def _scheduler(options: argparse.Namespace) -> Iterator[None]:
    """Let Dask work on the cluster that is named, or else on so many threads."""
    try:
        import dask
        import distributed
        import zarr  # noqa: F401
    except ModuleNotFoundError as error:
        raise UsageError(f"zarr stores need the extra dask, pip install 'eller_stream[dask]': {error}") from None
    if options.scheduler is None:
        with dask.config.set(scheduler="threads", num_workers=options.workers):
            yield
        return
    with distributed.Client(options.scheduler):  # type: ignore[no-untyped-call]
        yield
