"""Files of NumPy's .npy format."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from extremum.files import open_file
from extremum.large.formats.source import Put, Source
from extremum.partials import Place

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class NpySource(Source):
    """A .npy file. Each piece maps the file into memory again, so that the end of the mapping frees what was read."""

    def __init__(self, path: Path, variable: str | None) -> None:
        with open_file(path) as file:
            read_npy_header(file, os.fstat(file.fileno()).st_size)
        array = np.lib.format.open_memmap(path, "r")
        super().__init__(path, array)
        self.order = self.order[:: 1 if array.flags.c_contiguous else -1]

    def read(self, place: Place) -> NDArray[Any]:
        """Return the elements at a place."""
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


@contextlib.contextmanager
def write_npy(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Iterator[Put]:
    """Create a .npy file; the context gives the function that writes pieces."""
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
