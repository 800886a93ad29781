"""The array functions on tables of pandas, Polars and PyArrow, whose columns have types of their own.

Over axis 0, and in ``maximum`` and ``minimum``, each column is compared in its own type. Over axis 1 and over both axes
the columns are compared as one array; :mod:`extremum.interop` refuses them where this would change an element. A result
over axis 0 is a row: a Series of pandas with the names of the columns (dtype object where they have several types), or
a table of one row of Polars or PyArrow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import extremum as ex
from extremum import elementwise, reductions
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, within
from extremum.functions import FUNCTIONS, OVER_AXES, Kind, of_kind
from extremum.interop import Operand, Table, as_operand, column, common_library, is_table, split_table
from extremum.reductions import Reduction, operand_of, write_out
from extremum.signatures import NanPolicy

_ROWS = {"pandas": "x.iloc[{}]", "polars": "x[{}]", "pyarrow": "x.take({})"}
"""How a library takes rows of a table."""


def _over_axes(name: str) -> Callable[..., Any]:
    is_one_hot = FUNCTIONS[name].kind is Kind.ONE_HOT

    def function(x: Any, axis: Any = None, *, out: Any = None, where: Any = None, **options: Any) -> Any:
        table = _split(name, x)
        # Refuse a wrong axis before any column.
        getattr(ex, name)(np.zeros((1, 1)), axis)
        if not table.by_column or Reduction(name, (), axis).axes(2) != (0,):
            if out is not None:
                options["out"] = out
            return getattr(ex, name)(operand_of(name, x), axis, where=where, **options)
        keeps_rows = is_one_hot or options.get("keepdims", False)
        if not is_one_hot:
            # A column of one element keeps its type.
            options["keepdims"] = True
        results = []
        for label, each, mask in zip(table.names, table.columns, _masks(name, where, table), strict=True):
            with column(label, name):
                results.append(getattr(ex, name)(each, 0, where=mask, **options))
        if out is not None:
            whole = _stacked(name, results)
            return write_out(name, out, whole if keeps_rows else whole[0])
        together = table.frame if keeps_rows else table.row
        if isinstance(results[0], tuple):
            return type(results[0])(*(together(list(each)) for each in zip(*results, strict=True)))
        return together(results)

    return function


def _stacked(name: str, columns: list[Any]) -> NDArray[Any]:
    """Return columns as one array, or refuse columns of several types."""
    parts = [as_operand(each).array for each in columns]
    types = {part.dtype for part in parts}
    if len(types) > 1:
        raise ElementTypeError(
            f"{name}: the results have the types of the columns, and out has one",
            given=", ".join(sorted(map(str, types))),
            remedy="omit out, or convert the columns to one type first",
        )
    return np.stack(parts, axis=1)


def _elementwise(name: str) -> Callable[..., Any]:
    def function(
        *operands: Any, out: Any = None, nan_policy: NanPolicy = "propagate", where: Any = None
    ) -> Any:
        tables = {at: _split(name, x) for at, x in enumerate(operands) if is_table(x)}
        first = next((table for table in tables.values() if table.by_column), None)
        if first is None:
            return elementwise.at_once(name, operands, out, nan_policy, where)
        if out is not None:
            raise ArgumentError(
                f"{name}: the columns of the result have types of their own, and out has one",
                remedy="omit out",
            )
        others = {
            at: x for at, x in enumerate(operands) if at not in tables and type(x) not in (bool, int, float)
        }
        arrays = {at: operand_of(name, x) for at, x in others.items()}
        _require_alike(name, first, list(tables.values()), list(arrays.values()))
        results = []
        for place, (label, mask) in enumerate(zip(first.names, _masks(name, where, first), strict=True)):
            # Numbers meet every column.
            parts = list(operands)
            for at, table in tables.items():
                parts[at] = table.columns[place]
            for at, array in arrays.items():
                parts[at] = _part(array, first, place)
            with column(label, name):
                results.append(getattr(ex, name)(*parts, nan_policy=nan_policy, where=mask))
        return first.frame(results)

    return function


def _split(function: str, x: Any) -> Table:
    with within(function):
        return split_table(x)


def _refuse_selection(name: str) -> Callable[..., Any]:
    """Make a function that refuses a table: the k best elements of each column are in rows of their own."""

    def function(x: Any, *_: Any, **__: Any) -> Any:
        rows = _ROWS[split_table(x).library].format(f'extremum.{name}(x["column"], k).indices')
        raise ArgumentTypeError(
            f"{name}: a table has rows, and the best elements of its columns are in different ones",
            remedy=f"take the rows by one column: {rows}, or pass an array: x.to_numpy()",
        )

    return function


def _masks(function: str, where: Any, table: Table) -> Sequence[Any]:
    if where is None:
        return [None] * table.shape[1]
    return list(reductions.as_mask(function, where, table.shape, table.labels).T)


def _part(x: Operand, table: Table, place: int) -> Operand:
    """Return the part of an array that meets one column, with the array broadcast to the shape of the table."""
    part = np.broadcast_to(x.array, table.shape)[:, place]
    valid = None if x.valid is None else np.broadcast_to(x.valid, table.shape)[:, place]
    return Operand(part, valid=valid, masked=x.masked, zone=x.zone, is_sequence=x.is_sequence)


def _require_alike(function: str, first: Table, tables: list[Table], arrays: list[Operand]) -> None:
    """Refuse operands whose library, labels or shape differ from those of a table."""
    nothing = np.empty(0)
    with within(function):
        common_library(
            [*(Operand(nothing, library=each.library, labels=each.labels) for each in tables), *arrays]
        )
    shapes = [*(each.shape for each in tables), *(each.array.shape for each in arrays)]
    if elementwise.broadcast_shape(function, shapes) != first.shape or {each.shape for each in tables} != {
        first.shape
    }:
        own = f"a table of shape {first.shape}, whose columns have types of their own"
        raise ArgumentError(
            f"{function}: {own}, with other shapes",
            given=f"shapes {' '.join(map(str, shapes))}",
            remedy="pass operands that broadcast to the shape of the table",
        )


BY_AXIS = {
    **{name: _over_axes(name) for name in OVER_AXES},
    **{name: _elementwise(name) for name in of_kind(Kind.ELEMENTWISE)},
    **{name: _refuse_selection(name) for name in of_kind(Kind.SELECTION)},
}
"""The functions that ``extremum.argmax(x, axis=0)`` and the others call if ``x`` is a table."""
