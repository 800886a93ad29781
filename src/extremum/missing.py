"""Elements that are not there: masks, nulls and NA of other libraries.

Decides what counts as missing. A plain array has no place for it: the element would be compared as if it were there, or
as NaN, so :mod:`extremum.arrays` refuses it. Libraries are known by their attributes, not by name, so none is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extremum.errors import ArgumentError
from extremum.loading import loaded

__all__ = ["is_numpy_masked", "not_there", "refuse_missing"]

# Sequences of plain numbers, as long as they like: nothing inside them can be missing.
_PLAIN_SEQUENCES = (str, bytes, bytearray, memoryview, range)
_PLAIN_ELEMENTS = (bool, int, float, complex, str, bytes, np.generic)


def is_numpy_masked(cls: type) -> bool:
    """Return whether a class is one of NumPy's masked arrays: none is where nobody has loaded them."""
    masked = loaded("numpy.ma.core", "MaskedArray")
    return masked is not None and issubclass(cls, masked)


def refuse_missing(x: object) -> None:
    """Refuse a value, or a sequence of values, that has elements which are not there."""
    _refuse(x, set())


def _refuse(x: object, seen: set[int]) -> None:
    if type(x) is np.ndarray:
        return
    if isinstance(x, Sequence) and not isinstance(x, _PLAIN_SEQUENCES):
        if id(x) not in seen:  # a list may hold itself
            seen.add(id(x))
            special = {kind for kind in set(map(type, x)) if not issubclass(kind, _PLAIN_ELEMENTS)}
            for item in x if special else ():
                if type(item) in special:
                    _refuse(item, seen)
        return
    for count, word, remedy in (
        (_masked, "masked", "fill or drop them first, as x.filled(value) or x.compressed() does"),
        (_null, "null", "fill or drop them first"),
        (_not_available, "NA", "fill or drop them first"),
    ):
        if number := count(x):
            raise not_there(number, word, given=f"{type(x).__module__}.{type(x).__qualname__}", remedy=remedy)


def not_there(number: int, word: str, *, given: str, remedy: str) -> ArgumentError:
    """Return the error about so many elements that are masked, null or NA."""
    elements = f"{number} {word} element{'s'[: number > 1]}"
    return ArgumentError(
        f"{elements} would be compared as if {'they were' if number > 1 else 'it were'} there",
        given=given,
        remedy=remedy,
    )


def _masked(x: Any) -> int:
    """Count what a mask hides: NumPy's and astropy's hides where it is True, PyTorch's where it is False."""
    if is_numpy_masked(type(getattr(x, "_meta", None))):
        x = x.compute()  # Dask's array would drop the mask as it hands out the elements
    mask = getattr(x, "mask", None)
    if isinstance(mask, np.ndarray | np.bool_) and mask.dtype == np.bool_:
        return int(np.count_nonzero(mask))
    if callable(getattr(x, "get_mask", None)) and callable(getattr(x, "get_data", None)):
        shown = np.asarray(x.get_mask())
        return int(shown.size - np.count_nonzero(shown))
    return 0


def _null(x: Any) -> int:
    """Count Arrow's nulls, in an array or in the columns of a table: PyArrow states them, Polars is asked."""
    columns = getattr(x, "columns", None)
    parts = [x, *columns] if isinstance(columns, list) else [x]
    counts = [getattr(part, "null_count", 0) for part in parts]
    numbers = [np.asarray(count() if callable(count) else count) for count in counts]
    return sum(int(number.sum()) for number in numbers if number.dtype.kind in "iu")


def _not_available(x: Any) -> int:
    """Count what pandas calls NA; in a column of NumPy's own type that is NaN, an element like others."""
    isna = getattr(x, "isna", None)
    if not callable(isna):
        return 0
    dtypes = np.ravel(np.asarray(x.dtypes if hasattr(x, "dtypes") else x.dtype, dtype=object))
    return 0 if all(isinstance(dtype, np.dtype) for dtype in dtypes) else int(np.count_nonzero(np.asarray(isna())))
