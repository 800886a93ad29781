"""`out=`: any memory of the right shape and type receives the result, and nothing around it changes."""

import math
from functools import partial
from random import Random

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import extremum
import random_memory
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
        x = memory[:280]
        y = memory[20:]
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
SHARING += [((2, 2, 2), (64, 16, 20)), ((2, 3, 4), (32, 8, 24)), ((5, 2), (16, 52)), ((9, 2), (-16, 65))]
APART = [((4, 3), (24, 8)), ((4, 3), (8, 32)), ((4, 3), (-24, 8)), ((4, 1, 3), (24, 0, 8)), ((4, 1, 3), (24, 3, -8))]
APART += [((2, 3, 4), (8, 96, -24)), ((3,), (9,)), ((2, 5, 2), (-40, 8, 80)), ((2, 2, 2), (64, 16, 24))]
APART += [((0, 3), (0, 0)), ((1, 1), (0, 0)), ((), ())]
# These interleave.
APART += [((4, 2), (16, 24)), ((9, 2), (-16, 56)), ((4, 1, 2), (18, 0, 27)), ((3, 3, 2), (40, 16, 104))]


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


def test_elements_may_interleave_exactly_where_they_share_no_memory():
    random = Random(3)
    answers = set()
    for _ in range(2000):
        shape = tuple(random.choice((1, 2, 2, 3, 4, 7)) for _ in range(random.choice((2, 2, 3, 3, 4))))
        out = strides_of(shape, [random.randrange(-60, 61) for _ in shape], np.uint16)
        x = np.arange(out.size).reshape(shape).astype(np.uint16)
        apart = not random_memory.shared(out)
        answers.add(apart)
        if apart:
            assert_same_bits(extremum.maximum(x, out=out), x, f"{shape} {out.strides}")
        else:
            assert "out cannot be written to" in refusal(ArgumentError, extremum.maximum, x, out=out)
    assert answers == {True, False}


@pytest.mark.parametrize("function", [extremum.maximum, extremum.hardmax])
def test_two_interleaved_planes_are_filled(function):
    out = as_strided(np.zeros(5000, np.float16), (2050, 1, 2), (4, 8200, 34))
    x = np.random.default_rng(1).standard_normal(out.shape).astype(np.float16)
    assert_same_bits(function(x, out=out), function(x))


def test_elements_are_taken_to_share_memory_where_it_takes_too_long_to_know():
    # The Conway-Guy numbers: all their sums differ, and lie as close together as possible.
    sums = [0, 1]
    while len(sums) < 17:
        sums.append(2 * sums[-1] - sums[-1 - round(math.sqrt(2 * len(sums) - 2))])
    strides = [sums[-1] - each for each in sums[:-1]]
    out = as_strided(np.zeros(sum(strides) + 1, np.int8), (2,) * 16, strides)
    assert not random_memory.shared(out)
    assert "out cannot be written to" in refusal(ArgumentError, extremum.maximum, np.ones(out.shape, np.int8), out=out)
