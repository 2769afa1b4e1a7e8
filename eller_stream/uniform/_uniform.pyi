from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..coins import Words
from ..kernel import Buffer

_Floats: TypeAlias = NDArray[np.float64]

def carve(
    planes: Buffer,
    east: Buffer,
    south: Buffer,
    width: int,
    key: int,
    row: int,
    last_row: int,
    cosine: _Floats,
    tops: _Floats,
    sums: _Floats,
    endless: Words,
    /,
) -> None: ...
def table(entries: Words, width: int, below: int, cosine: _Floats, tops: _Floats, sums: _Floats, /) -> None: ...
