"""The native module against the oracle, with every instruction set this machine has.

Every length around block, vector and index-width boundaries in turn, in `make test` for one type of each width and
class; what is random are the laws.
"""

from functools import partial

import numpy as np
import pytest

import agreement
import twins
from cases import column_cases, edge_cases, narrow_row_cases
from strategies import ELEMENT_TYPES, sometimes

SOME_WIDTHS = sorted({*range(1, 10), *(edge + by for edge in (16, 32, 64) for by in (-1, 0, 1)), 24, 40, 70})
assert_agreement = partial(agreement.assert_agreement, run=agreement.native, oracle=twins.run)


@pytest.mark.parametrize("dtype", sometimes(ELEMENT_TYPES))
class TestBlockEdges:
    def test_lengths(self, dtype):
        assert_agreement(edge_cases(dtype))

    def test_narrow_rows(self, dtype):
        assert_agreement(narrow_row_cases(dtype, SOME_WIDTHS))

    @pytest.mark.parametrize("reduced", [17, 257])
    def test_columns(self, dtype, reduced):
        assert_agreement(column_cases(dtype, reduced, SOME_WIDTHS))


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
class TestEverySize:
    def test_every_length_to_600(self, dtype):
        assert_agreement(edge_cases(dtype, range(1, 600), seed=1))

    def test_narrow_rows(self, dtype):
        assert_agreement(narrow_row_cases(dtype))

    @pytest.mark.parametrize("reduced", range(1, 300))
    def test_columns_of_every_height(self, dtype, reduced):
        assert_agreement(column_cases(dtype, reduced, seed=reduced))


@pytest.mark.parametrize("dtype", ["uint16", "float16"])
def test_columns_beyond_16_bit_indices(dtype):
    assert_agreement(column_cases(np.dtype(dtype), 65537, (1, 5, 33)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("reduced", [65535, 65536, 65537, 131072])
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_tall_columns_of_every_type(dtype, reduced):
    assert_agreement(column_cases(dtype, reduced, (1, 2, 8, 31, 33, 64, 70)))
