"""Zarr arrays of either format, alone or in a group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from extremum.errors import ArgumentError, InputError
from extremum.large.grid import Place

__all__ = ["ZarrSource"]


class ZarrSource:
    """An array whose chunks are files."""

    is_mapped = False

    def __init__(self, path: Path, variable: str | None) -> None:
        self.path = str(path)
        # A folder, or the name of what is not one.
        next(path.iterdir(), None)
        # By its whole name: workers look from where they are.
        self._place = path.absolute()
        opened = zarr.open(str(self._place), mode="r")
        if isinstance(opened, zarr.Group):
            names = sorted(opened.array_keys())
            if variable is None and len(names) == 1:
                (variable,) = names
            if variable not in names:
                reason = f"it has {len(names)} arrays" if variable is None else f"it has no array {variable!r}"
                raise ArgumentError(f"'{path}': {reason}", remedy=f"name one with --variable: {', '.join(names)}")
            opened = opened[variable]
        else:
            variable = None
        self.variable = variable
        self._array: Any = opened
        self.shape: tuple[int, ...] = tuple(opened.shape)
        self.dtype: np.dtype[Any] = np.dtype(opened.dtype)
        self.granule = tuple(max(1, size) for size in getattr(opened, "shards", None) or opened.chunks)
        self.order = tuple(range(len(self.shape)))
        named = getattr(opened.metadata, "dimension_names", None) or opened.attrs.get("_ARRAY_DIMENSIONS")
        self.dims = tuple(named) if named else None
        self.format = int(opened.metadata.zarr_format)

    def read(self, place: Place) -> NDArray[Any]:
        """Return the elements, unpacked."""
        try:
            return np.asarray(self._array[place])
        except (OSError, RuntimeError, ValueError) as error:
            # The decompressors have no class of their own for what is damaged.
            raise InputError(
                f"{self.path!r} is damaged: a chunk cannot be read", given=f"elements {_words(place)}: {error}"
            ) from None

    def release(self, place: Place) -> None:
        """Nothing is kept."""

    def chunked(self) -> Any:
        """Return the array in the chunks that it has, or the shards that hold several."""
        import dask.array as da

        chunks = da.zeros(self.shape, chunks=self.granule, dtype=self.dtype).chunks
        return da.map_blocks(
            self._piece, chunks=chunks, dtype=self.dtype, meta=np.empty((0,) * len(chunks), self.dtype)
        )

    def _piece(self, block_info: Any = None) -> NDArray[Any]:
        # A chunk that is not found counts as one that was never written: so the whole is looked for first.
        if not self._place.exists():
            raise FileNotFoundError(2, "No such file or directory", str(self._place))
        return self.read(tuple(slice(*each) for each in block_info[None]["array-location"]))


def _words(place: Place) -> str:
    return ", ".join(f"{each.start}:{each.stop}" for each in place)
