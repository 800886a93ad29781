"""PyArrow's arrays, record batches and tables: elements in place, nulls as missing, times in their zone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow
import pyarrow.types as kinds
from numpy.typing import NDArray

from extremum.arrays import as_array
from extremum.errors import ElementTypeError
from extremum.interop import Adopted, Kept, as_it_is
from extremum.interop.columns import Table, back, whole

__all__ = ["adopt", "table"]


def adopt(x: Any) -> Adopted | None:
    """Return the elements, and which of them are there; None for PyArrow's other objects."""
    if isinstance(x, pyarrow.Table | pyarrow.RecordBatch):
        return _adopt_table(x)
    if isinstance(x, pyarrow.Scalar):
        raise ElementTypeError("a scalar of PyArrow is no array", given=f"{x!r}", remedy="pass x.as_py()")
    if not isinstance(x, pyarrow.Array | pyarrow.ChunkedArray):
        return None
    if kinds.is_dictionary(x.type):
        x = x.cast(x.type.value_type)
    own = x.type
    _require_order(x)
    present = None
    if x.null_count:
        present = x.is_valid().to_numpy(zero_copy_only=False)
        x = _filled(x)
    array = x.to_numpy() if isinstance(x, pyarrow.ChunkedArray) else x.to_numpy(zero_copy_only=False)

    def wrap(result: NDArray[Any], kept: Kept) -> Any:
        return _again(own, result) if len(kept()) == 1 else _value(own, result, kept)

    zone = own.tz if kinds.is_timestamp(own) else None
    return Adopted(as_array(array), wrap, present, library="pyarrow", zone=zone)


def table(x: Any) -> Table:
    """Return the columns of a table; over axis 0 they are one by one, and a table of one row comes back."""
    names = x.column_names

    def frame(columns: list[Any]) -> Any:
        return type(x).from_arrays(columns, names=names)

    return Table("pyarrow", names, tuple(x.columns), x.shape, bool(names), frame, frame, (pyarrow.array(names),))


def _adopt_table(x: Any) -> Adopted:
    # Columns that compare and have not one type are timestamps beside dates, or no times at all.
    own = next(iter([*filter(kinds.is_timestamp, x.schema.types), *x.schema.types, pyarrow.null()]))

    def frame(names: Sequence[str], columns: list[Any]) -> Any:
        return type(x).from_arrays(columns, names=names)

    return whole(table(x), adopt, back(x.column_names, partial(_again, own), partial(_value, own), frame))


def _value(own: Any, result: NDArray[Any], kept: Kept) -> Any:
    """Return a result as NumPy's, an instant in its time zone as PyArrow's."""
    zoned = kinds.is_timestamp(own) and own.tz is not None and result.dtype.kind == "M"
    return _again(own, result.reshape(1))[0] if zoned else as_it_is(result, kept)


def _require_order(x: Any) -> None:
    """Refuse elements for which NumPy has no type or no order."""
    own = x.type
    numbers = kinds.is_boolean(own) or kinds.is_integer(own) or kinds.is_floating(own) or kinds.is_null(own)
    if not (numbers or kinds.is_date(own) or kinds.is_timestamp(own) or kinds.is_duration(own)):
        raise ElementTypeError(
            f"elements of type {own} have no order here",
            given=f"pyarrow.{type(x).__name__}",
            remedy="cast them to a type of numbers or times first, as x.cast(type) does",
        )


def _filled(x: Any) -> Any:
    """Return an array without nulls: what lies in the place of one is not read."""
    if isinstance(x, pyarrow.ChunkedArray):
        own = pyarrow.float64() if kinds.is_null(x.type) else x.type
        return pyarrow.chunked_array([_filled(chunk) for chunk in x.chunks], type=own)
    if kinds.is_null(x.type):
        return pyarrow.array(np.zeros(len(x)))
    return pyarrow.Array.from_buffers(x.type, len(x), [None, x.buffers()[1]], offset=x.offset)


def _again(own: Any, result: NDArray[Any]) -> Any:
    """Return a result as an array of PyArrow; NumPy's times do not say their zone, nor that they are dates."""
    made = pyarrow.array(result)
    if not kinds.is_timestamp(made.type):
        return made
    if kinds.is_date64(own):
        return made.cast(own)
    return pyarrow.array(result, type=pyarrow.timestamp(made.type.unit, own.tz)) if kinds.is_timestamp(own) else made
