"""NumPy's .npy files, mapped into memory."""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.graph.load import open_file
from extremum.large.grid import Place

__all__ = ["NpySource"]

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class NpySource:
    """An array whose elements are read where they lie in the file."""

    dims: tuple[Hashable, ...] | None = None
    variable: str | None = None
    # So much is still in the cache of the processor when it is looked at.
    enough = 8 << 20

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        with open_file(path) as file:
            version = np.lib.format.read_magic(file)
            if version not in _HEADERS:
                raise ValueError(f"version {version} of the format is for structured arrays")
            self.shape, fortran, self.dtype = _HEADERS[version](file)
            start, size = file.tell(), os.fstat(file.fileno()).st_size
            if self.dtype.hasobject:
                raise ValueError("it holds objects of Python, which are not read")
            promised = math.prod(self.shape) * self.dtype.itemsize
            if promised > size - start:
                words = f"{self.dtype}{list(self.shape)}, {promised:,} bytes, but {size - start:,} follow"
                raise ValueError(f"its header promises {words}")
            self._memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._fortran, self._start = fortran, start
        self._array: NDArray[Any] = np.ndarray(
            self.shape, self.dtype, self._memory, start, order="F" if fortran else "C"
        )
        self.granule = (1,) * len(self.shape)
        self.order = tuple(range(len(self.shape)))[:: -1 if fortran else 1]

    def read(self, place: Place) -> NDArray[Any]:
        """Return a view of the file that has its memory already, where it lies in one piece."""
        view = self._array[place]
        if view.flags.c_contiguous and view.size:
            _native.read_bandwidth(view.reshape(-1).view(np.uint8))
        return view

    def release(self, place: Place) -> None:
        """Let the system take back the memory of a place; what was read stays in its cache of files."""
        if hasattr(mmap, "MADV_DONTNEED") and (view := self._array[place]).size:
            # Whole pages, and none that has other elements too.
            first = self._start + view.__array_interface__["data"][0] - self._array.__array_interface__["data"][0]
            last = view[tuple(slice(-1, None) for _ in place)]
            length = last.__array_interface__["data"][0] - view.__array_interface__["data"][0] + self.dtype.itemsize
            low, high = -(-first // mmap.PAGESIZE), (first + length) // mmap.PAGESIZE
            if low < high:
                self._memory.madvise(mmap.MADV_DONTNEED, low * mmap.PAGESIZE, (high - low) * mmap.PAGESIZE)

    def chunked(self) -> Any:
        """Return the array in chunks that are mapped where they are computed."""
        import dask.array as da

        order: Any = "F" if self._fortran else "C"
        whole = {axis: "auto" if axis == self.order[0] else -1 for axis in self.order}
        chunks = da.zeros(self.shape, chunks=whole, dtype=self.dtype).chunks
        # A mapping does not travel.
        path, start, shape, dtype = str(Path(self.path).absolute()), self._start, self.shape, self.dtype

        def piece(block_info: Any = None) -> NDArray[Any]:
            place = tuple(slice(*each) for each in block_info[None]["array-location"])
            return np.array(np.memmap(path, dtype, "r", start, shape, order=order)[place])

        return da.map_blocks(piece, chunks=chunks, dtype=dtype, meta=np.empty((0,) * len(shape), dtype))
