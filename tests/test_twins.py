"""The fast twin of the oracle gives the oracle's answers."""

import numpy as np
import pytest

import twins
from agreement import assert_agreement
from cases import arg_reductions, column_cases, edge_cases, itself, narrow_row_cases, random_cases
from extremum.operations import ArgReduce, Extremum, OneHot, Order
from strategies import ELEMENT_TYPES, ties


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_twin_equals_reference(dtype):
    cases = list(random_cases(1, 60, [dtype]))
    assert_agreement(cases, run=twins.run)
    reductions = [(op, inputs) for op, inputs in cases if isinstance(op, ArgReduce) and op.axes]
    assert_agreement([(itself(op), inputs) for op, inputs in reductions], run=twins.run)
    assert_agreement(edge_cases(dtype, [1, 9, 33]), run=twins.run)
    assert_agreement(narrow_row_cases(dtype, [5]), run=twins.run)
    assert_agreement(column_cases(dtype, 17, [1, 20]), run=twins.run)


def test_twin_equals_reference_beyond_the_buffers_of_numpy():
    """Long arrays too: `np.unravel_index` of 2.4.6 answers wrongly from place 8193 of a column on."""
    rows = ties(np.random.default_rng(0), np.dtype("float32"), (9000, 2))
    cases = [*arg_reductions((1,)), OneHot((1,)), OneHot((0,)), OneHot((0, 1)), *map(Extremum, Order)]
    assert_agreement([(operation, [rows]) for operation in cases], run=twins.run)
