"""Numbers with arrays: native code gives the same bits as the Python side, and leaves to Python what it should."""

import itertools
import math
import warnings

import numpy as np
import pytest

import extremum as ex
from agreement import same_bits
from extremum import elementwise
from extremum.errors import ElementTypeError
from extremum.operations import Order
from refusal import refusal
from strategies import BFLOAT16, ELEMENT_TYPES, FLOATS, REPRESENTATIVES, landmarks, nans, sometimes

FUNCTIONS = {Order.MAX: ex.maximum, Order.MIN: ex.minimum}

_POWERS = [
    sign * 2**n + step for sign in (1, -1) for n in (0, 7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64) for step in (-1, 0, 1)
]
_FLOAT64 = np.array([0x7FF0000000000001, 0xFFF8000000000000, 0xFFF0000000000001, 0x7FF8000123456789], np.uint64)
_EDGES = [
    # The largest number of each type, half a step further, the smallest, and half of that, each with close neighbours.
    *(
        m * (1 + e)
        for m in (65504.0, 65520.0, 3.3895313892515355e38, 3.3961775292304601e38)
        for e in (-1e-9, 0.0, 1e-9)
    ),
    *(m * (1 + e) for m in (3.4028234663852886e38, 3.4028235677973366e38) for e in (-1e-15, 0.0, 1e-15)),
    *(2.0**n * (1 + e) for n in (-24, -25, -133, -134, -149, -150, -1074) for e in (-1e-9, 0.0, 1e-9)),
    # Halfway between two numbers of a type, and what a step through a wider type rounds to halfway.
    *(1 + 2.0**-n + step for n in (8, 11, 24) for step in (-(2.0**-50), 0.0, 2.0**-50)),
    *(1 + 3 * 2.0**-n + step for n in (8, 11, 24) for step in (-(2.0**-50), 0.0, 2.0**-50)),
]
NUMBERS = [
    *(True, False, 0, 0.0, -0.0, 0.5, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1.7976931348623157e308, 2**128),
    *(-(10**400), 10**400, 2**1024, 2**1024 - 2**970, 300, 65505, 65520, 2**54 + 2**30 + 1, 2**60 + 2**36 + 1),
    -(2**60) - 2**36 - 1,
    *(sign * edge for edge in _EDGES for sign in (1, -1)),
    *_POWERS,
    *_FLOAT64.view(np.float64).tolist(),
]


def outcome(function, *operands, **named):
    """Type, bits and shape of the result, or the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = function(*operands, **named)
    except Exception as error:
        return type(error), str(error)
    array = np.asarray(result)
    return type(result), array.dtype, array.shape, array.strides, array.tobytes()


def by_python(order, *operands, nan_policy="propagate", out=None):
    return elementwise.extremum(f"{order.value}imum", operands, out, nan_policy)


def elements(dtype):
    return np.concatenate([landmarks(dtype), nans(dtype)]) if dtype in FLOATS else landmarks(dtype)


@pytest.mark.parametrize("nan_policy", [None, "omit"])
@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("dtype", sometimes(ELEMENT_TYPES, [*REPRESENTATIVES, BFLOAT16]))
def test_every_number_beside_every_type(dtype, order, nan_policy):
    if nan_policy and dtype not in FLOATS:
        return
    x = elements(dtype)
    for array, number in itertools.product((x, x.astype(x.dtype.newbyteorder())), NUMBERS):
        for operands in ((array, number, array[::-1]), (number, array)):
            expected = outcome(by_python, order, *operands, nan_policy=nan_policy or "propagate")
            assert outcome(FUNCTIONS[order], *operands, nan_policy=nan_policy) == expected, (operands, number)


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("dtype", [t for t in ELEMENT_TYPES if t != BFLOAT16], ids=str)
def test_what_numpy_gives(dtype, order):
    ours = FUNCTIONS[order]
    numpys = np.maximum if order is Order.MAX else np.minimum
    x = landmarks(dtype)
    kinds = {bool: "biuf", int: "iuf", float: "f"}
    for number in (each for each in NUMBERS if dtype.kind in kinds[type(each)]):
        try:
            with np.errstate(all="ignore"):
                own = np.array([number], dtype)
        except (OverflowError, DeprecationWarning):
            continue
        if np.isinf(own).any() and not math.isinf(number):
            continue
        assert np.array_equal(ours(x, number), numpys(x, own), equal_nan=dtype.kind == "f"), number


class Half(np.float16):
    """A scalar of a class of its own."""


class Whole(int):
    """A number of a class of its own."""


@pytest.mark.parametrize(
    "other",
    [
        *(Whole(2), *(t.type(1) for t in ELEMENT_TYPES)),
        *(np.longlong(3), np.ulonglong(3), np.longdouble(0.5), np.complex64(1), np.void(b"1"), np.bytes_(b"1")),
        *(np.str_("1"), np.datetime64("2020-01-01"), np.timedelta64(3, "D"), np.datetime64("NaT", "D"), Half(0.5)),
        *(1j, "1", None, [1, 2], np.array(1.5), [0.5], memoryview(b"12"), object(), np.array(["2020"], "M8[s]")),
    ],
    # Without addresses, which differ from process to process.
    ids=lambda other: repr(other).partition(" at 0x")[0],
)
def test_other_operands_are_what_they_were(other):
    for dtype, order in itertools.product(ELEMENT_TYPES, Order):
        x = landmarks(dtype)[:2]
        for operands in ((x, other), (other, x.astype(x.dtype.newbyteorder())), (x, 1, other)):
            assert outcome(FUNCTIONS[order], *operands) == outcome(by_python, order, *operands)


@pytest.mark.parametrize(
    "nan_policy", [None, "propagate", "omit", "raise", "no such policy", 3, np.str_("omit"), b"omit"], ids=repr
)
def test_policies(nan_policy):
    x = np.array([1.0, np.nan])
    expected = outcome(by_python, Order.MAX, x, 2.0, nan_policy="propagate" if nan_policy is None else nan_policy)
    assert outcome(ex.maximum, x, 2.0, nan_policy=nan_policy) == expected
    assert outcome(ex.maximum, x, x, nan_policy=nan_policy)[0] == expected[0]


def test_out_beside_numbers():
    x = np.array([1.0, 5.0, 2.0], np.float32)
    out = np.zeros(3, np.float32)
    assert ex.maximum(x, 1.5, out=out) is out
    assert out.tolist() == [1.5, 5, 2]
    assert ex.minimum(3, x[::-1], np.float32(4), out=x) is x
    assert x.tolist() == [2, 3, 1]
    wide = np.zeros(2)
    assert ex.maximum(np.array([1, 3]), 2.5, out=wide).tolist() == [2.5, 3.0]
    text = "maximum: out has element type float64, the result has float32"
    assert refusal(ElementTypeError, ex.maximum, x, 1, out=wide) == text


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, 2**100])
@pytest.mark.parametrize("dtype", FLOATS[1:], ids=str)
def test_integers_beyond_64_bits_are_the_floats_next_to_them(dtype, number):
    x = np.ones(3, dtype)
    assert same_bits(ex.maximum(x, number), np.maximum(x, np.asarray(float(number), dtype)))
    best = ex.max(x, where=[False] * 3, default=number)
    assert same_bits(best, np.asarray(float(number), dtype))
