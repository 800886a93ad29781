"""Row-major indices over several axes, and what they are along each."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from extremum.errors import ArgumentError, ArgumentTypeError, AxisError, ElementTypeError

__all__ = ["unravel"]


def unravel(
    indices: ArrayLike, shape: tuple[int, ...], axis: int | tuple[int, ...] | None = None
) -> tuple[NDArray[Any], ...]:
    """Return the index along each reduced axis, from the row-major index over all of them.

    Parameters
    ----------
    indices : array_like of int
        What :func:`extremum.argmax` and the others return, of any shape. -1, which stands beside a default, stays -1.
    shape : tuple of int
        The shape of the array that was reduced.
    axis : int or tuple of int, optional
        The axes that were reduced, in any sequence; all of them by default.

    Returns
    -------
    tuple of numpy.ndarray
        One array for each reduced axis, in the order of the dimensions, in the shape and type of `indices`.

    Raises
    ------
    AxisError
        An axis is out of range or given twice.
    ArgumentError
        An index lies outside the reduced axes.
    ElementTypeError
        `indices` are no integers.

    Examples
    --------
    >>> import numpy as np
    >>> import extremum as ex
    >>> x = np.array([[1, 5, 5], [7, 0, 7]])
    >>> row, column = ex.unravel(ex.argmax(x), x.shape)
    >>> int(row), int(column)
    (1, 0)
    """
    flat = np.asarray(indices)
    if flat.dtype.kind not in "iu":
        raise ElementTypeError(f"unravel: indices of type {flat.dtype}", remedy="pass integers")
    rank = len(shape)
    several = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = sorted(_axis(each, rank) for each in several)
    if len(set(axes)) < len(axes):
        raise AxisError("unravel: an axis is given more than once", remedy="list each axis once")
    lengths = [shape[each] for each in axes]
    size = int(np.prod(lengths, dtype=object)) if lengths else 1
    outside = (flat >= size) | (flat < -1) if flat.dtype.kind == "i" else flat >= size
    if outside.any():
        raise ArgumentError(
            f"unravel: index {flat[outside].flat[0]} is outside the {size} elements of axes {tuple(axes)}",
            given=f"shape {tuple(shape)}",
            remedy="pass the shape and the axes of the array that was reduced",
        )
    places: list[NDArray[Any]] = []
    rest = flat
    for length in reversed(lengths):
        places.append(np.where(flat == -1, flat, rest % length) if length else flat)
        rest = rest // length if length else rest
    return tuple(place.astype(flat.dtype, copy=False) for place in reversed(places))


def _axis(axis: Any, rank: int) -> int:
    if isinstance(axis, bool):
        raise ArgumentTypeError(f"unravel: axis {axis} is not an integer", remedy="pass an int or a tuple of ints")
    number = operator.index(axis)
    if not -rank <= number < rank:
        raise AxisError(
            f"unravel: axis {number} is out of range for a shape with {rank} dimension{'s'[: rank != 1]}",
            remedy=f"use an axis in [-{rank}, {rank - 1}]",
        )
    return number % rank
