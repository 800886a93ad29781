"""Operations on files that are larger than memory, a piece at a time, in this process or on a Dask cluster.

A source is a file that holds an array: .npy, Zarr, NetCDF or HDF5. A job knows the shape and type of its results before
it reads anything, and computes pieces of them from pieces of sources, within a memory limit: half of it is for the
pieces and their results, the other half for libraries and the interpreter. The caller writes the pieces.
"""

from __future__ import annotations

import contextlib
import errno
import math
import mmap
import os
import pickle
import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

import extremum as ex
from extremum import backend
from extremum.elementwise import broadcast_shape
from extremum.errors import (
    ArgumentError,
    ExecutionError,
    ExtremumError,
    InputError,
    MemoryLimitError,
    ModelError,
    first_line,
    required_by,
)
from extremum.graph.load import open_file, require_no_folder
from extremum.graph.types import declared_inputs
from extremum.interop import Operand
from extremum.partials import Pieces, Place, TopK, places
from extremum.reductions import ENDS, Reduction, Selection, ones

Put = Callable[[Place, NDArray[Any]], None]
"""Writes a piece of an array at its place."""

Ints = Sequence[int]

FORMATS = (".npy", ".zarr", ".nc")
"""The suffixes that :func:`writing` takes."""

_NETCDF_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Source:
    """An array in a file."""

    # The variable of the file and the labels of the array, as far as the format has them.
    variable: str | None = None
    name: str | None = None
    dims: tuple[Hashable, ...] | None = None
    coords: Mapping[Hashable, Any] = {}
    attrs: Mapping[str, Any] = {}
    zarr_format = 3

    def __init__(self, path: Path, array: Any, granule: Ints | None = None) -> None:
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
        """Open the file again in another process, which sees it under the same name but has another current folder."""
        return open_source, (str(Path(self.path).absolute()), self.variable)


class _NpySource(Source):
    """A .npy file. Each piece maps the file into memory again, so that the end of the mapping frees what was read."""

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
            # The system begins to read each run of bytes. Skip runs shorter than a page: nearly every page holds some.
            view = block.transpose(self.order)
            depth = next(at for at in range(block.ndim + 1) if view[(0,) * at].flags.c_contiguous)
            if (size := view[(0,) * depth].nbytes) >= mmap.PAGESIZE:
                with open_file(Path(self.path)) as file:
                    for index in np.ndindex(view.shape[:depth]):
                        start = array.offset + view[index].ctypes.data - array.ctypes.data
                        os.posix_fadvise(file.fileno(), start, size, os.POSIX_FADV_WILLNEED)
        return block


class _ZarrSource(Source):
    """An array of a Zarr store of either format, alone or in a group."""

    def __init__(self, path: Path, variable: str | None) -> None:
        import zarr

        # Raises the system's error if the path does not exist or is not a folder.
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
        # Zarr reads a missing chunk as zeros, so look for the store first.
        if not Path(self.path).exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
        try:
            return np.asarray(self._array[place])
        except (OSError, RuntimeError, ValueError) as error:
            # The decompressors have no exception class of their own for damaged chunks.
            where = f"elements {', '.join(f'{each.start}:{each.stop}' for each in place)}"
            raise InputError(f"{self.path!r} is damaged: a chunk cannot be read", given=f"{where}: {error}") from None


class _NetcdfSource(Source):
    """A variable of a NetCDF or HDF5 file, through xarray, which decodes missing and scaled elements."""

    def __init__(self, path: Path, variable: str | None) -> None:
        import xarray as xr

        # The libraries would wait for a pipe, and report a file without permission as damaged.
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
        with required_by(f"a {suffix} file"):
            return _READERS[suffix](path, variable)
    except (ExtremumError, ModuleNotFoundError):
        raise
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
    total, rest = math.prod(shape) * dtype.itemsize, size - file.tell()
    if min((dtype.itemsize, *shape)) < 0 or total > rest:
        raise ValueError(f"its header declares {dtype}{list(shape)}, {total:,} bytes, but the file holds {rest:,}")
    return shape, fortran, dtype


def _choose(path: Path, noun: str, variable: str | None, names: list[str], choices: Collection[Any]) -> str:
    """Return the named variable of a file, or its only variable."""
    if variable is None and len(names) == 1:
        return names[0]
    if variable is None or variable not in choices:
        reason = f"it has {len(names)} {noun}s" if variable is None else f"it has no {noun} {variable!r}"
        raise ArgumentError(f"'{path}': {reason}", remedy=f"name one with --variable: {', '.join(names)}")
    return variable


@dataclass(frozen=True, slots=True)
class Labels:
    """The name, dimensions, coordinates and attributes of an array; a coordinate is xarray's."""

    name: str
    dims: tuple[str, ...]
    coords: Mapping[Hashable, Any]
    attrs: Mapping[str, Any]

    @classmethod
    def of(cls, source: Source, axes: Sequence[int | None], shape: Sequence[int | None], name: str) -> Labels:
        """Return the labels of a result whose axes are axes of a source, or None for a new axis.

        A coordinate stays if it has the length of the result; if the length is None, it does not stay.
        """
        names = source.dims or tuple(f"dim_{axis}" for axis in range(len(source.shape)))
        dims = tuple(f"dim_{at}" if axis is None else str(names[axis]) for at, axis in enumerate(axes))
        sizes = dict(zip(dims, shape, strict=True))
        coords = {
            each: coord
            for each, coord in source.coords.items()
            if all(sizes.get(str(dim)) == length for dim, length in coord.sizes.items())
        }
        name = (source.name or name).replace("/", "_")
        # xarray treats a variable with the name of a dimension as a coordinate.
        return cls(f"{name}_" if name in (*coords, *dims) else name, dims, coords, source.attrs)


def writing(
    path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], labels: Labels, zarr_format: int
) -> AbstractContextManager[Put]:
    """Create a file for an array; the context gives the function that writes pieces."""
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
            # A full disk would later end the process that maps the file; here it raises an error.
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None

    def put(place: Place, block: NDArray[Any]) -> None:
        # The file cannot name the types of ml_dtypes.
        np.lib.format.open_memmap(path, "r+").view(dtype)[place or ...] = block

    yield put


@contextlib.contextmanager
def _write_zarr(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], zarr_format: int) -> Iterator[Put]:
    with required_by("a .zarr file"):
        import zarr

    # Chunks of about 16 MB, whole along the last axes.
    chunks = [max(1, length) for length in shape]
    for axis, length in enumerate(chunks):
        chunks[axis] = max(1, min(length, (16 << 20) // max(math.prod(chunks[axis + 1 :]) * dtype.itemsize, 1)))
        if chunks[axis] > 1:
            break
    try:
        array = zarr.create_array(store=str(path), shape=shape, dtype=dtype, chunks=chunks, zarr_format=zarr_format)
    except (KeyError, TypeError, ValueError):
        raise ArgumentError(f"Zarr does not store elements of type {dtype}", remedy="name a .npy file") from None
    yield array.__setitem__


@contextlib.contextmanager
def _write_netcdf(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], labels: Labels) -> Iterator[Put]:
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


ENOUGH = 64 << 20
"""Size of a piece in bytes; larger pieces are no faster."""

RUN = 64 << 10
"""Length of a run of bytes; longer runs are read no faster."""

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_size(text: str) -> int:
    """Return the bytes that a text like ``512MB`` or ``2GiB`` means."""
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]?)(I)?B?", text.strip().upper())
    if match is None:
        raise ArgumentError(f"{text!r} is not a memory size", remedy="write for example 512MB or 2GiB")
    size = int(float(match[1]) * (1024 if match[3] else 1000) ** _UNITS[match[2]])
    if size < 1_000_000:
        raise MemoryLimitError(f"{text} is too little memory", remedy="give 1MB or more")
    return size


def lengths(
    shape: Ints, granule: Ints, order: Ints, cost: Callable[[Ints], int], limit: int, reduced: Ints = (), run: int = 1
) -> tuple[int, ...]:
    """Return the lengths of a piece that costs at most `limit`, and not much more than `ENOUGH`.

    A piece holds whole granules, the pieces of the file itself. The axes are cut in `order`, from the longest
    stride in the file to the shortest. First come the axes that stay, while `run` elements lie in a row, because parts
    along a `reduced` axis have to be merged; then the reduced axes; then again the axes that stay, as far as needed.
    """
    smallest = [min(piece, length) for piece, length in zip(granule, shape, strict=True)]
    if (least := cost(smallest)) > limit:
        piece = " x ".join(map(str, smallest))
        given = f"a limit of {limit:,} bytes; {piece} elements and their results take {least:,}"
        remedy = "raise --memory, or write the file in smaller chunks"
        raise MemoryLimitError("one piece of the file does not fit the memory limit", given=given, remedy=remedy)
    budget = min(limit, max(ENOUGH, least))
    sizes = list(shape)
    outer = [axis for axis in order if axis not in reduced]
    cuts = [(axis, run) for axis in outer]
    cuts += [(axis, 1) for axis in (*(each for each in order if each in reduced), *outer)]
    for axis, together in cuts:
        if cost(sizes) <= budget:
            break
        at = order.index(axis)
        # If all earlier axes have length 1, any cut leaves the elements in a row.
        apart = any(sizes[each] > 1 for each in order[:at])
        rest = math.prod(shape[each] for each in order[at + 1 :])
        least_here = -(-together // max(rest, 1)) if apart else 1
        fitting, too_many = -(-least_here // max(smallest[axis], 1)), -(-sizes[axis] // max(smallest[axis], 1))
        while fitting + 1 < too_many:
            middle = (fitting + too_many) // 2
            sizes[axis] = middle * smallest[axis]
            fitting, too_many = (middle, too_many) if cost(sizes) <= budget else (fitting, middle)
        sizes[axis] = min(shape[axis], fitting * smallest[axis])
    return tuple(sizes)


_WITHIN = 8
"""The memory that a model usually needs, as a multiple of its input."""

_PATIENCE = 3
"""Seconds to connect to a scheduler; its answer may take one more."""

_ADDRESS = re.compile(r"((tcp|tls)://)?(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):\d{1,5}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A place of the results, and the reads that complete it: each read has a place of every source."""

    place: Place
    reads: tuple[tuple[Place, ...], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """The number of bytes read and, when a place is complete, the piece of each result there."""

    read: int
    place: Place | None = None
    blocks: tuple[NDArray[Any], ...] = ()


class Job:
    """Computes one result, or several of one shape, from sources, in whole pieces that fit a memory limit."""

    sources: Sequence[Source]
    shape: tuple[int, ...]
    dtypes: tuple[np.dtype[Any], ...]
    labels: Labels
    pieces: Sequence[Piece]

    def blocks(self, read: tuple[Place, ...]) -> list[NDArray[Any]]:
        """Read a piece of each source."""
        return [source.read(place) for source, place in zip(self.sources, read, strict=True)]

    def read(self, read: tuple[Place, ...]) -> Any:
        """Read a piece and return its part."""
        return self.part(read, self.blocks(read))

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        """Return the part that one read of a piece makes."""
        raise NotImplementedError

    def merge(self, parts: Sequence[Any]) -> Any:
        """Return the part that several parts of a piece make together."""
        raise NotImplementedError

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, tuple[NDArray[Any], ...]]]:
        """Yield places of the results with the blocks there, from the part of a whole piece."""
        yield piece.place, (part,)

    def __getstate__(self) -> dict[str, Any]:
        """Return only the attributes that compute parts: the rest stays in this process."""
        return {name: value for name, value in vars(self).items() if name not in ("labels", "pieces")}


class _Reduction(Job):
    """argmax, argmin, max, min, minmax and top_k."""

    # Additional bytes for each element of the source while a piece is computed.
    extra = 0

    def __init__(self, source: Source, call: Pieces, memory: int) -> None:
        rank, axes = range(len(source.shape)), call.axes
        self.sources, self.dtypes = (source,), call.types
        self.shape = call.along(source.shape, call.length)
        # The labels of a reduced axis do not fit several elements: each slice has its own order.
        fit = call.along(source.shape, call.length if call.length < 2 else None)
        self.labels = Labels.of(source, call.result_axes, fit, call.call.function)

        def cost(sizes: Ints) -> int:
            state = math.prod(size for axis, size in enumerate(sizes) if axis not in axes) * call.length
            # One piece is read while another is reduced; to sort candidates takes more memory.
            parts = (4 if call.length < 2 else 8) * state * (source.dtype.itemsize + 8)
            return math.prod(sizes) * (2 * source.dtype.itemsize + self.extra) + parts

        run = -(-RUN // source.dtype.itemsize) if math.prod(source.granule) == 1 else 1
        # A piece has no fewer elements than its part, so that parts take no more work than elements.
        granule, least = list(source.granule), call.length
        for axis in reversed([axis for axis in source.order if axis in axes]):
            granule[axis] *= -(-least // granule[axis]) or 1
            least = -(-least // max(source.shape[axis], 1))
        sizes = lengths(source.shape, granule, source.order, cost, memory // 2, reduced=axes, run=run)
        self._call = call.cut([-(-n // max(size, 1)) for n, size in zip(source.shape, sizes, strict=True)])
        outer = [1 if axis in axes else source.shape[axis] for axis in rank]
        inner = [source.shape[axis] if axis in axes else 1 for axis in rank]
        steps = list(places(inner, list(map(min, sizes, inner))))

        def read(place: Place, step: Place) -> tuple[Place]:
            return (tuple(step[axis] if axis in axes else place[axis] for axis in rank),)

        self.pieces = [Piece(place, tuple(read(place, step) for step in steps)) for place in places(outer, sizes)]

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        (place,), (block,) = read, blocks
        return self._call.part(Operand(block), tuple(each.start for each in place))

    def merge(self, parts: Sequence[Any]) -> Any:
        return self._call.merge(parts)

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, tuple[NDArray[Any], ...]]]:
        results = self._call.finish([part], self._call.along([each.start for each in piece.place], 0))
        yield self._call.along(piece.place, slice(0, self._call.length)), tuple(map(np.asarray, results))


class _Hardmax(_Reduction):
    """hardmax: first the indices of each place, then the ones, without reading anything again."""

    def __init__(self, source: Source, call: Pieces, memory: int) -> None:
        dtype = np.dtype(np.int64) if call.dtype.kind in "mM" else call.dtype.newbyteorder("=")
        self.extra, self._memory = dtype.itemsize, memory
        super().__init__(source, call, memory)
        self.shape, self.dtypes = source.shape, (dtype,)
        self.labels = Labels.of(source, call.result_axes, self.shape, call.call.function)

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, tuple[NDArray[Any], ...]]]:
        indices, axes = np.asarray(part[0][1]), self._call.axes
        base = [0 if axis in axes else each.start for axis, each in enumerate(piece.place)]
        whole = [self.shape[axis] if axis in axes else each.stop - each.start for axis, each in enumerate(piece.place)]
        sizes = lengths(whole, (1,) * len(whole), range(len(whole)), lambda s: 12 * math.prod(s), self._memory // 2)
        for place in places(whole, sizes):
            own = indices[tuple(slice(None) if axis in axes else each for axis, each in enumerate(place))]
            start = tuple(each.start if axis in axes else 0 for axis, each in enumerate(place))
            block = ones(own, axes, self.shape, start, tuple(each.stop - each.start for each in place), *self.dtypes)
            yield tuple(slice(b + each.start, b + each.stop) for b, each in zip(base, place, strict=True)), (block,)


class _Elementwise(Job):
    """maximum and minimum."""

    def __init__(self, function: str, sources: Sequence[Source], nan_policy: Any, memory: int) -> None:
        self.sources = sources
        self._compare = partial(getattr(ex, function), nan_policy=nan_policy)
        self.dtypes = (self._compare(*(np.ones((1,) * len(each.shape), each.dtype) for each in sources)).dtype,)
        self.shape = broadcast_shape(function, [each.shape for each in sources])
        # The operand with the largest granules decides how all operands are cut.
        whole = [each for each in sources if each.shape == self.shape]
        coarsest = max(whole, key=lambda each: math.prod(each.granule), default=None)
        rank = len(self.shape)
        granule, order = (coarsest.granule, coarsest.order) if coarsest else ((1,) * rank, tuple(range(rank)))
        element = 2 * sum(each.dtype.itemsize for each in sources) + 2 * self.dtypes[0].itemsize
        sizes = lengths(self.shape, granule, order, lambda s: math.prod(s) * element, memory // 2)

        def of_operand(shape: tuple[int, ...], place: Place) -> Place:
            own = place[len(place) - len(shape) :]
            return tuple(slice(0, 1) if length == 1 else each for length, each in zip(shape, own, strict=True))

        self.pieces = [
            Piece(place, (tuple(of_operand(each.shape, place) for each in sources),))
            for place in places(self.shape, sizes)
        ]
        source = (whole or sources)[0]
        axes = [*[None] * (rank - len(source.shape)), *range(len(source.shape))]
        self.labels = Labels.of(source, axes, self.shape, function)

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        return np.asarray(self._compare(*blocks))


class _Session:
    """A model, prepared here and once in each process that receives it, where it uses one thread."""

    def __init__(self, model: Any, threads: int | None = None) -> None:
        self._source, self.model = model, backend.prepare(model, threads=threads)

    def __reduce__(self) -> tuple[Any, ...]:
        from extremum.dask import as_it_travels

        return _Session, (as_it_travels(self._source, self.model), 1)


class _ModelRun(Job):
    """One output of a model that takes the entries of an array along an axis, in batches."""

    def __init__(self, model: str, source: Source, axis: Any, output: str | None, memory: int) -> None:
        if not isinstance(axis, int):
            raise ArgumentError("a model takes its entries along one axis", remedy="give one --axis or --dim")
        rank = len(source.shape)
        if not -rank <= axis < rank:
            raise ArgumentError(f"axis {axis} is out of range for an array with {rank} dimensions")
        self.sources, self._session = (source,), _Session(model)
        axis = self._axis = axis % rank
        declared = declared_inputs(self._session.model.loaded.proto)[0].shape
        own = declared[axis] if declared is not None and len(declared) == rank else None
        self._batch = own if isinstance(own, int) else None
        count = source.shape[axis]
        batch = self._batch or max(count, 1)
        batches = [min(batch, count - at) for at in range(0, count, batch)]
        outputs = backend.batch_outputs(self._session.model, source, axis, batches, output)
        if len(outputs) != 1:
            names = ", ".join(each.name for each in outputs)
            raise ModelError(f"the model has {len(outputs)} outputs", remedy=f"name one with --output-name: {names}")
        self._output = result = outputs[0]
        self.dtypes = (result.dtype,)
        if result.dtype.hasobject:
            reason = f"output {result.name!r} is text, and a large file needs elements of a known size"
            remedy = "choose an output of numbers with --output-name, or write the text with extremum run"
            raise ArgumentError(reason, remedy=remedy)
        self.shape = tuple(count if each == result.batch else length for each, length in enumerate(result.shape))
        # Of the source's labels, only those of the dimension of the entries stay.
        axes = [axis if each == result.batch else None for each in range(len(self.shape))]
        labels = Labels.of(source, axes, self.shape, result.name)
        self.labels = replace(labels, name=result.name.replace("/", "_"), attrs={})
        granule = list(source.shape)
        granule[axis] = self._batch or source.granule[axis]
        entry = source.dtype.itemsize * _WITHIN
        sizes = lengths(source.shape, granule, [axis], lambda s: math.prod(s) * entry, memory // 2)
        whole = [slice(0, length) for length in self.shape]
        before, after = tuple(whole[: result.batch]), tuple(whole[result.batch + 1 :])
        self.pieces = [Piece((*before, place[axis], *after), ((place,),)) for place in places(source.shape, sizes)]

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        (block,) = blocks
        count = block.shape[self._axis]
        step = self._batch or max(count, 1)
        cuts = [block[(slice(None),) * self._axis + (slice(at, at + step),)] for at in range(0, count, step)]
        results = [np.asarray(self._session.model.run([cut])[self._output.number]) for cut in cuts]
        return np.concatenate(results, self._output.batch) if results[1:] else results[0]


ELEMENTWISE = ("maximum", "minimum")


def planned(operation: str, sources: Sequence[Source], axis: Any, memory: int = sys.maxsize, **options: Any) -> Job:
    """Return the job for a function or for a model file; refuse contradictory options."""
    nan_policy = options.get("nan_policy", "propagate")
    if operation in ELEMENTWISE:
        return _Elementwise(operation, sources, nan_policy, memory)
    if len(sources) > 1:
        raise ArgumentError(f"{operation} takes one input", given=", ".join(each.path for each in sources))
    if operation == "top_k":
        if options.get("k") is None:
            raise ArgumentError("top_k selects a number of elements", remedy="give one --k")
        selection = Selection.of(sources[0], options["k"], axis, options.get("mode", "largest"), True, nan_policy)
        return _Reduction(sources[0], TopK.of(selection, sources[0].shape, sources[0].dtype), memory)
    if operation not in ENDS:
        if not Path(operation).suffix and not Path(operation).exists():
            remedy = "use argmax, argmin, max, min, minmax, hardmax, maximum, minimum, top_k or the file of a model"
            raise ArgumentError(f"there is no operation {operation!r}", remedy=remedy)
        return _ModelRun(operation, sources[0], 0 if axis is None else axis, options["output_name"], memory)
    is_hardmax, values, largest = operation == "hardmax", operation in ("max", "min", "minmax"), ENDS[operation]
    keepdims, default = options.get("keepdims", False) or is_hardmax, -1 if is_hardmax else options.get("default")
    call = Reduction(operation, largest, axis, keepdims, options.get("last", False), nan_policy)
    index = np.dtype(options.get("dtype", np.int64)) if not values or options.get("index") else None
    pieces = Pieces.plan(call, sources[0].shape, sources[0].dtype, values=values, index=index, default=default)
    return (_Hardmax if is_hardmax else _Reduction)(sources[0], pieces, memory)


def steps(job: Job) -> Iterator[Step]:
    """Do the work in this process, in the order of the pieces; while one is computed, the next is read."""
    part: Any = None
    with ThreadPoolExecutor(1) as reader:
        tasks = ((piece, read, reader.submit(job.blocks, read)) for piece in job.pieces for read in piece.reads)
        following = next(tasks, None)
        while following is not None:
            piece, read, task = following
            blocks = task.result()
            following = next(tasks, None)
            next_part = job.part(read, blocks)
            part = next_part if read is piece.reads[0] else job.merge([part, next_part])
            yield Step(sum(each.nbytes for each in blocks))
            if read is piece.reads[-1]:
                yield from (Step(0, *each) for each in job.results(piece, part))


async def _identity(address: str) -> dict[str, Any]:
    """Ask a scheduler for its identity; a client would retry if there were no scheduler."""
    import asyncio

    from distributed.core import rpc
    from distributed.security import Security

    try:
        options = Security().get_connection_args("client")
        async with rpc(address, timeout=_PATIENCE, connection_args=options) as scheduler:
            identity: dict[str, Any] = await asyncio.wait_for(scheduler.identity(), _PATIENCE + 1)
        if identity["type"] != "Scheduler":
            raise ValueError(f"a {identity['type']} does")
        return identity
    except Exception as error:
        # A server of another kind may answer anything.
        given = first_line(error) or f"no answer within {_PATIENCE + 1} seconds"
        reason = f"no scheduler answers at {address}"
        raise InputError(reason, given=given, remedy="start one with: dask scheduler") from None


def steps_on(address: str, job: Job) -> Iterator[Step]:
    """Have the workers of a scheduler do the work; refuse one that does not answer or has no workers.

    The workers read the files. Finished pieces of the results arrive here in any order.
    """
    import asyncio

    from distributed import Client, as_completed
    from distributed.scheduler import KilledWorker

    if _ADDRESS.fullmatch(address) is None:
        raise InputError(f"{address!r} is no address of a scheduler", remedy="write tcp://HOST:PORT")
    if not asyncio.run(_identity(address))["workers"]:
        raise InputError(f"the scheduler at {address} has no workers", remedy="start some: dask worker ADDRESS")
    with Client(address, set_as_default=False) as client:
        send = partial(client.submit, pure=False)
        # Send the job as a task, which Dask can repeat: each worker opens the files and prepares the model once.
        here = send(pickle.loads, pickle.dumps(job))
        futures = {}
        for piece in job.pieces:
            parts = [send(_do, here, "read", read) for read in piece.reads]
            futures[send(_do, here, "merge", parts) if parts[1:] else parts[0]] = piece
        try:
            for future in as_completed(list(futures)):
                piece, part = futures.pop(future), future.result()
                future.release()
                reads = [pair for read in piece.reads for pair in zip(job.sources, read, strict=True)]
                yield Step(sum(math.prod(each.stop - each.start for each in at) * x.dtype.itemsize for x, at in reads))
                yield from (Step(0, *each) for each in job.results(piece, part))
        except KilledWorker as error:
            raise ExecutionError("workers die of the work they are given", given=first_line(error)) from None
        except ExtremumError:
            raise
        except OSError as error:
            raise ExecutionError("a worker could not read or send what it was asked for", given=str(error)) from None


def _do(job: Job, step: str, *arguments: Any) -> Any:
    """Do a step of a job with a task's share of the processors."""
    from extremum.dask import share

    with share():
        return getattr(job, step)(*arguments)
