"""The command `eller-stream`: data on stdout, all else on stderr.

Exit codes: 0; 1, the answer is no, or it failed; 2, wrong use; 130, Ctrl-C. An error is one line. What a
command needs is imported when it runs, so that `--version` and `--help` are there at once.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from . import __version__
from .errors import CutShortError, EllerStreamError, FormatError, SpecError
from .spec import MazeSpec, seed_from_text

if TYPE_CHECKING:
    from types import FrameType

    from .frames import Header
    from .store import MazeFile
    from .stream import RowStream
    from .verify import Report

OK, NO, WRONG_USE, INTERRUPTED = 0, 1, 2, 130
STDIO = "-"
MAZE_FORMAT = "emz"
_CELLS_AT_ONCE = 2**22


class UsageError(EllerStreamError):
    """The command's words do not fit together."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and leave with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every error ends in one line on stderr."""
    try:
        options = _parser().parse_args(arguments)
        code: int = options.command(options)
        sys.stdout.flush()
        return code
    except (UsageError, SpecError) as error:
        return _fail(error, WRONG_USE)
    except BrokenPipeError:
        _forget_stdout()
        return _fail("whoever read the output has gone", NO)
    except (EllerStreamError, OSError, MemoryError) as error:
        return _fail(error, NO)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)


def _fail(error: BaseException | str, code: int) -> int:
    message = str(error)
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    elif not message:
        message = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
    _say(f"eller-stream: error: {message}")
    return code


def _say(text: str) -> None:
    """Print one line on stderr."""
    print(_printable(text), file=sys.stderr)


def _printable(text: str) -> str:
    """Return a text with what could steer a terminal escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _forget_stdout() -> None:
    """Let the interpreter's last flush go nowhere, since the pipe is closed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# ---- the command's words ---------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        _say(f"{self.prog}: error: {message} (see {self.prog} --help)")
        sys.exit(WRONG_USE)


class _Version(argparse.Action):
    def __call__(self, *_: Any) -> NoReturn:
        from .kernel import BACKEND

        print(f"eller-stream {__version__} ({BACKEND} kernel)")
        sys.exit(OK)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="eller-stream", description="Infinite mazes as a stream, in constant memory.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and the kernel that runs")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    _add_generate(commands.add_parser("generate", help="write a maze"))
    _add_info(commands.add_parser("info", help="say what a maze file holds"))
    _add_verify(commands.add_parser("verify", help="check a maze file: connected, no cycle, nothing damaged"))
    return parser


def _add_generate(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write a maze to a file. Without --rows it goes on until Ctrl-C, which finishes the maze. "
        "A P is a number from 0 to 1, or a schedule of them by first row, as in 0:0.5,1000:0.6."
    )
    parser.set_defaults(command=_generate)
    add = parser.add_argument
    add("out", metavar="OUT", help="the file to write, .emz, .txt or .pbm; - for stdout")
    add("--width", type=int, required=True, metavar="W", help="cells in a row")
    add("--rows", type=int, metavar="N", help="rows of the maze; endless without")
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=int, metavar="S", help="0 to 2**64 - 1; drawn and told without")
    seeds.add_argument("--seed-text", metavar="T", help="the seed that a text stands for, as in a daily maze")
    add("--algorithm", default="eller", metavar="A", help="eller")
    add("--p-east", type=_schedule, default=0.5, metavar="P", help="chance to join two neighbours (0.5)")
    add("--p-south", type=_schedule, default=0.5, metavar="P", help="chance to keep a passage south (0.5)")
    add("--key-interval", type=int, metavar="K", help="a key row every K rows; 0 for none (1024)")
    add("--loops", type=_schedule, default=0.0, metavar="P", help="chance that a closed wall opens after all (0)")
    add("--braid", type=float, default=0.0, metavar="P", help="chance that a dead end gets one more passage (0)")
    add("--format", metavar="F", help="emz, txt or pbm, whatever OUT ends in")
    add("--force", action="store_true", help="replace an output that exists")
    add("--json", action="store_true", help="print a record of the run on stdout")


def _add_info(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=_info)
    parser.add_argument("file", metavar="FILE", help="a maze file; - for stdin")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Exits 0 for a maze that is finished and as promised, 1 otherwise; the place of a fault is told."
    )
    parser.set_defaults(command=_verify)
    parser.add_argument("file", metavar="FILE", help="a maze file; - for stdin")
    parser.add_argument("--unfinished", action="store_true", help="an unfinished maze without a fault will do")
    parser.add_argument("--fragment", action="store_true", help="a fragment without a fault will do")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _schedule(text: str) -> float | list[tuple[int, float]]:
    """Return a probability, or the schedule written 0:0.5,1000:0.6."""
    try:
        if ":" not in text:
            return float(text)
        pairs = [pair.split(":") for pair in text.split(",")]
        return [(int(row), float(p)) for row, p in pairs]
    except ValueError:
        raise argparse.ArgumentTypeError(f"a number, or row:number,row:number..., not {text!a}") from None


# ---- generate --------------------------------------------------------------------------------


class _Sink(Protocol):
    """What takes a stream's rows."""

    @property
    def rows(self) -> int: ...
    @property
    def bytes_written(self) -> int: ...
    def write(self, rows: int, /) -> int: ...


def _generate(options: argparse.Namespace) -> int:
    from .stream import EllerStream

    form = _format_of(options)
    if options.json and options.out == STDIO:
        raise UsageError("--json prints on stdout, where the maze goes: give OUT a name")
    stream = EllerStream.from_spec(_spec_of(options))
    started = time.perf_counter()
    gone = False
    with _Interrupt() as interrupt:
        try:
            with _open_sink(options, form, stream) as sink:
                _write_rows(sink, stream, interrupt)
        except BrokenPipeError:
            gone = True
            _forget_stdout()
        except KeyboardInterrupt:
            return _fail(f"{options.out}: interrupted, and not finished", INTERRUPTED)
    record = _record(options, stream, sink, time.perf_counter() - started)
    _say(_summary(record, interrupt.asked))
    if options.json:
        print(json.dumps(record))
    if interrupt.asked:
        return INTERRUPTED
    return NO if gone and options.rows is not None else OK


def _spec_of(options: argparse.Namespace) -> MazeSpec:
    return MazeSpec(
        options.width,
        algorithm=options.algorithm,
        seed=options.seed if options.seed_text is None else seed_from_text(options.seed_text),
        height=options.rows,
        p_east=options.p_east,
        p_south=options.p_south,
        key_interval=options.key_interval,
        loops=options.loops,
        braid=options.braid,
    )


def _format_of(options: argparse.Namespace) -> str:
    from .render import FORMATS

    known = (MAZE_FORMAT, *FORMATS)
    ending = Path(options.out).suffix.removeprefix(".").lower()
    form: str = options.format or (MAZE_FORMAT if options.out == STDIO else ending)
    if form not in known:
        what = "--format" if options.format else "the ending of OUT"
        raise UsageError(f"{what} is one of {', '.join(known)}, not {form!a}")
    if form in FORMATS and FORMATS[form].header is not None and options.rows is None:
        raise UsageError(f"{form} begins with the height of the picture, so it cannot be endless: give --rows")
    return form


@contextmanager
def _open_sink(options: argparse.Namespace, form: str, stream: RowStream) -> Iterator[_Sink]:
    """Give what writes the rows; the file takes its name when the body ends well."""
    from .render import FORMATS, PictureWriter
    from .store import MazeWriter, open_output, write_all

    if form == MAZE_FORMAT:
        with MazeWriter(options.out, stream, force=options.force) as writer:
            yield writer
        return
    with open_output(options.out, force=options.force) as output:
        pictures = PictureWriter(partial(write_all, output), stream, FORMATS[form])
        yield pictures
        header = pictures.mended_header()
        if header is not None and not output.rewrite_beginning(header):
            _say("eller-stream: the output cannot be gone back in, so its header tells a height that it does not have")


def _write_rows(sink: _Sink, stream: RowStream, interrupt: _Interrupt) -> None:
    """Write until the maze ends, or until Ctrl-C, which ends it with its merging row."""
    at_once = 1 << max(1, _CELLS_AT_ONCE // stream.spec.width).bit_length() - 1  # whole frames, both powers of two
    with _progress(sink, stream) as tell:
        while not interrupt.asked and sink.write(at_once):
            tell()
    if interrupt.asked and stream.position != stream.height:
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
def _progress(sink: _Sink, stream: RowStream) -> Iterator[Callable[[], None]]:
    """Give what shows how far it came: rows, rate and time left, on a terminal; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    endless = stream.height is None
    left = [TimeElapsedColumn()] if endless else [BarColumn(), TimeRemainingColumn()]
    columns = [TextColumn("{task.fields[so_far]}"), *left]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=stream.height, so_far="")
        started = time.perf_counter()

        def tell() -> None:
            cells = sink.rows * stream.spec.width
            rate = cells / max(time.perf_counter() - started, 1e-9)
            so_far = f"{sink.rows:,} rows  {_size(sink.bytes_written)}  {_quantity(rate, 'cells/s')}"
            progress.update(task, completed=sink.rows, so_far=so_far)

        yield tell


def _record(options: argparse.Namespace, stream: RowStream, sink: _Sink, seconds: float) -> dict[str, Any]:
    return {
        "file": options.out,
        "rows": sink.rows,
        "finished": stream.position == stream.height,
        "bytes": sink.bytes_written,
        "seconds": round(seconds, 6),
        "spec": stream.spec.to_json(),
    }


def _summary(record: dict[str, Any], interrupted: bool) -> str:
    spec = record["spec"]
    rate = record["rows"] * spec["width"] / max(record["seconds"], 1e-9)
    name = "stdout" if record["file"] == STDIO else record["file"]
    how = ("interrupted, " if interrupted else "") + ("finished" if record["finished"] else "unfinished")
    return (
        f"{name}: {record['rows']:,} rows of {spec['width']:,} cells, {how}, seed {spec['seed']}; "
        f"{_size(record['bytes'])} in {record['seconds']:.2f} s, {_quantity(rate, 'cells/s')}"
    )


def _size(count: float) -> str:
    return _quantity(count, "B")


def _quantity(number: float, unit: str) -> str:
    """Return a number with a decimal prefix: 1 kB is 1,000 bytes."""
    for prefix in ("", "k", "M", "G", "T"):
        if number < 999.5 or prefix == "T":
            break
        number /= 1000
    return f"{number:.0f} {unit}" if not prefix else f"{number:.3g} {prefix}{unit}"


# ---- info and verify -------------------------------------------------------------------------


def _info(options: argparse.Namespace) -> int:
    from .frames import VERSION
    from .store import MazeFile

    with MazeFile(options.file) as maze:
        rows, complete, finished = _rows_in(maze)
        facts = {
            "file": options.file,
            "format": VERSION,
            **_header_facts(maze.header),
            "rows": rows,
            "complete": complete,
            "finished": finished,
            "bytes": None if options.file == STDIO else Path(options.file).stat().st_size,
        }
    print(json.dumps(facts) if options.json else _facts_for_people(facts, maze.header))
    return OK


def _rows_in(maze: MazeFile) -> tuple[int, bool, bool]:
    """Return the rows in a file, whether its end frame is there, and whether the maze is finished."""
    if maze.end is not None:
        return maze.end.rows, True, maze.end.finished
    rows, ends = 0, False
    try:
        for block in maze.blocks():
            rows, ends = rows + len(block), block.ends
    except CutShortError:
        return rows, False, ends
    return rows, True, ends


def _header_facts(header: Header) -> dict[str, Any]:
    return {
        "spec": header.spec.to_json(),
        "first_row": header.first_row,
        "rows_per_frame": header.rows_per_frame,
        "checkpoint_every": header.checkpoint_every,
    }


def _facts_for_people(facts: dict[str, Any], header: Header) -> str:
    spec = header.spec
    state = "finished" if facts["finished"] else "unfinished"
    lines = {
        "file": facts["file"],
        "size": "unknown" if facts["bytes"] is None else f"{_size(facts['bytes'])} ({facts['bytes']:,} bytes)",
        "algorithm": spec.algorithm,
        "width": f"{spec.width:,} cells",
        "rows": f"{facts['rows']:,}, {state}" + ("" if facts["complete"] else ", cut short: the end frame is missing"),
        "first row": f"{header.first_row:,}" + (", a fragment" if header.first_row else ""),
        "planned height": "endless" if spec.height is None else f"{spec.height:,} rows",
        "seed": spec.seed,
        "p_east": spec.p_east,
        "p_south": spec.p_south,
        "loops": spec.loops,
        "braid": f"{float(spec.braid):g}",
        "key rows": f"every {spec.key_interval:,} rows" if spec.key_interval else "none",
        "frames": f"{header.rows_per_frame:,} rows each, format {facts['format']}",
    }
    return "\n".join(f"{name + ':':16}{value}" for name, value in lines.items())


def _verify(options: argparse.Namespace) -> int:
    from .store import MazeFile
    from .verify import FRAGMENT, UNFINISHED, Verifier

    with MazeFile(options.file) as maze:
        spec, first_row = maze.spec, maze.header.first_row
        promised = spec.braid.n > 0 or any(n for _, n in spec.loops.pairs)
        verifier = Verifier(spec.width, start=first_row, loops=promised)
        try:
            for block in maze.blocks():
                verifier.feed(block)
        except FormatError as error:
            return _tell_damaged(options, error, verifier.report())
    report = verifier.report()
    _tell(options, report.to_json(), str(report))
    accepted = (options.unfinished and report.answer == UNFINISHED) or (options.fragment and report.answer == FRAGMENT)
    return OK if report.ok or accepted else NO


def _tell_damaged(options: argparse.Namespace, error: FormatError, report: Report) -> int:
    """Say that a file is damaged, and what its rows up to there are."""
    data = report.to_json() | {"answer": "damaged", "ok": False, "message": str(error)}
    _tell(options, data, f"damaged: {error}; before that, {report}")
    return NO


def _tell(options: argparse.Namespace, data: dict[str, Any], sentence: str) -> None:
    if options.json:
        print(json.dumps({"file": options.file, **data}))
    else:
        print(_printable(f"{options.file}: {sentence}"))
