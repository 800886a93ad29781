"""The command ``extremum``: one line per mistake on stderr, and the exit status.

Exit status: 0 done, 1 done with findings, 2 could not run, 130 interrupted. An unexpected exception is status 2 too.
:mod:`extremum.cli.program` lists the commands; each parses its arguments, calls the library, prints, and returns its
status.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from itertools import pairwise

from extremum.cli import interrupt, terminal
from extremum.errors import ArgumentError
from extremum.printable import json_text


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    terminal.prepare()
    if not sys.warnoptions:
        # A warning of a library is no answer of the command.
        warnings.simplefilter("ignore")
    with interrupt.watch():
        status = _status(words)
    sys.exit(status)


def _status(words: list[str]) -> int:
    try:
        status = _run(words)
        terminal.flush()
    except KeyboardInterrupt:
        interrupt.say_once()
        return interrupt.STATUS
    except BrokenPipeError:
        # The reader has seen enough.
        terminal.discard(sys.stdout)
        return 2
    except BaseException as error:  # a panic of the native module is no Exception
        failure = terminal.show_error(error)
        with contextlib.suppress(OSError):
            if _wants_json(words):
                terminal.write(json_text({"error": failure.record()}))
            terminal.flush()
        return 2
    return status


def _run(words: list[str]) -> int:
    import click
    from click.shell_completion import shell_complete

    from extremum.cli.options import COMPLETION_VARIABLE
    from extremum.cli.program import program

    if instruction := os.environ.get(COMPLETION_VARIABLE):
        return shell_complete(program, {}, "extremum", COMPLETION_VARIABLE, instruction)
    try:
        with program.make_context("extremum", list(words)) as context:
            status: int | None = program.invoke(context)
            return status or 0
    except click.ClickException as error:
        raise ArgumentError(" ".join(error.format_message().split())) from None
    except click.exceptions.Exit as error:
        return error.exit_code


def _wants_json(words: list[str]) -> bool:
    options = words[: words.index("--")] if "--" in words else words
    return not {"--json", "--format=json"}.isdisjoint(options) or ("--format", "json") in pairwise(options)
