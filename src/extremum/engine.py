"""What a reduction needs of whoever holds the elements: NumPy and the native module, or another library.

:class:`extremum.reductions.Reduction` decides about policies, masks and defaults. It searches and finishes with an
engine, so that arrays in another memory need another engine and no other rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import _native


class Engine:
    """The functions for arrays of NumPy; another engine is a subclass that has each of them for its own arrays."""

    # Whether the arrays are NumPy's. Pickled engines are other objects.
    of_numpy = True

    # The number of empty slices, and for each end of the order the elements and their indices: see `_native.pyi`.
    reduce = staticmethod(_native.reduce)

    # The values and the indices of the k best: see `_native.pyi`.
    top_k = staticmethod(_native.top_k_plain)

    def is_nan(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return where the elements are NaN, or NaT."""
        # ml_dtypes widens a bfloat16 to test it, and a signalling NaN makes that an invalid operation.
        with np.errstate(invalid="ignore"):
            return np.asarray(np.isnan(values), np.bool_)

    def is_empty(self, indices: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which slices have no element that takes part."""
        return np.asarray(indices == -1)

    def any(self, places: NDArray[np.bool_], axis: int) -> NDArray[np.bool_]:
        """Return which slices have a True."""
        return np.asarray(places.any(axis))

    def first(self, slices: NDArray[np.bool_]) -> tuple[int, ...] | None:
        """Return the place of the first True, None if there is none."""
        if not slices.any():
            return None
        return tuple(map(int, np.argwhere(slices)[0]))

    def fill(self, result: NDArray[Any], slices: NDArray[np.bool_], value: Any) -> None:
        """Write a value into the result for some slices."""
        result[slices] = value

    def filled(self, values: NDArray[Any], slices: NDArray[np.bool_], value: Any) -> NDArray[Any]:
        """Return the values with another value in some places."""
        return np.where(slices, value, values)

    def cast(self, indices: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the indices in the type that the caller wants."""
        return indices.astype(dtype, copy=False)

    # NumPy's arrays have functions of their own for what follows; other engines answer these calls.

    def mask(self, function: str, where: Any, x: Any) -> Any:
        """Return a mask of any library in the shape of an array."""
        raise NotImplementedError

    def ones(self, x: Any, indices: Any, axes: tuple[int, ...]) -> Any:
        """Return an array like `x` with a 1 at the index of each slice, where it is not -1."""
        raise NotImplementedError

    def extremum(
        self, function: str, arrays: list[Any], dtype: np.dtype[Any], nan_policy: str, where: Any
    ) -> Any:
        """Return what ``maximum`` or ``minimum`` answers for arrays, and numbers of NumPy, in a common type."""
        raise NotImplementedError


NATIVE = Engine()
"""NumPy's arrays and the kernels of the native module."""
