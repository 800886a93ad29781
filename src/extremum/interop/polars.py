"""Polars' Series and DataFrame: elements by value, nulls as missing, times in their zone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from extremum.arrays import as_array, not_there
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError
from extremum.interop import Adopted, Kept, as_it_is
from extremum.interop.columns import Table, back, whole

__all__ = ["adopt", "table"]


def adopt(x: Any) -> Adopted | None:
    """Return the elements, and which of them are there; None for Polars' other objects."""
    if isinstance(x, polars.LazyFrame | polars.Expr):
        lazy = "a LazyFrame" if isinstance(x, polars.LazyFrame) else "an expression"
        raise ArgumentTypeError(
            f"{lazy} of Polars has no elements yet, and this call computes at once",
            remedy="collect first: frame.collect(), or frame.select(expression).collect()",
        )
    if isinstance(x, polars.DataFrame):
        return _adopt_table(x)
    if not isinstance(x, polars.Series):
        return None
    zone = _require_order(x)
    present = None
    if x.dtype.is_nested():
        _refuse_nulls_within(x)
    elif x.null_count():
        present = x.is_not_null().to_numpy()
        x = _filled(x)
    name = x.name

    def wrap(result: NDArray[Any], kept: Kept) -> Any:
        return _column(zone, result).alias(name) if len(kept()) == 1 else _value(zone, result, kept)

    return Adopted(as_array(np.asarray(x.to_numpy())), wrap, present, library="polars", zone=zone)


def table(x: Any) -> Table:
    """Return the columns of a DataFrame; over axis 0 they are one by one, and a table of one row comes back."""
    names = x.columns
    for name, dtype in x.schema.items():
        if isinstance(dtype, polars.Array):
            raise ElementTypeError(
                f"column {name!r} holds an array in each place, and the columns of a table have one element there",
                given=f"{name!r}: {dtype}",
                remedy="pass the column alone, or its elements as columns of their own",
            )

    frame = partial(_frame, names)
    return Table("polars", names, tuple(x.get_columns()), x.shape, bool(names), frame, frame, (polars.Series(names),))


def _adopt_table(x: Any) -> Adopted:
    # The columns are all in one zone, or else they are refused.
    zone = next((getattr(dtype, "time_zone", None) for dtype in x.dtypes), None)
    return whole(table(x), adopt, back(x.columns, partial(_column, zone), partial(_value, zone), _frame))


def _frame(names: Sequence[str], columns: list[Any]) -> Any:
    return polars.DataFrame([each.alias(name) for name, each in zip(names, columns, strict=True)])


def _column(zone: str | None, result: NDArray[Any]) -> Any:
    """Return a result as a Series, instants in their time zone."""
    return _zoned(polars.Series(result), zone)


def _value(zone: str | None, result: NDArray[Any], kept: Kept) -> Any:
    """Return a result as NumPy's, an instant in its time zone as Polars'."""
    return as_it_is(result, kept) if zone is None or result.dtype.kind != "M" else _instant(result, zone)


def _require_order(x: Any) -> str | None:
    """Refuse elements for which NumPy has no type or no order; return the time zone of the others."""
    inner = x.dtype
    while isinstance(inner, polars.Array):
        inner = inner.inner
    zone: str | None = getattr(inner, "time_zone", None)
    remedy = "cast them to a type of numbers or times first, as x.cast(type) does"
    if inner in (polars.Int128, polars.UInt128):
        remedy = "NumPy has no integers of 128 bits: cast them to Int64 or UInt64 first"
    elif inner.is_nested():
        remedy = "pass a field or the elements of the lists, as x.struct.field(name) and x.explode() give them"
    elif inner.is_decimal() or not (inner.is_numeric() or inner in _OTHERS):
        pass
    elif zone is None or not x.dtype.is_nested():
        return zone
    else:
        remedy = "convert them to UTC without a zone first"
    raise ElementTypeError(f"elements of type {x.dtype} have no order here", given="polars.Series", remedy=remedy)


_OTHERS = (polars.Boolean, polars.Date, polars.Datetime, polars.Duration, polars.Null)
"""The types with an order that NumPy has, beside those of numbers."""


def _zoned(x: Any, zone: str | None) -> Any:
    """Return instants with their time zone; other elements as they are."""
    if zone is None or not isinstance(x.dtype, polars.Datetime):
        return x
    return x.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def _instant(result: NDArray[Any], zone: str) -> Any:
    """Return one instant as Polars hands it out: as Python's datetime, which has no nanoseconds."""
    if np.datetime_data(result.dtype)[0] == "ns" and result.view(np.int64)[()] % 1000 and not np.isnat(result):
        raise ArgumentError(
            f"the instant {result} in UTC has nanoseconds, and Python's datetime has none",
            remedy="pass keepdims=True, for a result that keeps them",
        )
    return _zoned(polars.Series(result.reshape(1)), zone).item()


def _filled(x: Any) -> Any:
    """Return numbers without nulls, which would make floats of integers; what stands for a null is not read.

    Times stay as they are: NumPy has NaT for their nulls, and Python's times have neither nanoseconds nor far years.
    """
    if x.dtype == polars.Null:
        return x.cast(polars.Float64).fill_null(0.0)
    return x if x.dtype.is_temporal() else x.fill_null(False if x.dtype == polars.Boolean else 0)


def _refuse_nulls_within(x: Any) -> None:
    """Refuse nulls within an element that is an array, which come out as NaN."""
    flat = x
    while isinstance(flat.dtype, polars.Array):
        flat = flat.explode()
    if count := flat.null_count():
        raise not_there(count, "null", given="polars.Series", remedy="fill or drop them first")
