"""What the native module calls: each function by a name, found when it is first needed.

The package imports this file first of all. A module that is not loaded yet is loaded while a
fork waits, as in :mod:`extremum.loading`.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from extremum import _native
from extremum.errors import ArgumentError, ArgumentTypeError, AxisError, ElementTypeError
from extremum.loading import LOCK
from extremum.signatures import MinMax, MinMaxIndices, ValuesIndices, unknown_keyword

__all__ = ["find"]


def numpy_table() -> object:
    """Return the capsule with NumPy's C functions, for those that the native module's binding lacks."""
    try:
        from numpy._core import multiarray
    except ImportError:
        # Before NumPy 2.
        from numpy.core import multiarray  # type: ignore[no-redef]
    capsule: object = multiarray._ARRAY_API
    return capsule


_OURS = (ArgumentError, ArgumentTypeError, AxisError, ElementTypeError, MinMax, MinMaxIndices, ValuesIndices)
_OTHERS = (unknown_keyword, numpy_table, str, repr, tuple, operator.index, np.dtype, warnings.warn)
_LOADED: dict[str, Any] = {each.__name__: each for each in (*_OURS, *_OTHERS)}


def find(name: str) -> Any:
    """Return what the native module calls by this name."""
    if name in _LOADED:
        return _LOADED[name]
    with LOCK:
        from extremum.arrays import as_output, copy, is_bfloat16
        from extremum.elementwise import extremum
        from extremum.reductions import arg, beyond, flag, hardmax, index_type

        later = (arg, as_output, beyond, copy, extremum, flag, hardmax, index_type, is_bfloat16)
        return {each.__name__: each for each in later}[name]


_native.register(find)
