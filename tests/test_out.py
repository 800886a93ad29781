"""`out=`: any memory of the right shape and type receives the result, and nothing around it changes."""

from functools import partial

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import extremum
from agreement import assert_same_bits
from cases import arg_reductions
from extremum import reference
from extremum.errors import ArgumentError
from extremum.operations import Extremum, OneHot, Order
from refusal import refusal
from strategies import ELEMENT_TYPES


@pytest.mark.parametrize("options", [{}, {"nan_policy": "omit"}, {"nan_policy": "raise"}, {"where": True}], ids=str)
@pytest.mark.parametrize("dtype", [*ELEMENT_TYPES[:-1], np.dtype("M8[s]"), np.dtype("m8[ns]")], ids=str)
def test_every_function_writes_into_either_byte_order(dtype, options):
    x = np.array([[1, 5, 2], [7, 2, 7]]).astype(dtype)
    reducing = (extremum.argmax, extremum.argmin, extremum.max, extremum.min, extremum.hardmax)
    calls = [partial(function, x, 1, **options) for function in reducing]
    calls += [partial(function, x, x[::-1], **options) for function in (extremum.maximum, extremum.minimum)]
    for call in calls:
        expected = call()
        out = np.zeros(expected.shape, expected.dtype.newbyteorder("S"))
        assert call(out=out) is out
        assert_same_bits(out.astype(expected.dtype), expected, f"{call}")


def test_subclasses_are_filled_and_returned():
    class Labelled(np.ndarray):
        pass

    out = np.zeros(2, np.int64).view(Labelled)
    assert extremum.argmax([[1, 2], [2, 1]], 1, out=out) is out
    assert out.tolist() == [1, 0]


class TestOverlap:
    """An output that shares memory with an input is filled as if the input had been copied first."""

    @pytest.mark.parametrize("step", [1, -1])
    @pytest.mark.parametrize("shift", [0, 1, 5])
    def test_elementwise(self, shift, step):
        memory = np.random.default_rng(shift).integers(-99, 99, 300)
        x, y = memory[:280], memory[20:]
        out = memory[shift : shift + 280][::step]
        expected = reference.run(Extremum(Order.MAX), x, y)
        assert_same_bits(extremum.maximum(x, y, out=out), expected)

    def test_hardmax_in_place(self):
        for axis in (0, 1, (0, 1)):
            x = np.random.default_rng(7).integers(0, 9, (20, 30)).astype(np.float32)
            expected = reference.run(OneHot(tuple(np.atleast_1d(axis))), x)
            assert_same_bits(extremum.hardmax(x, axis, out=x), expected)
            y = np.random.default_rng(8).integers(0, 9, (30, 30))
            expected = reference.run(OneHot(tuple(np.atleast_1d(axis))), y)
            assert_same_bits(extremum.hardmax(y, axis, out=y.T), expected)

    def test_indices_over_elements(self):
        for operation in arg_reductions((1,)):
            x = np.random.default_rng(9).integers(0, 9, (20, 20))
            expected = reference.run(operation, x)
            assert_same_bits(operation(x, out=x[3]), expected)
            x = np.random.default_rng(9).integers(0, 9, (20, 20))
            assert_same_bits(operation(x, out=x[:, 19]), expected)


def strides_of(shape, strides, dtype=np.float64):
    memory = np.zeros(4096, np.int8)
    return as_strided(memory[2048:].view(dtype), shape, strides)


SHARING = [((4, 3), (8, 8)), ((3, 4), (16, 8)), ((4,), (4,)), ((4,), (-7,)), ((3, 2), (0, 8))]
SHARING += [((2, 2, 2), (64, 16, 20)), ((2, 3, 4), (32, 8, 24))]
APART = [((4, 3), (24, 8)), ((4, 3), (8, 32)), ((4, 3), (-24, 8)), ((4, 1, 3), (24, 0, 8)), ((4, 1, 3), (24, 3, -8))]
APART += [((2, 3, 4), (8, 96, -24)), ((3,), (9,)), ((2, 5, 2), (-40, 8, 80)), ((2, 2, 2), (64, 16, 24))]
APART += [((0, 3), (0, 0)), ((1, 1), (0, 0)), ((), ())]


@pytest.mark.parametrize(("shape", "strides"), SHARING, ids=str)
def test_elements_that_share_memory_are_refused(shape, strides):
    out = strides_of(shape, strides)
    for call in (
        lambda: extremum.maximum(np.ones(shape), out=out),
        lambda: extremum.hardmax(np.ones(shape), out=out),
        lambda: extremum.argmax(np.ones((*shape, 2)), -1, out=strides_of(shape, strides, np.int64)),
    ):
        assert "out cannot be written to" in refusal(ArgumentError, call)
    assert not out.any()
    read_only = np.zeros(shape)
    read_only.flags.writeable = False
    for function in (extremum.maximum, extremum.minimum, extremum.hardmax):
        assert "out cannot be written to" in refusal(ArgumentError, function, np.ones(shape), out=read_only)


@pytest.mark.parametrize(("shape", "strides"), APART, ids=str)
def test_elements_that_lie_apart_are_filled(shape, strides):
    out = strides_of(shape, strides)
    assert extremum.maximum(np.ones(shape), out=out) is out
    assert (out == 1).all()
