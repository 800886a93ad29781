"""Conversion between element types without loss.

Decides which types have a common type, and which elements it does not hold. NumPy converts int64 to float64 and years
to nanoseconds in silence, and elements that were different are equal afterwards, or in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["common_type", "first_lost"]


def common_type(dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any] | None:
    """Return NumPy's common type of some types in this machine's byte order; None where they do not compare."""
    # NumPy has a common type for times beside durations, and for durations beside numbers.
    if len({dtype.kind if dtype.kind in "mM" else "" for dtype in dtypes}) > 1:
        return None
    try:
        return np.result_type(*dtypes).newbyteorder("=")
    except (OverflowError, TypeError):
        return None


def first_lost(array: NDArray[Any], dtype: np.dtype[Any]) -> Any:
    """Return an element of `array` that a common type does not hold exactly, or None."""
    own = array.dtype
    if not array.size or _holds(dtype, own):
        return None
    # The elements between the ends convert where the ends do: times keep their order, and integers that are small are
    # held one and all.
    ends = np.array([np.fmin.reduce(array, axis=None), np.fmax.reduce(array, axis=None)])
    if own.kind in "iu":
        limit = 2 ** (np.finfo(dtype).nmant + 1)
        if -limit <= int(ends[0]) and int(ends[1]) <= limit:
            return None
        ends = array
    lost = ends[~_survives(ends, dtype)]
    return lost[0] if lost.size else None


def _holds(dtype: np.dtype[Any], own: np.dtype[Any]) -> bool:
    """Whether a type holds all elements of another; of times only the elements say it."""
    if own.kind in "mM":
        return own.newbyteorder("=") == dtype
    if own.kind in "iu" and dtype.kind == "f":
        return np.iinfo(own).bits - (own.kind == "i") <= np.finfo(dtype).nmant + 1
    return True


def _survives(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[np.bool_]:
    """Return which elements are the same after a conversion there and back."""
    try:
        with np.errstate(invalid="ignore"):
            there = array.astype(dtype)
            same = there.astype(array.dtype) == array
    except OverflowError:
        # A NumPy that does not convert such times in silence.
        return np.zeros(array.shape, np.bool_)
    if array.dtype.kind in "mM":
        return np.asarray(same | np.isnat(array))
    # 2**63 and above wrap on the way back, or stop at the largest integer, as the processor does it.
    return np.asarray(same & (there < 2.0 ** (np.iinfo(array.dtype).bits - (array.dtype.kind == "i"))))
