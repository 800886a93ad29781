"""A list and the array made from it take different paths through the package, to the same answer or refusal."""

import random
from itertools import product

import numpy as np
import pytest

import extremum as ex

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
    function, arg = getattr(ex, name), name.startswith("arg")
    refused = 0
    every = list(product((None, 1, 2), POLICIES, masks(x.shape), DEFAULTS, TYPES))
    for axis, policy, where, default, dtype in random.Random(1).sample(every, 600):
        options = {"axis": axis, "nan_policy": policy, "where": where, "default": default}
        options |= {"dtype": dtype} if arg else {"index_dtype": dtype, "return_index": dtype is not None}
        expected = outcome(function, x, **options)
        assert outcome(function, x.tolist(), **options) == expected, options
        refused += isinstance(expected, tuple)
    assert 0 < refused < 600
