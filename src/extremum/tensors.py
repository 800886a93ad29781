"""What is known of a tensor before it exists: its element type and its shape.

Decides how a dimension is written down (a size, a symbol, unknown) and how a type reads in a message. What operators
make of such types is :mod:`extremum.infer`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

__all__ = ["Dimension", "Shape", "TensorType"]

Dimension = int | str | None
"""A size, the name of a size, or nothing known."""

Shape = tuple[Dimension, ...]


@dataclass(frozen=True, slots=True)
class TensorType:
    """The element type and shape of a tensor, as far as they are known: None where not even the rank is."""

    # Such as ``float32``.
    element: str | None = None
    shape: Shape | None = None

    @classmethod
    def of(cls, array: NDArray[Any]) -> TensorType:
        """Return the type of an array that exists."""
        return cls(array.dtype.name, array.shape)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, if known."""
        return None if self.shape is None else len(self.shape)

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """The shape, if every size of it is known."""
        sizes = tuple(size for size in self.shape or () if isinstance(size, int))
        return sizes if self.rank == len(sizes) else None

    def __str__(self) -> str:
        element = self.element or "?"
        if self.shape is None:
            return f"{element}[...]"
        return f"{element}[{', '.join('?' if size is None else str(size) for size in self.shape)}]"
