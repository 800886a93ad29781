"""The command ``extremum``: one line per mistake on stderr, and the exit status.

Exit status: 0 done, 1 done with findings, 2 could not run, 130 interrupted. Which commands there are is in
:mod:`extremum.cli.program`; each command parses its arguments, calls the library, prints, and returns its status.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from extremum.errors import ExtremumError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the word ``extremum``; by default what this process was started with. Nothing asks for the help.

    Raises
    ------
    SystemExit
        Always.

    Examples
    --------
    >>> from extremum.cli import main
    >>> try:
    ...     main(["run", "no-such-model.onnx"])
    ... except SystemExit as end:
    ...     end.code
    2
    """
    try:
        sys.exit(_status(list(sys.argv[1:] if arguments is None else arguments) or ["--help"]))
    except ExtremumError as error:
        _fail(error.one_line())
    except ModuleNotFoundError as error:
        _fail(f"this command needs {error.name}; help: pip install 'extremum[cli]'")
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError as error:
        _fail(f"out of memory: {error}" if str(error) else "out of memory")
    except KeyboardInterrupt:
        sys.exit(130)


def _status(words: list[str]) -> int:
    import click

    from extremum.cli.program import program

    try:
        status: int | None = program.main(words, prog_name="extremum", standalone_mode=False)
    except click.ClickException as error:
        _fail(" ".join(error.format_message().split()))
    except click.Abort:
        raise KeyboardInterrupt from None
    return status or 0


def _fail(line: str) -> NoReturn:
    print(f"extremum: {line}", file=sys.stderr)  # noqa: T201
    sys.exit(2)
