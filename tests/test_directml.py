"""The examples of DirectML's documents, run as they are written there."""

import itertools

import numpy as np
import pytest

from extremum import directml as dml
from extremum import reference
from extremum.directml import AxisDirection, ReduceFunction, TensorDataType, TensorDesc
from extremum.operations import Order, Reduce, Tie

SQUARE = np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], np.float32)
CUBE = np.array([[[12, 0], [-101, 11]], [[3, 234], [0, -101]]], np.float32)
INDEX_TYPES = [TensorDataType.INT64, TensorDataType.INT32, TensorDataType.UINT64, TensorDataType.UINT32]


def desc_of(array):
    return TensorDesc(TensorDataType[array.dtype.name.upper()], array.shape)


def kept(shape, axes):
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape))


def run(desc):
    """What the operator gives for a packed input, as nested lists; `desc` is a function of the tensors."""

    def result(x, output_type, sizes):
        output = TensorDesc(output_type, sizes)
        y = np.zeros(sizes, output.data_type.element_type.dtype)
        dml.create_operator(desc(desc_of(x), output)).dispatch([x], [y])
        return y.tolist()

    return result


@pytest.mark.parametrize("index", INDEX_TYPES, ids=lambda each: each.name)
@pytest.mark.parametrize("direction", AxisDirection, ids=lambda each: each.name)
@pytest.mark.parametrize(("axes", "expected"), [((0,), [[1, 2, 1]]), ((1,), [[2], [2], [1]]), ((0, 1), [[7]])], ids=str)
def test_the_examples_of_dml_argmax(axes, expected, direction, index):
    argmax = run(lambda x, y: dml.ArgMaxOperatorDesc(x, y, axes, direction))
    assert argmax(SQUARE, index, kept(SQUARE.shape, axes)) == expected


@pytest.mark.parametrize("index", INDEX_TYPES, ids=lambda each: each.name)
@pytest.mark.parametrize(("direction", "expected"), [(AxisDirection.INCREASING, 0), (AxisDirection.DECREASING, 4)])
def test_the_direction_decides_between_equals(direction, expected, index):
    argmax = run(lambda x, y: dml.ArgMaxOperatorDesc(x, y, (0,), direction))
    assert argmax(np.array([3, 2, 1, 2, 3], np.float32), index, (1,)) == [expected]
    argmin = run(lambda x, y: dml.ArgMinOperatorDesc(x, y, (0,), direction))
    assert argmin(np.array([1, 2, 3, 2, 1], np.float32), index, (1,)) == [expected]


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ((1,), [[[1, 0], [0, 1]], [[1, 1], [0, 0]]]),
        ((0,), [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]),
        ((0, 2), [[[0, 0], [0, 1]], [[0, 1], [0, 0]]]),
    ],
    ids=str,
)
def test_the_examples_of_dml_activation_hardmax1(axes, expected):
    hardmax = run(lambda x, y: dml.ActivationHardmax1OperatorDesc(x, y, axes))
    assert hardmax(CUBE, TensorDataType.FLOAT32, CUBE.shape) == expected


def test_hardmax1_over_the_last_axis_is_hardmax():
    rows = SQUARE.reshape(1, 1, 3, 3)
    hardmax = run(lambda x, y: dml.ActivationHardmaxOperatorDesc(x, y))
    hardmax1 = run(lambda x, y: dml.ActivationHardmax1OperatorDesc(x, y, (3,)))
    expected = [[[[0, 0, 1], [0, 0, 1], [0, 1, 0]]]]
    for operator in (hardmax, hardmax1):
        assert operator(rows, TensorDataType.FLOAT32, rows.shape) == expected


@pytest.mark.parametrize(
    ("axes", "largest", "smallest"),
    [((0,), [[3, 5, 4]], [[1, 0, 2]]), ((1,), [[3], [4], [5]], [[1], [0], [2]]), ((0, 1), [[5]], [[0]])],
    ids=str,
)
def test_reduce_gives_the_element_or_its_index(axes, largest, smallest):
    def reduce(function, output_type):
        operator = run(lambda x, y: dml.ReduceOperatorDesc(function, x, y, axes))
        return operator(SQUARE, output_type, kept(SQUARE.shape, axes))

    assert reduce(ReduceFunction.MAX, TensorDataType.FLOAT32) == largest
    assert reduce(ReduceFunction.MIN, TensorDataType.FLOAT32) == smallest
    for function, operator in ((ReduceFunction.ARGMAX, np.argmax), (ReduceFunction.ARGMIN, np.argmin)):
        if len(axes) == 1:
            expected = operator(SQUARE, axis=axes[0], keepdims=True).tolist()
        else:
            expected = [[int(operator(SQUARE))]]
        assert reduce(function, TensorDataType.UINT32) == expected


@pytest.mark.parametrize("zeros", list(itertools.permutations([-0.0, 0.0])), ids=str)
def test_reduce_selects_the_bits_of_the_first_of_equals(zeros):
    for function in (ReduceFunction.MAX, ReduceFunction.MIN):
        operator = run(lambda x, y, function=function: dml.ReduceOperatorDesc(function, x, y, (0,)))
        (selected,) = operator(np.array(zeros, np.float32), TensorDataType.FLOAT32, (1,))
        assert np.signbit(selected) == np.signbit(zeros[0])


@pytest.mark.parametrize(
    ("operator", "expected"),
    [(dml.ElementWiseMaxOperatorDesc, [1, 5, 0]), (dml.ElementWiseMinOperatorDesc, [0, 2, -4])],
)
def test_element_wise(operator, expected):
    a, b, y = np.array([1, 2, -4], np.int8), np.array([0, 5, 0], np.int8), np.zeros(3, np.int8)
    dml.create_operator(operator(desc_of(a), desc_of(b), desc_of(y))).dispatch([a, b], [y])
    assert y.tolist() == expected


@pytest.mark.parametrize("axes", [(0, 2), (2, 0), (1, 2, 0)], ids=str)
def test_a_reduction_does_not_depend_on_the_sequence_of_its_axes(axes):
    x = np.random.default_rng(0).integers(0, 99, (3, 4, 5))
    for order in Order:
        operation = Reduce(order, axes, True, Tie.FIRST)
        assert operation(x).tolist() == reference.run(operation, x).tolist()
