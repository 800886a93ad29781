"""Laws: what must not change a result, whatever the array."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import extremum
import twins
from agreement import assert_identical, assert_same_bits, native
from cases import arg_reductions
from extremum.operations import Extremum, OneHot, Order
from layouts import LAYOUTS
from strategies import arrays, axes_sets, is_nan


@st.composite
def arrays_and_axes(draw, **limits):
    """An array without empty axes, and some of its axes."""
    x = draw(arrays(min_side=1, **limits))
    return x, draw(axes_sets(x.ndim))


@given(arrays_and_axes())
def test_native_equals_twin(case):
    x, axes = case
    for operation in [*arg_reductions(axes), *arg_reductions(axes, keepdims=True), OneHot(axes)]:
        assert_same_bits(native(operation, x), twins.run(operation, x))


@given(arrays(), st.sampled_from(Order), st.data())
def test_operands_in_any_sequence(x, order, data):
    others = [data.draw(arrays(dtype=x.dtype, shape=st.just(x.shape[k:]))) for k in range(min(x.ndim, 2))]
    operands = [x, *others]
    expected = Extremum(order)(*operands)
    assert_same_bits(Extremum(order)(*data.draw(st.permutations(operands))), expected)
    assert_same_bits(Extremum(order)(*operands, *operands), expected)


@given(arrays_and_axes(), st.sampled_from(LAYOUTS), st.integers(0, 2**32 - 1))
def test_memory_layout_changes_nothing(case, layout, seed):
    x, axes = case
    laid_out = layout(x, np.random.default_rng(seed))
    plain = np.array(laid_out, x.dtype, order="C")
    before = laid_out.tobytes()
    for operation in [*arg_reductions(axes), OneHot(axes), *map(Extremum, Order)]:
        assert_identical(operation(laid_out), operation(plain))
    assert laid_out.tobytes() == before


@given(arrays_and_axes(), st.data())
def test_transposing_input_and_axes_changes_nothing(case, data):
    """As long as the reduced axes keep their sequence, for their index is row-major."""
    x, axes = case
    order = data.draw(st.permutations(range(x.ndim)))
    reduced = iter(sorted(axes))
    order = [next(reduced) if axis in axes else axis for axis in order]
    moved = tuple(place for place, axis in enumerate(order) if axis in axes)
    for here, there in zip(arg_reductions(axes, keepdims=True), arg_reductions(moved, keepdims=True), strict=True):
        assert_same_bits(there(x.transpose(order)), here(x).transpose(order))
    assert_same_bits(OneHot(moved)(x.transpose(order)), OneHot(axes)(x).transpose(order))


@given(arrays_and_axes())
def test_axes_in_any_sequence(case):
    x, axes = case
    for here, there in zip(arg_reductions(axes), arg_reductions(axes[::-1]), strict=True):
        assert_same_bits(here(x), there(x))


@given(arrays(min_side=1))
def test_reducing_everything_is_reducing_the_flattened_array(x):
    for whole, flat in zip(arg_reductions(tuple(range(x.ndim))), arg_reductions((0,)), strict=True):
        assert whole(x) == flat(x.reshape(-1))


@given(arrays(shape=st.tuples(st.integers(1, 9), st.integers(2, 40), st.integers(1, 9))), st.data())
def test_splitting_and_merging_by_value_and_index(x, data):
    """The extremum of a whole is the better of its two parts', on the tie's side if they are equal."""
    cut = data.draw(st.integers(1, x.shape[1] - 1))
    low, high = np.split(x, [cut], 1)
    for operation in arg_reductions((1,), keepdims=True):
        i, j = operation(low), operation(high)
        bests = np.concatenate([np.take_along_axis(low, i, 1), np.take_along_axis(high, j, 1)], 1)
        assert_same_bits(operation(x), np.where(operation(bests) == 0, i, j + cut))


@given(arrays(shape=st.tuples(st.integers(1, 300))))
def test_the_first_extremum_of_a_reversed_row_is_the_last_of_the_row(x):
    for find in (extremum.argmax, extremum.argmin):
        assert find(x[::-1]) == x.size - 1 - find(x, select_last_index=True)


@given(arrays(shape=st.tuples(st.integers(1, 60))), st.sampled_from(Order))
def test_the_index_finds_the_extremum_of_all_elements(x, order):
    find = extremum.argmax if order is Order.MAX else extremum.argmin
    best, found = np.asarray(Extremum(order)(*x)), np.asarray(x[find(x)])
    assert is_nan(best) == is_nan(found)
    assert is_nan(best) or best == found


@given(arrays_and_axes())
def test_hardmax_is_one_at_argmax_only(case):
    x, axes = case
    ones = extremum.hardmax(x, axes)
    assert_same_bits(extremum.argmax(ones, axes), extremum.argmax(x, axes))
    assert np.count_nonzero(ones) == extremum.argmax(x, axes).size
