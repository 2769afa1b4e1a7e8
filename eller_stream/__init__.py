"""Infinite mazes as a stream: Eller's algorithm, a whole row at a time, in constant memory.

    from eller_stream import EllerStream

    stream = EllerStream(width=64, seed=42)
    row = next(stream)              # row.east, row.south: bool arrays
    block = stream.read(1000)       # many rows as packed bit planes
    stream.finalize()               # the next row is the last

Names are loaded when they are first used, so importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bands import BandStream as BandStream
    from .bands import random_walk_map as random_walk_map
    from .block import Block as Block
    from .block import Row as Row
    from .errors import BenchError as BenchError
    from .errors import BlockError as BlockError
    from .errors import CapacityError as CapacityError
    from .errors import CutShortError as CutShortError
    from .errors import EllerStreamError as EllerStreamError
    from .errors import FormatError as FormatError
    from .errors import KernelError as KernelError
    from .errors import NetError as NetError
    from .errors import PictureError as PictureError
    from .errors import SolveError as SolveError
    from .errors import SpecError as SpecError
    from .errors import StoreError as StoreError
    from .errors import StreamError as StreamError
    from .errors import VersionError as VersionError
    from .kernel import BACKEND as BACKEND
    from .measure import Measurer as Measurer
    from .measure import Measures as Measures
    from .net import AsyncRemoteStream as AsyncRemoteStream
    from .net import ClientLimits as ClientLimits
    from .net import MazeServer as MazeServer
    from .net import RemoteStream as RemoteStream
    from .net import ServerLimits as ServerLimits
    from .passages import PassageReport as PassageReport
    from .passages import block_of_passages as block_of_passages
    from .passages import check_passages as check_passages
    from .solve import MazeRows as MazeRows
    from .solve import Path as Path
    from .solve import farthest_pair as farthest_pair
    from .solve import shortest_path as shortest_path
    from .solve import top_and_bottom as top_and_bottom
    from .solve import tree_overlays as tree_overlays
    from .solve import tree_path as tree_path
    from .spec import MazeSpec as MazeSpec
    from .spec import Probability as Probability
    from .spec import Schedule as Schedule
    from .spec import seed_from_text as seed_from_text
    from .store import MazeFile as MazeFile
    from .store import MazeWriter as MazeWriter
    from .stream import EllerStream as EllerStream
    from .stream import RowStream as RowStream
    from .streams import open_stream as open_stream
    from .streams import restore_stream as restore_stream
    from .uniform import UniformStream as UniformStream
    from .verify import Fault as Fault
    from .verify import Report as Report
    from .verify import Verifier as Verifier
    from .window import RowSource as RowSource
    from .window import Scroller as Scroller
    from .window import Window as Window

__version__ = "0.1.0"

_MODULES = {
    "bands": ("BandStream", "random_walk_map"),
    "block": ("Block", "Row"),
    "errors": (
        "BenchError",
        "BlockError",
        "CapacityError",
        "CutShortError",
        "EllerStreamError",
        "FormatError",
        "KernelError",
        "NetError",
        "PictureError",
        "SolveError",
        "SpecError",
        "StoreError",
        "StreamError",
        "VersionError",
    ),
    "kernel": ("BACKEND",),
    "measure": ("Measurer", "Measures"),
    "net": ("AsyncRemoteStream", "ClientLimits", "MazeServer", "RemoteStream", "ServerLimits"),
    "passages": ("PassageReport", "block_of_passages", "check_passages"),
    "solve": (
        "MazeRows",
        "Path",
        "farthest_pair",
        "shortest_path",
        "top_and_bottom",
        "tree_overlays",
        "tree_path",
    ),
    "spec": ("MazeSpec", "Probability", "Schedule", "seed_from_text"),
    "store": ("MazeFile", "MazeWriter"),
    "stream": ("EllerStream", "RowStream"),
    "streams": ("open_stream", "restore_stream"),
    "uniform": ("UniformStream",),
    "verify": ("Fault", "Report", "Verifier"),
    "window": ("RowSource", "Scroller", "Window"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted([*_HOME, "__version__"])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
