"""Zarr stores on the command line: `generate OUT.zarr` and `verify FILE.zarr`, on threads or on a Dask cluster."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
        from ..scale import packed_size, resume_zarr, write_zarr

        if not options.resume:
            write_zarr(options.out, spec, overwrite=options.force)
            made = spec.height
        elif not (made := resume_zarr(options.out, spec)):
            say(f"{options.out}: complete already, with {spec.height:,} rows")
            return OK
    seconds, count, before = max(time.perf_counter() - started, 1e-9), packed_size(spec), spec.height - made
    how = f"resumed with {before:,} of them, finished" if before else "finished"
    rate = quantity(made * spec.width / seconds, "cells/s")
    say(
        f"{options.out}: {spec.height:,} rows of {spec.width:,} cells, {how}, seed {spec.seed}; "
        f"{size(count)} in {seconds:.2f} s, {rate}"
    )
    if options.json:
        print(json.dumps(_record(options, spec, before, count, seconds)))
    return OK


def seed_there(options: argparse.Namespace) -> int | None:
    """Return the seed of the store at OUT; None if there is none."""
    _check_dask()
    from ..scale import spec_of_zarr

    with suppress(FileNotFoundError):
        return spec_of_zarr(options.out).seed
    return None


def _record(options: argparse.Namespace, spec: MazeSpec, before: int, count: int, seconds: float) -> dict[str, Any]:
    """Return what `--json` tells; `before` are the rows that were there, wherever they stand."""
    resumed_at = before if options.resume else None
    told = {"file": options.out, "rows": spec.height, "resumed_at": resumed_at, "finished": True}
    return told | {"bytes": count, "seconds": round(seconds, 6), "spec": spec.to_json()}


def verify_store(options: argparse.Namespace) -> Report:
    """Return the report of a Zarr store."""
    with _scheduler(options):
        from ..scale import verify_zarr

        return verify_zarr(options.file)


@contextmanager
def _scheduler(options: argparse.Namespace) -> Iterator[None]:
    """Let Dask work on the cluster that is named, or else on so many threads."""
    _check_dask()
    import dask
    import distributed

    if options.scheduler is None:
        with dask.config.set(scheduler="threads", num_workers=options.workers):
            yield
        return
    with distributed.Client(options.scheduler):  # type: ignore[no-untyped-call]
        yield


def _check_dask() -> None:
    try:
        import dask  # noqa: F401
        import distributed  # noqa: F401
        import zarr  # noqa: F401
    except ModuleNotFoundError as error:
        raise UsageError(f"zarr stores need the extra dask, pip install 'eller_stream[dask]': {error}") from None
