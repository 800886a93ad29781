"""The tests are tested: implementations that are wrong in one way each must be found out by the cases."""

import dataclasses
import itertools

import numpy as np
import pytest

import twins
from agreement import disagreement
from cases import column_cases, edge_cases, narrow_row_cases, random_cases
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie
from strategies import BFLOAT16, FLOATS, bits_type, is_nan


def native_order(x):
    return x.astype(x.dtype.newbyteorder("="))


def last_for_first(operation, *inputs):
    if isinstance(operation, ArgReduce):
        operation = dataclasses.replace(operation, tie=Tie.LAST)
    return twins.run(operation, *inputs)


def first_for_last(operation, *inputs):
    if isinstance(operation, ArgReduce):
        operation = dataclasses.replace(operation, tie=Tie.FIRST)
    return twins.run(operation, *inputs)


def smallest_for_largest(operation, *inputs):
    if not isinstance(operation, OneHot):
        operation = dataclasses.replace(operation, order=Order.MIN)
    return twins.run(operation, *inputs)


def nan_ignored(operation, *inputs):
    """As when a comparison with NaN is simply false."""
    loser = -np.inf if getattr(operation, "order", Order.MAX) is Order.MAX else np.inf
    return twins.run(operation, *(np.where(is_nan(x), x.dtype.type(loser), native_order(x)) for x in inputs))


def nan_kept_only_if_first(operation, *inputs):
    """As when the running best starts with element 0 and no comparison with NaN succeeds."""
    if isinstance(operation, Extremum):
        first, *others = np.broadcast_arrays(*map(native_order, inputs))
        return np.where(is_nan(first), first, nan_ignored(operation, first, *others))
    inputs = [native_order(x) for x in inputs]
    for x in inputs:
        x[is_nan(x) & (np.indices(x.shape).sum(0) > 0)] = -np.inf
    return twins.run(operation, *inputs)


def negative_zero_smaller(operation, *inputs):
    """As when bits are compared as sign and magnitude."""
    if isinstance(operation, Extremum):
        return twins.run(operation, *inputs)
    inputs = [native_order(x) for x in inputs]
    for x in inputs:
        bits = x.view(bits_type(x.dtype))
        bits[bits == 1 << (8 * x.itemsize - 1)] += 1
    return twins.run(operation, *inputs)


def sign_of_zero_left_to_chance(operation, *inputs):
    """As when the operand met first is kept among equals."""
    if not isinstance(operation, Extremum):
        return twins.run(operation, *inputs)
    result, first = twins.run(operation, *inputs), np.broadcast_arrays(*map(native_order, inputs))[0]
    return np.where((result == 0) & (first == 0), first, result)


def column_major_index(operation, *inputs):
    if not isinstance(operation, ArgReduce):
        return twins.run(operation, *inputs)
    (x,) = inputs
    axes = tuple(x.ndim - 1 - axis for axis in operation.axes)
    return twins.run(dataclasses.replace(operation, axes=axes), x.T).T


def index_by_listed_axes(operation, *inputs):
    """The axes weigh in the sequence in which they were listed."""
    if not isinstance(operation, ArgReduce):
        return twins.run(operation, *inputs)
    (x,) = inputs
    places = sorted(operation.axes)
    listed = np.moveaxis(x, operation.axes, places)
    kept = [axis for axis in range(x.ndim) if axis not in places]
    if [n for axis, n in enumerate(listed.shape) if axis in kept] != [x.shape[axis] for axis in kept]:
        return twins.run(operation, x)
    return twins.run(operation, listed)


def narrow_index(bits):
    def wrap(operation, *inputs):
        result = twins.run(operation, *inputs)
        return result & result.dtype.type((1 << bits) - 1) if isinstance(operation, ArgReduce) else result

    return wrap


def through(narrower):
    """Comparison in a type that cannot tell all elements apart."""

    def rounded(operation, *inputs):
        with np.errstate(all="ignore"):
            if isinstance(operation, Extremum):
                return twins.run(operation, *(native_order(x).astype(narrower).astype(x.dtype) for x in inputs))
            result = twins.run(operation, *(native_order(x).astype(narrower) for x in inputs))
        return result.astype(inputs[0].dtype) if isinstance(operation, OneHot) else result

    return rounded


def reinterpreted(kind):
    """Signed elements compared as unsigned ones, or the other way round."""

    def run(operation, *inputs):
        result = twins.run(operation, *(native_order(x).view(f"{kind}{x.itemsize}") for x in inputs))
        return result if isinstance(operation, ArgReduce) else result.view(inputs[0].dtype.newbyteorder("="))

    return run


def byte_order_ignored(operation, *inputs):
    return twins.run(operation, *(x.view(x.dtype.newbyteorder("=")) for x in inputs))


def negative_strides_ignored(operation, *inputs):
    def unreversed(x):
        return x[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in x.strides)]

    return twins.run(operation, *map(unreversed, inputs))


def element_skipped(position):
    """The element at `position` along the last axis is read as its neighbour: a loop one step too short or too long."""

    def run(operation, *inputs):
        inputs = [native_order(x) for x in inputs]
        for x in inputs:
            if x.ndim and x.shape[-1] > 1 and -x.shape[-1] <= position < x.shape[-1]:
                x[..., position] = x[..., position - 1]
        return twins.run(operation, *inputs)

    return run


def every_tie_marked(operation, *inputs):
    if not isinstance(operation, OneHot):
        return twins.run(operation, *inputs)
    x = native_order(inputs[0])
    if not x.size:
        return x
    return (x == x.max(operation.axes, keepdims=True)).astype(x.dtype)


def last_operand_ignored(operation, *inputs):
    if len(inputs) == 1:
        return twins.run(operation, *inputs)
    result = twins.run(operation, *inputs[:-1])
    return np.broadcast_to(result, np.broadcast_shapes(*(x.shape for x in inputs)))


def dimensions_always_kept(operation, *inputs):
    if isinstance(operation, ArgReduce):
        operation = dataclasses.replace(operation, keepdims=True)
    return twins.run(operation, *inputs)


def index_always_int64(operation, *inputs):
    result = twins.run(operation, *inputs)
    return result.astype(np.int64) if isinstance(operation, ArgReduce) else result


def input_overwritten(operation, *inputs):
    result = twins.run(operation, *inputs)
    for x in inputs:
        if x.flags.writeable:
            x[...] = 0
    return result


MUTANTS = [
    *((mutant, "int32") for mutant in (last_for_first, first_for_last, smallest_for_largest, every_tie_marked)),
    *((mutant, "uint8") for mutant in (column_major_index, index_by_listed_axes, last_operand_ignored)),
    *((mutant, "int64") for mutant in (dimensions_always_kept, index_always_int64, input_overwritten)),
    *((mutant, "int16") for mutant in (byte_order_ignored, negative_strides_ignored)),
    *itertools.product((nan_ignored, nan_kept_only_if_first, negative_zero_smaller), map(str, FLOATS)),
    (sign_of_zero_left_to_chance, "float32"),
    *((element_skipped(k), "float32") for k in (0, -1, 7, 8, 15, 16, 31, 32, 63, 64, 255, 256)),
    *((narrow_index(bits), t) for bits, t in ((8, "int8"), (8, "bool"), (16, "uint16"), (16, "float16"))),
    *((through("float64"), t) for t in ("int64", "uint64")),
    *((through("float32"), t) for t in ("int32", "uint32", "float64")),
    *((through(BFLOAT16), t) for t in ("float16", "float32")),
    (through("float16"), "bfloat16"),
    *((reinterpreted("u"), t) for t in ("int8", "int16", "int32", "int64", "float16", "bfloat16", "float32")),
    *((reinterpreted("i"), t) for t in ("uint8", "uint16", "uint32", "uint64", "float64")),
]


def small_and_systematic_cases(dtype):
    """What `test_kernels.py` asks, in the sizes it asks first."""
    yield from random_cases(3, 96, [dtype])
    yield from narrow_row_cases(dtype, [2, 7, 33])
    yield from edge_cases(dtype, [17, 33, 65, 257])
    yield from column_cases(dtype, 258, [3, 70])
    yield from column_cases(dtype, 65537, [33])


@pytest.mark.parametrize(("mutant", "dtype"), MUTANTS, ids=lambda x: getattr(x, "__qualname__", x).split(".")[0])
def test_mutant_is_found_out(mutant, dtype):
    cases = small_and_systematic_cases(np.dtype(BFLOAT16 if dtype == "bfloat16" else dtype))
    assert any(disagreement(mutant, twins.run, operation, inputs) for operation, inputs in cases)


@pytest.mark.parametrize("mutant", [last_for_first, nan_ignored, column_major_index, element_skipped(-1)])
def test_mutants_are_wrong_in_one_way_only(mutant):
    cases = list(random_cases(3, 96, [np.dtype("float32")]))
    found = sum(disagreement(mutant, twins.run, operation, inputs) is not None for operation, inputs in cases)
    assert 0 < found < len(cases) // 2
