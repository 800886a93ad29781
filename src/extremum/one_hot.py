"""``hardmax`` of what is no plain array, and with a NaN policy or a mask.

Decides what a slice gives in which no element takes part: no 1. The native module comes here for what it does not take
itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.indices import unravel
from extremum.interop import frontend
from extremum.reductions import Reduction, adopted_for, into

__all__ = ["hardmax", "ones"]


def hardmax(x: object, axis: Any, out: Any, nan_policy: Any, where: Any) -> Any:
    """Answer a call of :func:`extremum.hardmax`."""
    nan_policy = "propagate" if nan_policy is None else nan_policy
    if (own := frontend("hardmax", x)) is not None:
        return own(x, axis, out=out, nan_policy=nan_policy, where=where)
    call = Reduction("hardmax", (True,), axis, True, False, nan_policy, where)
    adopted = adopted_for("hardmax", x)
    array = adopted.array
    plain = adopted.present is None and where is None and nan_policy == "propagate" and array.dtype.kind not in "mM"
    if plain:
        result = np.asarray(_native.hardmax(array, axis, out=out))
    else:
        (found,) = call.find(adopted, False, np.dtype(np.int64), (-1,))
        assert found.indices is not None
        # Times have no 1, so that theirs is an integer.
        dtype = np.dtype(np.int64) if array.dtype.kind in "mM" else array.dtype.newbyteorder("=")
        start = (0,) * array.ndim
        result = ones(found.indices, call.axes(array.ndim), array.shape, start, array.shape, dtype)
        if out is not None:
            into("hardmax", out, result)
    return out if out is not None else adopted.wrap(result, lambda: tuple(range(array.ndim)))


def ones(
    indices: NDArray[Any],
    axes: tuple[int, ...],
    whole: tuple[int, ...],
    offset: tuple[int, ...],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
) -> NDArray[Any]:
    """Write a 1 at each index but -1, in the piece of this shape that starts at `offset` of a whole."""
    result: NDArray[Any] = np.zeros(shape, dtype)
    if not result.size:
        return result
    places: list[NDArray[Any]] = list(np.indices(indices.shape, sparse=True))
    inside = np.asarray(indices != -1)
    for axis, place in zip(axes, unravel(indices, whole, axes), strict=True):
        places[axis] = place - offset[axis]
        inside &= (places[axis] >= 0) & (places[axis] < shape[axis])
    for axis in axes:
        places[axis] = np.where(inside, places[axis], 0)
    result[tuple(places)] = inside
    return result
