"""Polars' Series: elements by value, nulls as missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from extremum.arrays import as_array
from extremum.errors import ElementTypeError
from extremum.interop.adopted import Adopted, Kept, as_it_is
from extremum.missing import not_there

__all__ = ["adopt"]


def adopt(x: Any) -> Adopted | None:
    """Return the elements, and which of them are there; None for Polars' other objects."""
    if not isinstance(x, polars.Series):
        return None
    present = None
    if x.dtype.is_nested():
        _refuse_nested(x)
    elif x.null_count() and _has_numbers(x.dtype):
        present = x.is_not_null().to_numpy()
        # Any element will do in the place of a null: its own is not read.
        x = x.fill_null(x.drop_nulls()[0]) if present.any() else x.cast(polars.Float64).fill_null(0.0)
    name = x.name

    def back(result: NDArray[Any], kept: Kept) -> Any:
        return polars.Series(name, result) if kept() == (0,) else as_it_is(result, kept)

    return Adopted(as_array(np.asarray(x.to_numpy())), back, present, library="polars")


def _has_numbers(dtype: Any) -> bool:
    """Whether a null can be filled with another element; text and objects are refused, and their nulls with them."""
    return bool(dtype.is_numeric() or dtype.is_temporal() or dtype in (polars.Boolean, polars.Null))


def _refuse_nested(x: Any) -> None:
    """Refuse what is no array within an element, and nulls inside of one, which come out as NaN."""
    flat = x
    while isinstance(flat.dtype, polars.Array):
        flat = flat.explode()
    if flat.dtype.is_nested():
        raise ElementTypeError(
            f"elements of type {x.dtype} have no order here",
            given="polars.Series",
            remedy="pass a field or the elements of the lists, as x.struct.field(name) and x.explode() give them",
        )
    if count := flat.null_count():
        raise not_there(count, "null", given="polars.Series", remedy="fill or drop them first")
