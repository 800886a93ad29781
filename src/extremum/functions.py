"""The array functions as a table: what each finds, what it takes beside arrays, and what it returns.

A new function gets a row here. The frontends for tables, labels and groups, the command line, the jobs on large files
and the site read their lists from this table.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What a function computes; functions of one kind take the same options."""

    INDEX = "the index of an extremum over axes"
    VALUE = "the value of an extremum over axes, and its index on request"
    ONE_HOT = "ones at the extremum over axes, zeros elsewhere"
    ELEMENTWISE = "the extremum of several arrays, element by element"
    SELECTION = "the k best elements along an axis"


class ArrayFunction(NamedTuple):
    """One array function."""

    name: str
    kind: Kind
    # The ends of the order that it looks for: True for the largest. A selection takes its end as an option.
    largest: tuple[bool, ...] = ()
    # What it takes beside an array, as text for messages.
    argument: str = ""
    # The fields of the tuple that it returns; empty if it returns one array.
    fields: tuple[str, ...] = ()
    # The field that stands for the tuple where a library takes one result only.
    main_field: str = ""

    @property
    def results(self) -> tuple[str, ...]:
        """The names of what it returns."""
        return self.fields or (self.name,)


_ROWS = [
    ArrayFunction("argmax", Kind.INDEX, (True,)),
    ArrayFunction("argmin", Kind.INDEX, (False,)),
    ArrayFunction("max", Kind.VALUE, (True,)),
    ArrayFunction("min", Kind.VALUE, (False,)),
    ArrayFunction("minmax", Kind.VALUE, (False, True), fields=("min", "max"), main_field="max"),
    ArrayFunction("hardmax", Kind.ONE_HOT, (True,)),
    ArrayFunction("maximum", Kind.ELEMENTWISE, (True,), argument="y"),
    ArrayFunction("minimum", Kind.ELEMENTWISE, (False,), argument="y"),
    ArrayFunction("top_k", Kind.SELECTION, argument="k", fields=("values", "indices"), main_field="values"),
]

FUNCTIONS = {row.name: row for row in _ROWS}
"""The array functions by their names."""


def of_kind(*kinds: Kind) -> tuple[str, ...]:
    """Return the names of the functions of some kinds."""
    return tuple(row.name for row in _ROWS if row.kind in kinds)


OVER_AXES = of_kind(Kind.INDEX, Kind.VALUE, Kind.ONE_HOT)
"""The functions that take one axis or several."""
