from ..kernel import Buffer

def dfs(
    north: Buffer,
    east: Buffer,
    width: int,
    key: int,
    start: int,
    doors: int,
    weights: tuple[int, int, int, int],
    by_goal: bool,
    goal_row: int,
    goal_column: int,
    /,
) -> None: ...
def prim(
    north: Buffer,
    east: Buffer,
    width: int,
    key: int,
    rooted: bool,
    start: int,
    pull: int,
    a: int,
    goal_row: int,
    goal_column: int,
    /,
) -> None: ...
def wilson(north: Buffer, east: Buffer, width: int, key: int, rooted: bool, /) -> None: ...
def random_walk(
    floor: Buffer,
    width: int,
    key: int,
    gate_above: int,
    gate_below: int,
    max_tunnels: int,
    max_length: int,
    /,
) -> None: ...
