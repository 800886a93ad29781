"""Laws of the operations: how a result is computed changes no bit; permuting, splitting and renaming predict it."""

import dataclasses
import itertools
import math
from functools import partial, reduce

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import extremum
from agreement import EVERY_SET, assert_identical, assert_same_bits, native
from cases import arg_reductions, reductions
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie
from law_cases import Laid, arrays_and_axes, operands, oracle
from layouts import LAYOUTS, REPEATING, byte_swapped, read_only
from strategies import FLOATS, axes_sets, bits_type, index_types, is_nan, nans


@given(arrays_and_axes(), operands(), st.booleans(), st.sampled_from([2, 3, 7]), st.data())
def test_every_instruction_set_and_any_threads_give_the_oracles_bits(case, arrays, keepdims, threads, data):
    x, axes = case
    memory = [Laid(each) for each in (x, *arrays)]
    index = data.draw(st.sampled_from(index_types(math.prod(x.shape[axis] for axis in axes))))
    calls = [(each, [x]) for each in reductions(axes, keepdims=keepdims, index=index)]
    for operation, inputs in [*calls, *((Extremum(order), arrays) for order in Order)]:
        actual = native(operation, *inputs, ways=(*EVERY_SET, {"threads": threads, "small_limit": 0}))
        assert_same_bits(actual, oracle(operation, *inputs), operation, inputs, [each.strides for each in inputs])
    assert all(each.untouched for each in memory)


@given(arrays_and_axes(), st.integers(0, 2**32 - 1))
def test_no_layout_changes_a_result(case, seed):
    x, axes = case
    rng = np.random.default_rng(seed)
    for layout in LAYOUTS:
        laid_out = layout(x, rng)
        plain = np.array(laid_out, x.dtype.newbyteorder("="), order="C")
        memory = Laid(laid_out)
        for operation in [*reductions(axes), *map(Extremum, Order)]:
            assert_identical(operation(laid_out), operation(plain), operation, "of", layout.__name__)
        assert memory.untouched


# Layouts that a result can be written to: each element has its own place, in this machine's byte order.
_WRITABLE = [layout for layout in LAYOUTS if layout not in (*REPEATING, read_only, byte_swapped)]


@given(arrays_and_axes(), st.sampled_from(_WRITABLE), st.integers(0, 2**32 - 1))
def test_out_receives_the_result_and_nothing_around_it_changes(case, layout, seed):
    x, axes = case
    memory = Laid(x)
    for operation in [*reductions(axes), *map(Extremum, Order)]:
        expected = np.asarray(operation(x))
        out = layout(np.zeros_like(expected), np.random.default_rng(seed))
        around = Laid(out)
        assert operation(x, out=out) is out
        assert_identical(out, expected, operation, "into strides", out.strides)
        out[...] = 0
        assert around.untouched
    assert memory.untouched


INT64 = np.dtype("int64")


def native_bytes(x):
    return x.astype(x.dtype.newbyteorder("="))


def arg_reduce(order, axes, tie, x):
    """Indices with all dimensions kept."""
    return ArgReduce(order, axes, True, tie, INT64)(x)


@given(arrays_and_axes(), st.data())
def test_transposing_the_input_transposes_the_result(case, data):
    """As long as the reduced axes keep their order, because their index is row-major."""
    x, axes = case
    order = data.draw(st.permutations(range(x.ndim)))
    reduced = iter(sorted(axes))
    order = [next(reduced) if axis in axes else axis for axis in order]
    moved = tuple(place for place, axis in enumerate(order) if axis in axes)
    for here, there in zip(reductions(axes, keepdims=True), reductions(moved, keepdims=True), strict=True):
        assert_same_bits(there(x.transpose(order)), here(x).transpose(order))


@given(arrays_and_axes(), st.data())
def test_reversing_counts_from_the_other_end(case, data):
    """Kept axes reverse the result; all reduced axes together reverse the index, and first ties become last ties."""
    x, axes = case
    kept = tuple(axis for axis in data.draw(axes_sets(x.ndim)) if axis not in axes)
    block = int(np.prod([x.shape[axis] for axis in axes]))
    for operation in reductions(axes, keepdims=True):
        assert_same_bits(operation(np.flip(x, kept)), np.flip(operation(x), kept))
        if not isinstance(operation, OneHot):
            other = dataclasses.replace(operation, tie=Tie.LAST if operation.tie is Tie.FIRST else Tie.FIRST)(x)
            other = block - 1 - other if isinstance(operation, ArgReduce) else other
            assert_same_bits(operation(np.flip(x, (*kept, *axes))), np.flip(other, kept))


def chunks(x, axis, cuts):
    """Parts of `x` along an axis with the place where each begins."""
    bounds = [0, *sorted({cut for cut in cuts if 0 < cut < x.shape[axis]}), x.shape[axis]]
    for low, high in itertools.pairwise(bounds):
        yield low, x[(slice(None),) * axis + (slice(low, high),)]


@given(arrays_and_axes(), st.data())
def test_chunks_along_a_kept_axis_stand_side_by_side(case, data):
    x, axes = case
    for axis in [axis for axis in range(x.ndim) if axis not in axes][:2]:
        cuts = data.draw(st.lists(st.integers(0, x.shape[axis]), max_size=3))
        for operation in reductions(axes, keepdims=True):
            parts = [operation(part) for _, part in chunks(x, axis, cuts)]
            assert_same_bits(np.concatenate(parts, axis), operation(x))


def in_the_whole(index, axes, part, x, axis, low):
    """Where an index into the block of a chunk points in the block of the whole."""
    axes = sorted(axes)
    places = list(np.unravel_index(np.ascontiguousarray(index), [part.shape[each] for each in axes]))
    places[axes.index(axis)] = places[axes.index(axis)] + low
    return np.ravel_multi_index(places, [x.shape[each] for each in axes]).reshape(index.shape)


def better(order, tie, one, other):
    """The better of two pairs of element and index; of equals, the lower or the higher index."""
    bests = np.stack([one[0], other[0]])
    first, last = (arg_reduce(order, (0,), each, bests)[0] for each in Tie)
    lower = (one[1] < other[1]) == (tie is Tie.FIRST)
    other_wins = np.where(first == last, first == 1, ~lower)
    return tuple(np.where(other_wins, there, here) for here, there in zip(one, other, strict=True))


@given(arrays_and_axes(least_axes=1), st.data())
def test_chunks_along_a_reduced_axis_combine_by_value_and_index(case, data):
    x = native_bytes(case[0])
    axes = case[1]
    axis = data.draw(st.sampled_from(axes))
    cuts = data.draw(st.lists(st.integers(0, x.shape[axis]), min_size=1, max_size=4))
    for order, tie in itertools.product(Order, Tie):
        results = []
        parts = list(chunks(x, axis, cuts))
        for low, part in (parts[k] for k in data.draw(st.permutations(range(len(parts))))):
            index = arg_reduce(order, axes, tie, part)
            results.append((Reduce(order, axes, True, tie)(part), in_the_whole(index, axes, part, x, axis, low)))
        combined = reduce(partial(better, order, tie), results)
        assert_same_bits(combined[1], arg_reduce(order, axes, tie, x))
        assert_same_bits(combined[0], Reduce(order, axes, True, tie)(x))


@given(arrays_and_axes())
def test_hardmax_is_one_at_the_first_largest_and_zero_elsewhere(case):
    x, axes = case
    ones = extremum.hardmax(x, axes)
    assert_same_bits(extremum.argmax(ones, axes), extremum.argmax(x, axes))
    assert np.count_nonzero(ones) == extremum.argmax(x, axes).size
    assert set(np.unique(ones.astype(np.float64))) <= {0.0, 1.0}
    assert_same_bits(extremum.hardmax(ones, axes), ones)


def complement(x):
    """Elements in the opposite order; a NaN stays a NaN."""
    if x.dtype in FLOATS:
        return (x.view(bits_type(x.dtype)) ^ bits_type(x.dtype).type(1 << (8 * x.itemsize - 1))).view(x.dtype)
    return ~x


@given(arrays_and_axes())
def test_the_smallest_is_the_largest_of_the_opposite_order(case):
    x = native_bytes(case[0])
    axes = case[1]
    for tie in Tie:
        assert_same_bits(arg_reduce(Order.MIN, axes, tie, x), arg_reduce(Order.MAX, axes, tie, complement(x)))


@given(arrays_and_axes(dtypes=st.sampled_from(FLOATS)), st.integers(0, 2**32 - 1))
def test_neither_the_bits_of_a_nan_nor_the_sign_of_a_zero_count(case, seed):
    x = native_bytes(case[0])
    axes = case[1]
    rng = np.random.default_rng(seed)
    with np.errstate(invalid="ignore"):
        zero = (x == 0) & (rng.random(x.shape) < 0.5)
    flipped = np.where(is_nan(x), rng.choice(nans(x.dtype), x.shape), np.where(zero, complement(x), x))
    for operation in [*arg_reductions(axes), OneHot(axes)]:
        assert_same_bits(operation(flipped), operation(x))


@given(operands(), st.sampled_from(Order), st.data())
def test_operands_in_any_sequence_number_and_grouping(arrays, order, data):
    pick = Extremum(order)
    expected = pick(*arrays)
    assert_same_bits(pick(*(arrays[k] for k in data.draw(st.permutations(range(len(arrays)))))), expected)
    assert_same_bits(pick(*arrays, *arrays), expected)
    assert_same_bits(reduce(pick, arrays, arrays[0]), expected)
    cut = data.draw(st.integers(1, len(arrays)))
    groups = [pick(*group) for group in (arrays[:cut], arrays[cut:]) if group]
    assert_same_bits(pick(*groups), expected)
    assert_same_bits(pick(*np.broadcast_arrays(*arrays)), expected)
