"""Which format reads and writes a file: its suffix decides, in capital letters too."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

from extremum.errors import DependencyError, InputError
from extremum.files import open_file, require_no_folder
from extremum.large.formats.child import ChildFile
from extremum.large.formats.hdf5 import FilterError, Hdf5File
from extremum.large.formats.labels import Labels
from extremum.large.formats.netcdf import NetcdfFile, write_netcdf
from extremum.large.formats.npy import NpyFile, NpzFile, write_npy
from extremum.large.formats.output import Output
from extremum.large.formats.source import Put, Source
from extremum.large.formats.stored import File
from extremum.large.formats.zarr import ZarrFile, write_zarr

SUFFIXES = (".npy", ".zarr", ".nc")
"""The suffixes that :func:`writing` takes."""

_HDF5 = b"\x89HDF\r\n\x1a\n"
_NETCDF = partial(ChildFile, NetcdfFile)
_H5PY = partial(ChildFile, Hdf5File)

_READERS: dict[str, Callable[[Path], File]] = {
    ".npy": NpyFile,
    ".npz": NpzFile,
    ".zarr": ZarrFile,
    **dict.fromkeys((".nc", ".nc4", ".cdf"), _NETCDF),
    **dict.fromkeys((".h5", ".hdf5", ".he5"), _H5PY),
}


def open_source(name: str, variable: str | None = None) -> Source:
    """Open a file, or a group or an array in a Zarr store."""
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in _READERS and any(each.suffix.lower() == ".zarr" for each in path.parents):
        suffix = ".zarr"
    if suffix not in _READERS:
        require_no_folder(path)
        raise InputError(f"{name!r} has no known format", remedy="use .npy, .npz, .zarr, .nc or .h5")
    reader = _READERS[suffix]
    if reader is _NETCDF and _is_hdf5(path):
        # Some of these files make the NetCDF library crash or take all memory; it has more decompressors than h5py.
        with suppress(DependencyError, FilterError):
            return Source.open(name, _H5PY, variable)
    return Source.open(name, reader, variable)


def writing(
    path: Path, shape: tuple[int, ...], output: Output, labels: Labels
) -> AbstractContextManager[Put]:
    """Create a file for an array; the context gives the function that writes pieces."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return write_npy(path, shape, output)
    if suffix == ".zarr":
        return write_zarr(path, shape, output, labels)
    return write_netcdf(path, shape, output, labels)


def _is_hdf5(path: Path) -> bool:
    """Whether the content of a file is HDF5, which may begin at 0, or at a power of two from 512 on."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        offset = 0
        while offset < size:
            file.seek(offset)
            if file.read(len(_HDF5)) == _HDF5:
                return True
            offset = max(512, 2 * offset)
    return False
