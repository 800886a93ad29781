"""Reductions over a short axis with a tiny kept one inside, and over rows with gaps: against NumPy on the same numbers.

Numbers are few, so that ties are common; both zeros are among them, and NaN where a type has it.
"""

import numpy as np
import pytest

import agreement
import extremum
from extremum import _native
from strategies import BFLOAT16, FLOATS, bits_type

TYPES = [
    np.dtype(name) for name in ("bool", "int8", "uint8", "int16", "float16", "uint32", "float32", "int64", "float64")
]
TYPES.append(BFLOAT16)


@pytest.fixture(params=_native.instruction_sets(), autouse=True)
def way(request):
    with agreement.kernels(request.param, small_limit=0):
        yield


@pytest.fixture(params=TYPES, ids=str)
def dtype(request):
    return request.param


def numbers(rng, dtype, shape, nan=0.0):
    """Few different numbers; where a mask of the shape says so, NaN."""
    if dtype.kind == "b":
        return rng.integers(0, 3, shape, dtype=np.uint8).view(bool)
    if dtype not in FLOATS:
        limits = np.iinfo(dtype)
        return rng.choice(np.array([limits.min, limits.max, 0, 1, 2, 3], dtype), shape)
    x = rng.choice(np.array([-np.inf, -1.0, -0.0, 0.0, 1.0, 2.0], np.float32), shape)
    return np.where(rng.random(shape) < nan, np.float32(np.nan), x).astype(dtype)


def expected(x, axis, *, largest, last):
    """Places of the extremes, by NumPy, which takes NaN for the extreme too."""
    x = x.astype(np.float32) if x.dtype == BFLOAT16 else x.view(np.uint8) != 0 if x.dtype.kind == "b" else x
    find = np.argmax if largest else np.argmin
    if not last:
        return find(x, axis)
    return x.shape[axis] - 1 - find(np.flip(x, axis), axis)


def check(x, axis):
    for largest, find, value_of in ((True, extremum.argmax, extremum.max), (False, extremum.argmin, extremum.min)):
        for last in (False, True):
            places = expected(x, axis, largest=largest, last=last)
            assert (find(x, axis, select_last_index=last) == places).all()
            values, index = value_of(x, axis, return_index=True, select_last_index=last)
            best = np.take_along_axis(x, np.expand_dims(places, axis), axis).squeeze(axis)
            assert (index == places).all()
            assert (values.view(bits_type(x.dtype)) == best.view(bits_type(x.dtype))).all()
            agreement.compared += 2 * places.size
    found = extremum.minmax(x, axis, return_index=True)
    assert (found.argmin == expected(x, axis, largest=False, last=False)).all()
    assert (found.argmax == expected(x, axis, largest=True, last=False)).all()


COLUMNS = [2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 24, 32, 33, 63, 64, 65, 100, 127]


@pytest.mark.parametrize("columns", COLUMNS)
def test_blocks_of_few_columns(dtype, columns):
    rng = np.random.default_rng(columns)
    for blocks, rows in ((70, 2), (3, 3), (40, 5), (7, 8), (9, 64), (5, 65), (3, 255), (3, 256), (2, 257)):
        x = numbers(rng, dtype, (blocks, rows, columns))
        check(x, 1)
        if dtype in FLOATS:
            # NaN in some blocks, a few or many.
            nan = numbers(rng, dtype, x.shape, nan=0.1)
            check(np.where(rng.random((blocks, 1, 1)) < 0.4, nan, x), 1)


@pytest.mark.parametrize("columns", [2, 3, 8, 16, 33])
def test_blocks_that_lie_apart_or_run_backwards(dtype, columns):
    rng = np.random.default_rng(columns)
    x = numbers(rng, dtype, (6, 11, 40, columns + 3))
    for part in (
        x[:, :, ::2, :columns],
        x[:, ::-1, :, :columns],
        x[::-1, ::3, ::-2, 1 : columns + 1],
        x[:, :, 5:9, 3:],
    ):
        check(part, 2)
        check(part, 1)
        check(np.swapaxes(part, 0, 2), 1)
    where = rng.random((6, 11, 40, columns)) < 0.7
    part = x[..., :columns]
    marked, index = extremum.max(part, 2, where=where, default=numbers(rng, dtype, ())[()], return_index=True)
    slices = [part[a, b, where[a, b, :, c], c] for a in range(6) for b in range(11) for c in range(columns)]
    places = [np.flatnonzero(where[a, b, :, c]) for a in range(6) for b in range(11) for c in range(columns)]
    found = [place[expected(one, 0, largest=True, last=False)] for one, place in zip(slices, places, strict=True)]
    assert (index.ravel() == found).all()
    assert marked.shape == index.shape


def test_blocks_of_floats_without_their_nan(dtype):
    if dtype not in FLOATS:
        dtype = np.dtype(np.float32)
    rng = np.random.default_rng(3)
    x = numbers(rng, dtype, (30, 9, 6), nan=0.3)
    x[:, 4] = 1
    index = extremum.argmax(x, 1, nan_policy="omit")
    without = np.where(np.isnan(x.astype(np.float32)), -np.inf, x.astype(np.float32))
    assert (index == without.argmax(1)).all()
    hot = extremum.hardmax(x, 1)
    assert (hot.astype(np.float32).argmax(1) == x.astype(np.float32).argmax(1)).all()
    assert (hot.astype(np.float32).sum(1) == 1).all()


@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_rows_with_gaps(dtype, step):
    rng = np.random.default_rng(step)
    short = ((40, 9), (40, 33), (20, 64), (17, 65), (5, 200), (33, 255))
    for rows, length in (*short, (3, 1025), (2, 5600), (1, 8200), (1, 40_000)):
        whole = numbers(rng, dtype, (rows, length * step + 7), nan=0.0 if length % 2 else 0.002)
        for start in (0, 3):
            # What lies in the gaps would win, and nothing lies behind the last element.
            part = whole[:, start:][:, : (length - 1) * step + 1][:, ::step]
            check(part, 1)
        check(part[:, ::-1], 1)
        part[...] = part[0, 0]
        check(part, 1)


def test_nothing_is_read_behind_rows_with_gaps():
    whole = np.zeros((50, 3 * 300), np.int16)
    whole[:, 1::3] = 9
    whole[:, 2::3] = -9
    for part in (whole[:, ::3], whole[:, :-2:3], whole.ravel()[::3]):
        assert (extremum.argmax(part, -1) == 0).all()
        assert (extremum.argmin(part, -1, select_last_index=True) == part.shape[-1] - 1).all()
        assert (extremum.max(part, -1) == 0).all()
