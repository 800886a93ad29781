"""Every pair of elements of the narrow types: all 2^32 of float16 and bfloat16, all of the 8-bit types and bool.

`make test` takes some first elements against all second ones; the exhaustive leg takes all of them.
"""

import numpy as np
import pytest

import twins
from agreement import EVERY_SET, assert_same_bits, kernels
from cases import arg_reductions
from extremum.operations import Extremum, OneHot, Order
from strategies import BFLOAT16, bits_type, landmarks, nans

HALVES = (np.dtype("float16"), BFLOAT16)
BYTES = tuple(map(np.dtype, ("int8", "uint8", "bool")))
# First elements taken against all second ones in one call: 2^20 pairs.
SLAB = 16


def every(dtype):
    """Every element of a type."""
    if dtype.kind == "b":
        return np.array([False, True])
    return np.arange(256**dtype.itemsize, dtype=bits_type(dtype)).view(dtype)


def check(dtype, firsts):
    """Hold the extremum of two, and the index and the one among two in rows and in columns, to the twin."""
    seconds = every(dtype)
    for start in range(0, firsts.size, SLAB):
        pair = np.broadcast_arrays(firsts[start : start + SLAB, None], seconds)
        calls = [(Extremum(order), pair) for order in Order]
        for axis in (0, 2):
            pairs = [np.stack(pair, axis)]
            calls += ((operation, pairs) for operation in (*arg_reductions((axis,), index=np.int32), OneHot((axis,))))
        for operation, inputs in calls:
            expected = twins.run(operation, *inputs)
            for way in EVERY_SET:
                with kernels(**way):
                    assert_same_bits(operation(*inputs), expected, f"{operation} {way}")


@pytest.mark.parametrize("dtype", [*HALVES, *BYTES], ids=str)
def test_some_first_elements_with_every_second_one(dtype):
    """All pairs, where the type has 8 bits."""
    firsts = every(dtype)
    if dtype in HALVES:
        firsts = np.concatenate([landmarks(dtype), nans(dtype)[:4]])
    check(dtype, firsts)


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(16))
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_every_pair(dtype, part):
    check(dtype, every(dtype)[part::16].copy())
