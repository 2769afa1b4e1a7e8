"""Maze files: writing a stream into one, going on with one that was broken off, reading any rows of it.

`writer.py` puts a stream's rows as frames into anything that can be written to, and into files; `output.py` is what is
written to; `reader.py` takes frames from anything that can be read, and gives a file's rows.
"""

from .output import PART, STDIO, Output, PartFile, StandardOutput, open_output, write_all
from .reader import MAX_READ, MazeFile, Source, read_events
from .writer import FrameWriter, MazeWriter

__all__ = [
    "MAX_READ",
    "PART",
    "STDIO",
    "FrameWriter",
    "MazeFile",
    "MazeWriter",
    "Output",
    "PartFile",
    "Source",
    "StandardOutput",
    "open_output",
    "read_events",
    "write_all",
]
