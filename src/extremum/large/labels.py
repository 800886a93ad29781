"""What names the places of a result: dimensions, their coordinates, attributes, as far as its sources have them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from extremum.large.source import Source

__all__ = ["Labels"]


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of an array; a coordinate is xarray's, and only one whose dimensions are all there."""

    name: str
    dims: tuple[str, ...]
    coords: Mapping[Hashable, Any] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source, axes: Sequence[int | None], shape: Sequence[int], name: str) -> Labels:
        """Return the labels of a result whose axes are those of a source, or None for one that it does not have."""
        named = source.dims or tuple(f"dim_{axis}" for axis in range(len(source.shape)))
        dims = tuple(f"dim_{at}" if axis is None else str(named[axis]) for at, axis in enumerate(axes))
        sizes = dict(zip(dims, shape, strict=True))
        coords = {
            each: coord
            for each, coord in getattr(source, "coords", {}).items()
            if all(sizes.get(str(dim)) == length for dim, length in coord.sizes.items())
        }
        name = str(getattr(source, "name", None) or name).replace("/", "_")
        # What is named as a dimension is a coordinate.
        return cls(f"{name}_" if name in (*coords, *dims) else name, dims, coords, getattr(source, "attrs", {}))
