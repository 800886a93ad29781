"""The core operations in plain Python over NumPy: slow, obvious, and the oracle of the tests.

Decides what the right answer is, one block of elements at a time. Expects lowered operations: axes distinct and not
negative, operands of one element type.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from extremum.operations import (
    ArgReduce,
    Extremum,
    OneHot,
    Operation,
    Order,
    Reduce,
    Tie,
    TopK,
    require_elements,
)

Array = NDArray[Any]
Number = int | float


def run(operation: Operation, *inputs: ArrayLike) -> Array | tuple[Array, Array]:
    """Apply one core operation to its inputs."""
    # ml_dtypes reads a single byte-swapped bfloat16 element as another number, so the bytes are put in order first.
    arrays = [x.astype(x.dtype.newbyteorder("="), copy=False) for x in map(np.asarray, inputs)]
    x = arrays[0]
    match operation:
        case Extremum(order):
            return extremum(order, *arrays)
        case TopK(order, axis, k, _):
            return top_k(x, order, axis, k, nan_first=order is Order.MAX)
        case OneHot(axes):
            # 1 at the first maximum over a set of axes, 0 elsewhere.
            result = np.zeros(x.shape, x.dtype)
            for block, ones in zip(_blocks(x, axes), _blocks(result, axes), strict=True):
                if block.size:
                    ones[np.unravel_index(_position(block, Order.MAX, Tie.FIRST), ones.shape)] = 1
            return result
        case ArgReduce(order, axes, keepdims, tie, index):
            # The index is row-major within the reduced block; without axes, each block has one element.
            require_elements(x, axes)
            result = np.array([_position(block, order, tie) for block in _blocks(x, axes)], index)
            result = result.reshape(_result_shape(x, axes))
        case Reduce(order, axes, keepdims, tie, identity):
            # The first or last of the extreme elements, bit for bit.
            if not identity:
                require_elements(x, axes)
            result = np.empty(_result_shape(x, axes), x.dtype)
            for place, block in zip(np.ndindex(result.shape), _blocks(x, axes), strict=True):
                result[place] = (
                    block.flat[_position(block, order, tie)] if block.size else identity_of(x.dtype, order)
                )
    return result if keepdims else result.squeeze(tuple(axes))


def extremum(order: Order, *operands: Array, omit: bool = False) -> Array:
    """Elementwise largest or smallest of operands broadcast together; +0 is larger than -0, as in IEEE 754-2019.

    With `omit`, NaN counts only if there is no number.
    """
    operands = tuple(np.broadcast_arrays(*operands))
    result = np.empty(operands[0].shape, operands[0].dtype)
    for place in np.ndindex(result.shape):
        candidates = [x[place] for x in operands]
        numbers = [candidate for candidate in candidates if not math.isnan(candidate.item())]
        pool = numbers if omit and numbers else candidates
        # The sign of a number decides only between zeros.
        sign = 1 if order is Order.MAX else -1
        result[place] = max(pool, key=lambda x: (*_key(x.item(), order), sign * math.copysign(1, x.item())))
    return result


def top_k(x: Array, order: Order, axis: int, k: int, *, nan_first: bool) -> tuple[Array, Array]:
    """Best elements along one axis and their indices, best first, equals by index; NaN before or after numbers."""
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    values = np.empty(shape, x.dtype)
    indices = np.empty(shape, np.int64)
    for block, best, places in zip(*(_blocks(each, (axis,)) for each in (x, values, indices)), strict=True):
        keys = [_key(number, order, nan_first) for number in _numbers(block)]
        # Equal elements keep their order.
        places[...] = sorted(range(len(keys)), key=keys.__getitem__, reverse=True)[:k]
        best[...] = block[places]
    return values, indices


def identity_of(dtype: np.dtype[Any], order: Order) -> Any:
    """Return the value that every element beats or equals: the other end of the order of its type."""
    if dtype.name == "bool":
        return order is Order.MIN
    if "int" in dtype.name:
        if order is Order.MAX:
            return np.iinfo(dtype).min
        return np.iinfo(dtype).max
    return -np.inf if order is Order.MAX else np.inf


def _result_shape(x: Array, axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))


def _blocks(x: Array, axes: Sequence[int]) -> Iterator[Array]:
    """Yield views of `x`, one for each place along the other axes, in row-major order."""
    for place in np.ndindex(_result_shape(x, axes)):
        yield x[(*(slice(None) if axis in axes else i for axis, i in enumerate(place)), ...)]


def _position(block: Array, order: Order, tie: Tie) -> int:
    keys = [_key(value, order) for value in _numbers(block)]
    if tie is Tie.LAST:
        return len(keys) - 1 - keys[::-1].index(max(keys))
    return keys.index(max(keys))


def _numbers(block: Array) -> list[Number]:
    """Elements as Python's numbers; times as their stored integers, with NaN for NaT."""
    if block.dtype.kind in "mM":
        ticks = block.ravel().view(np.int64).tolist()
        return [
            math.nan if missing else tick
            for tick, missing in zip(ticks, np.isnat(block.ravel()), strict=True)
        ]
    return cast("list[Number]", block.ravel().tolist())


def _key(value: Number, order: Order, nan_first: bool = True) -> tuple[bool, Number]:
    """Return the key to compare, largest for the extremum: NaN beats every number or none, NaNs tie, -0 is +0."""
    if math.isnan(value):
        return (nan_first, 0)
    return (not nan_first, value if order is Order.MAX else -value)
