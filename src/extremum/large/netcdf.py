"""NetCDF and HDF5 files, through xarray, which knows what files say of missing and of scaled elements."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from extremum.errors import ArgumentError, InputError, first_line
from extremum.graph.load import open_file
from extremum.large.grid import Place

__all__ = ["NetcdfSource"]


class NetcdfSource:
    """A variable of a file."""

    is_mapped = False

    def __init__(self, path: Path, variable: str | None) -> None:
        self.path = str(path)
        # The libraries wait for a pipe, and say of a file that may not be read that it is damaged.
        open_file(path).close()
        self.variable, whole = variable, _opened(self.path)
        names = sorted(map(str, whole.data_vars))
        if variable is None and len(names) == 1:
            (self.variable,) = names
        if self.variable not in whole.variables:
            reason = f"it has {len(names)} variables" if variable is None else f"it has no variable {variable!r}"
            raise ArgumentError(f"'{path}': {reason}", remedy=f"name one with --variable: {', '.join(names)}")
        self.name, self.coords = str(self.variable), dict(whole[self.variable].coords)
        self._array = whole[self.variable].variable
        self.attrs = dict(self._array.attrs)
        self.shape: tuple[int, ...] = tuple(self._array.shape)
        self.dtype: np.dtype[Any] = np.dtype(self._array.dtype)
        self.dims: tuple[Hashable, ...] | None = tuple(self._array.dims)
        sizes = self._array.encoding.get("chunksizes")
        self.granule = tuple(max(1, size) for size in sizes) if sizes else (1,) * len(self.shape)
        self.order = tuple(range(len(self.shape)))

    def read(self, place: Place) -> NDArray[Any]:
        """Return the elements, decoded."""
        try:
            return np.asarray(self._array[place].values)
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError(f"{self.path!r} is damaged: elements cannot be read", given=first_line(error)) from None

    def release(self, place: Place) -> None:
        """Nothing is kept."""

    def chunked(self) -> Any:
        """Return the variable in the chunks that the file has."""
        return xr.open_dataset(str(Path(self.path).absolute()), chunks={})[self.variable].data


def _opened(path: str) -> Any:
    return xr.open_dataset(path, cache=False)
