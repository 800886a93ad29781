"""Extrema of short and long rows: which of several equal elements comes out, by its bits."""

import numpy as np
import pytest

import extremum as ex
from agreement import assert_same_bits
from strategies import FLOATS


@pytest.mark.parametrize("length", [2, 5, 7, 16, 40, 70, 300])
@pytest.mark.parametrize("most", [2, 5])
def test_any_byte_of_a_bool_but_zero_is_true(length, most):
    rng = np.random.default_rng(length)
    stored = np.where(rng.random((200, length)) < 0.1, 0, rng.integers(1, most, (200, length))).astype(np.uint8)
    stored[:50] *= rng.random((50, length)) < 0.02
    x = stored.view(bool)
    low, high = ex.minmax(x, 1)
    for found, function, place in ((low, ex.min, (stored != 0).argmin(1)), (high, ex.max, (stored != 0).argmax(1))):
        chosen = np.take_along_axis(stored, place[:, None], 1)[:, 0]
        values, indices = function(x, 1, return_index=True)
        assert np.array_equal(indices, place)
        for each in (found, function(x, 1), values):
            assert np.array_equal(each.view(np.uint8), chosen)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("length", [2, 4, 7, 12, 20, 40, 70, 300])
def test_zeros_at_either_end_keep_their_sign(dtype, length):
    rng = np.random.default_rng(length)
    x = rng.choice([0.0, -0.0, 1.0], (200, length)).astype(dtype)
    x[100:] *= dtype.type(-1)
    x[rng.integers(0, 200, 3), 0] = np.nan
    low, high = ex.minmax(x, 1)
    for found, function in ((low, ex.min), (high, ex.max)):
        values, indices = function(x, 1, return_index=True)
        chosen = np.take_along_axis(x, indices[:, None], 1)[:, 0]
        for each in (found, function(x, 1), values):
            assert_same_bits(each, chosen)
