"""What every format makes of a file: an array whose elements are read at a place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ExtremumError, InputError, first_line, required_by
from extremum.large.parameters import ParameterError
from extremum.partials import Place

Put = Callable[[Place, NDArray[Any]], None]
"""Writes a piece of an array at its place."""


class Source:
    """An array in a file."""

    # The variable of the file and the labels of the array, as far as the format has them.
    variable: str | None = None
    name: str | None = None
    dims: tuple[Hashable, ...] | None = None
    coords: Mapping[Hashable, Any] = {}
    attrs: Mapping[str, Any] = {}
    zarr_format = 3

    def __init__(self, path: Path, array: Any, granule: Sequence[int] | None = None) -> None:
        self.path = str(path)
        self._array = array
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)
        # The lengths of the file's own pieces, and the axes from the longest stride to the shortest.
        self.granule = tuple(max(1, size) for size in granule) if granule else (1,) * len(self.shape)
        self.order = tuple(range(len(self.shape)))

    @classmethod
    def open(cls, path: Path, variable: str | None) -> Source:
        """Open a file; every error about its content is an InputError that names the file."""
        try:
            with required_by(f"a {path.suffix.lower()} file"):
                return cls(path, variable)
        except (ExtremumError, ModuleNotFoundError):
            raise
        except Exception as error:
            # The libraries have no common error for damaged files; the numbers of their own errors are negative.
            if isinstance(error, OSError) and error.filename and (error.errno or 0) > 0:
                raise type(error)(error.errno, error.strerror, str(path)) from None
            given = first_line(error) or type(error).__name__
            raise InputError(f"{str(path)!r} is not a valid {path.suffix} file", given=given) from None

    def read(self, place: Place) -> NDArray[Any]:
        """Return the elements at a place."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        """Open the file again in another process, which sees it under the same name but has another current folder."""
        return type(self).open, (Path(self.path).absolute(), self.variable)


def choose(path: Path, noun: str, variable: str | None, names: list[str], choices: Collection[Any]) -> str:
    """Return the named variable of a file, or its only variable."""
    if variable is None and len(names) == 1:
        return names[0]
    if variable is None:
        raise ParameterError(f"'{path}': it has {len(names)} {noun}s", parameter="variable", choices=names)
    if variable not in choices:
        raise ParameterError(f"'{path}': it has no {noun} {variable!r}", parameter="variable", choices=names)
    return variable
