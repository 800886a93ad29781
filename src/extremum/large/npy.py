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

from extremum.graph.load import open_file
from extremum.large.grid import ENOUGH, Place

__all__ = ["NpySource"]

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class NpySource:
    """An array whose elements are read where they lie in the file."""

    is_mapped = True
    dims: tuple[Hashable, ...] | None = None
    variable: str | None = None

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        with open_file(path) as file:
            version = np.lib.format.read_magic(file)
            if version not in _HEADERS:
                raise ValueError(f"version {version} of the format is for structured arrays")
            self.shape, fortran, self.dtype = _HEADERS[version](file)
            start, size = file.tell(), os.fstat(file.fileno()).st_size
            if self.dtype.hasobject:
                raise ValueError("it holds Python objects")
            promised = math.prod(self.shape) * self.dtype.itemsize
            if promised > size - start:
                words = f"{self.dtype}{list(self.shape)}, {promised:,} bytes, but the file holds {size - start:,}"
                raise ValueError(f"its header declares {words}")
            self._memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._fortran, self._start, self._held = fortran, start, 0
        self._array: NDArray[Any] = np.ndarray(
            self.shape, self.dtype, self._memory, start, order="F" if fortran else "C"
        )
        self.granule = (1,) * len(self.shape)
        self.order = tuple(range(len(self.shape)))[:: -1 if fortran else 1]

    def _at(self, place: Place) -> NDArray[Any]:
        # (Without the dots NumPy gives a scalar for an array without dimensions.)
        dots: Any = (*place, ...)
        view: NDArray[Any] = self._array[dots]
        return view

    def read(self, place: Place) -> NDArray[Any]:
        """Return a view of the file, which the system begins to read from the disk."""
        if hasattr(mmap, "MADV_WILLNEED"):
            for start, stop in self._runs(place):
                first = start // mmap.PAGESIZE * mmap.PAGESIZE
                self._memory.madvise(mmap.MADV_WILLNEED, first, stop - first)
        return self._at(place)

    def release(self, place: Place) -> None:
        """Let the system take back what was read, now and then; it stays in its cache of files."""
        self._held += self._at(place).nbytes
        if self._held >= ENOUGH and hasattr(mmap, "MADV_DONTNEED"):
            # The whole at once: a call for each run of a place takes longer than to reduce it.
            self._memory.madvise(mmap.MADV_DONTNEED)
            self._held = 0

    def _runs(self, place: Place) -> list[tuple[int, int]]:
        """Return where each run of bytes of a place starts and stops."""
        view = self._at(place)
        if not view.size:
            return []
        start = self._start + view.__array_interface__["data"][0] - self._array.__array_interface__["data"][0]
        length = self.dtype.itemsize
        apart: list[tuple[int, int]] = []
        # From the axis whose elements lie next to each other to the one whose lie farthest apart.
        for axis in reversed(self.order):
            count, stride = view.shape[axis], view.strides[axis]
            if not apart and stride == length:
                length *= count
            elif count > 1:
                apart.append((count, stride))
        if length < mmap.PAGESIZE:
            # About every page has some of it.
            return [(start, start + sum((count - 1) * stride for count, stride in apart) + length)]
        starts = np.array([start])
        for count, stride in apart:
            starts = np.add.outer(np.arange(count) * stride, starts).ravel()
        return [(at, at + length) for at in starts.tolist()]

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
