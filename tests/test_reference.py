"""The oracle against tables computed by hand, each line of the rules once; its fast twin against the oracle."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twins
from agreement import assert_agreement, assert_same_bits, find, native
from cases import INT64, arg_reductions, edge_cases, itself, reductions
from extremum import reference
from extremum.errors import ArgumentError
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie, TopK
from law_cases import arrays_and_axes, operands
from strategies import ELEMENT_TYPES, FLOATS, INDEX_TYPES, ascending, landmarks, nans

NAN = np.nan
INF = np.inf

# One row of numbers; where ArgMax finds its first and last extremum, and where ArgMin does.
ROWS = [
    ([7.0], 0, 0, 0, 0),
    ([1.0, 3.0, 2.0], 1, 1, 0, 0),
    ([3.0, 1.0, 3.0, 1.0], 0, 2, 1, 3),
    ([5.0, 5.0, 5.0], 0, 2, 0, 2),
    ([-0.0, 0.0], 0, 1, 0, 1),
    ([0.0, -0.0, -0.0], 0, 2, 0, 2),
    ([0.0, -0.0, -1.0], 0, 1, 2, 2),
    ([-INF, INF, 0.0], 1, 1, 0, 0),
    ([INF, NAN, -INF], 1, 1, 1, 1),
    ([NAN, 9.0, NAN, -9.0], 0, 2, 0, 2),
    ([NAN, NAN], 0, 1, 0, 1),
    ([-2.0, -1.0, -3.0], 1, 1, 2, 2),
]


def indices(x):
    """The index of the extremum in a row, by each of the four operations."""
    return [int(reference.run(operation, x)) for operation in arg_reductions((0,))]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("row", "max_first", "max_last", "min_first", "min_last"), ROWS)
def test_a_row(dtype, row, max_first, max_last, min_first, min_last):
    x = np.array(row, dtype)
    places = (max_first, max_last, min_first, min_last)
    for operation, place in zip(arg_reductions((0,)), places, strict=True):
        assert_same_bits(reference.run(operation, x), np.array(place))
        assert_same_bits(reference.run(itself(operation), x), x[place])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_nan_is_the_extremum_and_ties_with_the_others(dtype):
    x = np.concatenate([np.array([INF, -INF], dtype), nans(dtype), np.array([INF, -INF], dtype)])
    assert indices(x) == [2, 9, 2, 9]


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_elements_compare_by_value_in_every_type(dtype):
    assert indices(ascending(dtype, 8)) == ([4, 7, 0, 3] if dtype == np.bool_ else [7, 7, 0, 0])


@pytest.mark.parametrize(
    ("dtype", "row"),
    [
        ("int64", [2**63 - 2, 2**63 - 1, -(2**63), -(2**63) + 1]),
        ("uint64", [2**64 - 2, 2**64 - 1, 0, 1]),
        ("int8", [126, 127, -128, -127]),
        ("uint8", [254, 255, 0, 1]),
        ("float64", [1.0, 1.0 + 2**-52, -1.0 - 2**-52, -1.0]),
    ],
)
def test_neighbours_at_the_limits_are_told_apart(dtype, row):
    assert indices(np.array(row, dtype)) == [1, 1, 2, 2]


# The axes, then the shape with and without keepdims, the four indices, the largest and the smallest.
TABLE = np.array([[4, 9, 1], [9, 0, 0]])
AXES = [
    ((), (2, 3), (2, 3), [[[0, 0, 0], [0, 0, 0]]] * 4, TABLE, TABLE),
    ((0,), (1, 3), (3,), [[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1]], [9, 9, 1], [4, 0, 0]),
    ((1,), (2, 1), (2,), [[1, 0], [1, 0], [2, 1], [2, 2]], [9, 9], [1, 0]),
    ((0, 1), (1, 1), (), [1, 3, 4, 5], 9, 0),
    ((1, 0), (1, 1), (), [1, 3, 4, 5], 9, 0),
]


@pytest.mark.parametrize(("axes", "kept", "dropped", "indices", "largest", "smallest"), AXES)
def test_axes(axes, kept, dropped, indices, largest, smallest):
    for keepdims, shape in ((True, kept), (False, dropped)):
        for operation, answer in zip(arg_reductions(axes, keepdims=keepdims), indices, strict=True):
            assert_same_bits(reference.run(operation, TABLE), np.array(answer).reshape(shape))
        for tie in Tie:
            for order, element in ((Order.MAX, largest), (Order.MIN, smallest)):
                answer = np.array(element).reshape(shape)
                assert_same_bits(reference.run(Reduce(order, axes, keepdims, tie), TABLE), answer)


def test_the_index_is_row_major_within_a_block_of_distant_axes():
    x = np.zeros((2, 3, 4), np.int8)
    x[1, 0, 2] = x[0, 1, 3] = x[1, 2, 0] = 1
    result = reference.run(ArgReduce(Order.MAX, (2, 0), False, Tie.FIRST, INT64), x)
    assert result.tolist() == [1 * 4 + 2, 0 * 4 + 3, 1 * 4 + 0]


def test_rank_zero_has_index_zero_in_the_index_type():
    for index in INDEX_TYPES:
        operation = ArgReduce(Order.MAX, (), False, Tie.FIRST, index)
        assert_same_bits(reference.run(operation, np.array(3.5)), np.array(0, index))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0)])
def test_an_empty_reduction_is_refused(shape):
    with pytest.raises(ArgumentError, match="hold no element"):
        reference.run(arg_reductions((shape.index(0),))[0], np.empty(shape))


def test_other_empty_arrays_give_empty_results():
    nothing = np.empty((0, 3))
    assert_same_bits(reference.run(arg_reductions((1,))[0], nothing), np.empty(0, np.int64))
    assert_same_bits(reference.run(arg_reductions((1,), keepdims=True)[0], nothing), np.empty((0, 1), np.int64))
    assert_same_bits(reference.run(OneHot((1,)), np.empty((3, 0), np.float16)), np.empty((3, 0), np.float16))
    assert_same_bits(reference.run(Extremum(Order.MIN), nothing, np.zeros(3)), nothing)


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
@pytest.mark.parametrize("tie", Tie)
def test_the_identity_is_what_every_element_beats_or_equals(dtype, tie):
    for order in Order:
        nothing = reference.run(Reduce(order, (1,), True, tie, identity=True), np.empty((2, 0), dtype))
        assert nothing.shape == (2, 1)
        every = landmarks(dtype)
        assert_same_bits(reference.run(Extremum(order), every, nothing[0]), every)
        assert_same_bits(nothing[0, 0], np.array(reference.identity_of(dtype, order), dtype))
        with pytest.raises(ArgumentError, match="hold no element"):
            reference.run(Reduce(order, (1,), True, tie), np.empty((2, 0), dtype))
        for run in (reference.run, native):
            with pytest.raises(ArgumentError, match="hold no element"):
                run(Reduce(order, (1,), True, tie), np.empty((0, 0), dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("axes", "x", "expected"),
    [
        ((0,), [1, 5, 5], [0, 1, 0]),
        ((0,), [1, NAN, 5, NAN], [0, 1, 0, 0]),
        ((0,), [-0.0, 0.0], [1, 0]),
        ((1,), [[1, 2], [4, 3]], [[0, 1], [1, 0]]),
        ((0,), [[1, 2], [4, 3]], [[0, 0], [1, 1]]),
        ((0, 1), [[1, 4], [4, 3]], [[0, 1], [0, 0]]),
        ((), [[1, 2]], [[1, 1]]),
        ((), -3.0, 1),
    ],
)
def test_one_hot(dtype, axes, x, expected):
    assert_same_bits(reference.run(OneHot(axes), np.array(x, dtype)), np.array(expected, dtype))


def test_one_hot_of_integers_and_truth_values():
    for x, expected in (
        (np.array([3, 9], np.uint8), np.array([0, 1], np.uint8)),
        ([False] * 2, np.array([True, False])),
    ):
        assert_same_bits(reference.run(OneHot((0,)), x), expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("operands", "largest", "smallest"),
    [
        ([[1.0, 4.0], [3.0, 2.0]], [3.0, 4.0], [1.0, 2.0]),
        ([[-0.0], [0.0]], [0.0], [-0.0]),
        ([[0.0], [-0.0]], [0.0], [-0.0]),
        ([[-0.0], [-0.0]], [-0.0], [-0.0]),
        ([[NAN, 1.0], [1.0, NAN]], [NAN, NAN], [NAN, NAN]),
        ([[INF], [NAN], [-INF]], [NAN], [NAN]),
        ([[INF, -INF], [0.0, 0.0]], [INF, 0.0], [0.0, -INF]),
        ([[1.0, 2.0], 1.5], [1.5, 2.0], [1.0, 1.5]),
        ([[2.0], [3.0], [1.0]], [3.0], [1.0]),
        ([[6.0]], [6.0], [6.0]),
    ],
)
def test_extremum(dtype, operands, largest, smallest):
    operands = [np.array(x, dtype) for x in operands]
    assert_same_bits(reference.run(Extremum(Order.MAX), *operands), np.array(largest, dtype))
    assert_same_bits(reference.run(Extremum(Order.MIN), *operands), np.array(smallest, dtype))


def test_extremum_broadcasts():
    column = np.array([[0], [2]])
    row = np.array([1, 2, 3])
    assert_same_bits(reference.run(Extremum(Order.MAX), column, row), np.array([[1, 2, 3], [2, 2, 3]]))
    assert_same_bits(reference.run(Extremum(Order.MIN), np.array(2), column, row), np.array([[0, 0, 0], [1, 2, 2]]))


def test_extremum_of_truth_values_is_or_and_and():
    x = np.array([False, False, True, True])
    y = np.array([False, True, False, True])
    assert_same_bits(reference.run(Extremum(Order.MAX), x, y), x | y)
    assert_same_bits(reference.run(Extremum(Order.MIN), x, y), x & y)


# Its fast twin.


@settings(max_examples=100)
@given(arrays_and_axes(most=150), operands(most=60), st.sampled_from([None, 0.2, 0.7]), st.booleans())
def test_twin_equals_reference(case, arrays, share, flag):
    x, axes = case
    calls = [*((each, [x]) for each in reductions(axes, keepdims=flag)), *((Extremum(each), arrays) for each in Order)]
    assert_agreement(calls, twins.run, reference.run)
    for order, axis in itertools.product(Order, axes):
        best = TopK(order, axis, -(-x.shape[axis] // 2), True)
        for actual, expected in zip(twins.run(best, x), reference.run(best, x), strict=True):
            assert_same_bits(actual, expected, best, "of", x)
    where = None if share is None else np.random.default_rng(x.size).random(x.shape) < share
    for order, tie in itertools.product(Order, Tie):
        actual = twins.find(x, order, axes, tie, omit=flag, where=where)
        expected = find(x.astype(x.dtype.newbyteorder("=")), order, axes, tie, omit=flag, where=where)
        assert_same_bits(actual[0], expected[0], order, tie, "of", x, "over", axes, flag, where)
        assert_same_bits(actual[1], expected[1], order, tie, "of", x, "over", axes, flag, where)


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_twin_equals_reference_at_edges(dtype):
    assert_agreement(edge_cases(dtype, [17]), twins.run, reference.run)
