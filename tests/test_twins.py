"""The fast twin of the oracle gives the oracle's answers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twins
from agreement import assert_agreement, assert_same_bits
from cases import edge_cases, reductions
from extremum import reference
from extremum.operations import Extremum, Order, Tie
from law_cases import arrays_and_axes, operands
from strategies import ELEMENT_TYPES


@settings(max_examples=100)
@given(arrays_and_axes(most=150), operands(most=60), st.sampled_from([None, 0.2, 0.7]), st.booleans())
def test_twin_equals_reference(case, arrays, share, flag):
    x, axes = case
    calls = [*((each, [x]) for each in reductions(axes, keepdims=flag)), *((Extremum(each), arrays) for each in Order)]
    assert_agreement(calls, twins.run, reference.run)
    where = None if share is None else np.random.default_rng(x.size).random(x.shape) < share
    for order, tie in itertools.product(Order, Tie):
        found = twins.find(x, order, axes, tie, omit=flag, where=where)
        expected = reference.find(x.astype(x.dtype.newbyteorder("=")), order, axes, tie, omit=flag, where=where)
        assert_same_bits(found[0], expected[0], f"{order} {tie} of {x!r} over {axes}, {flag}, {where!r}")
        assert_same_bits(found[1], expected[1], f"{order} {tie} of {x!r} over {axes}, {flag}, {where!r}")


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_twin_equals_reference_at_edges(dtype):
    assert_agreement(edge_cases(dtype, [17]), twins.run, reference.run)
