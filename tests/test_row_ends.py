"""Rows end at the extreme of their type, since nothing after it wins: at each place, around the borders of blocks."""

import numpy as np
import pytest

import agreement
import extremum
from extremum import _native

LENGTH = 70_000
# What is looked at before the first block, and where blocks end that begin with 2 KiB or 16 KiB and grow.
BORDERS = [start + 2**power for start in (0, 16_384) for power in range(10, 16)]
NEAR = [place for border in BORDERS for place in range(border - 66, border + 67)]
PLACES = sorted({*range(600), *(place for place in NEAR if place < LENGTH - 1)})
TYPES = [np.dtype(name) for name in ("bool", "int8", "uint8", "int16", "uint32", "int64")]


def ends(dtype):
    """The smallest and the largest element of a type."""
    return (False, True) if dtype == np.dtype(bool) else (np.iinfo(dtype).min, np.iinfo(dtype).max)


@pytest.fixture(params=_native.instruction_sets(), autouse=True)
def way(request):
    with agreement.kernels(request.param):
        yield


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("start", [0, 5])
@pytest.mark.parametrize("last", [False, True])
def test_a_row_ends_at_the_extreme_of_its_type(dtype, start, last):
    low, high = ends(dtype)
    for find, value_of, background, best in (
        (extremum.argmax, extremum.max, low, high),
        (extremum.argmin, extremum.min, high, low),
    ):
        row = np.full(LENGTH + start, background, dtype)[start:]
        for place in PLACES:
            # What comes after, from the end whose ties win, is as good and has to wait.
            hits = [place, min(place + 1, LENGTH - 1), LENGTH - 1]
            hits = [LENGTH - 1 - hit for hit in hits] if last else hits
            row[hits] = best
            assert find(row, select_last_index=last) == hits[0]
            if place % 16 == 0:
                assert value_of(row, return_index=True, select_last_index=last) == (best, hits[0])
            row[hits] = background
        assert find(row, select_last_index=last) == (LENGTH - 1 if last else 0)
        agreement.compared += len(PLACES)


@pytest.mark.parametrize("length", [65, 255, 257, 1000, 16_383, 16_384, 16_385, 40_000])
@pytest.mark.parametrize("last", [False, True])
def test_each_row_of_bools_ends_by_itself(length, last):
    rng = np.random.default_rng(length)
    places = rng.integers(0, length, 40)
    rows = np.zeros((40, length), np.uint8)
    # Any byte but zero is true; some rows have none.
    rows[np.arange(40), places] = rng.choice([1, 2, 128, 255], 40)
    rows[::7] = 0
    rows = rows.view(bool)
    truth = rows.view(np.uint8) != 0
    where = rng.random(rows.shape) < 0.9
    for part, mask in ((rows, where), (rows[:, 3:], where[:, 3:]), (rows[::-1, :-1], where[::-1, :-1])):
        is_true = truth[:, 3:] if part.shape[1] == length - 3 else truth if part is rows else truth[::-1, :-1]
        for values, find in ((is_true, extremum.argmax), (~is_true, extremum.argmin)):
            expected = len(values[0]) - 1 - values[:, ::-1].argmax(1) if last else values.argmax(1)
            assert (find(part, 1, select_last_index=last) == expected).all()
            among = values & mask
            # Where all that the mask leaves are equal, the first (or last) of those is found.
            among |= mask & ~among.any(1, keepdims=True)
            expected = len(values[0]) - 1 - among[:, ::-1].argmax(1) if last else among.argmax(1)
            assert (find(part, 1, select_last_index=last, where=mask, default=-1) == expected).all()
        low, high = extremum.minmax(part, 1)
        assert (low == is_true.all(1)).all()
        assert (high == is_true.any(1)).all()
        agreement.compared += 6 * len(part)
