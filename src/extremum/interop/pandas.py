"""pandas' Series, Index, DataFrame and extension arrays: elements by value, labels kept where their axis is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from extremum.arrays import as_array
from extremum.errors import ElementTypeError
from extremum.interop import Adopted, Kept, as_it_is
from extremum.interop.columns import Table, whole

__all__ = ["adopt", "table"]


def adopt(x: Any) -> Adopted | None:
    """Return the elements, and which of them are there; None for pandas' other objects."""
    if isinstance(x, pd.DataFrame):
        return _adopt_table(x)
    if not isinstance(x, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        return None
    array, present = _elements(x)
    zone = _zone(x.dtype)

    def back(result: NDArray[Any], kept: Kept) -> Any:
        axes = kept()
        values = _zoned(result, zone)
        if not axes or not isinstance(x, pd.Series | pd.Index):
            return as_it_is(result, kept) if values is result else values
        if isinstance(x, pd.Index):
            return pd.Index(values)
        return pd.Series(values, index=x.index if axes == (0,) else None, name=x.name)

    labels = (x.index,) if isinstance(x, pd.Series) else ()
    return Adopted(array, back, present, library="pandas", labels=labels, zone=zone and str(zone))


def table(x: Any) -> Table:
    """Return the columns of a DataFrame; over axis 0 they are one by one where they have several types."""

    def frame(columns: list[Any]) -> Any:
        made = pd.DataFrame(dict(enumerate(columns)))
        made.columns = x.columns
        return made

    def row(columns: list[Any]) -> Any:
        alike = len({each.dtype for each in columns}) == 1
        elements = pd.concat(columns) if alike else pd.Series([each.iloc[0] for each in columns], dtype=object)
        return elements.set_axis(x.columns).rename(None)

    columns = tuple(x.iloc[:, at] for at in range(x.shape[1]))
    apart = len(columns) > 0 and not _is_one_block(x)
    return Table("pandas", list(x.columns), columns, x.shape, apart, frame, row, tuple(x.axes))


def _adopt_table(x: Any) -> Adopted:
    def back(result: NDArray[Any], kept: Kept) -> Any:
        axes = kept()
        # The columns are all in one zone, or else they are refused.
        zone = _zone(x.dtypes.iloc[0]) if result.dtype.kind == "M" else None
        if len(axes) == 2:
            made = pd.DataFrame({at: _zoned(result[:, at], zone) for at in range(result.shape[1])} if zone else result)
            labels = (
                own if axis == at else made.axes[at] for at, (axis, own) in enumerate(zip(axes, x.axes, strict=True))
            )
            made.index, made.columns = labels
            return made
        values = _zoned(result, zone)
        if len(axes) == 1 and axes[0] >= 0:
            return pd.Series(values, index=x.axes[axes[0]])
        return as_it_is(result, kept) if values is result else values

    if _is_one_block(x):
        return Adopted(as_array(x.to_numpy()), back, None, library="pandas", labels=tuple(x.axes))
    return whole(table(x), adopt, back)


def _is_one_block(x: Any) -> bool:
    """Whether all columns are of one type, which is NumPy's."""
    dtypes = set(x.dtypes)
    return len(dtypes) < 2 and all(isinstance(dtype, np.dtype) for dtype in dtypes)


def _zone(dtype: Any) -> Any:
    """Return the time zone of a type, or None."""
    if isinstance(dtype, pd.ArrowDtype):
        return getattr(dtype.pyarrow_dtype, "tz", None)
    return getattr(dtype, "tz", None)


def _zoned(result: NDArray[Any], zone: Any) -> Any:
    """Return instants with their time zone; other elements as they are."""
    if zone is None or result.dtype.kind != "M":
        return result
    instants = pd.DatetimeIndex(result.reshape(-1), tz="UTC").tz_convert(zone)
    return instants.array if result.ndim else instants[0]


def _elements(x: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the elements and where they are: in an array of NumPy's own type NaN stands for what is missing."""
    own = _plain_type(x.dtype)
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


def _plain_type(dtype: Any) -> np.dtype[Any] | None:
    """Return the type of NumPy's that has the same elements; None where there is none, as for categories."""
    if isinstance(dtype, np.dtype):
        return dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        return np.dtype(f"M8[{dtype.unit}]")
    if isinstance(dtype, pd.SparseDtype):
        subtype: np.dtype[Any] = dtype.subtype
        return subtype
    return getattr(dtype, "numpy_dtype", None)
