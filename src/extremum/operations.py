"""The core operations, as values that describe a computation and run it when called.

Every operator ends up as one of these. Axes are non-negative and distinct here: :mod:`extremum.lower` knows what a
negative axis or a default means. The native module compares and traverses the elements.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.errors import ArgumentError

__all__ = ["ArgReduce", "Extremum", "OneHot", "Operation", "Order", "Reduce", "Tie", "TopK", "results"]
__dir__ = __all__.copy


class Order(enum.Enum):
    """Which end of the order is the extremum; NaN is the extremum at either end."""

    MAX = "max"
    MIN = "min"


class Tie(enum.Enum):
    """Which of several equal elements is selected."""

    FIRST = "first"
    LAST = "last"


def require_elements(x: NDArray[Any], axes: Sequence[int]) -> None:
    """Refuse to reduce axes that hold no element."""
    if any(x.shape[axis] == 0 for axis in axes):
        raise ArgumentError(f"the reduced axes {tuple(axes)} of shape {x.shape} hold no element")


@dataclass(frozen=True, slots=True)
class ArgReduce:
    """The index of the extremum over a set of axes in any order, row-major within the reduced block."""

    order: Order
    axes: tuple[int, ...]
    keepdims: bool
    tie: Tie
    index: np.dtype[Any]

    def __call__(self, x: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the indices; ``out``, if given, receives them and is returned."""
        arg: Callable[..., NDArray[Any]] = _native.argmax if self.order is Order.MAX else _native.argmin
        last = self.tie is Tie.LAST
        return arg(x, self.axes, keepdims=self.keepdims, select_last_index=last, dtype=self.index, out=out)


@dataclass(frozen=True, slots=True)
class OneHot:
    """1 at the first largest element over a set of axes, 0 elsewhere, in the type of the input."""

    axes: tuple[int, ...]

    def __call__(self, x: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the one-hot array; ``out``, if given, receives it and is returned."""
        result: NDArray[Any] = _native.hardmax(x, self.axes, out=out)
        return result


@dataclass(frozen=True, slots=True)
class Extremum:
    """The elementwise largest or smallest of any number of operands, broadcast against each other."""

    order: Order

    def __call__(self, *operands: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the extremum; ``out``, if given, receives it and is returned."""
        extremum: Callable[..., NDArray[Any]] = (
            _native.maximum if self.order is Order.MAX else _native.minimum
        )
        return extremum(*operands, out=out)


@dataclass(frozen=True, slots=True)
class Reduce:
    """The extremum itself over a set of axes in any order, with the bits of the first or last of equal elements."""

    order: Order
    axes: tuple[int, ...]  # without axes, every element stays as it is
    keepdims: bool
    tie: Tie
    identity: bool = (
        False  # whether a reduction of no element gives the value that every element beats, not an error
    )

    def __call__(self, x: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the elements; ``out``, if given, receives them and is returned."""
        if not self.identity:
            require_elements(x, self.axes)
        # The keywords are written out: a dict of keywords would double the time of a small call.
        _, ((values, _),) = _native.reduce(
            # NumPy returns a scalar for many 0-d views.
            np.asarray(x),
            self.axes,
            function="reduce",
            largest=(self.order is Order.MAX,),
            keepdims=self.keepdims,
            select_last_index=self.tie is Tie.LAST,
            omit=False,
            times=False,
            where=None,
            values=True,
            index=None,
        )
        if out is None:
            return np.asarray(values)
        out[...] = values
        return out


@dataclass(frozen=True, slots=True)
class TopK:
    """The k best elements along one axis and their indices, best first; of equal elements the first index comes first.

    NaN is greater than every number.
    """

    order: Order
    axis: int
    k: int
    sorted: bool  # whether the best come first, rather than in any order

    def __call__(
        self, x: NDArray[Any], out: tuple[NDArray[Any], NDArray[Any]] | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the elements and int64 indices; ``out``, if given, receives both and is returned."""
        largest = self.order is Order.MAX
        # NumPy returns a scalar for many 0-d views.
        best = _native.top_k_plain(
            np.asarray(x),
            self.k,
            self.axis,
            function="TopK",
            largest=largest,
            sorted=self.sorted,
            nan_first=largest,
        )
        if out is None:
            return best
        for target, array in zip(out, best, strict=True):
            target[...] = array
        return out


Operation = ArgReduce | OneHot | Extremum | Reduce | TopK
"""Any of the core operations."""


def results(returned: NDArray[Any] | tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    """Return what an operation returns as a tuple, even if it is one array."""
    return returned if isinstance(returned, tuple) else (returned,)
