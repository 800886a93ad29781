"""A NetCDF file that a result is written to, a piece at a time.

Decides what becomes of labels: xarray writes coordinates, whole, and the pieces follow. The library may be entered by
one thread at a time, and what is read ahead is read by another: both take xarray's lock.
"""

from __future__ import annotations

import errno
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO

import netCDF4
import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.backends.netCDF4_ import NETCDF4_PYTHON_LOCK as LOCK

from extremum.errors import ArgumentError, first_line
from extremum.large.labels import Labels

__all__ = ["write_netcdf"]

_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")


def write_netcdf(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    labels: Labels,
    work: Callable[[Callable[[tuple[slice, ...], NDArray[Any]], None]], None],
    file: BinaryIO,
) -> None:
    """Have the pieces of a result put into a file, which is open and empty."""
    if dtype.name not in _TYPES:
        raise ArgumentError(f"NetCDF does not store elements of type {dtype}", remedy="write a .npy or .zarr file")

    def put(place: tuple[slice, ...], block: NDArray[Any]) -> None:
        _attempt(lambda: variable.__setitem__(place or ..., block))

    # It takes the lock itself.
    _attempt(lambda: xr.Dataset(coords=dict(labels.coords)).to_netcdf(file.name, engine="netcdf4"), nullcontext())
    whole = _attempt(lambda: netCDF4.Dataset(file.name, "a"))
    try:
        variable = _attempt(lambda: _variable(whole, shape, dtype, labels))
        work(put)
    finally:
        _attempt(whole.close)


def _attempt(step: Callable[[], Any], lock: AbstractContextManager[Any] = LOCK) -> Any:
    try:
        with lock:
            return step()
    except RuntimeError as error:
        # What the library says of a disk that is full is no more than that it failed.
        raise OSError(errno.EIO, f"it could not be written: {first_line(error)}") from None


def _variable(whole: Any, shape: tuple[int, ...], dtype: np.dtype[Any], labels: Labels) -> Any:
    for name, length in zip(labels.dims, shape, strict=True):
        if name not in whole.dimensions:
            whole.createDimension(name, length)
    # A dimension of length 0 is one that grows, and what grows is in chunks.
    variable = whole.createVariable(labels.name, dtype, labels.dims, fill_value=False, contiguous=math.prod(shape) > 0)
    variable.setncatts(dict(labels.attrs))
    variable.set_auto_maskandscale(False)
    return variable
