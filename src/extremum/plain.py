"""The short way through a reduction: NumPy's own arrays, of which the native module makes the result by itself.

Decides which calls need nothing more. All others, and those that are to be refused, go through
:mod:`extremum.reductions`, which takes some microseconds: as long as a megabyte.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from extremum import _native
from extremum.arrays import as_result

__all__ = ["reduced"]

# Bool, integers and floats, as NumPy codes them. (Not bfloat16, whose type is ml_dtypes' to know.)
_KNOWN = frozenset("?bBhHiIlLqQefd")
_BOOL = np.dtype(np.bool_)
_INT64 = np.dtype(np.int64)


def reduced(
    function: str,
    largest: tuple[bool, ...],
    x: Any,
    axis: Any,
    keepdims: bool,
    select_last_index: bool,
    nan_policy: Any,
    where: Any,
    values: bool,
    index: np.dtype[Any] | None,
    *,
    default: int | None = None,
) -> tuple[tuple[Any, Any], ...] | None:
    """Return values and indices of each end as NumPy's own functions do, None where that is not all.

    `default` is the index of no element.
    """
    if type(x) is not np.ndarray or x.dtype.char not in _KNOWN or not x.size or type(nan_policy) is not str:
        return None
    omit = nan_policy == "omit" and x.dtype.char in "efd"
    if not omit and nan_policy != "propagate" and nan_policy != "omit":
        return None
    if where is not None and (type(where) is not np.ndarray or where.dtype is not _BOOL or where.shape != x.shape):
        return None
    # The index says of a slice that no element takes part in it.
    may_lack = omit or where is not None
    if may_lack and index is not None and index.kind != "i":
        return None
    count, ends = _native.reduce(
        x,
        axis,
        function=function,
        largest=largest,
        keepdims=keepdims,
        select_last_index=select_last_index,
        omit=omit,
        times=False,
        where=where,
        values=values,
        index=_INT64 if may_lack and index is None else index,
    )
    if count and default is None:
        return None
    if count and default != -1:
        ends = tuple(
            (value, as_result(np.where(place == -1, place.dtype.type(default), place))) for value, place in ends
        )
    return ends
