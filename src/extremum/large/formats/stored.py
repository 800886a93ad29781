"""An array as a file stores it: what every format says about it before anything is decoded.

A format is a class with the methods of :class:`File`. It names its arrays, describes one of them, and reads elements as
they are stored. :mod:`~extremum.large.formats.decoding` makes values of them, the same for all formats.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from extremum.errors import InputError
from extremum.large.parameters import ParameterError
from extremum.partials import Place

MOST_NAMES = 1000
"""How many arrays of a file are looked at to list their names."""

Read = Callable[[Place], NDArray[Any]]
"""Reads the elements at a place, as they are stored."""


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A variable that labels the axes of another one: its path in the file, its dimensions and their lengths."""

    path: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name in its group."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Description:
    """What a file says about one of its arrays."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    # The path of the array in the file: None for a format without names.
    path: str | None = None
    # The lengths of the file's own pieces; None if it is stored in one piece.
    chunks: tuple[int, ...] | None = None
    # The axes from the longest stride to the shortest; None means the order of the axes.
    order: tuple[int, ...] | None = None
    dims: tuple[str, ...] | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    coordinates: tuple[Coordinate, ...] = ()
    zarr_format: int = 3

    @property
    def name(self) -> str | None:
        """The name in its group."""
        return None if self.path is None else self.path.rpartition("/")[2]


class File(Protocol):
    """An open file. Its arrays are read as they are stored."""

    copies: int
    """How often the elements of a piece are in memory while they are read."""

    def describe(self, variable: str | None) -> Description:
        """Describe the array of this name, or the only array."""

    def read(self, path: str | None, place: Place) -> NDArray[Any]:
        """Return the elements of an array at a place."""

    def whole(self, path: str) -> tuple[NDArray[Any], Mapping[str, Any]]:
        """Return all elements of a coordinate, and its attributes."""


def choose(path: str | Path, noun: str, names: Iterable[str], variable: str | None) -> str:
    """Return the only name, or refuse to choose; the names are those that a user may mean."""
    some = list(itertools.islice(names, MOST_NAMES))
    file = repr(str(path))
    if variable is None and len(some) == 1:
        return some[0]
    if not some:
        raise InputError(f"{file} holds no {noun}")
    raise ParameterError(
        f"{file}: it has no {noun} {variable!r}"
        if variable is not None
        else f"{file}: it has {len(some)} {noun}s",
        parameter="variable",
        choices=sorted(some),
    )


def inner(group: str, name: str) -> str:
    """Return the path of a name in a group; the root is the empty path."""
    return f"{group}/{name}" if group else name


def scopes(group: str) -> Iterable[str]:
    """Yield a group and the groups that hold it, up to the root."""
    while group:
        yield group
        group = group.rpartition("/")[0]
    yield ""


def meant(group: str, names: Iterable[str]) -> Iterable[str]:
    """Yield the paths that names in an attribute of a group may mean: in the group, or in one that holds it."""
    return (inner(scope, name) for name in names for scope in scopes(group))


def labelling(dims: tuple[str, ...], coordinates: Iterable[Coordinate]) -> tuple[Coordinate, ...]:
    """Return the coordinates that label an array with these dimensions, each name once.

    What has the name of a dimension, and not this dimension, is another variable.
    """
    chosen: dict[str, Coordinate] = {}
    for each in coordinates:
        if set(each.dims) <= set(dims) and (each.name not in dims or each.name in each.dims):
            chosen.setdefault(each.name, each)
    return tuple(chosen.values())


def listed(text: Any) -> list[str]:
    """Return the names in an attribute ``coordinates``."""
    return text.split() if isinstance(text, str) else []


def as_text(value: Any) -> str:
    """Return a text that a file may hold as bytes."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value)


def everything(shape: tuple[int, ...]) -> Place:
    """Return the place of a whole array."""
    return tuple(slice(0, length) for length in shape)
