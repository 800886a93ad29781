"""How a named array reads on the command line: its type, its shape and its first elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from extremum.printable import printable

__all__ = ["describe", "print_values"]

PREVIEWED = 6

# Of a text among the elements, and of a name: more hides the other columns.
_LONGEST_TEXT = 40
_LONGEST_NAME = 200


def describe(name: str, value: Any) -> dict[str, Any]:
    """Return the name, type, shape and first elements of a value as JSON can hold them."""
    if not isinstance(value, np.ndarray | np.generic):
        return {"name": name, "type": type(value).__name__, "shape": None, "preview": repr(value)[:60]}
    first = [printable(str(element), _LONGEST_TEXT) for element in value.flat[:PREVIEWED]]
    more = ["..."] if value.size > PREVIEWED else []
    return {"name": name, "type": value.dtype.name, "shape": list(value.shape), "preview": " ".join(first + more)}


def print_values(console: Console, title: str, values: Mapping[str, Any]) -> None:
    """Print one line per value."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("name", "type", "shape", "first elements"):
        table.add_column(heading, overflow="fold")
    for row in (describe(name, value) for name, value in values.items()):
        shape = "-" if row["shape"] is None else " x ".join(map(str, row["shape"])) or "scalar"
        table.add_row(printable(row["name"], _LONGEST_NAME), row["type"], shape, printable(row["preview"]))
    console.print(table)
