"""The core operations in plain Python over NumPy: slow, obvious, and the oracle of the tests.

This file decides what the right answer is, one block of elements at a time. It expects lowered operations (axes
distinct and not negative, operands of one element type) and leaves checking to :mod:`extremum.validate` and speed to
the native module.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from extremum.errors import ArgumentError
from extremum.operations import ArgReduce, Extremum, OneHot, Operation, Order, Selection, Tie

__all__ = ["arg_reduce", "extremum", "one_hot", "run", "selection"]

Array = NDArray[Any]
Number = int | float


def run(operation: Operation, *inputs: ArrayLike) -> Array:
    """Apply one core operation to its inputs.

    Parameters
    ----------
    operation : ArgReduce, OneHot, Extremum or Selection
        What to do; see :mod:`extremum.operations`.
    *inputs : array_like
        One array, or for Extremum one or more.

    Returns
    -------
    ndarray
        A new array in native byte order.

    Raises
    ------
    ArgumentError
        If a reduced axis has no element.

    Examples
    --------
    >>> from extremum.operations import Extremum, Order
    >>> run(Extremum(Order.MAX), [1, 5], [3, 4])
    array([3, 5])
    """
    # ml_dtypes reads a single byte-swapped bfloat16 element as another number, so the bytes are put in order first.
    arrays = [x.astype(x.dtype.newbyteorder("="), copy=False) for x in map(np.asarray, inputs)]
    match operation:
        case ArgReduce(order, axes, keepdims, tie, index):
            return arg_reduce(arrays[0], order, axes, keepdims, tie, index)
        case OneHot(axes):
            return one_hot(arrays[0], axes)
        case Extremum(order):
            return extremum(order, *arrays)
        case Selection(order, axes):
            return selection(arrays[0], order, axes)


def arg_reduce(x: Array, order: Order, axes: Sequence[int], keepdims: bool, tie: Tie, index: DTypeLike) -> Array:
    """Index of the extremum over a set of axes, row-major within the reduced block.

    Parameters
    ----------
    x : ndarray
        Any shape, any element type.
    order : Order
        Whether the largest or the smallest element is sought.
    axes : sequence of int
        The reduced axes; their sequence does not matter. No axis: every element is a block of its own, index 0.
    keepdims : bool
        Whether reduced axes stay in the result with length 1.
    tie : Tie
        Which of several equal elements counts.
    index : dtype_like
        Element type of the result.

    Returns
    -------
    ndarray of `index`
        `x`'s shape without the reduced axes, or with 1 in their place.

    Raises
    ------
    ArgumentError
        If the reduced axes hold no element, whether or not the result would have any.

    Notes
    -----
    Source: ONNX ArgMax and ArgMin 1 to 13; DML_ARGMAX and DML_ARGMIN for more than one axis.

    Examples
    --------
    >>> x = np.array([[1.0, 7.0, 7.0], [9.0, np.nan, 2.0]])
    >>> arg_reduce(x, Order.MAX, [1], False, Tie.FIRST, np.int64)
    array([1, 1])
    >>> arg_reduce(x, Order.MIN, [0, 1], True, Tie.LAST, np.int32)
    array([[4]], dtype=int32)
    """
    if any(x.shape[axis] == 0 for axis in axes):
        raise ArgumentError(f"the reduced axes {tuple(axes)} of shape {x.shape} hold no element")
    kept = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))
    indices = [_position(block, order, tie) for block in _blocks(x, axes)]
    result = np.array(indices, dtype=index).reshape(kept)
    return result if keepdims else result.squeeze(tuple(axes))


def one_hot(x: Array, axes: Sequence[int]) -> Array:
    """One at the first maximum over a set of axes, zero elsewhere.

    Parameters
    ----------
    x : ndarray
        Any shape, any element type.
    axes : sequence of int
        The axes that together make one row; "first" is row-major within it. No axis: every element is a one.

    Returns
    -------
    ndarray
        `x`'s shape and element type. Empty rows give an empty result.

    Notes
    -----
    Source: ONNX Hardmax 13 for one axis, Hardmax 1 and 11 for the last few.

    Examples
    --------
    >>> one_hot(np.array([[3, 8, 8], [5, 1, 2]]), [1])
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    result = np.zeros(x.shape, x.dtype)
    for block, ones in zip(_blocks(x, axes), _blocks(result, axes), strict=True):
        if block.size:
            ones[np.unravel_index(_position(block, Order.MAX, Tie.FIRST), ones.shape)] = 1
    return result


def extremum(order: Order, *operands: Array) -> Array:
    """Elementwise largest or smallest of any number of operands, broadcast together.

    Parameters
    ----------
    order : Order
        Whether the largest or the smallest element is sought.
    *operands : ndarray
        One or more, of one element type and of shapes that broadcast.

    Returns
    -------
    ndarray
        The broadcast shape, the operands' element type. Bits are selected from an operand, never computed.

    Notes
    -----
    Source: ONNX Max and Min 1 to 13. Zeros follow IEEE 754-2019 `maximum` and `minimum`: +0 is the larger one.

    Examples
    --------
    >>> extremum(Order.MAX, np.array([-0.0, np.nan, 1.0]), np.array(0.0))
    array([ 0., nan,  1.])
    """
    operands = tuple(np.broadcast_arrays(*operands))
    result = np.empty(operands[0].shape, operands[0].dtype)
    for place in np.ndindex(result.shape):
        candidates = [x[place] for x in operands]
        result[place] = max(candidates, key=lambda candidate: _key_with_zero_sign(candidate.item(), order))
    return result


def selection(x: Array, order: Order, axes: Sequence[int]) -> Array:
    """First largest or smallest element over a set of axes, which stay with length 1.

    Parameters
    ----------
    x : ndarray
        Any shape, any element type.
    order : Order
        Whether the largest or the smallest element is sought.
    axes : sequence of int
        The reduced axes; their sequence does not matter.

    Returns
    -------
    ndarray
        The elements that :func:`arg_reduce` points to with ``Tie.FIRST``, bit for bit.

    Notes
    -----
    Source: DML_REDUCE with the functions MAX and MIN.

    Examples
    --------
    >>> selection(np.array([[3, 1, 2], [5, 4, 4]]), Order.MIN, [1])
    array([[1],
           [4]])
    """
    kept = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))
    result = np.empty(kept, x.dtype)
    for place, block in zip(np.ndindex(*kept), _blocks(x, axes), strict=True):
        result[place] = block.flat[_position(block, order, Tie.FIRST)]
    return result


def _blocks(x: Array, axes: Sequence[int]) -> Iterator[Array]:
    """Yield views of `x`, one for each place along the axes that are kept, in row-major sequence."""
    kept = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
    for place in np.ndindex(*kept):
        yield x[(*(slice(None) if axis in axes else i for axis, i in enumerate(place)), ...)]


def _position(block: Array, order: Order, tie: Tie) -> int:
    """Row-major position of the extremum within one block."""
    keys = [_key(value, order) for value in block.ravel().tolist()]
    if tie is Tie.LAST:
        return len(keys) - 1 - keys[::-1].index(max(keys))
    return keys.index(max(keys))


def _key(value: Number, order: Order) -> tuple[bool, Number]:
    """Return what is compared, the extremum being the largest: NaN beats every number, NaNs tie, -0 equals +0."""
    if math.isnan(value):
        return True, 0
    return False, value if order is Order.MAX else -value


def _key_with_zero_sign(value: Number, order: Order) -> tuple[bool, Number, float]:
    """Return a key like that of :func:`_key` in which +0 is larger than -0."""
    sign = math.copysign(1, value)
    return *_key(value, order), sign if order is Order.MAX else -sign
