"""NumPy: np.argmax, np.maximum, and the recipes that its users write where it has no function.

The last of equals is the first of the flipped array; several axes are moved to the end and flattened; Hardmax is a one
put into zeros. NumPy runs these on one thread whatever is set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.matrix import Case
from benchmarks.peers.contender import Prepared

__all__ = ["NumPy", "connect"]


class NumPy:
    """np.argmax and its siblings."""

    name = "numpy"
    version = np.__version__

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared:
        """Choose the function, or the recipe, that gives the case's answer."""
        if case.elementwise:
            pick = np.maximum if case.operator == "max" else np.minimum
            return Prepared(partial(pick, *arrays) if case.operands == 2 else partial(reduce, pick, arrays))
        if case.operator == "hardmax":
            return Prepared(partial(_hardmax, case, arrays[0]))
        return Prepared(_argument(case, arrays[0], np.argmax if case.operator == "argmax" else np.argmin))


def _argument(case: Case, x: NDArray[Any], pick: Callable[..., Any]) -> Callable[[], Any]:
    if case.last:
        return partial(_last, case, x, pick)
    if len(case.reduced) == len(case.shape):
        return partial(pick, x)
    if len(case.reduced) == 1:
        return partial(pick, x, axis=case.reduced[0])
    return lambda: pick(_rows(case, x), axis=-1)


def _last(case: Case, x: NDArray[Any], pick: Callable[..., Any]) -> Any:
    if len(case.reduced) == 1:
        return x.shape[case.reduced[0]] - 1 - pick(np.flip(x, case.reduced[0]), axis=case.reduced[0])
    rows = _rows(case, x)
    return rows.shape[-1] - 1 - pick(rows[..., ::-1], axis=-1)


def _rows(case: Case, x: NDArray[Any]) -> NDArray[Any]:
    return x.transpose(case.kept + case.reduced).reshape(*case.kept_shape, -1)


def _hardmax(case: Case, x: NDArray[Any]) -> NDArray[Any]:
    out = np.zeros_like(x)
    if len(case.reduced) == 1:
        axis = case.reduced[0]
        np.put_along_axis(out, x.argmax(axis=axis, keepdims=True), 1, axis=axis)
        return out
    # Only trailing axes are taken together, so both reshapes are views.
    rows = _rows(case, x)
    np.put_along_axis(out.reshape(rows.shape), rows.argmax(axis=-1, keepdims=True), 1, axis=-1)
    return out


def connect(threads: int) -> NumPy:
    """Return the adapter; there is no thread count to set."""
    return NumPy()
