"""Tables: named columns of a library's own arrays, each with a type of its own.

Decides how the columns of a table become one array: only where no element is changed by it. Columns that do not compare
without loss are refused by their names. How each library's tables come apart and together is its adapter's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from extremum.arrays import common_type, first_lost
from extremum.errors import ElementTypeError, ExtremumError
from extremum.interop import Adopted, Kept, Wrap

__all__ = ["Table", "back", "column", "whole"]

_REMEDY = "choose columns that compare, or convert them; axis=0 reduces each column in its own type"


@dataclass(frozen=True, slots=True)
class Table:
    """A table taken apart."""

    library: str
    names: Sequence[Any]
    columns: tuple[Any, ...]
    shape: tuple[int, int]
    # Whether it has columns that are not one block of memory of one type: over axis 0 they are reduced one by one.
    apart: bool
    # Makes a table of columns of the library; of one row, a Series where the library has rows of any type.
    frame: Callable[[list[Any]], Any]
    row: Callable[[list[Any]], Any]
    labels: tuple[Any, ...]


@contextmanager
def column(name: Any, function: str = "") -> Iterator[None]:
    """Say of an error which column it is about."""
    try:
        yield
    except ExtremumError as error:
        place = f"column {name!r}"
        where = f"{function}, {place}" if function and not error.reason.startswith(f"{function}:") else place
        raise type(error)(error.reason, where=where, given=error.given, remedy=error.remedy) from None


def whole(table: Table, adopt: Callable[[Any], Adopted | None], wrap: Wrap) -> Adopted:
    """Return all columns as one array, or refuse those that do not compare without loss."""
    columns: list[Adopted] = []
    for name, each in zip(table.names, table.columns, strict=True):
        with column(name):
            adopted = adopt(each)
            assert adopted is not None
            columns.append(adopted)
    dtype = _dtype(table, columns)
    array = np.empty(table.shape, dtype, order="F")
    present = np.ones(table.shape, np.bool_, order="F")
    for at, each in enumerate(columns):
        lost = first_lost(each.array, dtype)
        if lost is not None:
            raise ElementTypeError(
                f"column {table.names[at]!r} holds {lost}, and {dtype}, the common type of the columns, does not",
                given=_types(table, columns),
                remedy=_REMEDY,
            )
        array[:, at] = each.array
        if each.present is not None:
            present[:, at] = each.present
    zone = columns[0].zone if columns else None
    missing = any(each.present is not None for each in columns)
    return Adopted(array, wrap, present if missing else None, False, table.library, table.labels, zone)


def back(
    names: Sequence[str],
    again: Callable[[Any], Any],
    one: Callable[[Any, Kept], Any],
    frame: Callable[[Sequence[str], list[Any]], Any],
) -> Wrap:
    """Return how a result of a whole table comes back where only columns have names: a column, a value, a table."""

    def wrap(result: Any, kept: Kept) -> Any:
        axes = kept()
        if axes == (0,):
            return again(result)
        if not axes:
            return one(result, kept)
        rows = result.reshape(-1, result.shape[-1])
        own = names if axes[-1] == 1 else [f"column_{at}" for at in range(rows.shape[1])]
        return frame(own, [again(rows[:, at]) for at in range(rows.shape[1])])

    return wrap


def _dtype(table: Table, columns: list[Adopted]) -> np.dtype[Any]:
    """Return the common type of the columns."""
    if not columns:
        return np.dtype(np.float64)
    dtypes = [each.array.dtype for each in columns]
    dtype = common_type(dtypes)
    zones = {each.zone for each in columns}
    if dtype is not None and len(zones) == 1:
        return dtype
    of_each_type = {(each.array.dtype, each.zone): at for at, each in reversed([*enumerate(columns)])}
    first, other = next(
        pair
        for pair in combinations(sorted(of_each_type.values()), 2)
        if common_type([dtypes[at] for at in pair]) is None or columns[pair[0]].zone != columns[pair[1]].zone
    )
    raise ElementTypeError(
        f"columns {table.names[first]!r} and {table.names[other]!r} do not compare: "
        f"{_type(columns[first])} beside {_type(columns[other])}",
        given=_types(table, columns),
        remedy=_REMEDY,
    )


def _type(x: Adopted) -> str:
    return f"{x.array.dtype} in the zone {x.zone}" if x.zone else str(x.array.dtype)


def _types(table: Table, columns: list[Adopted]) -> str:
    words = [f"{name!r}: {_type(each)}" for name, each in zip(table.names, columns, strict=True)]
    return ", ".join(words[:8]) + (", ..." if words[8:] else "")
