"""A file that holds an array, whatever its format.

Decides which format a name stands for. Each format is a file of this folder.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ExtremumError, InputError, first_line, lacking
from extremum.graph.load import require_no_folder
from extremum.large.grid import Place

__all__ = ["Source", "open_source", "read_ahead"]


class Source(Protocol):
    """An array in a file."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    # Whether reading gives a view of a file that is mapped into memory.
    is_mapped: bool
    # The names of the dimensions, where the format has them.
    dims: tuple[Hashable, ...] | None
    # The variable or array of the file that it is, where the format has several.
    variable: str | None
    # In which pieces it lies in the file, and its axes, those that lie farthest apart first.
    granule: tuple[int, ...]
    order: tuple[int, ...]

    def read(self, place: Place) -> NDArray[Any]:
        """Return the elements at a place."""

    def release(self, place: Place) -> None:
        """Let go of what was read there."""

    def chunked(self) -> Any:
        """Return the array as Dask's, for processes that see the same file."""


def read_ahead(sources: Sequence[Source], wanted: Iterable[Sequence[Place]]) -> Iterator[list[NDArray[Any]]]:
    """Yield the blocks of each list of places, one for each source; the next ones are read in the meantime."""

    def read(places: Sequence[Place]) -> list[NDArray[Any]]:
        return [source.read(place) for source, place in zip(sources, places, strict=True)]

    def begin(places: Sequence[Place]) -> Callable[[], list[NDArray[Any]]]:
        if is_mapped:
            # The system itself reads ahead, without a thread of ours.
            blocks = read(places)
            return lambda: blocks
        return reader.submit(read, places).result

    is_mapped = all(source.is_mapped for source in sources)
    with ThreadPoolExecutor(1) as reader:
        coming = ((places, begin(places)) for places in wanted)
        now = next(coming, None)
        while now is not None:
            places, result = now
            blocks = result()
            now = next(coming, None)
            yield blocks
            del blocks, result
            for source, place in zip(sources, places, strict=True):
                source.release(place)


def open_source(name: str, variable: str | None = None) -> Source:
    """Open a file."""
    path = Path(name)
    suffix = path.suffix.lower()
    try:
        if suffix == ".npy":
            from extremum.large.npy import NpySource

            source: Source = NpySource(path)
        elif suffix == ".zarr":
            from extremum.large.zarr import ZarrSource

            source = ZarrSource(path, variable)
        elif suffix in (".nc", ".nc4", ".cdf", ".h5", ".hdf5", ".he5"):
            from extremum.large.netcdf import NetcdfSource

            source = NetcdfSource(path, variable)
        else:
            require_no_folder(path)
            raise InputError(f"{name!r} has no known format", remedy="use .npy, .zarr, .nc or .h5")
    except ExtremumError:
        raise
    except ModuleNotFoundError as error:
        raise lacking(f"a {suffix} file", error) from None
    except Exception as error:
        # What the libraries raise for damaged files has no common class; their own numbers of errors are below zero.
        if isinstance(error, OSError) and error.filename and (error.errno or 0) > 0:
            raise type(error)(error.errno, error.strerror, name) from None
        raise unreadable(name, error) from None
    return source


def unreadable(name: str, error: Exception) -> InputError:
    """Return the error about a file that cannot be read as what it says it is."""
    return InputError(
        f"{name!r} is not a valid {Path(name).suffix} file", given=first_line(error) or type(error).__name__
    )
