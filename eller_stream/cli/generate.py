"""`eller-stream generate`: write a maze."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import CutShortError
from .pictures import (
    add_picture_options,
    check_picture_options,
    mend,
    named_format,
    renderer_of,
    write_tiles_beside,
)
from .quality import add_quality, good_spec
from .say import INTERRUPTED, NO, OK, UsageError, fail, forget_stdout, quantity, say, size
from .scale import ZARR, add_scheduler, check_zarr, generate_zarr, seed_there
from .words import STDIO, add_spec, spec_of

if TYPE_CHECKING:
    from types import FrameType

    from ..spec import MazeSpec
    from ..stream import RowStream

HELP = "write a maze"
MAZE_FORMAT = "emz"
_CELLS_AT_ONCE = 2**20


def add(parser: argparse.ArgumentParser) -> None:
    """Give the command its words."""
    parser.description = (
        "Write a maze to a file. Without --rows it goes on until Ctrl-C, which finishes the maze. "
        "A P is a number from 0 to 1, or a schedule of them by first row, as in 0:0.5,1000:0.6."
    )
    parser.set_defaults(command=run)
    add_argument = parser.add_argument
    add_argument("out", metavar="OUT", help="the file to write, a maze (.emz, .zarr) or a picture; - for stdout")
    add_spec(parser)
    add_quality(parser)
    add_argument("--format", metavar="F", help="emz, txt, svg, pbm, png, tmj, npy or zarr, whatever OUT ends in")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--force", action="store_true", help="replace an output that exists")
    either.add_argument("--resume", action="store_true", help="go on with an .emz or a .zarr that was broken off")
    add_argument("--workers", type=int, default=1, metavar="N", help="threads that carve; the rows are the same (1)")
    add_scheduler(parser)
    add_argument("--json", action="store_true", help="print a record of the run on stdout")
    add_picture_options(parser)


class _Sink(Protocol):
    """What takes a stream's rows."""

    @property
    def stream(self) -> RowStream: ...
    @property
    def rows(self) -> int: ...
    @property
    def bytes_written(self) -> int: ...
    def write(self, rows: int, /) -> int: ...


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    from ..ahead import ahead
    from ..store import MazeWriter
    from ..streams import open_stream

    form = format_of(options, ZARR)
    check_zarr(options, is_zarr=form == ZARR)
    spec = _spec(options, form)
    if form == ZARR:
        return generate_zarr(options, spec)
    if not options.resume:
        return write(options, new_output(options, form, ahead(open_stream(spec), options.workers)))
    if _is_complete(options, spec):
        return OK
    return write(options, MazeWriter.resume(options.out, spec, workers=options.workers))


def write(options: argparse.Namespace, output: AbstractContextManager[_Sink], *, finishes: bool = True) -> int:
    """Write all rows to an output and return the exit code; Ctrl-C `finishes` the maze, or gives it up."""
    started = time.perf_counter()
    gone = False
    with _Interrupt() as interrupt:
        try:
            with output as sink:
                before = sink.rows
                _write_rows(sink, interrupt, finishes)
        except BrokenPipeError:
            gone = True
            forget_stdout()
        except KeyboardInterrupt:
            return fail(f"{options.out}: interrupted, and not finished", INTERRUPTED)
    record = _record(options, sink, before, time.perf_counter() - started)
    say(_summary(record, interrupt.asked))
    if options.json:
        print(json.dumps(record))
    if interrupt.asked:
        return INTERRUPTED
    return NO if gone and options.rows is not None else OK


def _spec(options: argparse.Namespace, form: str) -> MazeSpec:
    """Return the spec that is asked for; of a maze to go on with the seed need not be told."""
    if options.resume and options.seed is None and options.seed_text is None:
        options.seed = seed_there(options) if form == ZARR else _seed_of_file(options)
    return good_spec(options, spec_of(options))


def _seed_of_file(options: argparse.Namespace) -> int | None:
    """Return the seed of the file at OUT; None if there is none."""
    from ..store import MazeFile

    with suppress(FileNotFoundError, CutShortError), MazeFile(options.out, follow=0) as maze:
        return maze.spec.seed
    return None


def _is_complete(options: argparse.Namespace, spec: MazeSpec) -> bool:
    """Return whether nothing is left to do, and say so."""
    from ..store import is_complete

    if not is_complete(options.out, spec):
        return False
    say(f"{options.out}: complete already, with {spec.height:,} rows")
    return True


def format_of(options: argparse.Namespace, *more: str) -> str:
    """Return the format that OUT or --format asks for; UsageError for one that does not go with the rest.

    more   formats beside a maze file and the pictures
    """
    from ..render import FORMATS

    form = named_format(options, (MAZE_FORMAT, *FORMATS, *more), MAZE_FORMAT)
    check_picture_options(options, form)
    if options.json and options.out == STDIO:
        raise UsageError("--json prints on stdout, where the maze goes: give OUT a name")
    if options.resume and (form not in (MAZE_FORMAT, ZARR) or options.out == STDIO):
        raise UsageError(
            f"--resume goes on with a file in the format {MAZE_FORMAT} or {ZARR}, not with {form} on {options.out}"
        )
    if form in FORMATS and renderer_of(options, form).needs_rows and options.rows is None:
        raise UsageError(f"{form} begins with the height of the picture, so it cannot be endless: give --rows")
    return form


@contextmanager
def new_output(
    options: argparse.Namespace, form: str, stream: RowStream, rows_per_frame: int | None = None
) -> Iterator[_Sink]:
    """Give what writes the rows to a new file; it takes its name when the body ends well."""
    from ..render import PictureWriter, check, picture_of
    from ..store import MazeWriter, open_output, write_all

    if form == MAZE_FORMAT:
        with MazeWriter(options.out, stream, force=options.force, rows_per_frame=rows_per_frame) as writer:
            yield writer
        return
    renderer = renderer_of(options, form)
    check(renderer, picture_of(stream))
    with open_output(options.out, force=options.force) as output:
        write_tiles_beside(options, form)
        pictures = PictureWriter(partial(write_all, output), stream, renderer)
        yield pictures
        pictures.finish()
        mend(output, pictures.mended_beginning())


def _write_rows(sink: _Sink, interrupt: _Interrupt, finishes: bool) -> None:
    """Write until the rows end, or until Ctrl-C, which ends the maze with its merging row if it `finishes` it."""
    from ..ahead import rows_at_once

    stream = sink.stream
    frames = 1 << max(4, _CELLS_AT_ONCE // stream.spec.width).bit_length() - 1  # whole ones, both are powers of two
    at_once = max(frames, rows_at_once(stream))
    with _progress(sink) as tell:
        while not interrupt.asked and sink.write(at_once):
            tell()
    if interrupt.asked and stream.position != stream.height:
        if not finishes:
            raise KeyboardInterrupt
        stream.finalize()
        sink.write(1)


class _Interrupt:
    """Takes the first Ctrl-C as a wish to finish; the second one stops at once."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> _Interrupt:
        self._before = signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            signal.default_int_handler(number, frame)
        self.asked = True


@contextmanager
def _progress(sink: _Sink) -> Iterator[Callable[[], None]]:
    """Give what shows how far it came: rows, rate and time left, on a terminal; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    stream, before = sink.stream, sink.rows
    endless = stream.height is None
    left = [TimeElapsedColumn()] if endless else [BarColumn(), TimeRemainingColumn()]
    columns = [TextColumn("{task.fields[so_far]}"), *left]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=stream.height, so_far="")
        started = time.perf_counter()

        def tell() -> None:
            cells = (sink.rows - before) * stream.spec.width
            rate = cells / max(time.perf_counter() - started, 1e-9)
            so_far = f"{sink.rows:,} rows  {size(sink.bytes_written)}  {quantity(rate, 'cells/s')}"
            progress.update(task, completed=sink.rows, so_far=so_far)

        yield tell


def _record(options: argparse.Namespace, sink: _Sink, before: int, seconds: float) -> dict[str, Any]:
    stream = sink.stream
    return {
        "file": options.out,
        "rows": sink.rows,
        "resumed_at": before if options.resume else None,
        "finished": stream.position == stream.height,
        "bytes": sink.bytes_written,
        "seconds": round(seconds, 6),
        "spec": stream.spec.to_json(),
    }


def _summary(record: dict[str, Any], interrupted: bool) -> str:
    spec = record["spec"]
    before = record["resumed_at"] or 0
    rate = (record["rows"] - before) * spec["width"] / max(record["seconds"], 1e-9)
    name = "stdout" if record["file"] == STDIO else record["file"]
    how = f"resumed at row {before:,}, " if before else ""
    how += ("interrupted, " if interrupted else "") + ("finished" if record["finished"] else "unfinished")
    return (
        f"{name}: {record['rows']:,} rows of {spec['width']:,} cells, {how}, seed {spec['seed']}; "
        f"{size(record['bytes'])} in {record['seconds']:.2f} s, {quantity(rate, 'cells/s')}"
    )
