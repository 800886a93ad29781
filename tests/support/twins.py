"""The reference again, for whole arrays at a time; `test_reference.py` checks that both agree on small arrays."""

import numpy as np

from extremum import reference
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie, TopK
from strategies import BFLOAT16, FLOATS, is_nan


def run(operation, *inputs):
    """Apply one core operation, as `extremum.reference.run` does."""
    match operation:
        case ArgReduce(order, axes, keepdims, tie, index):
            return arg_reduce(*inputs, order, axes, keepdims, tie, index)
        case OneHot(axes):
            return one_hot(*inputs, axes)
        case Extremum(order):
            return extremum(order, *inputs)
        case Reduce(order, axes, keepdims, tie, identity):
            return reduce(*inputs, order, axes, keepdims, tie, identity)
        case TopK(order, axis, k, _):
            return top_k(*inputs, order, axis, k)


def arg_reduce(x, order, axes, keepdims, tie, index):
    rows = _comparable(_rows(x, axes))
    find = np.argmax if order is Order.MAX else np.argmin
    places = find(rows, -1) if tie is Tie.FIRST else rows.shape[-1] - 1 - find(rows[..., ::-1], -1)
    return np.expand_dims(places.astype(index), tuple(axes) if keepdims else ())


def find(x, order, axes, tie, *, omit=False, where=None):
    """Values and indices among the elements that take part, as `agreement.find` does."""
    native = x.astype(x.dtype.newbyteorder("="))
    there = np.ones(x.shape, bool) if where is None else np.broadcast_to(where, x.shape)
    if native.dtype.kind in "mM":
        # NaT is the smallest integer; less 1, it is the largest, and the order of the others stays.
        shift = int(order is Order.MAX)
        there = there & ~(omit & np.isnat(native))
        values, indices = find(native.view(np.int64) - shift, order, axes, tie, where=there)
        return np.where(indices == -1, 0, values + shift).view(native.dtype), indices
    if omit and native.dtype in FLOATS:
        there = there & ~is_nan(native)
    rows = _rows(native, axes)
    there = _rows(there, axes)
    if not rows.shape[-1]:
        values = np.zeros(rows.shape[:-1], native.dtype)
        indices = np.full(rows.shape[:-1], -1)
    else:
        # The best of the elements that take part, and the first or last of those equal to it.
        beaten = np.where(there, rows, np.asarray(reference.identity_of(native.dtype, order), native.dtype))
        best = reduce(beaten, order, (beaten.ndim - 1,), True, tie, False)
        equal = there & ((_comparable(rows) == _comparable(best)) | (is_nan(rows) & is_nan(best)))
        indices = equal.argmax(-1) if tie is Tie.FIRST else rows.shape[-1] - 1 - equal[..., ::-1].argmax(-1)
        values = np.take_along_axis(rows, indices[..., None], -1)[..., 0]
        values = np.where(there.any(-1), values, np.zeros_like(values))
        indices = np.where(there.any(-1), indices, -1)
    return np.expand_dims(values, tuple(axes)), np.expand_dims(indices, tuple(axes))


def _rows(x, axes):
    """The kept axes, and the reduced axes flattened into a last axis."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    moved = np.moveaxis(x, kept, range(len(kept)))
    return moved.reshape(*(x.shape[axis] for axis in kept), int(np.prod([x.shape[axis] for axis in axes])))


def reduce(x, order, axes, keepdims, tie, identity):
    """The elements themselves, at the places that :func:`arg_reduce` finds."""
    dtype = x.dtype.newbyteorder("=")
    rows = _rows(x, axes)
    if identity and not rows.shape[-1]:
        best = np.full(rows.shape[:-1], reference.identity_of(dtype, order), dtype)
    else:
        places = arg_reduce(x, order, axes, False, tie, np.int64)
        best = np.take_along_axis(rows, places[..., None], -1)[..., 0].astype(dtype)
    return np.expand_dims(best, tuple(axes) if keepdims else ())


def top_k(x, order, axis, k, nan_first=None):
    """A stable sort, from the end where the largest come first. NaN is the largest, unless `nan_first` is given."""
    keys = _comparable(x)
    if order is Order.MAX:
        places = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(keys, axis), axis, kind="stable"), axis)
    else:
        places = np.argsort(keys, axis, kind="stable")
    if nan_first is not None and keys.dtype.kind == "f":
        later = np.isnan(np.take_along_axis(keys, places, axis)) != nan_first
        places = np.take_along_axis(places, np.argsort(later, axis, kind="stable"), axis)
    indices = np.take(places, range(k), axis)
    return np.take_along_axis(x.astype(x.dtype.newbyteorder("=")), indices, axis), indices


def one_hot(x, axes):
    if not x.size:
        return np.zeros(x.shape, x.dtype.newbyteorder("="))
    first = arg_reduce(x, Order.MAX, axes, False, Tie.FIRST, np.int64)
    kept_then_reduced = [axis for axis in range(x.ndim) if axis not in axes] + sorted(axes)
    ones = first[..., None] == np.arange(x.size // first.size)
    ones = ones.reshape([x.shape[axis] for axis in kept_then_reduced]).transpose(np.argsort(kept_then_reduced))
    return ones.astype(x.dtype.newbyteorder("="))


def ones_at(indices, axes, shape):
    """True at the row-major index of each slice, as :func:`find` returns them; a slice of index -1 has no True."""
    lengths = [n if axis in axes else 1 for axis, n in enumerate(shape)]
    numbers = np.arange(np.prod(lengths, dtype=int)).reshape(lengths)
    return np.broadcast_to(numbers == indices, shape)


def extremum(order, *operands):
    result = operands[0].astype(operands[0].dtype.newbyteorder("="))
    for x in operands[1:]:
        result, x = np.broadcast_arrays(result, x)
        keys = _comparable(result)
        rivals = _comparable(x)
        wins = rivals > keys if order is Order.MAX else rivals < keys
        if x.dtype.newbyteorder("=") in FLOATS:
            positive_zero = (rivals == 0) & (keys == 0) & (np.signbit(rivals) == (order is Order.MIN))
            wins = is_nan(x) | (~is_nan(result) & (wins | positive_zero))
        result = np.where(wins, x.astype(result.dtype), result)
    return result


def _comparable(x):
    """`x` in a type that NumPy compares fast and without a warning; float16 and bfloat16 widen exactly."""
    native = x.astype(x.dtype.newbyteorder("="))
    if native.dtype in FLOATS:
        native[is_nan(native)] = np.nan
    return native.astype(np.float32) if native.dtype in (np.float16, BFLOAT16) else native
