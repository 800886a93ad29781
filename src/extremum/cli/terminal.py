"""Standard output and standard error in any encoding, even full, closed or without a reader; and errors.

An unexpected exception is a bug of this package, and its line says how to report it. ``EXTREMUM_TRACEBACK=1`` shows
where an exception comes from.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any, TextIO

from extremum.errors import ExtremumError, first_line, lacking
from extremum.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn
    from rich.table import Table

_REPORT = "this is a bug in extremum; please report it with the traceback that EXTREMUM_TRACEBACK=1 prints"


def write(text: str, *, end: str = "\n") -> None:
    """Write text to stdout if it exists; `end` follows the text."""
    _put(sys.stdout, text + end)


def write_error(text: str) -> None:
    """Write a line to stderr; if it cannot be written, the command goes on, because its exit status tells as much."""
    try:
        _put(sys.stderr, f"{text}\n")
    except OSError:
        discard(sys.stderr)


def _put(stream: TextIO | None, text: str) -> None:
    # A program without a console has no streams.
    if stream is not None:
        stream.write(text)
        stream.flush()


def write_table(table: Table) -> None:
    """Write a table to stdout: text as it is, with lines wrapped only for a terminal, since logs keep them whole."""
    from rich.console import Console

    width = None if sys.stdout is not None and sys.stdout.isatty() else 1 << 16
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    # Rich itself would leave the program with a status of its own once the reader is gone.
    with console.capture() as captured:
        console.print(table)
    write(captured.get(), end="")


def discard(stream: TextIO) -> None:
    """Drop the rest of a stream, so that the interpreter does not write it, or complain about it, at exit."""
    # A stream without a file, or a closed one, needs nothing.
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def progress(*columns: ProgressColumn) -> Progress:
    """Return bars for stderr, each between its description and the time left; only a terminal shows them."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), *columns, TimeRemainingColumn())
    # Rich would write empty lines to a file; before 14.3 it writes one although the bars are disabled.
    console.quiet = not console.file.isatty()
    return Progress(*columns, console=console, transient=True, disable=console.quiet)


def _failure(error: BaseException) -> ExtremumError:
    """Return why a command could not run, as an error whose class has the name that JSON states."""
    match error:
        case ExtremumError():
            return error
        case ModuleNotFoundError() if isinstance(missing := lacking("this command", error), ExtremumError):
            return missing
        case OSError() if error.filename:
            return _named(type(error).__name__, f"{error.filename}: {error.strerror}")
        case OSError():
            return _named(type(error).__name__, error.strerror or str(error))
        case MemoryError():
            # The subclasses of NumPy have the name of their base.
            return _named("MemoryError", ": ".join(filter(None, ("out of memory", str(error)))))
        case _:
            parts = (f"unexpected {type(error).__name__}", first_line(error))
            return _named("InternalError", ": ".join(filter(None, parts)), _REPORT)


def _named(kind: str, reason: str, remedy: str | None = None) -> ExtremumError:
    """Return an error whose class has this name."""
    cls: type[ExtremumError] = type(kind, (ExtremumError,), {})
    return cls(reason, remedy=remedy)


def show_error(error: BaseException, *, about: str = "") -> ExtremumError:
    """Print the line of an exception on stderr, after what it is about, and return it as an error of this package."""
    failure = _failure(error)
    line = failure.one_line()
    about = printable(about)
    lines = [f"extremum: {line}" if about in line else f"extremum: {about}: {line}"]
    if os.environ.get("EXTREMUM_TRACEBACK", "0") not in ("", "0"):
        lines[:0] = map(printable, "".join(traceback.format_exception(error)).splitlines())
    write_error("\n".join(lines))
    return failure


def document(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the records of several models, and the error of the first that has one: status 2 always has an error."""
    first = next(({"error": each["error"]} for each in records if "error" in each), {})
    return {"models": records, **first}
