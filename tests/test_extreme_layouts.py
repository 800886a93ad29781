"""Layouts at the edge of what NumPy can express: ranks up to its limit, sizes and strides beyond any memory."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import extremum
import watched
from agreement import assert_same_bits
from extremum.errors import ArgumentError, AxisError
from refusal import error_of, refusal

MOST = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32


RANKS = [rank for rank in (5, 6, 8, 9, 31, 32, 33, 63, 64) if rank <= MOST]


def of_rank(rank):
    """An array of three axes longer than one, and the same without the others."""
    shape = [1] * rank
    shape[0] = 2
    shape[rank // 2] = 3
    shape[-1] = 4
    x = np.random.default_rng(rank).integers(0, 9, shape).astype(np.float32)
    return x, x.reshape(2, 3, 4)


@pytest.mark.parametrize("rank", RANKS)
def test_every_rank(rank):
    x, plain = of_rank(rank)
    for axis, own in ((0, 0), (rank // 2, 1), (-1, 2), (-rank, 0)):
        assert_same_bits(extremum.argmax(x, axis).reshape(-1), plain.argmax(own).reshape(-1))
        assert extremum.argmin(x, axis, keepdims=True).ndim == rank
        assert_same_bits(extremum.hardmax(x, axis).reshape(plain.shape), extremum.hardmax(plain, own))
        assert_same_bits(extremum.top_k(x, 2, axis).indices.ravel(), extremum.top_k(plain, 2, own).indices.ravel())
    assert extremum.argmax(x) == extremum.argmax(x, tuple(range(rank))) == plain.argmax()
    out = np.zeros_like(x)
    assert extremum.maximum(x, x[..., ::-1], plain[0, 1], out=out) is out
    assert_same_bits(out.reshape(plain.shape), np.maximum(np.maximum(plain, plain[..., ::-1]), plain[0, 1]))
    assert_same_bits(extremum.minimum(x, plain[0, 0]).reshape(plain.shape), np.minimum(plain, plain[0, 0]))
    for axis in (rank, -rank - 1, 64, -65, 1 << 40, -(1 << 63), 1 << 80, -(1 << 80)):
        assert f"axis {axis} is out of range" in refusal(AxisError, extremum.argmax, x, axis)


OPTIONS = {
    "omit": {"nan_policy": "omit", "default": -1},
    "raise": {"nan_policy": "raise"},
    "default": {"where": False, "default": -1},
}


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("name", OPTIONS)
def test_reductions_of_every_rank_with_options(name, rank):
    x, plain = of_rank(rank)
    options = OPTIONS[name]
    without_default = {key: value for key, value in options.items() if key != "default"}
    for axis, own in ((0, 0), (rank // 2, 1), (-1, 2), (None, (0, 1, 2)), ((0, -1), (0, 2))):
        for function in (extremum.argmax, extremum.min, extremum.minmax):
            # `minmax` has two results, the others one.
            actual, expected = (np.ravel(function(*each, **options)) for each in ((x, axis), (plain, own)))
            assert_same_bits(actual, expected)
        ones = extremum.hardmax(x, axis, **without_default)
        assert_same_bits(ones.reshape(plain.shape), extremum.hardmax(plain, own, **without_default))
    times = extremum.hardmax(x.astype("m8[s]"), 0)
    assert_same_bits(times.reshape(plain.shape), extremum.hardmax(plain.astype("m8[s]"), 0))
    x[...] = np.nan
    assert "holds NaN" in refusal(ArgumentError, extremum.max, x, 0, nan_policy="raise")
    assert "has no element" in refusal(ArgumentError, extremum.max, x, 0, nan_policy="omit")


@pytest.mark.parametrize("rank", RANKS)
def test_operands_of_every_rank_with_options(rank):
    x, plain = of_rank(rank)
    other = x[..., ::-1].astype(np.int16)
    plain_other = other.reshape(plain.shape)
    mask = x > 4
    for policy in ("propagate", "omit", "raise"):
        for where in (None, mask, mask[:1], True):
            own = where.reshape(-1, 3, 4) if isinstance(where, np.ndarray) else where
            actual = extremum.maximum(x, other, 3, [2], nan_policy=policy, where=where)
            expected = extremum.maximum(plain, plain_other, 3, [2], nan_policy=policy, where=own)
            assert_same_bits(actual.reshape(plain.shape), expected)
    out = np.zeros(x.shape)
    assert extremum.minimum(x, other, where=mask, out=out.astype(np.float32)).shape == x.shape
    assert extremum.maximum(x.astype("m8[s]"), other.astype("m8[ms]")).shape == x.shape
    text = refusal(ArgumentError, extremum.maximum, x, np.zeros((5, *x.shape[1:])))
    assert "could not be broadcast together" in text


def test_sizes_whose_product_overflows():
    tall = np.broadcast_to(np.int8(1), (2**40, 1))
    wide = np.broadcast_to(np.int8(2), (1, 2**40))
    for function in (extremum.maximum, extremum.minimum):
        error_of((ValueError, MemoryError), function, tall, wide)
        assert "out has shape" in str(error_of(ArgumentError, function, tall, wide, out=np.zeros(3, np.int8)))


def strides_that_lead_nowhere():
    """An array without elements may have any strides, and so may an axis of one element; out may lie anywhere."""
    memory = np.arange(6.0)
    for stride in (2**62, -(2**62), 2**63 - 1, -(2**63)):
        empty = as_strided(memory, (0, 3, 5), (stride, stride, stride))
        assert extremum.argmax(empty, 1).shape == (0, 5)
        assert extremum.hardmax(empty, 2).shape == (0, 3, 5)
        assert extremum.top_k(empty, 2, 1).indices.shape == (0, 2, 5)
        assert extremum.maximum(empty, 1.0, empty).shape == (0, 3, 5)
        assert extremum.maximum(empty, out=empty) is empty
        one = as_strided(memory, (1, 6, 1), (stride, 8, stride))
        assert extremum.argmax(one) == 5
        assert extremum.argmax(one, 0).tolist() == [[0]] * 6
        assert extremum.top_k(one, 2, None).indices.tolist() == [5, 4]
        assert extremum.top_k(one, 6, 1).values.ravel().tolist() == memory[::-1].tolist()
        assert extremum.hardmax(one, 1).sum() == 1
        out = as_strided(np.zeros(6), (1, 6, 1), (stride, 8, stride))
        assert extremum.maximum(one, memory[:, None], out=out) is out
        assert out.ravel().tolist() == memory.tolist()
        assert extremum.hardmax(one, 1, out=one) is one
        memory = np.arange(6.0)
        far = as_strided(np.zeros(2), (2, 6), (stride, 8))
        for function in (extremum.maximum, extremum.hardmax):
            error_of(ArgumentError, function, memory, out=far)


def test_strides_that_lead_nowhere():
    watched.call(strides_that_lead_nowhere)
