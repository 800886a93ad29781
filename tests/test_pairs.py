"""Every pair of elements of the narrow types: all 2^32 of float16 and bfloat16, all of the 8-bit types and bool.

What is expected comes from a table: where each bit pattern stands in the order. `make test` takes some first elements
against all second ones, with every instruction set; the exhaustive leg takes all of them.
"""

import numpy as np
import pytest

import agreement
import extremum
from extremum import _native
from extremum.operations import Order
from strategies import BFLOAT16, bits_type, is_nan, landmarks, nans

HALVES = (np.dtype("float16"), BFLOAT16)
BYTES = tuple(map(np.dtype, ("int8", "uint8", "bool")))
INSTRUCTION_SETS = _native.instruction_sets()
# First elements taken against all second ones in one call: 2^20 pairs.
SLAB = 16
ARG = {Order.MAX: extremum.argmax, Order.MIN: extremum.argmin}
ELEMENTWISE = {Order.MAX: extremum.maximum, Order.MIN: extremum.minimum}


def every(dtype):
    """Every element of a type."""
    if dtype.kind == "b":
        return np.array([False, True])
    return np.arange(1 << 8 * dtype.itemsize, dtype=bits_type(dtype)).view(dtype)


def standing(dtype, order, zeros_tie):
    """Where each bit pattern stands: by value, NaN beyond every number at the end that is sought, all NaNs alike."""
    x = every(dtype)
    with np.errstate(invalid="ignore"):
        values = x.astype(np.float64)
    numbers = np.unique(values[~is_nan(x)])
    places = 2 * np.searchsorted(numbers, values).astype(np.int32)
    if not zeros_tie:
        places += (values == 0) & ~np.signbit(values)
    return np.where(is_nan(x), 1 << 30 if order is Order.MAX else -1, places).astype(np.int32)


def count(pairs):
    agreement.compared += pairs


def check_elementwise(dtype, order, firsts):
    """The extremum of each first element and every second one: its standing says which bits it must have."""
    table, seconds = standing(dtype, order, zeros_tie=False), every(dtype)
    pick = np.maximum if order is Order.MAX else np.minimum
    for start in range(0, firsts.size, SLAB):
        first = firsts[start : start + SLAB, None]
        result = ELEMENTWISE[order](first, seconds)
        assert result.dtype == dtype
        expected = pick(table[first.view(bits_type(dtype))], table)
        assert (table[result.view(bits_type(dtype))] == expected).all()
        count(result.size)


def check_index(dtype, order, firsts, axis):
    """The index in rows, or columns, of two elements; and Hardmax of them, which is one at the first largest."""
    table, seconds = standing(dtype, order, zeros_tie=True), every(dtype)
    pairs = np.empty((SLAB, seconds.size, 2) if axis else (2, SLAB, seconds.size), dtype)
    one, other = (pairs[..., 0], pairs[..., 1]) if axis else pairs
    other[...] = seconds
    axis = 2 if axis else 0
    one_bits = np.ones(1, dtype).view(bits_type(dtype))[0]
    for start in range(0, firsts.size, SLAB):
        one[...] = np.resize(firsts[start : start + SLAB], SLAB)[:, None]
        first = table[one[:, :1].view(bits_type(dtype))]
        later, not_before = (table > first, table >= first) if order is Order.MAX else (table < first, table <= first)
        assert (ARG[order](pairs, axis, dtype=np.int32) == later).all()
        assert (ARG[order](pairs, axis, select_last_index=True, dtype=np.int32) == not_before).all()
        count(2 * one.size)
        if order is Order.MAX:
            bits = np.moveaxis(extremum.hardmax(pairs, axis), axis, 0).view(bits_type(dtype))
            assert (bits[1] == later * one_bits).all()
            assert ((bits[0] ^ bits[1]) == one_bits).all()
            count(one.size)


@pytest.fixture(params=INSTRUCTION_SETS)
def instruction_set(request):
    with agreement.kernels(request.param):
        yield request.param


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("dtype", [*HALVES, *BYTES], ids=str)
def test_some_first_elements_with_every_second_one(dtype, order, instruction_set):
    """All pairs, where the type has 8 bits."""
    firsts = every(dtype)
    if dtype in HALVES:
        rng = np.random.default_rng(len(instruction_set))
        firsts = np.concatenate([landmarks(dtype), nans(dtype), rng.choice(firsts, 12)])
    check_elementwise(dtype, order, firsts)
    for axis in (0, 1):
        check_index(dtype, order, firsts, axis)


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_every_pair(dtype, order, part, instruction_set):
    firsts = every(dtype)[part::4].copy()
    check_elementwise(dtype, order, firsts)
    for axis in (0, 1):
        check_index(dtype, order, firsts, axis)
