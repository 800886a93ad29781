"""The functions that the native module calls, each found by its name when it is first needed.

The package imports this file first. A module that is not loaded yet is loaded while forks wait, as in
:mod:`extremum.loading`.
"""

from __future__ import annotations

import functools
import sys
import warnings
from typing import Any

import numpy as np

from extremum import _native
from extremum.errors import ArgumentError, ElementTypeError
from extremum.loading import LOCK
from extremum.signatures import MinMax, MinMaxIndices, ValuesIndices, unknown_keyword


def numpy_table() -> object:
    """Return the capsule with NumPy's C functions, for those that the native module's binding lacks."""
    # Its name before NumPy 2 had no underscore.
    multiarray = sys.modules.get("numpy._core.multiarray") or sys.modules["numpy.core.multiarray"]
    capsule: object = multiarray._ARRAY_API
    return capsule


_CLASSES: tuple[Any, ...] = (ArgumentError, ElementTypeError, str, np.dtype)
_NAMED_TUPLES: tuple[type[tuple[Any, ...]], ...] = (MinMax, MinMaxIndices, ValuesIndices)
_BY_NAME: dict[str, Any] = {
    **{each.__name__: each for each in (*_CLASSES, unknown_keyword, numpy_table)},
    # These take the fields as one tuple. Calling the class would run a Python function: a tenth of a small call.
    **{each.__name__: functools.partial(tuple.__new__, each) for each in _NAMED_TUPLES},
}


def find(name: str) -> Any:
    """Return the function or class that the native module calls by this name."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    with LOCK:
        from extremum.arrays import as_output, copy, is_bfloat16
        from extremum.elementwise import broadcast_shape, extremum
        from extremum.indices import axis_error, integers
        from extremum.reductions import beyond, flag, hardmax, index_type, is_apart, wrong_output
        from extremum.selection import top_k

        later = (
            *(as_output, axis_error, beyond, broadcast_shape, copy, extremum, flag, hardmax),
            *(index_type, integers, is_apart, is_bfloat16, top_k, wrong_output),
        )
        return {each.__name__: each for each in later}[name]


_text = _native.register(find)
if _text is not None:
    # The wrong value would otherwise be ignored silently.
    _wrong = f'EXTREMUM_NUM_THREADS="{_text}" is not a number of threads: using {_native.get_num_threads()}'
    warnings.warn(f"{_wrong}; set it to an integer of at least 1", RuntimeWarning, stacklevel=1)
