"""Work side by side on threads, in bounded memory.

What carves, checks and sums here is C that holds no GIL, so threads use as many cores as there are. The work on a
maze is cut where its rows are independent of those above: behind key rows, and between bands. What comes of
it never depends on the number of threads: it is handed out in the order of the jobs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from .errors import SpecError, StreamError
from .spec import integer, shown

if TYPE_CHECKING:
    from concurrent.futures import Future

MOST_WORKERS = 1024

_T = TypeVar("_T")


def worker_count(workers: object) -> int:
    """Return a number of threads as int; StreamError if it is no integer from 1 to 1,024."""
    try:
        count = integer("workers", workers)
    except SpecError as error:
        raise StreamError(str(error)) from None
    if not 1 <= count <= MOST_WORKERS:
        raise StreamError(f"workers are from 1 to {MOST_WORKERS} threads, not {shown(count)}")
    return count


def in_order(jobs: Iterable[Callable[[], _T]], workers: int) -> Iterator[_T]:
    """Do jobs on `workers` threads and yield what they return, in their order.

    At most 2 * workers jobs are begun or done and not yet taken; a job is not even made before. What a job raises comes
    out in its place, and ends it all. Closing the iterator waits for the jobs that run.
    """
    from concurrent.futures import ThreadPoolExecutor  # a megabyte, of which one thread has no need

    begun: deque[Future[_T]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="eller-stream") as pool:
        try:
            for job in jobs:
                begun.append(pool.submit(job))
                if len(begun) == 2 * workers:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()


def side_by_side(jobs: Sequence[Callable[[], _T]]) -> list[_T]:
    """Do each job on a thread of its own, a single one on the caller's, and return what they return."""
    return list(in_order(jobs, len(jobs))) if len(jobs) > 1 else [job() for job in jobs]


def shares(start: int, stop: int, step: int, count: int) -> list[tuple[int, int]]:
    """Cut rows `start` to `stop - 1` into at most `count` parts, as equal as cuts at multiples of `step` allow."""
    even = (start + (stop - start) * i // count for i in range(1, count))
    cuts = sorted({row for row in (place - place % step for place in even) if start < row < stop})
    return list(pairwise([start, *cuts, stop]))
