"""The layouts are what their names say, and keep the elements."""

import numpy as np
import pytest

import layouts
from agreement import assert_same_bits
from layouts import LAYOUTS
from strategies import ELEMENT_TYPES, sample


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_elements_stay(layout, dtype):
    rng = np.random.default_rng(0)
    for shape in ((), (0,), (5,), (3, 4), (2, 0, 3), (2, 3, 1, 2, 2, 1, 1, 3)):
        x = sample(rng, dtype, shape)
        laid_out = layout(x, rng)
        assert laid_out.shape == shape
        if layout not in layouts.REPEATING:
            assert_same_bits(laid_out.astype(dtype), x)


def laid_out(layout, dtype="int32"):
    """Several arrays of the layout: where it is left to chance, all its forms occur."""
    rng = np.random.default_rng(1)
    return [layout(np.arange(60, dtype=dtype).reshape(3, 4, 5), rng) for _ in range(20)]


def test_fortran_is_column_major():
    assert all(x.flags.f_contiguous for x in laid_out(layouts.fortran))


def test_permuted_strides_come_in_any_sequence():
    assert len({x.strides for x in laid_out(layouts.permuted)}) == 6


def test_reversed_axes_have_negative_strides():
    assert {sum(stride < 0 for stride in x.strides) for x in laid_out(layouts.reversed_axes)} == {0, 1, 2, 3}


def test_strided_arrays_have_gaps():
    assert any(abs(x.strides[2]) > 4 for x in laid_out(layouts.strided))
    assert any(x.strides[1] > 5 * x.strides[2] for x in laid_out(layouts.strided))


def test_mixed_strides_are_permuted_and_negative_with_gaps():
    strides = np.array([x.strides for x in laid_out(layouts.mixed)])
    assert (strides < 0).any()
    assert (np.abs(strides).min(1) > 4).any()
    assert (np.diff(np.abs(strides)) > 0).any()


def test_broadcast_arrays_have_zero_strides():
    assert any(0 in x.strides for x in laid_out(layouts.broadcast))


def test_windows_overlap():
    assert any(0 < x.strides[0] < x.shape[1] * x.strides[1] for x in laid_out(layouts.windowed))


def test_unaligned_arrays_are_not_aligned():
    assert not any(x.flags.aligned for x in laid_out(layouts.unaligned))


def test_read_only_arrays_cannot_be_written():
    assert not any(x.flags.writeable for x in laid_out(layouts.read_only))


def test_byte_swapped_arrays_are_not_native():
    assert not any(x.dtype.isnative for x in laid_out(layouts.byte_swapped))
