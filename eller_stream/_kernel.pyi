from .kernel import Buffer

LANES: int

def carve(
    state: Buffer,
    east: Buffer,
    south: Buffer,
    width: int,
    row: int,
    seed: int,
    p_east: int,
    p_south: int,
    loops: int,
    braid: int,
    key_interval: int,
    last_row: int,
    lanes: int = 0,
    /,
) -> None: ...
