"""Operands of different element types: the result has that of `numpy.result_type`, and no operand is copied whole."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremum as ex
from agreement import assert_same_bits
from extremum import reference
from extremum.errors import ArgumentError, ElementTypeError
from extremum.operations import Order
from layouts import LAYOUTS
from refusal import refusal
from strategies import BFLOAT16, ELEMENT_TYPES, sample

FUNCTIONS = {Order.MAX: ex.maximum, Order.MIN: ex.minimum}


@pytest.mark.parametrize(
    "pair", list(itertools.combinations(ELEMENT_TYPES, 2)), ids=lambda pair: f"{pair[0]}-{pair[1]}"
)
def test_every_pair_of_types(pair):
    rng = np.random.default_rng(7)
    operands = [sample(rng, dtype, shape) for dtype, shape in zip(pair, [(5, 1, 7), (3, 1)], strict=True)]
    try:
        common = np.result_type(*pair)
    except TypeError:
        assert "have no common type" in refusal(ElementTypeError, ex.maximum, *operands)
        return
    for order, function in FUNCTIONS.items():
        with np.errstate(invalid="ignore"):
            expected = reference.extremum(order, *(x.astype(common) for x in operands))
        assert_same_bits(function(*operands), expected)


@given(st.data())
def test_any_number_of_operands_in_any_layout(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = tuple(data.draw(st.lists(st.integers(0, 5), max_size=3)))
    operands = []
    for _ in range(data.draw(st.integers(2, 5))):
        own = tuple(1 if rng.random() < 0.3 else n for n in shape)[int(rng.integers(0, len(shape) + 1)) :]
        dtype = data.draw(st.sampled_from([t for t in ELEMENT_TYPES if t.kind in "iuf" and t != BFLOAT16]))
        operands.append(data.draw(st.sampled_from(LAYOUTS))(sample(rng, dtype, own), rng))
    common = np.result_type(*(x.dtype for x in operands))
    for order, function in FUNCTIONS.items():
        with np.errstate(invalid="ignore"):
            converted = [x.astype(common) for x in operands]
        assert_same_bits(function(*operands), reference.extremum(order, *converted))


@pytest.mark.parametrize(
    ("operands", "dtype", "value"),
    [
        ((3.5, 3), "float64", 3.5),
        ((np.nan, 1), "float64", np.nan),
        ((2, 3), "int64", 3),
        ((True, False), "bool", True),
        ((np.array([1, 2], np.int8), 1.5), "float64", [1.5, 2.0]),
        ((np.array([1, 2], np.float32), 3), "float32", [3, 3]),
        ((np.array([1, 2], np.float16), 2.5), "float16", [2.5, 2.5]),
        ((np.array([True, False]), 3), "int64", [3, 3]),
        ((np.array([1, 2], BFLOAT16), 1.5), "bfloat16", [1.5, 2]),
        (([1, 9], np.array([2.5, 2.5], np.float32)), "float64", [2.5, 9]),
        ((np.float32(1), np.int64(2)), "float64", 2.0),
    ],
)
def test_numbers_and_lists(operands, dtype, value):
    result = np.asarray(ex.maximum(*operands))
    assert result.dtype.name == dtype
    np.testing.assert_array_equal(result.astype(float), value)


def test_a_number_that_does_not_fit_is_refused():
    assert refusal(ArgumentError, ex.maximum, np.zeros(2, np.uint8), -1) == "the number -1 does not fit uint8"


def test_forty_operands():
    operands = [np.full(5, value, dtype) for value, dtype in zip(range(40), ["int8", "float32"] * 20, strict=True)]
    assert_same_bits(ex.maximum(*operands), np.full(5, 39, np.float32))


def test_out_has_to_be_of_the_common_type():
    x, y = np.arange(4, dtype=np.int16), np.full(4, 1.5, np.float32)
    out = np.zeros(4, np.float32)
    assert ex.maximum(x, y, out=out) is out
    assert out.tolist() == [1.5, 1.5, 2, 3]
    wrong = np.zeros(4, np.float64)
    text = "maximum: out has element type float64, the result has float32"
    assert refusal(ElementTypeError, ex.maximum, x, y, out=wrong) == text
    assert not wrong.any()


def test_out_may_be_an_operand():
    x, y = np.array([1.0, 5.0, 2.0], np.float32), np.array([3, 3, 3], np.int8)
    ex.maximum(x[::-1], y, out=x)
    assert x.tolist() == [3, 5, 3]


def test_no_operand_is_converted_whole():
    x, y = np.zeros(4_000_000, np.int32), np.zeros(4_000_000, np.float32)
    out = np.empty(4_000_000)
    ex.maximum(x[:10], y[:10])
    tracemalloc.start()
    ex.maximum(x, y, out=out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000


@given(st.data())
def test_omit_is_fmax_and_fmin(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    dtype = data.draw(st.sampled_from([t for t in ELEMENT_TYPES if t.kind not in "biu"]))
    n = data.draw(st.sampled_from([0, 1, 7, 40, 300, 3000]))
    operands = [sample(rng, dtype, (n,)) for _ in range(data.draw(st.integers(1, 4)))]
    operands = [data.draw(st.sampled_from(LAYOUTS))(x, rng) for x in operands]
    for order, function in FUNCTIONS.items():
        native = [x.astype(x.dtype.newbyteorder("="), copy=False) for x in operands]
        expected = reference.extremum(order, *native, omit=True)
        assert_same_bits(function(*operands, nan_policy="omit"), expected)


def test_raise_names_the_first_nan_and_leaves_out_alone():
    x, out = np.array([[1.0, 2.0], [np.nan, 3.0]]), np.zeros((2, 2))
    text = refusal(ArgumentError, ex.maximum, x, 0.0, nan_policy="raise", out=out)
    assert text == "NaN at (1, 0) of the result"
    assert not out.any()
    assert ex.maximum(x[0], 1.5, nan_policy="raise").tolist() == [1.5, 2.0]


def test_an_unknown_policy_is_refused():
    assert refusal(ArgumentError, ex.minimum, 1, 2, nan_policy="skip") == "minimum: there is no NaN policy 'skip'"


@pytest.mark.parametrize("other", [1, 0.5, np.ones(1), np.ones(1, np.int8), [2]], ids=str)
@pytest.mark.parametrize("dtype", ["O", [("a", "O")], "U1", "S1", "V2", complex], ids=str)
def test_elements_without_an_order_are_refused_beside_anything(dtype, other):
    x = np.zeros(1, dtype)
    for operands in ((x, other), (other, x), (x, other, x)):
        assert "type" in refusal(ElementTypeError, ex.maximum, *operands)
        assert "type" in refusal(ElementTypeError, ex.minimum, *operands, nan_policy="raise")
