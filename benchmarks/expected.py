"""The right answer of a case, from the small whole numbers behind its inputs, and whether a result is that answer.

NumPy on int8 rows decides, whatever the element type of the case: order and ties are the same in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.inputs import typed
from benchmarks.matrix import Case

__all__ = ["agrees", "answer"]


def answer(case: Case, numbers: Sequence[NDArray[np.int8]]) -> NDArray[Any]:
    """Return what a case must give: an index array, or the numbers behind an elementwise result, or ones and zeros."""
    if case.elementwise:
        return reduce(np.maximum if case.operator == "max" else np.minimum, numbers)
    index = _index(case, numbers[0])
    if case.operator != "hardmax":
        return index.reshape(case.kept_shape)
    rows = np.zeros((index.size, numbers[0].size // index.size), np.int8)
    rows[np.arange(index.size), index] = 1
    moved = rows.reshape(case.kept_shape + tuple(case.shape[axis] for axis in case.reduced))
    return np.ascontiguousarray(moved.transpose(np.argsort(case.kept + case.reduced)))


def _index(case: Case, numbers: NDArray[np.int8]) -> NDArray[np.int64]:
    rows = numbers.transpose(case.kept + case.reduced).reshape(int(np.prod(case.kept_shape)), -1)
    ordered = -rows if case.operator == "argmin" else rows
    if case.last:
        return np.asarray(rows.shape[1] - 1 - ordered[:, ::-1].argmax(axis=1))
    return np.asarray(ordered.argmax(axis=1))


def agrees(case: Case, result: NDArray[Any], right: NDArray[Any]) -> bool:
    """Return whether a contender's result is the right one; the width of an index may be its own."""
    if case.elementwise:
        right = typed(right, case.element_type)
    return bool(np.array_equal(result, right))
