import numpy as np
from numpy.typing import NDArray

def check_rows(
    width: int,
    east: NDArray[np.uint8],
    south: NDArray[np.uint8],
    north: NDArray[np.uint8],
    floor: NDArray[np.uint8] | None,
    sets: NDArray[np.int32],
    top: NDArray[np.uint8],
    scratch: NDArray[np.int32],
    loops: bool,
    /,
) -> tuple[int, str, int, int, int, int, int]: ...
def sweep_rows(
    width: int,
    east: NDArray[np.uint8],
    south: NDArray[np.uint8],
    north: NDArray[np.uint8],
    floor: NDArray[np.uint8] | None,
    sets: NDArray[np.int32],
    tops: NDArray[np.int32],
    united: NDArray[np.int32],
    scratch: NDArray[np.int32],
    /,
) -> tuple[int, int, int, int, int]: ...
