"""Masks of any layout, and slices in which no element takes part."""

from contextlib import suppress
from itertools import product

import numpy as np
import pytest

import extremum as ex
from extremum import _native, reference
from extremum.operations import Order, Tie

SHAPES = [
    ((70, 130), 0),
    ((70, 130), 1),
    ((300, 4), 1),
    ((300, 10), 1),
    ((60, 40), 1),
    ((5, 12, 70), 1),
    ((2, 3000), 1),
]
TYPES = ["float32", "float64", "float16", "int8", "bool"]


def masks(shape, random):
    """Return masks of a shape by name: some are broadcast, some leave nothing of many slices."""
    drawn = random.random(shape)
    yield "half", drawn < 0.5
    yield "few", drawn < 0.01
    yield "column order", np.asfortranarray(drawn < 0.5)
    yield "every other of a larger one", np.repeat(drawn < 0.5, 2, axis=-1)[..., ::2]
    for axis in range(len(shape)):
        along = random.random([n if each == axis else 1 for each, n in enumerate(shape)]) < 0.5
        yield f"along axis {axis} alone", np.broadcast_to(along, shape)


@pytest.fixture(params=["baseline", "sse4.2", "avx2", "avx512"])
def instruction_set(request):
    before = _native.get_instruction_set()
    # What a processor lacks is tested with what it has.
    with suppress(ValueError):
        _native.set_instruction_set(request.param)
    yield
    _native.set_instruction_set(before)


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.usefixtures("instruction_set")
def test_a_mask_of_any_layout_gives_what_the_reference_gives(shape, axis, element):
    random = np.random.default_rng(3)
    x = (random.standard_normal(shape) * 3).astype(element)
    for (name, mask), last in product(masks(shape, random), [False, True]):
        tie = Tie.LAST if last else Tie.FIRST
        values, indices = reference.find(x, Order.MAX, (axis,), tie, where=mask)
        found = ex.max(
            x, axis, keepdims=True, return_index=True, select_last_index=last, where=mask, default=x.dtype.type(1)
        )
        np.testing.assert_array_equal(found.indices, indices, err_msg=name)
        np.testing.assert_array_equal(found.values, np.where(indices < 0, x.dtype.type(1), values), err_msg=name)


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("element", ["float32", "float64", "float16"])
@pytest.mark.parametrize("layout", ["C", "F", "swapped"])
@pytest.mark.parametrize("order", [Order.MAX, Order.MIN])
@pytest.mark.usefixtures("instruction_set")
def test_a_slice_of_nan_alone_is_left_out_whatever_lies_beside_it(shape, axis, element, layout, order):
    random = np.random.default_rng(4)
    x = random.standard_normal(shape).astype(element)
    x[random.random(shape) < 0.1] = np.nan
    along = np.moveaxis(x, axis, 0)
    along[:, ..., ::3] = np.nan
    # A slice whose only number loses to all others.
    along[:, ..., 1] = np.nan
    along[len(along) // 2, ..., 1] = -np.inf if order is Order.MAX else np.inf
    x = np.copysign(x, random.standard_normal(shape).astype(element), where=np.isnan(x), out=x)
    x = x.astype(x.dtype.newbyteorder("S")) if layout == "swapped" else np.array(x, order=layout)
    values, indices = reference.find(x.astype(element), order, (axis,), Tie.FIRST, omit=True)
    function = ex.max if order is Order.MAX else ex.min
    found = function(x, axis, keepdims=True, return_index=True, nan_policy="omit", default=1)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_array_equal(found.values, np.where(indices < 0, x.dtype.type(1), values))


@pytest.mark.parametrize("element", ["int8", "uint8", "int16", "float16"])
@pytest.mark.parametrize("length", [6, 7, 8, 9, 10, 16, 17, 40, 600, 2000])
@pytest.mark.usefixtures("instruction_set")
def test_both_ends_of_rows_of_narrow_elements(element, length):
    random = np.random.default_rng(6)
    x = (random.standard_normal((37, length)) * 20).astype(element)
    for each in (x, x[:, ::-1], np.asfortranarray(x)):
        low, high = ex.minmax(each, axis=1)
        np.testing.assert_array_equal(low, each.min(1))
        np.testing.assert_array_equal(high, each.max(1))


def test_times_that_are_none_are_left_out():
    x = np.random.default_rng(5).integers(0, 9, (40, 30)).astype("datetime64[s]")
    x[:, ::3] = np.datetime64("NaT", "s")
    indices = ex.argmax(x, 0, nan_policy="omit", default=-1)
    np.testing.assert_array_equal(indices[::3], -1)
    np.testing.assert_array_equal(indices[1::3], x[:, 1::3].view(np.int64).argmax(0))


@pytest.mark.parametrize("default", [-1, 0, 7])
def test_python_is_not_asked_where_slices_are_empty(monkeypatch, default):
    calls = []
    reduce = _native.reduce
    monkeypatch.setattr(_native, "reduce", lambda *args, **options: calls.append(1) or reduce(*args, **options))
    there = np.array([[True, True], [False, False]])
    found = ex.argmax(np.array([[1, 2], [3, 4]]), 1, where=there, default=default)
    assert (found.tolist(), calls) == ([1, default], [])
    assert ex.argmax(np.ones(2), where=np.zeros(2, bool), default=default) == default
    assert not calls
    # (What is no array, Python makes one of.)
    assert ex.argmax(np.ones(2), where=[False, False], default=default) == default
    assert calls


@pytest.mark.parametrize("element", ["int8", "uint8", "int16", "float16", "float32", "int64"])
@pytest.mark.parametrize("order", [Order.MAX, Order.MIN])
@pytest.mark.usefixtures("instruction_set")
def test_elements_that_lose_to_all_others_are_told_from_none(element, order):
    random = np.random.default_rng(5)
    function = ex.argmax if order is Order.MAX else ex.argmin
    limits = np.iinfo(element) if np.dtype(element).kind in "iu" else np.finfo(element)
    worst = -np.inf if np.dtype(element).kind == "f" else limits.min
    if order is Order.MIN:
        worst = np.inf if np.dtype(element).kind == "f" else limits.max
    # As many rows as one-byte row numbers tell apart, one fewer and one more, among others.
    for rows, last in product([1, 2, 7, 8, 9, 20, 254, 255, 256, 257, 600], [False, True]):
        x = np.full((rows, 140), worst, element)
        x[:, 100:] = random.integers(0, 3, (rows, 40))
        mask = random.random(x.shape) < 1.5 / rows
        # Columns of which the first or the last row alone takes part, of the worst elements and of others.
        mask[:, [0, 1, 138, 139]] = False
        mask[0, [0, 138]] = mask[-1, [1, 139]] = True
        tie = Tie.LAST if last else Tie.FIRST
        indices = reference.find(x, order, (0,), tie, where=mask)[1]
        found = function(x, 0, keepdims=True, select_last_index=last, where=mask, default=-1)
        np.testing.assert_array_equal(found, indices, err_msg=f"{rows} rows")
