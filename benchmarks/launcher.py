"""Starts a command, waits for it, and prints its seconds and its peak resident memory in bytes.

On Linux a process begins with the peak of the one that started it, so a benchmark that has numpy loaded would
find its own peak in every child. child.py therefore runs this file, which imports next to nothing, in between.
"""

import os
import sys
import time


def main(command: list[str]) -> int:
    start = time.perf_counter()
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    print(time.perf_counter() - start, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
