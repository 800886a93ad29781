"""Files that hold an array, read and written a piece at a time: .npy, Zarr, NetCDF and HDF5."""

from __future__ import annotations

import contextlib
import errno
import math
import mmap
import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError, ExtremumError, InputError, first_line, lacking, required_by
from extremum.graph.load import open_file, require_no_folder
from extremum.large.pieces import Place

Put = Callable[[Place, NDArray[Any]], None]
"""Writes a piece of an array at its place."""

_NETCDF_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Source:
    """An array in a file."""

    # What a format has of these: the variable of the file, and the labels of the array.
    variable: str | None = None
    name: str | None = None
    dims: tuple[Hashable, ...] | None = None
    coords: Mapping[Hashable, Any] = {}
    attrs: Mapping[str, Any] = {}
    zarr_format = 3

    def __init__(self, path: Path, array: Any, granule: Sequence[int] | None = None) -> None:
        self.path = str(path)
        self._array = array
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)
        # The lengths of the file's own pieces, and the axes from the longest stride to the shortest.
        self.granule = tuple(max(1, size) for size in granule) if granule else (1,) * len(self.shape)
        self.order = tuple(range(len(self.shape)))

    def read(self, place: Place) -> NDArray[Any]:
        """Return the elements at a place."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        """Open the file again in a process that sees it under the same name, and has another current folder."""
        return open_source, (str(Path(self.path).absolute()), self.variable)


class _NpySource(Source):
    """A .npy file. It is mapped into memory for each piece, so that what was read goes with the mapping."""

    def __init__(self, path: Path, variable: str | None) -> None:
        with open_file(path) as file:
            read_npy_header(file, os.fstat(file.fileno()).st_size)
        array = np.lib.format.open_memmap(path, "r")
        super().__init__(path, array)
        self.order = self.order[:: 1 if array.flags.c_contiguous else -1]

    def read(self, place: Place) -> NDArray[Any]:
        array = np.lib.format.open_memmap(self.path, "r")
        # Without the dots NumPy returns a scalar for an array of rank 0.
        dots: Any = (*place, ...)
        block = np.asarray(array[dots])
        if hasattr(os, "posix_fadvise") and block.size:
            # The system begins to read each run of bytes. Of shorter ones than a page nearly every page holds some.
            ordered = block.transpose(self.order)
            depth = next(at for at in range(block.ndim + 1) if ordered[(0,) * at].flags.c_contiguous)
            if (size := ordered[(0,) * depth].nbytes) >= mmap.PAGESIZE:
                with open_file(Path(self.path)) as file:
                    for index in np.ndindex(ordered.shape[:depth]):
                        start = array.offset + ordered[index].ctypes.data - array.ctypes.data
                        os.posix_fadvise(file.fileno(), start, size, os.POSIX_FADV_WILLNEED)
        return block


class _ZarrSource(Source):
    """An array of a Zarr store of either format, alone or in a group."""

    def __init__(self, path: Path, variable: str | None) -> None:
        import zarr

        # Raises the error of the system for what is not there or no folder.
        next(path.iterdir(), None)
        array = zarr.open(str(path), mode="r")
        if isinstance(array, zarr.Group):
            names = sorted(array.array_keys())
            self.variable = _choose(path, "array", variable, names, names)
            array = array[self.variable]
        super().__init__(path, array, getattr(array, "shards", None) or array.chunks)
        dims = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
        self.dims = tuple(dims) if dims else None
        self.zarr_format = int(array.metadata.zarr_format)

    def read(self, place: Place) -> NDArray[Any]:
        # Zarr takes a missing chunk for one of zeros, so look for the store first.
        if not Path(self.path).exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
        try:
            return np.asarray(self._array[place])
        except (OSError, RuntimeError, ValueError) as error:
            # The decompressors have no class of their own for damaged chunks.
            where = f"elements {', '.join(f'{each.start}:{each.stop}' for each in place)}"
            raise InputError(f"{self.path!r} is damaged: a chunk cannot be read", given=f"{where}: {error}") from None


class _NetcdfSource(Source):
    """A variable of a NetCDF or HDF5 file, through xarray, which decodes missing and scaled elements."""

    def __init__(self, path: Path, variable: str | None) -> None:
        import xarray as xr

        # The libraries wait for a pipe, and call a file without permission damaged.
        open_file(path).close()
        whole = xr.open_dataset(str(path), cache=False)
        names = sorted(map(str, whole.data_vars))
        self.variable = self.name = _choose(path, "variable", variable, names, whole.variables)
        data = whole[self.variable]
        super().__init__(path, data.variable, data.encoding.get("chunksizes"))
        self.dims, self.coords, self.attrs = tuple(data.dims), dict(data.coords), dict(data.attrs)

    def read(self, place: Place) -> NDArray[Any]:
        try:
            return np.asarray(self._array[place].values)
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError(f"{self.path!r} is damaged: elements cannot be read", given=first_line(error)) from None


_READERS: dict[str, Callable[[Path, str | None], Source]] = {
    ".npy": _NpySource,
    ".zarr": _ZarrSource,
    **dict.fromkeys((".nc", ".nc4", ".cdf", ".h5", ".hdf5", ".he5"), _NetcdfSource),
}


def open_source(name: str, variable: str | None = None) -> Source:
    """Open a file."""
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        require_no_folder(path)
        raise InputError(f"{name!r} has no known format", remedy="use .npy, .zarr, .nc or .h5")
    try:
        return _READERS[suffix](path, variable)
    except ExtremumError:
        raise
    except ModuleNotFoundError as error:
        raise lacking(f"a {suffix} file", error) from None
    except Exception as error:
        # The libraries have no common error for damaged files; the numbers of their own errors are negative.
        if isinstance(error, OSError) and error.filename and (error.errno or 0) > 0:
            raise type(error)(error.errno, error.strerror, name) from None
        given = first_line(error) or type(error).__name__
        raise InputError(f"{name!r} is not a valid {path.suffix} file", given=given) from None


def read_npy_header(file: IO[bytes], size: int) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether the order is Fortran's, and the type of a file of `size` bytes, or raise ValueError."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the format is for structured arrays")
    shape, fortran, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    promised, held = math.prod(shape) * dtype.itemsize, size - file.tell()
    if min((dtype.itemsize, *shape)) < 0 or promised > held:
        raise ValueError(f"its header declares {dtype}{list(shape)}, {promised:,} bytes, but the file holds {held:,}")
    return shape, fortran, dtype


def read_ahead(sources: Sequence[Source], reads: Iterable[Sequence[Place]]) -> Iterator[list[NDArray[Any]]]:
    """Yield the blocks of each list of places, one for each source, while the next ones are read."""

    def read(places: Sequence[Place]) -> list[NDArray[Any]]:
        return [source.read(place) for source, place in zip(sources, places, strict=True)]

    with ThreadPoolExecutor(1) as reader:
        queue = (reader.submit(read, places) for places in reads)
        now = next(queue, None)
        while now is not None:
            blocks = now.result()
            now = next(queue, None)
            yield blocks
            del blocks


def _choose(path: Path, noun: str, variable: str | None, names: list[str], known: Collection[Any]) -> str:
    """Return the variable of a file that is named, or its only one."""
    if variable is None and len(names) == 1:
        return names[0]
    if variable is None or variable not in known:
        reason = f"it has {len(names)} {noun}s" if variable is None else f"it has no {noun} {variable!r}"
        raise ArgumentError(f"'{path}': {reason}", remedy=f"name one with --variable: {', '.join(names)}")
    return variable


@dataclass(frozen=True, slots=True)
class Labels:
    """The name, dimensions, coordinates and attributes of an array; a coordinate is xarray's."""

    name: str
    dims: tuple[str, ...]
    coords: Mapping[Hashable, Any] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source, axes: Sequence[int | None], shape: Sequence[int | None], name: str) -> Labels:
        """Return the labels of a result whose axes are those of a source, or None for a new one.

        Coordinates stay where they are as long as the result; where a length is None, none does.
        """
        known = source.dims or tuple(f"dim_{axis}" for axis in range(len(source.shape)))
        dims = tuple(f"dim_{at}" if axis is None else str(known[axis]) for at, axis in enumerate(axes))
        sizes = dict(zip(dims, shape, strict=True))
        coords = {
            each: coord
            for each, coord in source.coords.items()
            if all(sizes.get(str(dim)) == length for dim, length in coord.sizes.items())
        }
        name = (source.name or name).replace("/", "_")
        # xarray takes a variable with the name of a dimension for a coordinate.
        return cls(f"{name}_" if name in (*coords, *dims) else name, dims, coords, source.attrs)


_LIBRARIES = {".npy": (), ".zarr": ("zarr",), ".nc": ("xarray", "netCDF4")}

FORMATS = tuple(_LIBRARIES)
"""The suffixes that :func:`writing` takes."""


def writing(
    path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], labels: Labels, zarr_format: int
) -> AbstractContextManager[Put]:
    """Create a file for an array, and enter what puts pieces into it."""
    with required_by(f"a {path.suffix} file"):
        for name in _LIBRARIES[path.suffix]:
            import_module(name)
    if path.suffix == ".npy":
        return _write_npy(path, shape, dtype)
    if path.suffix == ".zarr":
        return _write_zarr(path, shape, dtype, 3 if zarr_format == 3 else 2)
    return _write_netcdf(path, shape, dtype, labels)


@contextlib.contextmanager
def _write_npy(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Iterator[Put]:
    try:
        np.lib.format.open_memmap(path, "w+", dtype, shape)
        if hasattr(os, "posix_fallocate"):
            # A mapped file that finds no room later ends the process; here it is an error.
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None

    def put(place: Place, block: NDArray[Any]) -> None:
        # The file does not name the types of ml_dtypes.
        np.lib.format.open_memmap(path, "r+").view(dtype)[place or ...] = block

    yield put


@contextlib.contextmanager
def _write_zarr(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], zarr_format: int) -> Iterator[Put]:
    import zarr

    # Chunks of about 16 MB, whole along the last axes.
    chunks = [max(1, length) for length in shape]
    for axis, length in enumerate(chunks):
        chunks[axis] = max(1, min(length, (16 << 20) // max(math.prod(chunks[axis + 1 :]) * dtype.itemsize, 1)))
        if chunks[axis] > 1:
            break
    try:
        array = zarr.create_array(store=str(path), shape=shape, dtype=dtype, chunks=chunks, zarr_format=zarr_format)
    except (TypeError, ValueError):
        raise ArgumentError(f"Zarr does not store elements of type {dtype}", remedy="name a .npy file") from None
    yield array.__setitem__


@contextlib.contextmanager
def _write_netcdf(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], labels: Labels) -> Iterator[Put]:
    """Write coordinates, whole, through xarray, then the pieces."""
    import netCDF4
    import xarray as xr
    from xarray.backends.netCDF4_ import NETCDF4_PYTHON_LOCK

    if dtype.name not in _NETCDF_TYPES:
        raise ArgumentError(f"NetCDF does not store elements of type {dtype}", remedy="write a .npy or .zarr file")

    def attempt(step: Callable[[], Any], lock: AbstractContextManager[Any] = NETCDF4_PYTHON_LOCK) -> Any:
        # One thread at a time may enter the library, and another thread reads ahead.
        try:
            with lock:
                return step()
        except RuntimeError as error:
            # Of a full disk the library says only that it failed.
            raise OSError(errno.EIO, f"it could not be written: {first_line(error)}", str(path)) from None

    def variable() -> Any:
        for name, length in zip(labels.dims, shape, strict=True):
            if name not in whole.dimensions:
                whole.createDimension(name, length)
        # A dimension of length 0 can grow, and a variable that can grow is in chunks.
        contiguous = math.prod(shape) > 0
        array = whole.createVariable(labels.name, dtype, labels.dims, fill_value=False, contiguous=contiguous)
        array.setncatts(dict(labels.attrs))
        array.set_auto_maskandscale(False)
        return array

    # xarray takes the lock itself.
    coords = xr.Dataset(coords=dict(labels.coords))
    attempt(lambda: coords.to_netcdf(str(path), engine="netcdf4"), contextlib.nullcontext())
    whole = attempt(lambda: netCDF4.Dataset(str(path), "a"))
    try:
        array = attempt(variable)
        yield lambda place, block: attempt(lambda: array.__setitem__(place or ..., block))
    finally:
        attempt(whole.close)
