"""Laws: what must not change a result, whatever the array."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremum
import twins
from agreement import assert_identical, assert_same_bits, native
from cases import arg_reductions
from extremum.operations import Extremum, OneHot, Order, Tie
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
    others = [data.draw(arrays(dtype=x.dtype, shape=x.shape[k:])) for k in range(min(x.ndim, 2))]
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


@given(arrays_and_axes())
def test_axes_merged_by_reshaping(case):
    """Reducing everything is reducing the flattened array."""
    x, _ = case
    for whole, flat in zip(arg_reductions(tuple(range(x.ndim))), arg_reductions((0,)), strict=True):
        assert whole(x) == flat(x.reshape(-1))


@given(arrays_and_axes(max_rank=4), st.data())
def test_splitting_and_merging_by_value_and_index(case, data):
    """The extremum of a whole is that of its two parts: the better value, or the tie's side."""
    x, _ = case
    axis = data.draw(st.integers(0, x.ndim - 1)) if x.ndim else None
    if axis is None or x.shape[axis] < 2:
        return
    cut = data.draw(st.integers(1, x.shape[axis] - 1))
    low, high = np.split(x, [cut], axis)
    for operation in arg_reductions((axis,), keepdims=True):
        i, j = operation(low), operation(high)
        u, v = np.take_along_axis(low, i, axis), np.take_along_axis(high, j, axis)
        pair = np.concatenate([u, v], axis)
        merged = np.where(operation(pair) == 0, i, j + cut)
        assert_same_bits(operation(x), merged)


@given(arrays_and_axes())
def test_reversing_mirrors_the_tie(case):
    """The first extremum of a reversed block is the last of the block."""
    x, _ = case
    flat = x.reshape(-1)
    for operation, mirror in ((0, 1), (2, 3)):
        first, last = arg_reductions((0,))[operation], arg_reductions((0,))[mirror]
        assert first(flat[::-1]) == flat.size - 1 - last(flat)


@given(arrays_and_axes())
def test_the_index_finds_the_extremum_of_its_block(case):
    x, _ = case
    flat = x.reshape(-1)
    for order, find in ((Order.MAX, extremum.argmax), (Order.MIN, extremum.argmin)):
        best = Extremum(order)(*flat)
        found = flat[find(flat)]
        assert (is_nan(flat).any() and is_nan(np.asarray(found))) or found == best


@given(arrays_and_axes())
def test_hardmax_is_one_at_argmax_only(case):
    x, axes = case
    ones = extremum.hardmax(x, axes)
    assert_same_bits(extremum.argmax(ones, axes), extremum.argmax(x, axes))
    assert np.count_nonzero(ones) == extremum.argmax(x, axes).size


@pytest.mark.parametrize("tie", Tie)
def test_arguments_are_not_modified(tie):
    axes, operands = [0, 1], (np.ones(3), np.zeros(3))
    extremum.argmax(np.ones((2, 2)), tuple(axes), select_last_index=tie is Tie.LAST)
    extremum.maximum(*operands)
    assert axes == [0, 1]
    assert operands[0].tolist() == [1, 1, 1]
