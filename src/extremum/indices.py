"""Row-major indices over several axes, and the index along each axis."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from extremum.errors import ArgumentError, ArgumentTypeError, AxisError, ElementTypeError
from extremum.printable import counted


def unravel(
    indices: ArrayLike, shape: tuple[int, ...], axis: int | tuple[int, ...] | None = None
) -> tuple[NDArray[Any], ...]:
    """Return the index along each reduced axis, from the row-major index over all of them.

    Parameters
    ----------
    indices : array_like of int
        Indices from :func:`extremum.argmax` or the others, of any shape. -1, the index of a default, stays -1.
    shape : tuple of int
        The shape of the array that was reduced.
    axis : int or tuple of int, optional
        The axes that were reduced, in any order; all axes by default.

    Returns
    -------
    tuple of numpy.ndarray
        One array for each reduced axis, in the order of the dimensions, in the shape and type of `indices`.

    Raises
    ------
    AxisError
        An axis is out of range or given twice.
    ArgumentError
        An index lies outside the reduced axes, a length is negative, or the axes have more elements than an index can
        count.
    ArgumentTypeError
        `shape` is not a sequence of integers.
    ElementTypeError
        `indices` are not integers.

    Examples
    --------
    >>> import numpy as np
    >>> import extremum as ex
    >>> x = np.array([[1, 5, 5], [7, 0, 7]])
    >>> row, column = ex.unravel(ex.argmax(x), x.shape)
    >>> int(row), int(column)
    (1, 0)
    """
    given = np.asarray(indices)
    if given.dtype.kind not in "iu":
        raise ElementTypeError(f"unravel: indices of type {given.dtype}", remedy="pass integers")
    try:
        # A set has no order, and no slice.
        sizes = tuple(shape[:])
    except TypeError:
        raise _no_shape(shape) from None
    axes = reduced_axes("unravel", axis, sizes, what="a shape")
    try:
        # Dask does not know the other lengths until it computes.
        lengths = [operator.index(sizes[each]) for each in axes]
    except TypeError:
        raise _no_shape(shape) from None
    if any(length < 0 for length in lengths):
        raise ArgumentError(f"unravel: shape {sizes} has a negative length", remedy="use lengths from 0 on")
    size = math.prod(lengths)
    if size > np.iinfo(np.intp).max:
        raise ArgumentError(
            f"unravel: axes {axes} have {size} elements, more than an index can count",
            given=f"shape {sizes}",
            remedy="pass the shape of an array",
        )
    # NumPy 2.3 to 2.4 answers wrongly where a last dimension of length 1 follows more than 8,193 indices.
    flat = given.reshape(-1)
    outside = flat >= size
    if flat.dtype.kind == "i":
        outside |= flat < -1
    if outside.any():
        raise ArgumentError(
            f"unravel: index {flat[outside][0]} is outside the {size} elements of axes {axes}",
            given=f"shape {sizes}",
            remedy="pass the shape and the axes of the array that was reduced",
        )
    if not axes:
        return ()
    # The index of a default stays -1. If a length is 0, all indices are -1, so any lengths will do.
    is_default = flat == -1
    places = np.unravel_index(np.where(is_default, 0, flat), [length if size else 1 for length in lengths])
    return tuple(
        np.where(is_default, flat, place).astype(given.dtype, copy=False).reshape(given.shape)
        for place in places
    )


def _no_shape(shape: object) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"unravel: shape is {shape!r}, not a tuple of integers",
        remedy="pass the shape of the array that was reduced",
    )


def reduced_axes(
    function: str, axis: Any, shape: Sequence[int], array: Any = None, what: str = "an array"
) -> tuple[int, ...]:
    """Return the axes that are reduced, ascending, or refuse them; None stands for all."""
    rank = len(shape)
    numbers = tuple(range(rank)) if axis is None else integers(function, axis, array)
    several = numbers if isinstance(numbers, tuple) else (numbers,)
    axes = {each % rank for each in several if -rank <= each < rank}
    if len(axes) < len(several):
        raise axis_error(function, numbers, shape, array, what)
    return tuple(sorted(axes))


def integers(function: str, axis: Any, array: NDArray[Any] | None = None) -> int | tuple[int, ...]:
    """Return an axis argument as an integer or a tuple of integers; a bool is refused, although Python allows it."""
    several = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    each: Any = None
    numbers: list[int] = []
    try:
        for each in several:
            numbers.append(operator.index(None if isinstance(each, bool) else each))  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(
            f"{function}: axis {each!r} is not an integer",
            given=None if array is None else _summary(array, list(array.shape), axis),
            remedy="pass an int or a tuple of ints",
        ) from None
    return tuple(numbers) if isinstance(axis, tuple | list) else numbers[0]


def axis_error(
    function: str, axis: Any, shape: Sequence[int], array: NDArray[Any] | None = None, what: str = "an array"
) -> AxisError:
    """Return the error about the first axis that is out of range or listed before."""
    rank = len(shape)
    given = None if array is None else _summary(array, list(shape), axis)
    before = set[int]()
    several = axis if isinstance(axis, tuple) else (axis,)
    for number in several:
        if not -rank <= number < rank:
            in_range = f"use an axis in [-{rank}, {rank - 1}]"
            return AxisError(
                f"{function}: axis {number} is out of range for {what} with {counted(rank, 'dimension')}",
                given=given,
                remedy=in_range if rank else f"pass {what} with at least one dimension",
            )
        if number % rank in before:
            break
        before.add(number % rank)
    return AxisError(
        f"{function}: axis {number % rank} is given more than once",
        given=given,
        remedy="list each axis once",
    )


def _summary(array: NDArray[Any], shape: list[int], axis: Any) -> str:
    return f"{array.dtype.newbyteorder('=')}{shape}, axis={axis}"
