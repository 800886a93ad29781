"""The name, dimensions, coordinates and attributes that a result has from its source."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from extremum.large.formats.source import Source


@dataclass(frozen=True, slots=True)
class Labels:
    """The name, dimensions, coordinates and attributes of an array; a coordinate is xarray's."""

    name: str
    dims: tuple[str, ...]
    coords: Mapping[Hashable, Any]
    attrs: Mapping[str, Any]

    @classmethod
    def of(cls, source: Source, axes: Sequence[int | None], shape: Sequence[int | None], name: str) -> Labels:
        """Return the labels of a result whose axes are axes of a source, or None for a new axis.

        A coordinate stays if it has the length of the result; if the length is None, it does not stay.
        """
        names = source.dims or tuple(f"dim_{axis}" for axis in range(len(source.shape)))
        dims = tuple(f"dim_{at}" if axis is None else str(names[axis]) for at, axis in enumerate(axes))
        sizes = dict(zip(dims, shape, strict=True))
        coords = {
            each: coord
            for each, coord in source.coords.items()
            if all(sizes.get(str(dim)) == length for dim, length in coord.sizes.items())
        }
        name = (source.name or name).replace("/", "_")
        # xarray treats a variable with the name of a dimension as a coordinate.
        return cls(f"{name}_" if name in (*coords, *dims) else name, dims, coords, source.attrs)
