"""``python -m extremum``: the command ``extremum``."""

from extremum.cli import main

if __name__ == "__main__":
    main()
