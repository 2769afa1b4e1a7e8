"""Starts a command under limits, waits for it, and prints its seconds, its peak resident bytes and its exit code.

    launcher.py OUT ADDRESS_SPACE CGROUP SECONDS COMMAND...

On Linux a process begins with the peak of the one that started it, so whoever has numpy loaded would find its own
peak in every child. child.py therefore runs this file, which imports next to nothing, in between. It puts the limits
on itself, and the command inherits them: bytes of address space (0: no limit), a cgroup's folder ("": none); after the
seconds (0: for ever) the command is killed. A command that was killed has a negative exit code, the signal's.
"""

import os
import resource
import signal
import sys
import time


def main(out: str, address_space: str, cgroup: str, seconds: str, *command: str) -> None:
    """Run the command, its stdout going to the file `out` ("": to this one's); the three numbers are the last line."""
    if cgroup:
        with open(f"{cgroup}/cgroup.procs", "w") as processes:  # noqa: PTH123
            processes.write(str(os.getpid()))
    if int(address_space):
        resource.setrlimit(resource.RLIMIT_AS, (int(address_space), int(address_space)))
    elsewhere = [(os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY, 0)] if out else []
    start = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=elsewhere)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, float(seconds))
    _, status, usage = os.wait4(pid, 0)
    taken = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    print(taken, usage.ru_maxrss * unit, os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(*sys.argv[1:])
