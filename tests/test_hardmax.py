"""hardmax as a function: axes, types, refusals. That the ones are in the right places is test_kernels.py's too."""

import numpy as np
import pytest

import extremum
from agreement import assert_same_bits
from extremum import reference
from extremum.errors import AxisError
from extremum.operations import OneHot
from refusal import refusal
from strategies import ELEMENT_TYPES, ties

NAN = np.nan


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
@pytest.mark.parametrize(
    ("axis", "axes"),
    [(0, (0,)), (1, (1,)), (-1, (2,)), ((), ()), ((1, 2), (1, 2)), ((2, -3), (0, 2)), ((0, 1, 2), (0, 1, 2))],
)
def test_axis(dtype, axis, axes):
    x = ties(np.random.default_rng(0), dtype, (3, 4, 5))
    assert_same_bits(extremum.hardmax(x, axis), reference.run(OneHot(axes), x))


def test_the_default_is_the_last_axis():
    x = np.array([[1.0, 3.0, 3.0], [NAN, 5.0, NAN], [-0.0, 0.0, -1.0]])
    assert_same_bits(extremum.hardmax(x), np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)])
def test_empty_rows_give_an_empty_result(shape):
    for axis in (0, -1, tuple(range(len(shape)))):
        assert_same_bits(extremum.hardmax(np.empty(shape, np.float32), axis), np.empty(shape, np.float32))


def test_rank_zero_has_no_axis():
    wanted = "hardmax: axis -1 is out of range for an array with 0 dimensions"
    assert refusal(AxisError, extremum.hardmax, np.array(2.0)) == wanted
    assert_same_bits(extremum.hardmax(np.array(2.0), ()), np.float64(1))


def test_an_axis_given_twice_is_refused():
    assert refusal(AxisError, extremum.hardmax, np.zeros((2, 2)), (1, -1)) == "hardmax: axis 1 is given more than once"


@pytest.mark.parametrize("order", "CF")
def test_memory_order_of_the_input_does_not_matter(order):
    x = np.asarray(np.random.default_rng(1).integers(0, 9, (7, 8, 9)), order=order)
    assert_same_bits(extremum.hardmax(x, 1), reference.run(OneHot((1,)), x))
