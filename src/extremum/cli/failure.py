"""What ends a command before it is done: its line on stderr, and its object where JSON was asked for.

Decides what is said of every exception. One that nobody expected is a mistake of this package and says how to report
it; ``EXTREMUM_TRACEBACK=1`` shows where any of them came from.
"""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass
from typing import Any

from extremum.cli import streams
from extremum.errors import ExtremumError, first_line, lacking
from extremum.printable import printable

__all__ = ["Failure", "show"]

_REPORT = "this is a bug in extremum; please report it with the traceback that EXTREMUM_TRACEBACK=1 prints"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a command could not run."""

    # The class of the exception; ``InternalError`` if nobody expected it.
    kind: str
    # What is said of it.
    message: ExtremumError

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Return what is said of an exception."""
        kind = type(error).__name__
        match error:
            case ExtremumError():
                return cls(kind, error)
            case ModuleNotFoundError():
                found = lacking("this command", error)
                if isinstance(found, ExtremumError):
                    return cls("DependencyError", found)
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
    """Print the line of an exception on stderr and return what is said of it."""
    failure = Failure.of(error)
    line = failure.message.one_line()
    about = printable(about)
    lines = [f"extremum: {line}" if about in line else f"extremum: {about}: {line}"]
    if os.environ.get("EXTREMUM_TRACEBACK", "0") not in ("", "0"):
        trace = "".join(traceback.format_exception(error)).splitlines()
        lines = [*map(printable, trace), *lines]
    try:
        streams.write("\n".join(lines), err=True)
    except OSError:
        # There is nobody to tell; the status says it.
        streams.discard(sys.stderr)
    return failure
