"""The terminal scroller, built on Textual (the extra `tui`).

`way.py` finds the way through the rows in view, `canvas.py` makes characters of both, without Textual; `app.py` is the
program, `words.py` what it says.
"""
