"""The elements of the cases: ordinary ones without ties, and the special ones of each element type."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["array", "bits", "denormal", "distinct", "is_float", "limits"]

Array = NDArray[Any]

_FLOATS = ("float16", "bfloat16", "float32", "float64")


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether the type has NaN, infinities and two zeros."""
    return dtype.name in _FLOATS


def array(dtype: np.dtype[Any], values: object) -> Array:
    """Return small exact numbers in an element type."""
    return np.asarray(values, np.float64 if is_float(dtype) else None).astype(dtype)


def distinct(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return up to 250 elements in random order, no two of them equal but truth values, exact in every type."""
    count = int(np.prod(shape))
    low = 0 if dtype.kind in "ub" else -(count // 2)
    return array(dtype, rng.permutation(np.arange(low, low + count))).reshape(shape)


def limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the smallest and the largest finite number of a type."""
    if dtype.kind == "b":
        return False, True
    if not is_float(dtype):
        info = np.iinfo(dtype)
        return info.min, info.max
    highest = {"float16": 0x7BFF, "bfloat16": 0x7F7F, "float32": 0x7F7FFFFF, "float64": 0x7FEFFFFFFFFFFFFF}
    largest = bits(dtype, highest[dtype.name])
    return -largest, largest


def denormal(dtype: np.dtype[Any]) -> Any:
    """Return the smallest number above zero."""
    return bits(dtype, 1)


def bits(dtype: np.dtype[Any], *patterns: int) -> Any:
    """Return the elements with these bit patterns; one alone as a scalar."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    elements = np.array(patterns, unsigned).view(dtype)
    return elements[0] if len(patterns) == 1 else elements
