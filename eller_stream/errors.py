"""Every error this package raises by itself, as one tree.

    EllerStreamError
    ├── SpecError       a value that no maze can have (also a ValueError)
    ├── BlockError      planes that do not make a block (also a ValueError)
    ├── StreamError     a stream asked for what it cannot do: finalize twice, seek past the end
    ├── FormatError     bytes that are no maze, no frame, no snapshot (also a ValueError)
    │   ├── VersionError    a newer version of the format than this program reads
    │   └── CutShortError   good bytes up to a point, then nothing
    ├── SolveError      a path asked for where there is none
    ├── PictureError    a picture that its format cannot hold
    ├── StoreError      a file that cannot be written or read as asked
    ├── NetError        a conversation over a socket that went wrong: refused, broken off, not understood
    ├── CapacityError   more memory than the machine gives (also a MemoryError)
    ├── KernelError     the kernel asked for is not there (also an ImportError)
    └── BenchError      something that cannot be measured here

A message says what came and what was expected. Errors of the operating system
(a full disk, a missing folder) stay the OSError they are.
"""


class EllerStreamError(Exception):
    """The root of the tree: catch it to catch them all."""


class SpecError(EllerStreamError, ValueError):
    """A value that no maze can have, or an option that the algorithm does not know."""


class BlockError(EllerStreamError, ValueError):
    """Planes whose type, shape or bits do not make a block of rows."""


class StreamError(EllerStreamError):
    """A stream was asked for what it cannot do."""


class FormatError(EllerStreamError, ValueError):
    """Bytes that are not what they should be."""


class VersionError(FormatError):
    """The bytes follow a newer version of the format than this program reads."""


class CutShortError(FormatError):
    """The bytes are good up to a point and end there."""


class SolveError(EllerStreamError):
    """A path was asked for where there is none, or from a cell outside the maze."""


class PictureError(EllerStreamError):
    """A picture that its format cannot hold, or a size that no picture has."""


class StoreError(EllerStreamError):
    """A maze file cannot be written or read as asked."""


class NetError(EllerStreamError):
    """A conversation over a socket went wrong: refused, broken off, or not understood."""


class CapacityError(EllerStreamError, MemoryError):
    """What was asked for needs more memory than the machine gives."""


class KernelError(EllerStreamError, ImportError):
    """The kernel that was asked for is not there."""


class BenchError(EllerStreamError):
    """What was to be measured failed, or cannot be measured on this machine."""
