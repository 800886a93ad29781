"""NetCDF and HDF5 files, through xarray and the NetCDF library."""

from __future__ import annotations

import contextlib
import errno
import math
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError, InputError, first_line, required_by
from extremum.files import open_file
from extremum.large.formats.labels import Labels
from extremum.large.formats.source import Put, Source, choose
from extremum.partials import Place

_NETCDF_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")


class NetcdfSource(Source):
    """A variable of a NetCDF or HDF5 file, through xarray, which decodes missing and scaled elements."""

    def __init__(self, path: Path, variable: str | None) -> None:
        import xarray as xr

        # The libraries would wait for a pipe, and report a file without permission as damaged.
        open_file(path).close()
        whole = xr.open_dataset(str(path), cache=False)
        names = sorted(map(str, whole.data_vars))
        self.variable = self.name = choose(path, "variable", variable, names, whole.variables)
        data = whole[self.variable]
        super().__init__(path, data.variable, data.encoding.get("chunksizes"))
        self.dims, self.coords, self.attrs = tuple(data.dims), dict(data.coords), dict(data.attrs)

    def read(self, place: Place) -> NDArray[Any]:
        """Return the elements at a place."""
        try:
            return np.asarray(self._array[place].values)
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError(f"{self.path!r} is damaged: elements cannot be read", given=first_line(error)) from None


@contextlib.contextmanager
def write_netcdf(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], labels: Labels) -> Iterator[Put]:
    """Write the whole coordinates through xarray, then the pieces."""
    with required_by("a .nc file"):
        import netCDF4
        import xarray as xr
        from xarray.backends.netCDF4_ import NETCDF4_PYTHON_LOCK

    if dtype.name not in _NETCDF_TYPES:
        raise ArgumentError(f"NetCDF does not store elements of type {dtype}", remedy="write a .npy or .zarr file")

    @contextlib.contextmanager
    def attempt(lock: AbstractContextManager[Any] = NETCDF4_PYTHON_LOCK) -> Iterator[None]:
        # One thread at a time may enter the library, and another thread reads ahead.
        try:
            with lock:
                yield
        except RuntimeError as error:
            # For a full disk the library says only that it failed.
            raise OSError(errno.EIO, f"it could not be written: {first_line(error)}", str(path)) from None

    # xarray takes the lock itself.
    with attempt(contextlib.nullcontext()):
        xr.Dataset(coords=dict(labels.coords)).to_netcdf(str(path), engine="netcdf4")
    with attempt():
        whole = netCDF4.Dataset(str(path), "a")
    try:
        with attempt():
            for name, length in zip(labels.dims, shape, strict=True):
                if name not in whole.dimensions:
                    whole.createDimension(name, length)
            # A dimension of length 0 can grow, and a variable that can grow has to be in chunks.
            contiguous = math.prod(shape) > 0
            array = whole.createVariable(labels.name, dtype, labels.dims, fill_value=False, contiguous=contiguous)
            array.setncatts(dict(labels.attrs))
            array.set_auto_maskandscale(False)

        def put(place: Place, block: NDArray[Any]) -> None:
            with attempt():
                array[place or ...] = block

        yield put
    finally:
        with attempt():
            whole.close()
