"""Rows of every length at every alignment, with the extremum at every place: one by one, and as rows of a matrix.

Memory around a row is full of what would win, so that a kernel that reads too far, or stops too early, shows. `make
test` takes the lengths and alignments around the widths of vectors; the exhaustive leg takes all of them.
"""

import numpy as np
import pytest

import agreement
import extremum
from extremum import _native
from strategies import BFLOAT16, FLOATS, ascending, landmarks, nans

TYPES = [np.dtype("int8"), BFLOAT16, np.dtype("float32"), np.dtype("uint64")]
LENGTHS, ALIGNMENTS = range(1, 301), range(64)
SOME_LENGTHS, SOME_ALIGNMENTS = (1, 2, 3, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 300), (0, 1, 8, 63)


def rows_at(dtype, length, alignment):
    """As many rows as they have elements, each beginning at the alignment, in memory full of winners."""
    pitch = -(-(length * dtype.itemsize + 64) // 64) * 64
    winners = nans(dtype) if dtype in FLOATS else landmarks(dtype)
    memory = np.resize(winners.view(np.uint8), length * pitch + 128)
    start = -memory.ctypes.data % 64 + alignment
    first = memory[start : start + length * dtype.itemsize].view(dtype)
    return np.lib.stride_tricks.as_strided(first, (length, length), (pitch, dtype.itemsize))


def check(dtype, lengths, alignments):
    low, high = ascending(dtype, 2)
    ways = ((extremum.argmax, low, high), (extremum.argmin, high, low))
    for length in lengths:
        for alignment in alignments:
            rows = rows_at(dtype, length, alignment)
            for find, background, best in ways:
                rows[...] = background
                np.fill_diagonal(rows, best)
                places = np.arange(length)
                for last in (False, True):
                    assert (find(rows, 1, select_last_index=last) == places).all()
                    assert [find(row, select_last_index=last) for row in rows] == list(range(length))
                if find is extremum.argmax:
                    assert (extremum.hardmax(rows, 1) == np.eye(length, dtype=dtype)).all()
            agreement.compared += 9 * length


@pytest.fixture(params=[*_native.instruction_sets(), "small"], autouse=True)
def way(request):
    """Each instruction set on rows of any length; and as it is, where short rows have a way of their own."""
    with agreement.kernels() if request.param == "small" else agreement.kernels(request.param, small_limit=0):
        yield


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_some_rows(dtype):
    check(dtype, SOME_LENGTHS, SOME_ALIGNMENTS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_row(dtype):
    check(dtype, LENGTHS, ALIGNMENTS)
