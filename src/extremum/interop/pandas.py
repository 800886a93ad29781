"""pandas' Series, Index and DataFrame: elements by value, labels kept where the axis they name is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from extremum.arrays import as_array
from extremum.errors import ElementTypeError
from extremum.interop.adopted import Adopted, Kept, as_it_is

__all__ = ["adopt"]


def adopt(x: Any) -> Adopted | None:
    """Return the elements, and which of them are there; None for pandas' other objects."""
    if not isinstance(x, pd.Series | pd.Index | pd.DataFrame):
        return None
    array, present = _elements(x)
    labels = [x] if isinstance(x, pd.Index) else x.axes

    def back(result: NDArray[Any], kept: Kept) -> Any:
        axes = kept()
        if axes == (0, 1):
            return pd.DataFrame(result, index=labels[0], columns=labels[1])
        if len(axes) == 1 and axes[0] >= 0:
            if isinstance(x, pd.Index):
                return pd.Index(result)
            return pd.Series(result, index=labels[axes[0]], name=getattr(x, "name", None))
        return as_it_is(result, kept)

    return Adopted(array, back, present, library="pandas", labels=() if isinstance(x, pd.Index) else tuple(labels))


def _elements(x: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the elements and where they are: a column of NumPy's own type has NaN for what is missing."""
    dtypes = list(x.dtypes) if isinstance(x, pd.DataFrame) else [x.dtype]
    if all(isinstance(dtype, np.dtype) for dtype in dtypes):
        return as_array(x.to_numpy()), None
    common = _common(x, dtypes)
    missing = np.asarray(x.isna())
    if not missing.any():
        return as_array(x.to_numpy(dtype=common)), None
    return as_array(x.to_numpy(dtype=common, na_value=np.zeros((), common)[()])), ~missing


def _common(x: Any, dtypes: list[Any]) -> np.dtype[Any]:
    """Return NumPy's type for columns of pandas' types, of which some, such as categories, have none."""
    plain = [dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None) for dtype in dtypes]
    known = [dtype for dtype in plain if dtype is not None]
    if len(known) == len(plain):
        try:
            return np.result_type(*known)
        except TypeError:
            pass
    kinds = " and ".join(dict.fromkeys(map(str, dtypes)))
    raise ElementTypeError(
        f"no type of NumPy's stands for elements of type {kinds}",
        given=f"pandas.{type(x).__name__}",
        remedy="convert them first, as x.astype(type), x.dt.tz_convert(None) or x.sparse.to_dense() do",
    )
