"""The name, dimensions and coordinates that a result has from its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from extremum.large.formats.source import Source
from extremum.large.formats.stored import Coordinate

Load = Callable[[], tuple[NDArray[Any], Mapping[str, Any]]]
"""Reads the elements of a coordinate, as they are stored, and its attributes."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The name, dimensions and coordinates of an array; coordinates are copied as they are stored."""

    name: str
    # Whether a variable of a file gave the name.
    is_variable: bool
    dims: tuple[str, ...]
    coordinates: tuple[tuple[Coordinate, Load], ...]
    zarr_format: int

    @classmethod
    def of(cls, source: Source, axes: Sequence[int | None], shape: Sequence[int | None], name: str) -> Labels:
        """Return the labels of a result whose axes are axes of a source, or None for a new axis.

        A coordinate stays if it has the length of the result; if the length is None, it does not stay.
        """
        names = source.dims or tuple(f"dim_{axis}" for axis in range(len(source.shape)))
        own = [f"dim_{at}" if axis is None else names[axis] for at, axis in enumerate(axes)]
        # A dimension may occur twice in a source, and the axes of a result need not have one length.
        counts = Counter(own)
        dims = tuple(f"{each}_{at}" if counts[each] > 1 else each for at, each in enumerate(own))
        sizes = dict(zip(dims, shape, strict=True))
        coordinates = tuple(
            (each, partial(source.whole, each.path))
            for each in source.coordinates
            if all(sizes.get(dim) == length for dim, length in zip(each.dims, each.shape, strict=False))
        )
        taken = {*dims, *(each.name for each, _ in coordinates)}
        name = source.name or name.replace("/", "_")
        # xarray treats a variable with the name of a dimension as a coordinate.
        if name in taken:
            name = f"{name}_"
        return cls(name, source.name is not None, dims, coordinates, source.zarr_format)
