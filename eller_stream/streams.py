"""`open_stream` and `restore_stream`: the stream of any spec, and of any snapshot, whatever its algorithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .errors import FormatError, SpecError
from .spec import MazeSpec, check_options

if TYPE_CHECKING:
    from .stream import RowStream

_FOR_ALL = ("width", "seed", "height")


def open_stream(algorithm: str | MazeSpec, **options: Any) -> RowStream:
    """Return the stream of an algorithm and its options, or that of a spec, at row 0.

    `options` are the keywords of `MazeSpec`: `width`, which must be given, `seed`, `height`, and the algorithm's own.
    Raises SpecError for an unknown algorithm, for an option that it has not, and for values that no maze can have.
    """
    if not isinstance(algorithm, MazeSpec):
        check_options(algorithm, [name for name in options if name not in _FOR_ALL])
        if "width" not in options:
            raise SpecError(f"a maze of {algorithm} needs a width, and none was given")
        return _stream_of(MazeSpec(algorithm=algorithm, **options))
    if options:
        raise SpecError(f"a spec says all about its maze, so no options go with it, not {', '.join(options)}")
    return _stream_of(algorithm)


def _stream_of(spec: MazeSpec) -> RowStream:
    if spec.band is not None:
        from .bands import BandStream

        return BandStream.from_spec(spec)
    if spec.algorithm == "uniform":
        from .uniform import UniformStream

        return UniformStream.from_spec(spec)
    from .stream import EllerStream

    return EllerStream.from_spec(spec)


def restore_stream(snapshot: bytes | bytearray | memoryview) -> RowStream:
    """Return the stream that a snapshot was taken of; what it yields is the same as if it had gone on.

    Raises FormatError for bytes that are no snapshot, damaged or forged; VersionError for a newer one.
    """
    from .bands import BandStream
    from .bands import stream as band_stream
    from .state import snapshot_kind
    from .stream import EllerStream
    from .uniform import UniformStream

    data = memoryview(snapshot).tobytes()
    restorers: dict[str, Callable[[bytes], RowStream]] = {
        snapshot_kind(EllerStream.ALGORITHM): EllerStream.restore,
        snapshot_kind(UniformStream.ALGORITHM): UniformStream.restore,
        band_stream.SNAPSHOT_KIND: BandStream.restore,
    }
    for kind, restore in restorers.items():
        if data[2:].startswith(kind.encode()):  # behind the heads of the array and of the text
            return restore(data)
    raise FormatError(f"the bytes are no snapshot: an array that begins with {' or '.join(restorers)} was expected")
