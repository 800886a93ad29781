"""The fast twin of the oracle gives the oracle's answers."""

import numpy as np
import pytest

import twins
from agreement import assert_agreement, assert_same_bits
from cases import column_cases, edge_cases, itself, narrow_row_cases, random_cases
from extremum import reference
from extremum.operations import ArgReduce, Order, Tie
from strategies import ELEMENT_TYPES, sample


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_twin_equals_reference(dtype):
    cases = list(random_cases(1, 60, [dtype]))
    assert_agreement(cases, run=twins.run)
    reductions = [(op, inputs) for op, inputs in cases if isinstance(op, ArgReduce) and op.axes]
    assert_agreement([(itself(op), inputs) for op, inputs in reductions], run=twins.run)
    assert_agreement(edge_cases(dtype, [1, 9, 33]), run=twins.run)
    assert_agreement(narrow_row_cases(dtype, [5]), run=twins.run)
    assert_agreement(column_cases(dtype, 17, [1, 20]), run=twins.run)


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_twin_finds_among_what_takes_part(dtype):
    rng = np.random.default_rng(3)
    for _ in range(12):
        x = sample(rng, dtype, tuple(rng.integers(1, 6, 3)))
        where = None if rng.random() < 0.3 else rng.random(x.shape) < rng.choice([0.2, 0.7])
        axes = tuple(rng.permutation(3)[: rng.integers(0, 4)].tolist())
        for order in Order:
            for tie in Tie:
                for omit in (False, True):
                    values, places = twins.find(x, order, axes, tie, omit=omit, where=where)
                    expected, at = reference.find(x, order, axes, tie, omit=omit, where=where)
                    assert_same_bits(places, at, f"{order} {tie} of {x!r} over {axes}, {omit}, {where!r}")
                    assert_same_bits(values, expected, f"{order} {tie} of {x!r} over {axes}, {omit}, {where!r}")
