"""The native module against the oracle, with every instruction set this machine has.

Any type, rank, layout and set of axes at random; every length around block, vector and index-width boundaries in turn,
in `make test` for one type of each width and class. The random part compares with the reference itself, the rest with
its fast twin.
"""

import numpy as np
import pytest

import twins
from agreement import assert_agreement
from cases import column_cases, edge_cases, narrow_row_cases, random_cases
from strategies import ELEMENT_TYPES, sometimes

SOME_WIDTHS = sorted({*range(1, 10), *(edge + by for edge in (16, 32, 64) for by in (-1, 0, 1)), 24, 40, 70})


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_random_cases(dtype):
    assert_agreement(random_cases(3, 96, [dtype]))
    assert_agreement(random_cases(4, 60, [dtype], max_elements=20_000), oracle=twins.run)


@pytest.mark.parametrize("dtype", sometimes(ELEMENT_TYPES))
class TestBlockEdges:
    def test_lengths(self, dtype):
        assert_agreement(edge_cases(dtype), oracle=twins.run)

    def test_narrow_rows(self, dtype):
        assert_agreement(narrow_row_cases(dtype, SOME_WIDTHS), oracle=twins.run)

    @pytest.mark.parametrize("reduced", [2, 17, 256, 257])
    def test_columns(self, dtype, reduced):
        assert_agreement(column_cases(dtype, reduced, SOME_WIDTHS), oracle=twins.run)


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
class TestEverySize:
    def test_every_length_to_600(self, dtype):
        assert_agreement(edge_cases(dtype, range(1, 600), seed=1), oracle=twins.run)

    def test_narrow_rows(self, dtype):
        assert_agreement(narrow_row_cases(dtype), oracle=twins.run)

    @pytest.mark.parametrize("seed", range(100, 120))
    def test_many_random_cases(self, dtype, seed):
        assert_agreement(random_cases(seed, 200, [dtype]))
        assert_agreement(random_cases(seed, 200, [dtype], max_elements=100_000), oracle=twins.run)

    @pytest.mark.parametrize("reduced", range(1, 300))
    def test_columns_of_every_height(self, dtype, reduced):
        assert_agreement(column_cases(dtype, reduced, seed=reduced), oracle=twins.run)


@pytest.mark.parametrize("dtype", ["uint16", "float16"])
def test_columns_beyond_16_bit_indices(dtype):
    assert_agreement(column_cases(np.dtype(dtype), 65537, (1, 5, 33)), oracle=twins.run)


@pytest.mark.exhaustive
@pytest.mark.parametrize("reduced", [65535, 65536, 65537, 131072])
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_tall_columns_of_every_type(dtype, reduced):
    assert_agreement(column_cases(dtype, reduced, (1, 2, 8, 31, 33, 64, 70)), oracle=twins.run)
