"""Laws that follow from what the operations mean: the predicted effect on a result, and no other.

Permuting, reversing, splitting, chunking, renaming elements, reordering operands. Nothing here asks an oracle.
"""

import dataclasses
import itertools
from functools import partial, reduce

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import extremum
from agreement import assert_same_bits
from cases import arg_reductions, reductions
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie
from law_cases import arrays, arrays_and_axes, operands, shapes
from strategies import FLOATS, axes_sets, bits_type, is_nan, nans

INT64 = np.dtype("int64")


def native_bytes(x):
    return x.astype(x.dtype.newbyteorder("="))


def arg_reduce(order, axes, tie, x):
    """Indices with all dimensions kept."""
    return ArgReduce(order, axes, True, tie, INT64)(x)


@given(arrays_and_axes(), st.data())
def test_transposing_the_input_transposes_the_result(case, data):
    """As long as the reduced axes keep their sequence, for their index is row-major."""
    x, axes = case
    order = data.draw(st.permutations(range(x.ndim)))
    reduced = iter(sorted(axes))
    order = [next(reduced) if axis in axes else axis for axis in order]
    moved = tuple(place for place, axis in enumerate(order) if axis in axes)
    for here, there in zip(reductions(axes, keepdims=True), reductions(moved, keepdims=True), strict=True):
        assert_same_bits(there(x.transpose(order)), here(x).transpose(order))


@given(arrays_and_axes())
def test_the_sequence_in_which_axes_are_listed_changes_nothing(case):
    x, axes = case
    for here, there in zip(reductions(axes), reductions(axes[::-1]), strict=True):
        assert_same_bits(here(x), there(x))


@given(arrays_and_axes(), st.data())
def test_reversing_counts_from_the_other_end(case, data):
    """Kept axes turn the result; all reduced ones together turn the index, and the first of equals is the last."""
    x, axes = case
    kept = tuple(axis for axis in data.draw(axes_sets(x.ndim)) if axis not in axes)
    block = int(np.prod([x.shape[axis] for axis in axes]))
    for operation in reductions(axes, keepdims=True):
        assert_same_bits(operation(np.flip(x, kept)), np.flip(operation(x), kept))
        if not isinstance(operation, OneHot):
            other = dataclasses.replace(operation, tie=Tie.LAST if operation.tie is Tie.FIRST else Tie.FIRST)(x)
            other = block - 1 - other if isinstance(operation, ArgReduce) else other
            assert_same_bits(operation(np.flip(x, (*kept, *axes))), np.flip(other, kept))


@given(arrays_and_axes(), st.data())
def test_axes_of_length_one_change_nothing(case, data):
    x, axes = case
    place = data.draw(st.integers(0, x.ndim))
    longer = np.expand_dims(x, place)
    shifted = tuple(axis + (axis >= place) for axis in axes)
    for more in (shifted, (*shifted, place)):
        for here, there in zip(arg_reductions(axes, keepdims=True), arg_reductions(more, keepdims=True), strict=True):
            assert_same_bits(there(longer), np.expand_dims(here(x), place))
        assert_same_bits(OneHot(more)(longer), np.expand_dims(OneHot(axes)(x), place))


@given(arrays())
def test_reducing_everything_is_reducing_the_flattened_array(x):
    for whole, flat in zip(reductions(tuple(range(x.ndim))), reductions((0,)), strict=False):
        assert np.asarray(whole(x)).tobytes() == np.asarray(flat(x.reshape(-1))).tobytes()


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
    x, axes = native_bytes(case[0]), case[1]
    axis = data.draw(st.sampled_from(axes))
    cuts = data.draw(st.lists(st.integers(0, x.shape[axis]), min_size=1, max_size=4))
    for order, tie in itertools.product(Order, Tie):
        found = []
        parts = list(chunks(x, axis, cuts))
        for low, part in (parts[k] for k in data.draw(st.permutations(range(len(parts))))):
            index = arg_reduce(order, axes, tie, part)
            found.append((Reduce(order, axes, True, tie)(part), in_the_whole(index, axes, part, x, axis, low)))
        combined = reduce(partial(better, order, tie), found)
        assert_same_bits(combined[1], arg_reduce(order, axes, tie, x))
        assert_same_bits(combined[0], Reduce(order, axes, True, tie)(x))


@given(arrays_and_axes(least_axes=1))
def test_several_axes_are_single_axes_one_after_another(case):
    """From the last to the first: the index within a row, then which row has the best one."""
    x, axes = native_bytes(case[0]), case[1]
    for order, tie in itertools.product(Order, Tie):
        best, index, block = x, None, 1
        for axis in sorted(axes, reverse=True):
            row = arg_reduce(order, (axis,), tie, best)
            inner = 0 if index is None else np.take_along_axis(index, row, axis)
            best, index = np.take_along_axis(best, row, axis), row * block + inner
            block *= x.shape[axis]
        assert_same_bits(arg_reduce(order, axes, tie, x), index)
        assert_same_bits(Reduce(order, axes, True, tie)(x), best)


@given(arrays_and_axes())
def test_hardmax_is_one_at_the_first_largest_and_zero_elsewhere(case):
    x, axes = case
    ones = extremum.hardmax(x, axes)
    assert_same_bits(extremum.argmax(ones, axes), extremum.argmax(x, axes))
    assert np.count_nonzero(ones) == extremum.argmax(x, axes).size
    assert set(np.unique(ones.astype(np.float64))) <= {0.0, 1.0}
    assert_same_bits(extremum.hardmax(ones, axes), ones)


def complement(x):
    """Elements in the opposite order; a NaN stays one."""
    if x.dtype in FLOATS:
        return (x.view(bits_type(x.dtype)) ^ bits_type(x.dtype).type(1 << (8 * x.itemsize - 1))).view(x.dtype)
    return ~x


@given(arrays_and_axes())
def test_the_smallest_is_the_largest_of_the_opposite_order(case):
    x, axes = native_bytes(case[0]), case[1]
    for tie in Tie:
        assert_same_bits(arg_reduce(Order.MIN, axes, tie, x), arg_reduce(Order.MAX, axes, tie, complement(x)))


@given(operands())
def test_the_least_operand_is_the_greatest_of_the_opposite_order(arrays):
    arrays = [native_bytes(x) for x in arrays]
    opposite = np.asarray(Extremum(Order.MAX)(*map(complement, arrays)))
    assert_same_bits(Extremum(Order.MIN)(*arrays), complement(opposite))


WIDER = {
    "float16": "float32",
    "bfloat16": "float32",
    "float32": "float64",
    **{f"{kind}{bits}": f"{kind}{2 * bits}" for kind in ("int", "uint") for bits in (8, 16, 32)},
    **{f"uint{bits}": f"int{2 * bits}" for bits in (8, 16, 32)},
    "bool": "uint8",
}


@given(arrays_and_axes())
def test_a_wider_type_has_the_same_order(case):
    x, axes = case
    with np.errstate(invalid="ignore"):
        wide = native_bytes(x).astype(WIDER.get(x.dtype.name, x.dtype.newbyteorder("=")))
    for operation in arg_reductions(axes):
        assert_same_bits(operation(wide), operation(x))


@given(arrays_and_axes(dtypes=st.sampled_from(FLOATS)), st.integers(0, 2**32 - 1))
def test_neither_the_bits_of_a_nan_nor_the_sign_of_a_zero_count(case, seed):
    x, axes = native_bytes(case[0]), case[1]
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


@given(arrays(shapes(least=0)), st.sampled_from(Order), st.data())
def test_transposing_and_reversing_operands_does_so_to_the_result(x, order, data):
    other = data.draw(arrays(st.just(x.shape), st.just(native_bytes(x).dtype)))
    axes, flipped = data.draw(st.permutations(range(x.ndim))), data.draw(axes_sets(x.ndim))
    turned = [np.flip(each, flipped).transpose(axes) for each in (x, other)]
    assert_same_bits(Extremum(order)(*turned), np.flip(Extremum(order)(x, other), flipped).transpose(axes))


@given(arrays(st.tuples(st.integers(1, 60))), st.sampled_from(Order))
def test_the_index_finds_the_extremum_of_all_elements(x, order):
    find = extremum.argmax if order is Order.MAX else extremum.argmin
    x = native_bytes(x)
    best, found = np.asarray(Extremum(order)(*x)), np.asarray(x[find(x)])
    assert is_nan(best) == is_nan(found)
    assert is_nan(best) or best == found
    assert_same_bits(Reduce(order, (0,), True, Tie.FIRST)(x), found.reshape(1))
