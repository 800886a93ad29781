"""Whether two values are the same, bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["same_bits"]


def same_bits(first: Any, second: Any) -> bool:
    """Return whether two values agree in type, shape and every bit; any NaN agrees with any other."""
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same_bits, first, second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same_bits(first[key], second[key]) for key in first)
    first, second = np.asarray(first), np.asarray(second)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    if first.dtype.kind in "fV":
        signed = np.signbit(first) == np.signbit(second)
        return bool(np.all((first == second) & signed | (first != first) & (second != second)))
    return bool(np.array_equal(first, second))
