"""Series, tables and arrays of pandas, Polars and PyArrow: elements by value, labels kept where their axis is kept.

Decides how the columns of a table become one array: only where no element is changed by it. Columns that do not compare
without loss are refused by their names. Nulls are missing elements, and times keep their zone. A library is imported
where it is used, so that nothing is loaded that the caller has not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.arrays import as_array, common_type, first_lost, not_there
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, ExtremumError
from extremum.interop import Adopted, Kept, Wrap, as_it_is

__all__ = ["ADAPTERS", "TABLES", "Table", "column"]

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


def _pandas_adopt(x: Any) -> Adopted | None:
    """Return the elements, and which of them are there; None for pandas' other objects."""
    import pandas as pd

    if isinstance(x, pd.DataFrame):
        return _pandas_adopt_table(x)
    if not isinstance(x, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        return None
    array, present = _pandas_elements(x)
    zone = _pandas_zone(x.dtype)

    def wrap(result: NDArray[Any], kept: Kept) -> Any:
        axes = kept()
        values = _pandas_zoned(result, zone)
        if not axes or not isinstance(x, pd.Series | pd.Index):
            return as_it_is(result, kept) if values is result else values
        if isinstance(x, pd.Index):
            return pd.Index(values)
        return pd.Series(values, index=x.index if axes == (0,) else None, name=x.name)

    labels = (x.index,) if isinstance(x, pd.Series) else ()
    return Adopted(array, wrap, present, library="pandas", labels=labels, zone=zone and str(zone))


def _pandas_table(x: Any) -> Table:
    """Return the columns of a DataFrame; over axis 0 they are one by one where they have several types."""
    import pandas as pd

    def frame(columns: list[Any]) -> Any:
        made = pd.DataFrame(dict(enumerate(columns)))
        made.columns = x.columns
        return made

    def row(columns: list[Any]) -> Any:
        alike = len({each.dtype for each in columns}) == 1
        elements = pd.concat(columns) if alike else pd.Series([each.iloc[0] for each in columns], dtype=object)
        return elements.set_axis(x.columns).rename(None)

    columns = tuple(x.iloc[:, at] for at in range(x.shape[1]))
    apart = len(columns) > 0 and not _pandas_is_one_block(x)
    return Table("pandas", list(x.columns), columns, x.shape, apart, frame, row, tuple(x.axes))


def _pandas_adopt_table(x: Any) -> Adopted:
    import pandas as pd

    def wrap(result: NDArray[Any], kept: Kept) -> Any:
        axes = kept()
        # The columns are all in one zone, or else they are refused.
        zone = _pandas_zone(x.dtypes.iloc[0]) if result.dtype.kind == "M" else None
        if len(axes) == 2:
            made = pd.DataFrame(
                {at: _pandas_zoned(result[:, at], zone) for at in range(result.shape[1])} if zone else result
            )
            labels = (
                own if axis == at else made.axes[at] for at, (axis, own) in enumerate(zip(axes, x.axes, strict=True))
            )
            made.index, made.columns = labels
            return made
        values = _pandas_zoned(result, zone)
        if len(axes) == 1 and axes[0] >= 0:
            return pd.Series(values, index=x.axes[axes[0]])
        return as_it_is(result, kept) if values is result else values

    if _pandas_is_one_block(x):
        return Adopted(as_array(x.to_numpy()), wrap, None, library="pandas", labels=tuple(x.axes))
    return whole(_pandas_table(x), _pandas_adopt, wrap)


def _pandas_is_one_block(x: Any) -> bool:
    """Whether all columns are of one type, which is NumPy's."""
    dtypes = set(x.dtypes)
    return len(dtypes) < 2 and all(isinstance(dtype, np.dtype) for dtype in dtypes)


def _pandas_zone(dtype: Any) -> Any:
    """Return the time zone of a type, or None."""
    import pandas as pd

    if isinstance(dtype, pd.ArrowDtype):
        return getattr(dtype.pyarrow_dtype, "tz", None)
    return getattr(dtype, "tz", None)


def _pandas_zoned(result: NDArray[Any], zone: Any) -> Any:
    """Return instants with their time zone; other elements as they are."""
    import pandas as pd

    if zone is None or result.dtype.kind != "M":
        return result
    instants = pd.DatetimeIndex(result.reshape(-1), tz="UTC").tz_convert(zone)
    return instants.array if result.ndim else instants[0]


def _pandas_elements(x: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the elements and where they are: in an array of NumPy's own type NaN stands for what is missing."""
    import pandas as pd

    own = _pandas_plain_type(x.dtype)
    if own is None or (own.kind == "O" and not isinstance(x.dtype, np.dtype)):
        raise ElementTypeError(
            f"no type of NumPy's stands for elements of type {x.dtype}",
            given=f"pandas.{type(x).__name__}",
            remedy="convert them first, as x.astype(type) does",
        )
    missing = None if isinstance(x.dtype, np.dtype | pd.DatetimeTZDtype) or x.dtype.name == own.name else x.isna()
    if missing is None or not np.asarray(missing).any():
        return as_array(np.asarray(x.to_numpy(dtype=own))), None
    if isinstance(x.dtype, pd.SparseDtype):
        return as_array(np.asarray(x)), ~np.asarray(missing)
    return as_array(x.to_numpy(dtype=own, na_value=np.zeros((), own)[()])), ~np.asarray(missing)


def _pandas_plain_type(dtype: Any) -> np.dtype[Any] | None:
    """Return the type of NumPy's that has the same elements; None where there is none, as for categories."""
    import pandas as pd

    if isinstance(dtype, np.dtype):
        return dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        return np.dtype(f"M8[{dtype.unit}]")
    if isinstance(dtype, pd.SparseDtype):
        subtype: np.dtype[Any] = dtype.subtype
        return subtype
    return getattr(dtype, "numpy_dtype", None)


def _polars_adopt(x: Any) -> Adopted | None:
    """Return the elements, and which of them are there; None for Polars' other objects."""
    import polars

    if isinstance(x, polars.LazyFrame | polars.Expr):
        lazy = "a LazyFrame" if isinstance(x, polars.LazyFrame) else "an expression"
        raise ArgumentTypeError(
            f"{lazy} of Polars has no elements yet, and this call computes at once",
            remedy="collect first: frame.collect(), or frame.select(expression).collect()",
        )
    if isinstance(x, polars.DataFrame):
        return _polars_adopt_table(x)
    if not isinstance(x, polars.Series):
        return None
    zone = _polars_require_order(x)
    present = None
    if x.dtype.is_nested():
        _polars_refuse_nulls_within(x)
    elif x.null_count():
        present = x.is_not_null().to_numpy()
        x = _polars_filled(x)
    name = x.name

    def wrap(result: NDArray[Any], kept: Kept) -> Any:
        return _polars_column(zone, result).alias(name) if len(kept()) == 1 else _polars_value(zone, result, kept)

    return Adopted(as_array(np.asarray(x.to_numpy())), wrap, present, library="polars", zone=zone)


def _polars_table(x: Any) -> Table:
    """Return the columns of a DataFrame; over axis 0 they are one by one, and a table of one row comes back."""
    import polars

    names = x.columns
    for name, dtype in x.schema.items():
        if isinstance(dtype, polars.Array):
            raise ElementTypeError(
                f"column {name!r} holds an array in each place, and the columns of a table have one element there",
                given=f"{name!r}: {dtype}",
                remedy="pass the column alone, or its elements as columns of their own",
            )

    frame = partial(_polars_frame, names)
    return Table("polars", names, tuple(x.get_columns()), x.shape, bool(names), frame, frame, (polars.Series(names),))


def _polars_adopt_table(x: Any) -> Adopted:
    # The columns are all in one zone, or else they are refused.
    zone = next((getattr(dtype, "time_zone", None) for dtype in x.dtypes), None)
    return whole(
        _polars_table(x),
        _polars_adopt,
        back(x.columns, partial(_polars_column, zone), partial(_polars_value, zone), _polars_frame),
    )


def _polars_frame(names: Sequence[str], columns: list[Any]) -> Any:
    import polars

    return polars.DataFrame([each.alias(name) for name, each in zip(names, columns, strict=True)])


def _polars_column(zone: str | None, result: NDArray[Any]) -> Any:
    """Return a result as a Series, instants in their time zone."""
    import polars

    return _polars_zoned(polars.Series(result), zone)


def _polars_value(zone: str | None, result: NDArray[Any], kept: Kept) -> Any:
    """Return a result as NumPy's, an instant in its time zone as Polars'."""
    return as_it_is(result, kept) if zone is None or result.dtype.kind != "M" else _polars_instant(result, zone)


def _polars_require_order(x: Any) -> str | None:
    """Refuse elements for which NumPy has no type or no order; return the time zone of the others."""
    import polars

    # The types with an order that NumPy has, beside those of numbers.
    others = (polars.Boolean, polars.Date, polars.Datetime, polars.Duration, polars.Null)
    inner = x.dtype
    while isinstance(inner, polars.Array):
        inner = inner.inner
    zone: str | None = getattr(inner, "time_zone", None)
    remedy = "cast them to a type of numbers or times first, as x.cast(type) does"
    if inner in (polars.Int128, polars.UInt128):
        remedy = "NumPy has no integers of 128 bits: cast them to Int64 or UInt64 first"
    elif inner.is_nested():
        remedy = "pass a field or the elements of the lists, as x.struct.field(name) and x.explode() give them"
    elif inner.is_decimal() or not (inner.is_numeric() or inner in others):
        pass
    elif zone is None or not x.dtype.is_nested():
        return zone
    else:
        remedy = "convert them to UTC without a zone first"
    raise ElementTypeError(f"elements of type {x.dtype} have no order here", given="polars.Series", remedy=remedy)


def _polars_zoned(x: Any, zone: str | None) -> Any:
    """Return instants with their time zone; other elements as they are."""
    import polars

    if zone is None or not isinstance(x.dtype, polars.Datetime):
        return x
    return x.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def _polars_instant(result: NDArray[Any], zone: str) -> Any:
    """Return one instant as Polars hands it out: as Python's datetime, which has no nanoseconds."""
    import polars

    if np.datetime_data(result.dtype)[0] == "ns" and result.view(np.int64)[()] % 1000 and not np.isnat(result):
        raise ArgumentError(
            f"the instant {result} in UTC has nanoseconds, and Python's datetime has none",
            remedy="pass keepdims=True, for a result that keeps them",
        )
    return _polars_zoned(polars.Series(result.reshape(1)), zone).item()


def _polars_filled(x: Any) -> Any:
    """Return numbers without nulls, which would make floats of integers; what stands for a null is not read.

    Times stay as they are: NumPy has NaT for their nulls, and Python's times have neither nanoseconds nor far years.
    """
    import polars

    if x.dtype == polars.Null:
        return x.cast(polars.Float64).fill_null(0.0)
    return x if x.dtype.is_temporal() else x.fill_null(False if x.dtype == polars.Boolean else 0)


def _polars_refuse_nulls_within(x: Any) -> None:
    """Refuse nulls within an element that is an array, which come out as NaN."""
    import polars

    flat = x
    while isinstance(flat.dtype, polars.Array):
        flat = flat.explode()
    if count := flat.null_count():
        raise not_there(count, "null", given="polars.Series", remedy="fill or drop them first")


def _pyarrow_adopt(x: Any) -> Adopted | None:
    """Return the elements, and which of them are there; None for PyArrow's other objects."""
    import pyarrow

    if isinstance(x, pyarrow.Table | pyarrow.RecordBatch):
        return _pyarrow_adopt_table(x)
    if isinstance(x, pyarrow.Scalar):
        raise ElementTypeError("a scalar of PyArrow is no array", given=f"{x!r}", remedy="pass x.as_py()")
    if not isinstance(x, pyarrow.Array | pyarrow.ChunkedArray):
        return None
    if pyarrow.types.is_dictionary(x.type):
        x = x.cast(x.type.value_type)
    own = x.type
    _pyarrow_require_order(x)
    present = None
    if x.null_count:
        present = x.is_valid().to_numpy(zero_copy_only=False)
        x = _pyarrow_filled(x)
    array = x.to_numpy() if isinstance(x, pyarrow.ChunkedArray) else x.to_numpy(zero_copy_only=False)

    def wrap(result: NDArray[Any], kept: Kept) -> Any:
        return _pyarrow_again(own, result) if len(kept()) == 1 else _pyarrow_value(own, result, kept)

    zone = own.tz if pyarrow.types.is_timestamp(own) else None
    return Adopted(as_array(array), wrap, present, library="pyarrow", zone=zone)


def _pyarrow_table(x: Any) -> Table:
    """Return the columns of a table; over axis 0 they are one by one, and a table of one row comes back."""
    import pyarrow

    names = x.column_names

    def frame(columns: list[Any]) -> Any:
        return type(x).from_arrays(columns, names=names)

    return Table("pyarrow", names, tuple(x.columns), x.shape, bool(names), frame, frame, (pyarrow.array(names),))


def _pyarrow_adopt_table(x: Any) -> Adopted:
    import pyarrow

    # Columns that compare and have not one type are timestamps beside dates, or no times at all.
    own = next(iter((*filter(pyarrow.types.is_timestamp, x.schema.types), *x.schema.types, pyarrow.null())))

    def frame(names: Sequence[str], columns: list[Any]) -> Any:
        return type(x).from_arrays(columns, names=names)

    return whole(
        _pyarrow_table(x),
        _pyarrow_adopt,
        back(x.column_names, partial(_pyarrow_again, own), partial(_pyarrow_value, own), frame),
    )


def _pyarrow_value(own: Any, result: NDArray[Any], kept: Kept) -> Any:
    """Return a result as NumPy's, an instant in its time zone as PyArrow's."""
    import pyarrow

    zoned = pyarrow.types.is_timestamp(own) and own.tz is not None and result.dtype.kind == "M"
    return _pyarrow_again(own, result.reshape(1))[0] if zoned else as_it_is(result, kept)


def _pyarrow_require_order(x: Any) -> None:
    """Refuse elements for which NumPy has no type or no order."""
    import pyarrow

    own = x.type
    numbers = (
        pyarrow.types.is_boolean(own)
        or pyarrow.types.is_integer(own)
        or pyarrow.types.is_floating(own)
        or pyarrow.types.is_null(own)
    )
    if not (numbers or pyarrow.types.is_date(own) or pyarrow.types.is_timestamp(own) or pyarrow.types.is_duration(own)):
        raise ElementTypeError(
            f"elements of type {own} have no order here",
            given=f"pyarrow.{type(x).__name__}",
            remedy="cast them to a type of numbers or times first, as x.cast(type) does",
        )


def _pyarrow_filled(x: Any) -> Any:
    """Return an array without nulls: what lies in the place of one is not read."""
    import pyarrow

    if isinstance(x, pyarrow.ChunkedArray):
        own = pyarrow.float64() if pyarrow.types.is_null(x.type) else x.type
        return pyarrow.chunked_array([_pyarrow_filled(chunk) for chunk in x.chunks], type=own)
    if pyarrow.types.is_null(x.type):
        return pyarrow.array(np.zeros(len(x)))
    return pyarrow.Array.from_buffers(x.type, len(x), [None, x.buffers()[1]], offset=x.offset)


def _pyarrow_again(own: Any, result: NDArray[Any]) -> Any:
    """Return a result as an array of PyArrow; NumPy's times do not say their zone, nor that they are dates."""
    import pyarrow

    made = pyarrow.array(result)
    if not pyarrow.types.is_timestamp(made.type):
        return made
    if pyarrow.types.is_date64(own):
        return made.cast(own)
    return (
        pyarrow.array(result, type=pyarrow.timestamp(made.type.unit, own.tz))
        if pyarrow.types.is_timestamp(own)
        else made
    )


ADAPTERS: dict[str, Callable[[Any], Adopted | None]] = {
    "pandas": _pandas_adopt,
    "polars": _polars_adopt,
    "pyarrow": _pyarrow_adopt,
}
"""Of each library, what returns the elements and which of them are there; None for its other objects."""

TABLES: dict[str, Callable[[Any], Table]] = {
    "pandas": _pandas_table,
    "polars": _polars_table,
    "pyarrow": _pyarrow_table,
}
"""Of each library, what returns the columns of a table."""
