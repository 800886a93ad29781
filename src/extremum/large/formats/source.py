"""An array in a file, whose elements are read at a place and decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ElementTypeError, ExtremumError, InputError, first_line, required_by
from extremum.large.formats.decoding import decoding_of
from extremum.large.formats.stored import File
from extremum.partials import Place

Put = Callable[[Place, NDArray[Any]], None]
"""Writes a piece of an array at its place."""


class Source:
    """An array in a file.

    Parameters
    ----------
    path : str
        The name of the file, as the user gave it.
    open_file : callable
        Opens the file of a format.
    variable : str, optional
        The array, for a file that has several.
    """

    def __init__(self, path: str, open_file: Callable[[Path], File], variable: str | None) -> None:
        self.path = path
        self._open_file = open_file
        self._file = open_file(Path(path))
        described = self._file.describe(variable)
        if described.dtype.subdtype is not None:
            raise ElementTypeError(
                f"{path!r}: each element is an array of its own",
                given=str(described.dtype),
                remedy="store them along one more axis",
            )
        self.variable = described.path
        self.name = described.name
        self.shape = described.shape
        self.dims = described.dims
        self.coordinates = described.coordinates
        self.zarr_format = described.zarr_format
        self.decoding = decoding_of(described, self._stored)
        self.dtype: np.dtype[Any] = self.decoding.dtype
        # The lengths of the file's own pieces, and the axes from the longest stride to the shortest.
        self.granule = tuple(max(1, size) for size in described.chunks or (1,) * len(self.shape))
        self.order = described.order or tuple(range(len(self.shape)))
        # The bytes that an element takes while its piece is read.
        self.reading = self._file.copies * described.dtype.itemsize + self.decoding.extra

    @classmethod
    def open(cls, path: str, open_file: Callable[[Path], File], variable: str | None) -> Source:
        """Open a file; every error about its content is an InputError that names the file."""
        suffix = Path(path).suffix
        try:
            with required_by(f"a {suffix.lower()} file"):
                return cls(path, open_file, variable)
        except (ExtremumError, ModuleNotFoundError):
            raise
        except Exception as error:
            # The libraries have no common error for damaged files; the numbers of their own errors are negative.
            if isinstance(error, OSError) and error.filename and (error.errno or 0) > 0:
                raise type(error)(error.errno, error.strerror, path) from None
            raise InputError(
                f"{path!r} is not a valid {suffix} file",
                given=first_line(error) or type(error).__name__,
            ) from None

    def read(self, place: Place) -> NDArray[Any]:
        """Return the elements at a place, as they are compared."""
        try:
            return self.decoding.decode(self._stored, place)
        except (ExtremumError, FileNotFoundError):
            raise
        except (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
            # The libraries, and their decompressors, have no exception class of their own for damaged elements.
            slices = ", ".join(f"{each.start}:{each.stop}" for each in place)
            raise InputError(
                f"{self.path!r} is damaged: elements cannot be read",
                given=f"elements {slices}: {first_line(error)}",
            ) from None

    def whole(self, path: str) -> tuple[NDArray[Any], Mapping[str, Any]]:
        """Return the elements of a coordinate, as they are stored, and its attributes."""
        return self._file.whole(path)

    def _stored(self, place: Place) -> NDArray[Any]:
        return self._file.read(self.variable, place)

    def __reduce__(self) -> tuple[Any, ...]:
        """Open the file again in another process, which sees it under the same name but has another current folder."""
        return type(self).open, (str(Path(self.path).absolute()), self._open_file, self.variable)
