"""Files for the tests of `extremum apply`, in a folder of their own, and a function that calls the command."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from commands import printed

with warnings.catch_warnings():
    # A netCDF4 that was built for a later NumPy warns.
    warnings.simplefilter("ignore")
    import netCDF4  # noqa: F401

TWO_OUTPUTS = (
    '<ir_version: 8, opset_import: ["" : 13]> g (float[n, 6] x) => (int64[n, 1] y, float[n, 6] z, int64[1, 6] all) '
    "{ y = ArgMax<axis=1>(x) z = Neg(x) all = ArgMax<axis=0>(x) }"
)


def apply(*words):
    """The output of the command, which must succeed."""
    return printed("apply", *words)


def sample(shape=(20, 30, 7), dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, shape).astype(dtype)
    if x.dtype.kind == "f":
        x[rng.random(shape) < 0.05] = np.nan
        x[rng.random(shape) < 0.2] = -0.0
    return x


def save(x, form):
    """Write an array in some form and return the words that name it."""
    if form in ("C", "F"):
        np.save("x.npy", np.asarray(x, order=form))
        return ["x.npy"]
    if form == "netcdf":
        names = [f"d{axis}" for axis in range(x.ndim)]
        whole = xr.Dataset({"t": (names, x), "other": (names[:1], np.zeros(x.shape[:1]))})
        whole.to_netcdf("x.nc", engine="netcdf4", encoding={"t": {"chunksizes": (4, 11, 7)[: x.ndim]}})
        return ["x.nc", "--variable", "t"]
    zarr = pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    array = zarr.create_array(
        store="x.zarr", shape=x.shape, chunks=(6, 11, 3)[: x.ndim], dtype=x.dtype, zarr_format=int(form[-1])
    )
    array[...] = x
    return ["x.zarr"]


def save_dataset(data, path):
    """Write a dataset in the format of a path, which ends with .2.zarr or .3.zarr for a store."""
    if path.endswith(".zarr"):
        pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
        data.to_zarr(path, zarr_format=int(path[-6]), consolidated=False)
    else:
        data.to_netcdf(path, engine="netcdf4")


def left():
    return sorted(path.name for path in Path().iterdir())
