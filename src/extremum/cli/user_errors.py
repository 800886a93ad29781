"""Errors as a user sees them: the line and the JSON object that end a command, and the words of ``extremum explain``.

An unexpected exception is a bug of this package, and its line says how to report it. ``EXTREMUM_TRACEBACK=1`` shows
where an exception comes from. The explanations are the docstrings of :mod:`extremum.errors`.
"""

from __future__ import annotations

import inspect
import os
import sys
import textwrap
import traceback
from dataclasses import dataclass
from typing import Any

from extremum import errors
from extremum.cli import terminal
from extremum.errors import ExtremumError, first_line, lacking
from extremum.printable import printable

__all__ = ["CLASSES", "Failure", "document", "explain_error", "find_error", "list_errors", "record_of_error", "show"]

_REPORT = "this is a bug in extremum; please report it with the traceback that EXTREMUM_TRACEBACK=1 prints"

CLASSES = {
    name.lower(): error
    for name in errors.__all__
    if isinstance(error := getattr(errors, name), type) and issubclass(error, ExtremumError)
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a command could not run: the class of the exception, ``InternalError`` if unexpected, and the message."""

    kind: str
    message: ExtremumError

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Describe an exception."""
        kind = type(error).__name__
        match error:
            case ExtremumError():
                return cls(kind, error)
            case ModuleNotFoundError() if isinstance(missing := lacking("this command", error), ExtremumError):
                return cls("DependencyError", missing)
            case OSError():
                reason = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
                return cls(kind, ExtremumError(reason))
            case MemoryError():
                return cls("MemoryError", ExtremumError(f"out of memory: {error}" if str(error) else "out of memory"))
        reason = ": ".join(part for part in (f"unexpected {kind}", first_line(error)) if part)
        return cls("InternalError", ExtremumError(reason, remedy=_REPORT))

    def record(self) -> dict[str, Any]:
        """Return the failure as JSON can hold it."""
        return {**self.message.record(), "kind": self.kind}


def show(error: BaseException, *, about: str = "") -> Failure:
    """Print the line of an exception on stderr, after what it is about, and describe it."""
    failure = Failure.of(error)
    line, about = failure.message.one_line(), printable(about)
    lines = [f"extremum: {line}" if about in line else f"extremum: {about}: {line}"]
    if os.environ.get("EXTREMUM_TRACEBACK", "0") not in ("", "0"):
        lines[:0] = map(printable, "".join(traceback.format_exception(error)).splitlines())
    try:
        terminal.write("\n".join(lines), err=True)
    except OSError:
        # Nobody reads stderr; the exit status still tells.
        terminal.discard(sys.stderr)
    return failure


def document(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the records of several models, and the error of the first that has one: status 2 always has an error."""
    errors = [each["error"] for each in records if "error" in each][:1]
    return {"models": records, **({"error": errors[0]} if errors else {})}


def find_error(name: str) -> type[ExtremumError] | None:
    """Return the class of a name in any case, with or without its module, or None."""
    return CLASSES.get(name.lower().removeprefix(f"{errors.__name__}."))


def list_errors() -> str:
    """Return one line per class."""
    longest = max(map(len, CLASSES))
    return "\n".join(f"{error.__name__:<{longest}}  {_paragraphs(error)[0]}" for error in CLASSES.values())


def record_of_error(error: type[ExtremumError]) -> dict[str, Any]:
    """Return the explanation of a class as JSON can hold it."""
    what, *more = _paragraphs(error)
    return {"error": error.__name__, "caught_as": _caught_as(error), "what": what, "more": " ".join(more)}


def explain_error(error: type[ExtremumError]) -> str:
    """Return the explanation of a class for a terminal."""
    caught = f"It is caught as {', '.join(_caught_as(error))} too."
    return "\n\n".join((error.__name__, *(textwrap.fill(each, 80) for each in (*_paragraphs(error), caught))))


def _paragraphs(error: type[ExtremumError]) -> list[str]:
    """Return the paragraphs of a docstring before its sections."""
    text = inspect.cleandoc(error.__doc__ or "").partition("\n\nParameters\n")[0]
    return [" ".join(each.split()).replace("``", "`") for each in text.split("\n\n")]


def _caught_as(error: type[ExtremumError]) -> list[str]:
    bases = [each for each in error.__mro__[1:] if each not in (BaseException, object)]
    here = ("builtins", errors.__name__)
    return [each.__name__ if each.__module__ in here else f"{each.__module__}.{each.__name__}" for each in bases]
