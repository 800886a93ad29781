"""The fast twin of the oracle gives the oracle's answers."""

import numpy as np
import pytest

import twins
from agreement import arg_reductions, assert_agrees, edge_table, random_cases
from extremum.operations import Extremum, OneHot, Order
from strategies import ELEMENT_TYPES


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_twin_equals_reference_on_random_cases(dtype):
    for operation, inputs in random_cases(1, 60, [dtype]):
        assert_agrees(operation, *inputs, run=twins.run)


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_twin_equals_reference_at_edges(dtype):
    table = edge_table(np.random.default_rng(2), dtype, 33)
    for axis in (0, 1):
        for operation in [*arg_reductions((axis,)), OneHot((axis,))]:
            assert_agrees(operation, table, run=twins.run)
    for order in Order:
        assert_agrees(Extremum(order), table, table[::-1], table[:1], run=twins.run)
