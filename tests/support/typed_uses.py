"""Uses of the package that ``make lint`` holds to their types, by mypy and by pyright; a test runs them."""

import sys
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
import xarray as xr
from numpy.typing import NDArray

import extremum as ex
import extremum.dask as ex_dask
import extremum.xarray as ex_xarray
from extremum import MinMax, MinMaxIndices, ValuesIndices

if sys.version_info >= (3, 11):
    from typing import assert_type
else:

    def assert_type(value, kind):
        return value


F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

x: F32 = np.array([[1, 5, 5], [7, 0, 7]], np.float32)
k: NDArray[np.int16] = np.array([[1, 5, 5], [7, 0, 7]], np.int16)
flag = bool(x.any())

# The index: int64 by default, else as the caller says; a scalar where everything is reduced.
assert_type(ex.argmax(x), np.int64)
assert_type(ex.argmax(x, axis=1), I64)
assert_type(ex.argmax(x, axis=np.int64(0)), I64)
assert_type(ex.argmin(x, axis=(0, 1), keepdims=True), I64)
assert_type(ex.argmin(x, axis=[0, 1], keepdims=True), I64)
assert_type(ex.argmin(x, keepdims=True), I64)
assert_type(ex.argmax(x, axis=1, dtype=np.int32), NDArray[np.int32])
assert_type(ex.argmin(x, dtype=np.uint64), np.uint64)
assert_type(ex.argmax(x, axis=1, where=x > 0, default=-1, nan_policy="omit", select_last_index=True), I64)
row: int = int(ex.argmax(x)) // 3
out = np.zeros(2, np.uint32)
assert_type(ex.argmax(x, axis=1, dtype=np.uint32, out=out), np.ndarray[tuple[int], np.dtype[np.uint32]])
ex.argmax([1, 2, 3], dtype="int32")

# The elements: those of the array, with the index on request.
assert_type(ex.top_k(x, 2, mode="smallest"), ex.ValuesIndices[F32, I64])
assert_type(ex.top_k([1, 2], 1, axis=None), ex.ValuesIndices[Any, Any])
assert_type(ex.max(x), np.float32)
assert_type(ex.max(x, axis=1), F32)
assert_type(ex.max(k, axis=[0, 1], keepdims=True), NDArray[np.int16])
assert_type(ex.min(x, return_index=True), ValuesIndices[np.float32, np.int64])
assert_type(ex.min(x, axis=1, return_index=True, nan_policy="omit", default=0), ValuesIndices[F32, I64])
assert_type(ex.max(x, axis=1, return_index=True, index_dtype=np.int32), ValuesIndices[F32, NDArray[np.int32]])
best, where = ex.min(x, axis=1, return_index=True)
assert_type(best, F32)
assert_type(where, I64)
either = ex.max(x, axis=1, return_index=flag)
if isinstance(either, ValuesIndices):
    either.indices.sum()
assert_type(ex.minmax(x), MinMax[np.float32])
assert_type(ex.minmax(x, axis=1), MinMax[F32])
assert_type(ex.minmax(x, axis=1).max, F32)
assert_type(ex.minmax(x, axis=1, return_index=True), MinMaxIndices[F32, I64])
low, high = ex.minmax(x, axis=0)
assert_type(low, F32)

# Python numbers are weak.
assert_type(ex.maximum(x, x), F32)
assert_type(ex.maximum(x, 2.0), F32)
assert_type(ex.maximum(2, x, 3), F32)
assert_type(ex.minimum(k, 2), NDArray[np.int16])
assert_type(ex.minimum(k > 0, k > 1), NDArray[np.bool_])
assert_type(ex.hardmax(x), F32)
assert_type(ex.hardmax(x, axis=[0, 1]), F32)

# Dask's arrays, and xarray's.
from_array: Any = da.from_array
lazy: da.Array = from_array(x, chunks=(1, 2))
assert_type(ex_dask.argmax(lazy, axis=1, split_every=4), da.Array)
assert_type(ex_dask.max(lazy, axis=1), da.Array)
assert_type(ex_dask.max(lazy, axis=1, return_index=True), ValuesIndices[da.Array, da.Array])
assert_type(ex_dask.minmax(lazy), MinMax[da.Array])
assert_type(ex_dask.hardmax(lazy), da.Array)
assert_type(ex_dask.maximum(lazy, 2), da.Array)
assert_type(ex_dask.top_k(lazy, 2, axis=0, mode="smallest", split_every=4), ValuesIndices[da.Array, da.Array])

named = xr.DataArray(x, dims=("day", "hour"), coords={"hour": [6, 12, 18]})
several = xr.Dataset({"t": named})
assert_type(ex_xarray.argmax(named, "hour"), xr.DataArray)
assert_type(ex_xarray.argmax(several, ["hour", "day"], nan_policy="omit"), xr.Dataset)
assert_type(ex_xarray.argmax(named, as_dict=True), dict[Hashable, xr.DataArray])
assert_type(ex_xarray.max(named, "hour"), xr.DataArray)
assert_type(ex_xarray.min(several, return_index=True), ValuesIndices[xr.Dataset, xr.Dataset])
assert_type(ex_xarray.minmax(named), MinMax[xr.DataArray])
assert_type(ex_xarray.minmax(named, "day", return_index=True), MinMaxIndices[xr.DataArray, xr.DataArray])
assert_type(ex_xarray.idxmax(named, "hour"), xr.DataArray)
assert_type(ex_xarray.idxtop_k(named, 2, "hour"), xr.DataArray)
assert_type(ex_xarray.hardmax(several, "hour"), xr.Dataset)
assert_type(ex_xarray.top_k(named, 2, "hour", nan_policy="omit"), ValuesIndices[xr.DataArray, xr.DataArray])
assert_type(ex_xarray.top_k(several, 1, dim="day").indices, xr.Dataset)
assert_type(ex_xarray.maximum(named, 3.5), xr.DataArray)
assert_type(ex_xarray.maximum(named, several), xr.Dataset)

try:
    ex.argmax(x, axis=5)
except ex.errors.AxisError as error:
    reason: str = error.reason

# Type checkers have to find these mistakes: an `ignore` that is not needed is an error.
if TYPE_CHECKING:
    ex.argmax(x, axis=1, nan_policy="skip")  # type: ignore[call-overload]
    ex.argmax(x, dim=1)  # type: ignore[call-overload]
    ex.max(x, keepdims="yes")  # type: ignore[call-overload]
    text: str = ex.argmax(x, axis=1)  # type: ignore[assignment]
    ex_dask.argmax(lazy, split_every="four")  # type: ignore[arg-type]
    ex_xarray.max(named, "hour", skipna=True)  # type: ignore[call-overload]
    anything: Any = ex.maximum(x, x, policy="omit")  # type: ignore[call-overload]
