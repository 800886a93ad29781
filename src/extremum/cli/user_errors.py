"""Errors as a user sees them: the line and the JSON object that end a command.

An unexpected exception is a bug of this package, and its line says how to report it. ``EXTREMUM_TRACEBACK=1`` shows
where an exception comes from.
"""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass
from typing import Any

from extremum.cli import terminal
from extremum.errors import ExtremumError, first_line, lacking
from extremum.printable import printable

_REPORT = "this is a bug in extremum; please report it with the traceback that EXTREMUM_TRACEBACK=1 prints"


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
