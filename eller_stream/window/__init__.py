"""The consumer's side: rows that come as blocks become windows again, for a display that scrolls.

`window.py` holds a bounded number of rows and gives any part of them; `source.py` is what rows are read from, by their
index; `scroller.py` moves a view over a source and reads ahead of it.
"""

from .scroller import Scroller
from .source import FileSource, RowSource, StreamSource
from .window import Window

__all__ = ["FileSource", "RowSource", "Scroller", "StreamSource", "Window"]
