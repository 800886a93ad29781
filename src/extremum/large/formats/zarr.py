"""Zarr stores, of both formats."""

from __future__ import annotations

import contextlib
import errno
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError, InputError, required_by
from extremum.large.formats.source import Put, Source, choose
from extremum.partials import Place


class ZarrSource(Source):
    """An array of a Zarr store of either format, alone or in a group."""

    def __init__(self, path: Path, variable: str | None) -> None:
        import zarr

        # Raises the system's error if the path does not exist or is not a folder.
        next(path.iterdir(), None)
        array = zarr.open(str(path), mode="r")
        if isinstance(array, zarr.Group):
            names = sorted(array.array_keys())
            self.variable = choose(path, "array", variable, names, names)
            array = array[self.variable]
        super().__init__(path, array, getattr(array, "shards", None) or array.chunks)
        dims = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
        self.dims = tuple(dims) if dims else None
        self.zarr_format = int(array.metadata.zarr_format)

    def read(self, place: Place) -> NDArray[Any]:
        """Return the elements at a place."""
        # Zarr reads a missing chunk as zeros, so look for the store first.
        if not Path(self.path).exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
        try:
            return np.asarray(self._array[place])
        except (OSError, RuntimeError, ValueError) as error:
            # The decompressors have no exception class of their own for damaged chunks.
            where = f"elements {', '.join(f'{each.start}:{each.stop}' for each in place)}"
            raise InputError(f"{self.path!r} is damaged: a chunk cannot be read", given=f"{where}: {error}") from None


@contextlib.contextmanager
def write_zarr(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], zarr_format: int) -> Iterator[Put]:
    """Create a Zarr array; the context gives the function that writes pieces."""
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
