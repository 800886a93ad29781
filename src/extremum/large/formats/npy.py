"""Files of NumPy: .npy, and the entries of .npz."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from extremum.errors import InputError
from extremum.files import open_file
from extremum.large.formats.output import Output
from extremum.large.formats.source import Put
from extremum.large.formats.stored import Description, choose
from extremum.large.parameters import ParameterError
from extremum.partials import Place

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_npy_header(file: IO[bytes], size: int) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether the order is Fortran's, and the type of a file of `size` bytes, or raise ValueError."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the format is for structured arrays")
    shape, fortran, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    total = math.prod(shape) * dtype.itemsize
    rest = size - file.tell()
    if min((dtype.itemsize, *shape)) < 0 or total > rest:
        raise ValueError(
            f"its header declares {dtype}{list(shape)}, {total:,} bytes, but the file holds {rest:,}"
        )
    return shape, fortran, dtype


class NpyFile:
    """A .npy file. Each piece maps the file into memory again, so that the end of the mapping frees what was read."""

    copies = 1

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as file:
            # The file, or an entry of it, goes to the end.
            size = os.fstat(file.fileno()).st_size
            self._shape, self._fortran, self._dtype = read_npy_header(file, size)
            self._offset = file.tell()

    def describe(self, variable: str | None) -> Description:
        """Describe the array of this name, or the only array."""
        axes = tuple(range(len(self._shape)))
        return Description(self._shape, self._dtype, order=axes[::-1] if self._fortran else axes)

    def read(self, path: str | None, place: Place) -> NDArray[Any]:
        """Return the elements of an array at a place."""
        with self._open() as file:
            if math.prod(self._shape) == 0:
                # There is nothing to map.
                return np.empty(self._shape, self._dtype)[place]
            order = "F" if self._fortran else "C"
            array = np.memmap(file, self._dtype, "r", self._offset, self._shape, order)  # type: ignore[call-overload]
            # Without the dots NumPy returns a scalar for an array of rank 0.
            dots: Any = (*place, ...)
            block = np.asarray(array[dots])
            _read_ahead(file, array, block, self._fortran)
        return block

    def whole(self, path: str) -> tuple[NDArray[Any], Mapping[str, Any]]:
        """Return all elements of a coordinate; there are none here."""
        raise NotImplementedError

    def _open(self) -> BinaryIO:
        return open_file(self._path)


class NpzFile(NpyFile):
    """An entry of an .npz file, which is unpacked into a temporary file: a packed entry cannot be read in pieces."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unpacked = tempfile.TemporaryFile()  # noqa: SIM115
        # Python warns of files that are still open when they are freed.
        weakref.finalize(self, self._unpacked.close)

    def describe(self, variable: str | None) -> Description:
        """Describe the array of this name, or the only array."""
        with open_file(self._path) as file, zipfile.ZipFile(file) as archive:
            entries = {name.removesuffix(".npy"): name for name in archive.namelist()}
            if variable not in entries:
                variable = choose(self._path, "array", entries, variable)
            info = archive.getinfo(entries[variable])
            with archive.open(info) as packed:
                # A hostile entry unpacks to more than it declares: read no more than its own header asks for.
                shape, _, dtype = read_npy_header(packed, info.file_size)
                packed.seek(0)
                most = 1_000_000 + math.prod(shape) * dtype.itemsize
                if info.file_size > most:
                    raise InputError(
                        f"entry {variable!r} of {str(self._path)!r} is longer than its header declares"
                    )
                shutil.copyfileobj(packed, self._unpacked, 1 << 20)
        self._unpacked.flush()
        with self._open() as file:
            size = os.fstat(file.fileno()).st_size
            self._shape, self._fortran, self._dtype = read_npy_header(file, size)
            self._offset = file.tell()
        described = super().describe(None)
        return Description(described.shape, described.dtype, variable, order=described.order)

    def _open(self) -> BinaryIO:
        """Return the unpacked entry from its beginning, under a number of its own."""
        file = os.fdopen(os.dup(self._unpacked.fileno()), "rb")
        file.seek(0)
        return file


def _read_ahead(file: BinaryIO, array: NDArray[Any], block: NDArray[Any], fortran: bool) -> None:
    """Make the system begin to read each run of bytes of a block of a mapped array."""
    if not hasattr(os, "posix_fadvise") or block.size == 0:
        return
    view = block.T if fortran else block
    # The number of axes to index before the elements lie in a row.
    depth = next(at for at in range(block.ndim + 1) if view[(0,) * at].flags.c_contiguous)
    size = view[(0,) * depth].nbytes
    # Skip runs shorter than a page: nearly every page holds some.
    if size < mmap.PAGESIZE:
        return
    offset: int = array.offset  # type: ignore[attr-defined]
    for index in np.ndindex(view.shape[:depth]):
        start = offset + view[index].ctypes.data - array.ctypes.data
        os.posix_fadvise(file.fileno(), start, size, os.POSIX_FADV_WILLNEED)


@contextlib.contextmanager
def write_npy(path: Path, shape: tuple[int, ...], output: Output) -> Iterator[Put]:
    """Create a .npy file; the context gives the function that writes pieces."""
    try:
        np.lib.format.open_memmap(path, "w+", output.dtype, shape)
        if hasattr(os, "posix_fallocate"):
            # A full disk would later end the process that maps the file; here it raises an error.
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None

    def put(place: Place, block: NDArray[Any]) -> None:
        if output.fill is not None and (block == output.fill).any():
            raise ParameterError(
                f"a .npy file of {output.dtype} has no mark for a missing element, and the result has one",
                parameter="nan_policy",
            )
        # The file cannot name the types of ml_dtypes.
        np.lib.format.open_memmap(path, "r+").view(output.dtype)[place or ...] = block

    yield put
