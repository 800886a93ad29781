"""The command ``extremum``.

:mod:`extremum.cli.entry` runs a command line, and :mod:`extremum.cli.program` lists the commands; each is a module.
"""

from extremum.cli.entry import main

__all__ = ["main"]
