"""The fast twin of the oracle gives the oracle's answers."""

import pytest

import twins
from agreement import assert_agreement
from cases import column_cases, edge_cases, narrow_row_cases, random_cases
from strategies import ELEMENT_TYPES


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_twin_equals_reference(dtype):
    assert_agreement(random_cases(1, 60, [dtype]), run=twins.run)
    assert_agreement(edge_cases(dtype, [1, 9, 33]), run=twins.run)
    assert_agreement(narrow_row_cases(dtype, [5]), run=twins.run)
    assert_agreement(column_cases(dtype, 17, [1, 20]), run=twins.run)
