"""Code as a user of the package writes it: held to its types by mypy and by pyright, and run."""

import sys

import numpy as np
from numpy.typing import NDArray

import extremum as ex

if sys.version_info >= (3, 11):
    from typing import assert_type
else:

    def assert_type(value, kind):
        return value


x: NDArray[np.float32] = np.array([[1, 5, 5], [7, 0, 7]], np.float32)

place = ex.argmax(x)
assert_type(place, np.int64)
row: int = int(place) // 3
columns = ex.argmax(x, axis=np.int64(0))
columns.sum()
ex.argmin(x, axis=(0, 1), keepdims=True).reshape(-1)

largest = ex.max(x)
assert_type(largest, np.float32)
rows = ex.max(x, axis=1)
assert_type(rows, NDArray[np.float32])
both = ex.min(x, axis=1, return_index=True, nan_policy="omit", default=0)
best, where = both.values, both.indices
low, high = ex.minmax(x)

assert_type(ex.maximum(x, x), NDArray[np.float32])
ex.maximum(x, 3.5)
assert_type(ex.hardmax(x), NDArray[np.float32])

try:
    ex.argmax(x, axis=5)
except ex.errors.AxisError as error:
    reason: str = error.reason
