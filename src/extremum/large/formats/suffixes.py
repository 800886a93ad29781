"""Which format reads and writes a file: its suffix decides."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from extremum.errors import InputError
from extremum.files import require_no_folder
from extremum.large.formats.labels import Labels
from extremum.large.formats.netcdf import NetcdfSource, write_netcdf
from extremum.large.formats.npy import NpySource, write_npy
from extremum.large.formats.source import Put, Source
from extremum.large.formats.zarr import ZarrSource, write_zarr

SUFFIXES = (".npy", ".zarr", ".nc")
"""The suffixes that :func:`writing` takes."""

_READERS: dict[str, type[Source]] = {
    ".npy": NpySource,
    ".zarr": ZarrSource,
    **dict.fromkeys((".nc", ".nc4", ".cdf", ".h5", ".hdf5", ".he5"), NetcdfSource),
}


def open_source(name: str, variable: str | None = None) -> Source:
    """Open a file."""
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        require_no_folder(path)
        raise InputError(f"{name!r} has no known format", remedy="use .npy, .zarr, .nc or .h5")
    return _READERS[suffix].open(path, variable)


def writing(
    path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], labels: Labels, zarr_format: int
) -> AbstractContextManager[Put]:
    """Create a file for an array; the context gives the function that writes pieces."""
    if path.suffix == ".npy":
        return write_npy(path, shape, dtype)
    if path.suffix == ".zarr":
        return write_zarr(path, shape, dtype, 3 if zarr_format == 3 else 2)
    return write_netcdf(path, shape, dtype, labels)
