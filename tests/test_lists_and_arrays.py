"""A list and the array made from it take different paths through the package, to the same answer or refusal.

NumPy makes floats of some lists of integers. No integer of a list is lost here: it gets a type that holds it, or the
list is refused.
"""

import random
from collections import deque
from functools import partial
from itertools import product

import numpy as np
import pytest

import extremum as ex
from agreement import assert_identical
from extremum.errors import ArgumentError, ElementTypeError
from refusal import error_of, refusal

POLICIES = (None, "propagate", "omit", "raise", "ignore")
DEFAULTS = (None, -1, 0, -2, 2.5, 1 << 70, "x")
TYPES = (None, "int32", "uint64", "uint32", ">i8", "float32")
ARRAYS = (np.array([[1.0, np.nan, 3.0], [np.nan] * 3]), np.array([[3, 1], [4, 4]]), np.empty((2, 0)))


def outcome(function, x, **options):
    """The values of the results, or the error's class, reason and remedy, without the given array."""
    try:
        result = function(x, **options)
    except ex.errors.ExtremumError as error:
        return type(error), error.reason, error.remedy
    result = result if isinstance(result, tuple) else (result,)
    return [(each.dtype, each.shape, each.tobytes()) for each in map(np.asarray, result)]


def masks(shape):
    yield None
    yield np.zeros(shape, bool)
    yield np.arange(np.prod(shape)).reshape(shape) % 3 == 1
    yield np.ones((7, 7, 7), bool)
    yield np.ones(shape, int)


@pytest.mark.parametrize("x", ARRAYS, ids=["float64", "int64", "empty"])
@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min", "minmax"])
def test_a_list_and_its_array_have_the_same_answer(name, x):
    function = getattr(ex, name)
    arg = name.startswith("arg")
    refused = 0
    every = list(product((None, 1, 2), POLICIES, masks(x.shape), DEFAULTS, TYPES))
    for axis, policy, where, default, dtype in random.Random(1).sample(every, 600):
        options = {"axis": axis, "nan_policy": policy, "where": where, "default": default}
        options |= {"dtype": dtype} if arg else {"index_dtype": dtype, "return_index": dtype is not None}
        expected = outcome(function, x, **options)
        assert outcome(function, x.tolist(), **options) == expected, options
        refused += isinstance(expected, tuple)
    assert 0 < refused < 600


TOP = 2**63
WIDE = np.array([1, TOP, TOP + 1], np.uint64)
UNSIGNED = {
    "list": [1, TOP, TOP + 1],
    "tuple": (1, TOP, TOP + 1),
    "deque": deque([1, TOP, TOP + 1]),
    "bool beside integers": [True, TOP, TOP + 1],
    "NumPy's int64 beside uint64": [np.int64(1), np.uint64(TOP), np.uint64(TOP + 1)],
    "NumPy's int8 beside Python's": [np.int8(1), TOP, np.uint64(TOP + 1)],
    "Python's beside NumPy's uint64": [1, np.uint64(TOP), TOP + 1],
    "NumPy's bool": [np.bool_(True), np.uint64(TOP), TOP + 1],
    "arrays without dimensions": [np.array(1), np.array(TOP, "u8"), TOP + 1],
}


@pytest.mark.parametrize("kind", UNSIGNED)
def test_integers_that_fit_uint64_are_compared_as_such(kind):
    x = UNSIGNED[kind]
    assert (ex.argmax(x), ex.argmin(x)) == (2, 0)
    assert_identical(ex.max(x), WIDE[2])
    assert_identical(ex.min(x), WIDE[0])
    assert ex.minmax(x, return_index=True) == (1, TOP + 1, 0, 2)
    assert_identical(ex.hardmax(x), np.array([0, 0, 1], np.uint64))
    assert_identical(ex.top_k(x, 2).values, WIDE[:0:-1])
    assert_identical(ex.max(x, where=[True, True, False]), WIDE[1])
    assert_identical(ex.maximum(x, [1, 1, 1]), WIDE)
    assert_identical(ex.max(x, where=False, default=TOP + 3), np.uint64(TOP + 3))


NESTED = {
    "lists": [[1, TOP], [TOP + 1, 2]],
    "tuples": ((1, TOP), (TOP + 1, 2)),
    "a range": [range(1, 3), range(TOP, TOP + 2)],
    "arrays": [np.array([1, 2]), np.array([TOP, TOP + 1], "u8")],
    "columns of pandas": lambda: [pytest.importorskip("pandas").Series(each) for each in ([1, 2], [TOP, TOP + 1])],
    "columns of Polars": lambda: [pytest.importorskip("polars").Series(each) for each in ([1, 2], [TOP, TOP + 1])],
}


@pytest.mark.parametrize("kind", NESTED)
def test_nested_sequences_of_integers(kind):
    x = NESTED[kind]() if callable(NESTED[kind]) else NESTED[kind]
    best = 2 if kind in ("lists", "tuples") else 3
    assert ex.argmax(x) == best
    assert_identical(ex.max(x), np.uint64(TOP + 1))
    assert_identical(ex.hardmax(x, axis=(0, 1)).ravel(), np.eye(4, dtype=np.uint64)[best])


BIG = 2**53 + 1
LOST = {
    "float beside an integer": ([0.5, 2**53, BIG], BIG),
    "negative": ([0.5, -BIG], -BIG),
    "NaN": ([float("nan"), BIG], BIG),
    "infinity": ([float("inf"), BIG], BIG),
    "nested": ([[0.5, 1.0], [BIG, 2]], BIG),
    "NumPy's float": ([np.float32(0.5), np.int64(BIG)], BIG),
    "negative beside uint64": ([-1, TOP + 1], TOP + 1),
    "NumPy's int64 beside uint64": ([np.int64(-1), np.uint64(TOP + 1)], TOP + 1),
    "arrays": ([np.array([0.5]), np.array([BIG])], BIG),
    "the largest uint64": ([0.5, 2**64 - 1], 2**64 - 1),
}


@pytest.mark.parametrize("kind", LOST)
def test_an_integer_that_the_floats_do_not_hold_is_refused(kind):
    x, lost = LOST[kind]
    functions = (ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax, ex.hardmax, ex.maximum, partial(ex.top_k, k=1))
    text = f"the sequence holds {lost}, and float64, the common type of its elements, does not"
    for function in functions:
        assert refusal(ElementTypeError, function, x) == text


@pytest.mark.parametrize("x", [[0.5, 2**53], [-1, TOP], [np.nan, 2**70 * 1.0], [1, 2.5], [np.float16(0.5), 1]], ids=str)
def test_integers_that_the_floats_hold_are_compared(x):
    expected = np.array(x)
    assert expected.dtype.kind == "f"
    assert_identical(ex.max(x), ex.max(expected))


def test_sequences_meet_other_operands_without_loss():
    wide = np.array([TOP + 1], np.uint64)
    for operands in (([1], [TOP + 1]), ([1], wide), (wide, (1,), 3), ([1], [2], np.uint64(TOP + 1))):
        for several in (operands, operands[::-1]):
            assert_identical(ex.maximum(*several), wide)
    assert_identical(ex.maximum([1], TOP + 1), wide)
    assert_identical(ex.maximum(1, TOP + 1), wide[0])
    assert_identical(ex.maximum([0.5], [2**53]), np.array([2.0**53]))
    assert_identical(ex.minimum([[1], [TOP + 1]], [[2, 3]]), np.array([[1, 1], [2, 3]], np.uint64))
    for operands in (([0.5], [BIG]), (np.array([0.5]), [BIG]), ([BIG], 0.5), (np.array([-1]), [2**64 - 1])):
        reason = refusal(ElementTypeError, ex.maximum, *operands)
        assert reason.endswith(", and float64, the common type of the operands, does not")
    assert "does not fit int64" in error_of(ArgumentError, ex.maximum, [-1], TOP + 1).reason


def test_sequences_meet_the_columns_of_a_table():
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame({"a": np.array([TOP, 7], np.uint64), "b": [0.5, 0.25]})
    assert ex.maximum(x, [[1, 1], [9, 1]])["a"].tolist() == [TOP, 9]
    assert "a sequence holds" in refusal(ElementTypeError, ex.maximum, x, [[1, BIG], [9, 1]])


OBJECTS = {
    "NA of pandas": (lambda: [1, pytest.importorskip("pandas").NA], "NAType", "numpy.ma.array"),
    "time of pandas": (lambda: [pytest.importorskip("pandas").Timestamp("2020")], "Timestamp", "datetime64[us]"),
    "scalar of Arrow": (lambda: [pytest.importorskip("pyarrow").scalar(1), 2], "pyarrow.lib.Int64Scalar", "as_py"),
    "bfloat16 beside int": (
        lambda: [pytest.importorskip("ml_dtypes").bfloat16(1), 2],
        "ml_dtypes.bfloat16 and int",
        "one element type",
    ),
    "objects that fit": (
        lambda: pytest.importorskip("pandas").Series([1, 2], dtype=object),
        "here int",
        "one element type",
    ),
    "beyond 64 bits": (lambda: [0.5, 2**64], "float and int", "pass integers that fit 64 bits"),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_the_object_that_has_no_order_is_named(kind):
    make, name, remedy = OBJECTS[kind]
    for function in (ex.argmax, ex.hardmax, ex.maximum):
        error = error_of(ElementTypeError, function, make())
        assert name in error.reason
        assert remedy in error.remedy
