"""`top_k` of every element of the narrow types: all of them in order, each as the k-th best of a line, pairs of them.

`make test` takes some of the lines and of the pairs; the exhaustive leg takes all lines, and all pairs of floats.
"""

import numpy as np
import pytest

import extremum as ex
from agreement import EVERY_SET, assert_identical, kernels
from strategies import BFLOAT16, bits_type, landmarks, nans

BYTES = tuple(map(np.dtype, ("int8", "uint8", "bool")))
FLOATS = (np.dtype("float16"), BFLOAT16)
HALVES = (*FLOATS, np.dtype("int16"), np.dtype("uint16"))
OPTIONS = [(mode, policy) for mode in ("largest", "smallest") for policy in ("propagate", "omit")]
# Parts of the exhaustive leg, which run side by side.
PARTS = 16


def every(dtype):
    """Every element of a type."""
    if dtype.kind == "b":
        return np.array([False, True])
    return np.arange(256**dtype.itemsize, dtype=bits_type(dtype)).view(dtype)


def keys_of(x, mode, policy):
    """Numbers whose ascending order is the order of the results: NaN lies beyond what stands for infinity."""
    with np.errstate(invalid="ignore"):
        numbers = np.clip(x.astype(np.float64), -1e300, 1e300) * (-1 if mode == "largest" else 1)
    return np.where(np.isnan(numbers), -np.inf if policy == "propagate" else np.inf, numbers)


def permuted(dtype):
    """Every element, in an order that is always the same."""
    return np.random.default_rng(7).permutation(every(dtype))


@pytest.mark.parametrize(("mode", "policy"), OPTIONS)
@pytest.mark.parametrize("dtype", [*BYTES, *HALVES], ids=str)
def test_all_elements_in_order(dtype, mode, policy):
    x = permuted(dtype)
    order = np.argsort(keys_of(x, mode, policy), kind="stable")
    for way in EVERY_SET:
        with kernels(**way):
            best = ex.top_k(x, x.size, mode=mode, nan_policy=policy)
        assert_identical(best.indices, order, dtype, mode, policy, way)
        assert_identical(best.values, x[order], dtype, mode, policy, way)


def check_lines(dtype, firsts):
    """Take one element after the other as the best of the line of those that do not come before it."""
    x = permuted(dtype)
    for mode, policy in OPTIONS:
        order = np.argsort(keys_of(x, mode, policy), kind="stable")
        rank = np.empty(x.size, np.int64)
        rank[order] = np.arange(x.size)
        for first in firsts:
            stays = rank >= first
            line = x[stays]
            place = np.cumsum(stays) - 1
            # The first takes a bound from registers, the second from a sample.
            for k in (5, 300):
                wanted = order[first : first + k]
                for way in EVERY_SET:
                    with kernels(**way):
                        best = ex.top_k(line, wanted.size, mode=mode, nan_policy=policy)
                    assert_identical(best.indices, place[wanted], dtype, mode, policy, first, k, way)
                    assert_identical(best.values, x[wanted], dtype, mode, policy, first, k, way)


@pytest.mark.parametrize("dtype", [*BYTES, *HALVES], ids=str)
def test_each_element_is_once_the_best(dtype):
    size = every(dtype).size
    check_lines(dtype, range(0, size, max(1, size // 64)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_each_element_is_once_the_best_of_all(dtype, part):
    check_lines(dtype, range(part, every(dtype).size, PARTS))


def check_pairs(dtype, firsts):
    """Take pairs of elements, in rows and in columns, as lines of two."""
    seconds = every(dtype)
    for mode, policy in OPTIONS:
        keys = keys_of(seconds, mode, policy)
        keys_of_firsts = keys_of(firsts, mode, policy)
        for number, (first, key) in enumerate(zip(firsts, keys_of_firsts, strict=True)):
            changes = keys < key
            # Two columns come to the same kernel as two rows do, once rows are transposed.
            axes = (0, 1) if number == 0 else (0,)
            for axis in axes:
                pairs = np.stack(np.broadcast_arrays(first, seconds), axis)
                indices = np.stack([changes, ~changes], axis).astype(np.int64)
                values = np.take_along_axis(pairs, indices, axis)
                for way in EVERY_SET:
                    with kernels(**way):
                        best = ex.top_k(pairs, 2, axis, mode=mode, nan_policy=policy)
                    assert_identical(best.indices, indices, dtype, first, mode, policy, axis, way)
                    assert_identical(best.values, values, dtype, first, mode, policy, axis, way)


@pytest.mark.parametrize("dtype", [*BYTES, *HALVES], ids=str)
def test_pairs_of_some_elements_with_every_other(dtype):
    """All pairs, where the type has 8 bits."""
    firsts = every(dtype)
    if dtype in HALVES:
        numbers = landmarks(dtype)[:4]
        firsts = numbers if dtype.kind in "iu" else np.concatenate([nans(dtype)[:2], numbers])
    check_pairs(dtype, firsts)


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_pair_in_order(dtype, part):
    check_pairs(dtype, every(dtype)[part::PARTS].copy())
