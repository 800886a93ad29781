"""The core operations, as values that say what is computed and run when called.

Every operator ends up as one of these. Three have kernels of their own, a selection is composed of one of them. Axes
are non-negative and distinct here; whoever builds an operation has settled what a negative axis or a default means. How
the elements are compared and traversed is the native module's.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import _native

__all__ = ["ArgReduce", "Extremum", "OneHot", "Operation", "Order", "Selection", "Tie"]


class Order(enum.Enum):
    """Which end of the order is the extremum; NaN is the extremum at either end."""

    MAX = "max"
    MIN = "min"


class Tie(enum.Enum):
    """Which of several equal elements is the one selected."""

    FIRST = "first"
    LAST = "last"


_ARG = {Order.MAX: _native.argmax, Order.MIN: _native.argmin}
_ELEMENTWISE = {Order.MAX: _native.maximum, Order.MIN: _native.minimum}


@dataclass(frozen=True, slots=True)
class ArgReduce:
    """The index of the extremum over a set of axes in any sequence, row-major within the reduced block."""

    order: Order
    axes: tuple[int, ...]
    keepdims: bool
    tie: Tie
    index: np.dtype[Any]

    def __call__(self, x: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the indices; ``out``, if given, receives them and is returned."""
        return _ARG[self.order](
            x,
            self.axes,
            keepdims=self.keepdims,
            select_last_index=self.tie is Tie.LAST,
            dtype=self.index,
            out=out,
        )


@dataclass(frozen=True, slots=True)
class OneHot:
    """1 at the first largest element over a set of axes, 0 elsewhere, in the type of the input."""

    axes: tuple[int, ...]

    def __call__(self, x: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the one-hot array; ``out``, if given, receives it and is returned."""
        return _native.hardmax(x, self.axes, out=out)


@dataclass(frozen=True, slots=True)
class Extremum:
    """The elementwise largest or smallest of any number of operands, broadcast against each other."""

    order: Order

    def __call__(self, *operands: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the extremum; ``out``, if given, receives it and is returned."""
        return _ELEMENTWISE[self.order](*operands, out=out)


@dataclass(frozen=True, slots=True)
class Selection:
    """The extremum itself over at least one axis, which stays with size 1: the bits of the first of equals.

    Finding comes first because it alone reads the whole input, in one pass; fetching reads one element per result.
    """

    order: Order
    axes: tuple[int, ...]

    def __call__(self, x: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the selected elements; ``out``, if given, receives them and is returned."""
        axes = sorted(self.axes)
        index = ArgReduce(self.order, self.axes, keepdims=True, tie=Tie.FIRST, index=np.dtype(np.int64))(x)
        places: list[NDArray[Any]] = list(np.indices(index.shape, sparse=True))
        for axis, place in zip(axes, np.unravel_index(index, [x.shape[axis] for axis in axes]), strict=True):
            places[axis] = place
        # In native byte order, as every result.
        selected: NDArray[Any] = x[tuple(places)].astype(x.dtype.newbyteorder("="), copy=False)
        if out is None:
            return selected
        out[...] = selected
        return out


Operation = ArgReduce | OneHot | Extremum | Selection
