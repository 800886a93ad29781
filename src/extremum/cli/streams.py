"""Standard output and standard error: of any encoding, full, closed, or read by nobody.

Decides how a line gets out whatever they are, and that the end of the process never fails over them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

__all__ = ["discard", "flush", "prepare", "write"]


def prepare() -> None:
    """Show escaped what the encoding of a stream has no form for, as everything is that a name may hold."""
    for stream in (sys.stdout, sys.stderr):
        # Whoever calls main may have put anything in their place.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def write(text: str, *, err: bool = False, end: str = "\n") -> None:
    """Write lines to stdout or stderr, where there is one, in the encoding that it has; `end` comes after them."""
    stream = sys.stderr if err else sys.stdout
    if stream is not None:
        print(text, file=stream, end=end, flush=True)


def flush() -> None:
    """Write out what is still to be written to stdout, where there is one."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        discard(sys.stdout)
        raise


def discard(stream: TextIO) -> None:
    """Let what is still to be written to a stream go nowhere: the interpreter writes it when it ends, or says so."""
    # What is no file, or closed, needs nothing.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
