"""Maze files: writing a stream into one, going on with one that was broken off, reading any rows of it.

`writer.py` puts a stream's rows as frames into anything that can be written to, and into files, which `resume.py` goes
on with; `output.py` and `part.py` are what is written to. `events.py` takes frames from anything that can be read,
`frame_file.py` from any row on in a file; `reader.py` gives a file's rows.
"""

from .events import MAX_READ, Source, read_events
from .output import STDIO, Output, StandardOutput, write_all
from .part import PART, PartFile, open_output
from .reader import MazeFile
from .resume import is_complete
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
    "is_complete",
    "open_output",
    "read_events",
    "write_all",
]
