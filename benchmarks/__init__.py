"""Benchmarks of eller_stream: `python -m benchmarks` in the root of the repository.

What is measured is the package that is installed. `python -m` puts the root first on the path, where the package's
sources stand without their extension; so it is taken away again.
"""

import sys
from pathlib import Path

if sys.path and Path(sys.path[0]).resolve() == Path(__file__).resolve().parent.parent:
    del sys.path[0]
