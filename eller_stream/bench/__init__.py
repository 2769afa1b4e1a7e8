"""What `eller-stream bench` and `benchmarks/` measure with: processes of their own, limits of memory, plots.

Everything is measured in a fresh process, whose peak resident memory the operating system tells when it ends.
`launcher.py` starts such a process, under limits if asked, and `child.py` says how it ran; `worker.py` is what runs
in it; `limits.py` finds the limits that this machine can set; `survey.py` decides what is run and gathers what
came of it; `machine.py` says what machine it was; `plot.py` draws. Nothing is imported here: what a worker
does not use must not count as its memory.
"""
