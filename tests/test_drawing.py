"""Random inputs are what models can use, reproducible, and within the range that was asked for."""

import ml_dtypes
import numpy as np
import pytest

from extremum.cli.inputs import Drawing, parse_ranges
from extremum.errors import InputError
from extremum.graph.types import DeclaredInput

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
FLOATS = ["float16", "float32", "float64"]
SMALL = [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2]


def draw(dtype, *ends, shape=(4, 100)):
    declared = DeclaredInput("x", np.dtype(dtype), shape, optional=False)
    return Drawing(0, {"x": ends} if ends else {}).draw(declared, {}, 0)


@pytest.mark.parametrize("dtype", INTEGERS + SMALL)
def test_integers_are_indices_that_every_axis_of_two_has(dtype):
    array = draw(dtype)
    assert array.dtype == dtype
    assert sorted(set(array.astype(int).ravel())) == [0, 1]


@pytest.mark.parametrize("dtype", [*FLOATS, ml_dtypes.bfloat16])
def test_floats_vary(dtype):
    array = draw(dtype)
    assert array.dtype == dtype
    assert len(set(array.ravel().tolist())) >= 50
    assert abs(float(array.astype(float).mean())) < 0.2


@pytest.mark.parametrize("dtype", INTEGERS[:-1])
def test_a_range_of_integers_has_both_ends_and_may_be_all_of_the_type(dtype):
    assert sorted(set(draw(dtype, "5", "7").ravel())) == [5, 6, 7]
    limits = np.iinfo(dtype)
    array = draw(dtype, str(limits.min), str(limits.max))
    assert array.dtype == dtype
    assert len(set(array.ravel())) >= 100


@pytest.mark.parametrize("dtype", [*FLOATS, ml_dtypes.bfloat16])
def test_a_range_of_floats_is_spread_evenly(dtype):
    array = draw(dtype, "-0.5", "1e1").astype(float)
    assert array.min() >= -0.5
    assert array.max() <= 10
    assert 4 < array.mean() < 5.5


def test_a_range_of_floats_may_be_all_of_them():
    limits = np.finfo(np.float64)
    array = draw("float64", repr(float(limits.min)), repr(float(limits.max)))
    assert np.isfinite(array).all()


def test_ranges_split_at_the_last_equals_sign():
    assert parse_ranges(["x=0:1", "a=b:c=-1.5:+2e3"]) == {"x": ("0", "1"), "a=b:c": ("-1.5", "+2e3")}


@pytest.mark.parametrize(
    "text", ["x", "x=", "=0:1", "x=0", "x=0:", "x=:1", "x=a:b", "x=0:1:2", "x=nan:1", "x=0:inf", "x=0:" + "9" * 5000]
)
def test_refuses_a_malformed_range(text):
    with pytest.raises(InputError, match="is not of the form name=low:high"):
        parse_ranges([text])


def test_refuses_two_ranges_of_one_input():
    with pytest.raises(InputError, match="input 'x' is given two ranges"):
        parse_ranges(["x=0:1", "x=0:2"])


@pytest.mark.parametrize(
    ("dtype", "low", "high", "reason"),
    [
        ("int8", "0", "128", "the range of input 'x' does not fit its type"),
        ("uint64", "-1", "5", "the range of input 'x' does not fit its type"),
        (ml_dtypes.uint4, "0", "16", "the range of input 'x' does not fit its type"),
        ("float16", "0", "70000", "the range of input 'x' does not fit its type"),
        ("float64", "0", "1e400", "the range of input 'x' does not fit its type"),
        ("int8", "0.5", "1", "input 'x' takes integers"),
        ("int8", "2", "1", "the range of input 'x' is empty"),
        ("float32", "2", "1", "the range of input 'x' is empty"),
    ],
)
def test_refuses_a_range_that_the_type_does_not_hold(dtype, low, high, reason):
    with pytest.raises(InputError) as caught:
        draw(dtype, low, high)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        (DeclaredInput("x", np.dtype("float32"), None, optional=False), "its rank is open"),
        (DeclaredInput("x", None, None, optional=False), "it is no tensor of numbers"),
        (DeclaredInput("x", np.dtype(object), (2,), optional=False), "it is no tensor of numbers"),
    ],
)
def test_refuses_to_draw_what_is_no_tensor_of_known_shape(declared, why):
    with pytest.raises(InputError, match=f"input 'x' cannot be drawn at random: {why}"):
        Drawing(0).draw(declared, {}, 0)


@pytest.mark.parametrize("shape", [(2, -1), (1,) * 100, (0, 2**62, 2**62)])
def test_refuses_a_shape_that_no_array_has(shape):
    with pytest.raises(InputError, match="input 'x' cannot be drawn at random"):
        draw("float32", shape=shape)
