"""Polars' Series: elements by value, nulls as missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from extremum.arrays import as_array
from extremum.interop.adopted import Adopted, Kept, as_it_is

__all__ = ["adopt"]


def adopt(x: Any) -> Adopted | None:
    """Return the elements, and which of them are there; None for Polars' other objects."""
    if not isinstance(x, polars.Series):
        return None
    present = None
    if x.null_count():
        present = x.is_not_null().to_numpy()
        # Any element will do in the place of a null: its own is not read.
        x = x.fill_null(x.drop_nulls()[0]) if present.any() else x.cast(polars.Float64).fill_null(0.0)
    name = x.name

    def back(result: NDArray[Any], kept: Kept) -> Any:
        return polars.Series(name, result) if kept() == (0,) else as_it_is(result, kept)

    return Adopted(as_array(np.asarray(x.to_numpy())), back, present, library="polars")
