"""`python -m eller_stream` is the command `eller-stream`."""

from .cli import main

if __name__ == "__main__":
    main()
