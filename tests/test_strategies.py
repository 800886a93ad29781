"""The generators give what they promise: without the hard elements and shapes the other tests would prove little."""

import math

import ml_dtypes
import numpy as np
import pytest

from cases import WIDTHS, edge_table, random_cases, random_shape
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie
from strategies import ELEMENT_TYPES, FLOATS, INDEX_TYPES, TEXTURES, ascending, bits_type, is_nan, landmarks, nans


def test_thirteen_element_types():
    assert len(set(ELEMENT_TYPES)) == 13


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nans_differ_in_bits_and_are_all_nan(dtype):
    x = nans(dtype)
    assert is_nan(x).all()
    assert all(math.isnan(number) for number in x.tolist())
    assert len(set(x.view(bits_type(dtype)).tolist())) == 8
    assert np.signbit(x).sum() == 4


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_is_nan_says_no_to_every_number(dtype):
    assert not is_nan(landmarks(dtype)).any()
    assert not is_nan(ascending(dtype, 300)).any()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_is_nan_reads_any_memory(dtype):
    x = np.concatenate([nans(dtype), landmarks(dtype)])
    assert is_nan(x.astype(dtype.newbyteorder("S"))[::-1]).sum() == 8
    assert is_nan(x[:1].reshape(())).shape == ()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_landmarks_of_floats(dtype):
    x = landmarks(dtype).astype(np.float64)
    limits = ml_dtypes.finfo(dtype)
    hardest = {np.inf, float(limits.max), float(limits.smallest_normal), float(limits.smallest_subnormal)}
    assert hardest <= set(x)
    assert hardest <= set(-x)
    assert set(np.signbit(x[x == 0])) == {False, True}


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_ascending_ascends(dtype):
    x = ascending(dtype, 100).astype(np.float64)
    assert (np.diff(x) >= 0).all()
    assert x[0] < x[-1]


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_textures_keep_type_and_shape(dtype):
    rng = np.random.default_rng(0)
    for texture in TEXTURES:
        for shape in ((), (0,), (4, 5), (0, 3)):
            x = np.asarray(texture(rng, dtype, shape), dtype)
            assert (x.dtype, x.shape) == (dtype, shape)


def test_random_shapes_have_every_rank_and_some_are_empty():
    rng = np.random.default_rng(0)
    shapes = [random_shape(rng, 400) for _ in range(300)]
    assert {len(shape) for shape in shapes} == set(range(9))
    assert 0 < sum(0 in shape for shape in shapes) < 100
    assert max(np.prod(shape) for shape in shapes) > 200


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_edge_tables_put_the_extremum_at_both_ends(dtype):
    table = edge_table(np.random.default_rng(0), dtype, 33)
    numbers = table[~is_nan(table).any(1)].astype(np.float64)
    assert {0, 1, 31, 32} <= set(numbers.argmax(1)) & set(numbers.argmin(1))


def test_widths_leave_none_out():
    assert set(range(1, 71)) == set(WIDTHS)


def test_random_cases_meet_every_choice():
    cases = list(random_cases(3, 96))
    reductions = [operation for operation, _ in cases if isinstance(operation, ArgReduce)]
    assert {(op.order, op.tie, op.keepdims, op.index) for op in reductions} == {
        (order, tie, keepdims, index)
        for order in Order
        for tie in Tie
        for keepdims in (False, True)
        for index in INDEX_TYPES
    }
    assert {len(op.axes) for op in reductions} >= set(range(7))
    assert any(len(op.axes) > 1 for op, _ in cases if isinstance(op, OneHot))
    assert {len(inputs) for op, inputs in cases if isinstance(op, Extremum)} == set(range(1, 7))
    assert list(map(str, cases)) == list(map(str, random_cases(3, 96)))
