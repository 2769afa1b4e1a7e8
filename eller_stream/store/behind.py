"""Work done on a thread of its own, one job at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue


class Behind:
    """Does one job at a time on a thread of its own, while the caller goes on with the next.

    What a job raises comes out of the next `do` or `wait`. The thread is a daemon, since a job may wait for ever for
    a reader, and holds nothing of its owner: it ends with it.

    Jobs are done in the order of the queue, and waiting is one more of them. So nothing is kept here of what is
    being done, and an interrupt between any two steps leaves nothing half told.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._errors: SimpleQueue[BaseException] = SimpleQueue()
        threading.Thread(target=_work, args=(self._jobs, self._errors), daemon=True).start()

    def do(self, job: Callable[[], None]) -> None:
        """Wait for the job before, and begin this one."""
        self.wait()
        self._jobs.put(job)

    def wait(self) -> None:
        """Wait until nothing is being done."""
        idle = threading.Event()
        self._jobs.put(idle.set)
        idle.wait()
        if not self._errors.empty():
            raise self._errors.get()

    def __del__(self) -> None:
        self._jobs.put(None)


def _work(jobs: SimpleQueue[Callable[[], object] | None], errors: SimpleQueue[BaseException]) -> None:
    while (job := jobs.get()) is not None:
        try:
            job()
        except BaseException as error:
            errors.put(error)
        del job
