"""The field: maze generators from PyPI and npm, installed into a temporary folder, run in processes of their own.

Nothing of them is kept here; `install.py` fetches them, `generators.py` and `generators.cjs` call them.
"""
