"""What tables are printed with."""

from __future__ import annotations

import sys

from rich.console import Console

__all__ = ["console"]

# Where no terminal ends a line, nothing is folded: a log's reader and a build service see each line as it was written.
_UNFOLDED = 1 << 16


def console() -> Console:
    """Return a console that prints text as it is, and folds it for a terminal only."""
    width = None if sys.stdout is not None and sys.stdout.isatty() else _UNFOLDED
    return Console(width=width, markup=False, emoji=False, highlight=False)
