"""The k best along an axis: what :func:`extremum.top_k` answers beyond the fast path of the native module.

This file knows arrays of other libraries and times, and words what is wrong with an argument. The native module finds
values and indices, and decides how equal elements and NaN are ordered.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.arrays import FILL_MASKED
from extremum.errors import ArgumentError, ArgumentTypeError
from extremum.indices import axis_error, integers
from extremum.interop import frontend
from extremum.reductions import Reduction, flag, nan, operand_of, require_policy
from extremum.signatures import ValuesIndices

__all__ = ["top_k"]


def top_k(x: object, k: Any, axis: Any, mode: Any, in_order: Any, nan_policy: Any) -> Any:
    """Answer a call of :func:`extremum.top_k` that the native module does not answer by itself."""
    mode, in_order = "largest" if mode is None else mode, True if in_order is None else in_order
    nan_policy = "propagate" if nan_policy is None else nan_policy
    if (own := frontend("top_k", x)) is not None:
        return own(x, k, axis, mode=mode, sorted=in_order, nan_policy=nan_policy)
    if mode not in ("largest", "smallest"):
        raise ArgumentError(f"top_k: there is no mode {mode!r}", remedy="use 'largest' or 'smallest'")
    require_policy("top_k", nan_policy)
    in_order = flag("top_k", "sorted", in_order)
    operand = operand_of("top_k", x)
    operand.require_valid(FILL_MASKED if operand.masked else "fill or drop them first", given="top_k: x")
    array = operand.array
    axis = _axis(array, axis)
    k = _count(array, k, axis)
    found = _find(array, k, axis, mode == "largest", in_order, nan_policy)
    axes = (-1,) if axis is None else tuple(-1 if each == axis else each for each in range(array.ndim))
    return ValuesIndices(*(operand.wrap(each, lambda: axes) for each in found))


def _find(
    array: NDArray[Any], k: int, axis: int | None, largest: bool, in_order: bool, nan_policy: str
) -> ValuesIndices[NDArray[Any], NDArray[Any]]:
    times = array.dtype.kind in "mM"
    plain = array.view(np.dtype(np.int64).newbyteorder(array.dtype.byteorder)) if times else array
    options: dict[str, Any] = {"function": "top_k", "largest": largest, "times": times}
    if nan_policy == "raise" and array.size:
        first = _native.top_k_plain(plain, 1, axis, sorted=True, nan_first=True, **options)
        best = _in_type(first[0], array).squeeze(0 if axis is None else axis)
        Reduction("top_k", (largest,), axis).refuse_nan(array, nan(best))
    values, indices = _native.top_k_plain(plain, k, axis, sorted=in_order, nan_first=nan_policy != "omit", **options)
    return ValuesIndices(_in_type(values, array), indices)


def _in_type(values: NDArray[Any], array: NDArray[Any]) -> NDArray[Any]:
    """Return integers that stand for times as times."""
    return values.view(array.dtype.newbyteorder("=")) if array.dtype.kind in "mM" else values


def _axis(array: NDArray[Any], axis: Any) -> int | None:
    if axis is None:
        return None
    number = integers("top_k", axis, array)
    if isinstance(number, tuple):
        raise ArgumentTypeError(f"top_k: axis {axis!r} is not one axis", remedy="pass an int, or None for all elements")
    if not -array.ndim <= number < array.ndim:
        raise axis_error("top_k", number, array.shape, array)
    return number % array.ndim


def _count(array: NDArray[Any], k: Any, axis: int | None) -> int:
    try:
        number = operator.index(None if isinstance(k, bool | np.bool_) else k)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(f"top_k: k is {k!r}, not an integer", remedy="pass an int") from None
    where, most = ("", array.size) if axis is None else (f" along axis {axis}", array.shape[axis])
    if not 0 <= number <= most:
        raise ArgumentError(
            f"top_k: k is {number}, and there are {most} elements{where}",
            given=f"{array.dtype}{list(array.shape)}, k={number}",
            remedy=f"pass k from 0 to {most}",
        )
    return number
