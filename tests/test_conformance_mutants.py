"""The suite detects wrong runtimes: the reference with one mistake in it gets at least one case wrong."""

from dataclasses import replace

import numpy as np
import pytest

from extremum import reference
from extremum.conformance import Outcome, Selection, cases
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie, TopK, results
from extremum.runtimes.comparison import compare

WIDE = ("int64", "uint64")
FLOATS = ("float16", "float32", "float64")


def inputs(case):
    return case.question.inputs


def seeing(types, change):
    """The right answer after a change to the elements of some types."""

    def mutant(case):
        return reference.run(case.operation, *(change(x) if x.dtype.name in types else x for x in inputs(case)))

    return mutant


def doing(change):
    """The right answer for a changed operation."""
    return lambda case: reference.run(change(case.operation, inputs(case)[0]), *inputs(case))


def reading(attribute, change):
    """The right answer for another value of an attribute."""

    def mutant(case):
        attributes = {**case.question.attributes, attribute: change(case)}
        return replace(case, question=replace(case.question, attributes=attributes)).expected()

    return mutant


def passing_over_nan(case):
    worst = -np.inf if case.operation.order is Order.MAX else np.inf
    numbers = (np.where(np.not_equal(x, x), np.asarray(worst, x.dtype), x) for x in inputs(case))
    return reference.run(case.operation, *numbers)


def second_of_two_zeros(case):
    (result,) = case.expected()
    last = inputs(case)[-1]
    return np.where((result == 0) & (last == 0), last, result).astype(result.dtype)


def without_the_last(case):
    return reference.run(case.operation, np.delete(inputs(case)[0], -1, case.operation.axes[0]))


def every_maximum(case):
    (x,) = inputs(case)
    return (x == x.max(case.operation.axes, keepdims=True)).astype(x.dtype)


def last_index_first(case):
    axis = case.operation.axis
    (x,) = inputs(case)
    values, indices = reference.run(case.operation, np.flip(x, axis))
    return values, x.shape[axis] - 1 - indices


def subnormal(x):
    return np.where((x == 0) & np.signbit(x), -np.finfo(x.dtype).smallest_subnormal, x).astype(x.dtype)


def flushed(x):
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, 0, x).astype(x.dtype)


def low_halves(x):
    return (x.view(np.uint64) ^ np.uint64(2**31)).view(x.dtype)


off_by_one = reading("axis", lambda case: case.question.attributes.get("axis", 0) - 1)


# For each mistake: the topic that detects it, the operations and cases that it changes, and the wrong answer.
MUTANTS = {
    "integers are compared as doubles": ("limits", ArgReduce, None, seeing(WIDE, lambda x: x.astype(float))),
    "integers go through 32 bits": ("limits", object, None, seeing(WIDE, lambda x: x.astype("i4").astype(x.dtype))),
    "unsigned is compared as signed": ("limits", ArgReduce, None, seeing(("uint32",), lambda x: x.view("i4"))),
    "lower halves are compared as signed": ("limits", ArgReduce, None, seeing(WIDE, low_halves)),
    "denormals are zero": ("denormals", object, None, seeing(FLOATS, flushed)),
    "infinities are finite": ("infinities", object, None, seeing(FLOATS, lambda x: np.nan_to_num(x, nan=np.nan))),
    "zeros differ in a reduction": ("zeros", ArgReduce, None, seeing(FLOATS, subnormal)),
    "the last element of a row is left out": ("lengths", ArgReduce, None, without_the_last),
    "only two operands": ("operands", Extremum, None, lambda case: reference.run(case.operation, *inputs(case)[:2])),
    "the last of equals": ("ties", ArgReduce, None, doing(lambda operation, x: replace(operation, tie=Tie.LAST))),
    "the first of equals": (
        "last_index",
        ArgReduce,
        None,
        doing(lambda operation, x: replace(operation, tie=Tie.FIRST)),
    ),
    "nan is passed over": ("nan", (ArgReduce, Extremum), None, passing_over_nan),
    "nan counts at rank 1 only": ("nan", ArgReduce, lambda case: inputs(case)[0].ndim > 1, passing_over_nan),
    "the second of two zeros": ("zeros", Extremum, None, second_of_two_zeros),
    "hardmax marks every maximum": ("ties", OneHot, None, every_maximum),
    "hardmax of nan is zero": ("nan", OneHot, None, lambda case: np.zeros_like(inputs(case)[0])),
    "hardmax before 13 looks along one axis": ("coercion", OneHot, None, doing(lambda op, x: OneHot(op.axes[:1]))),
    "hardmax before 13 has the default of 13": ("defaults", OneHot, None, doing(lambda op, x: OneHot((x.ndim - 1,)))),
    "hardmax 13 is coerced": ("plain", OneHot, None, doing(lambda op, x: OneHot(tuple(range(op.axes[0], x.ndim))))),
    "hardmax 13 has the default of 11": ("defaults", OneHot, None, doing(lambda op, x: OneHot((1,)))),
    "keepdims is 0 by default": ("defaults", ArgReduce, None, reading("keepdims", lambda _: 0)),
    "keepdims is ignored": ("keepdims", ArgReduce, None, reading("keepdims", lambda _: 1)),
    "the default axis is the last": ("defaults", ArgReduce, None, reading("axis", lambda _: -1)),
    "negative axes are off by one": (
        "negative_axis",
        object,
        lambda case: case.question.title != "minus_3",
        off_by_one,
    ),
    "indices have 32 bits": ("plain", ArgReduce, None, lambda case: case.expected()[0].astype(np.int32)),
    "the k best tie by the last index": ("ties", TopK, None, last_index_first),
    "the k best end one too early": ("count", TopK, None, doing(lambda op, x: replace(op, k=max(op.k - 1, 1)))),
    "largest is ignored": ("smallest", TopK, None, doing(lambda op, x: replace(op, order=Order.MAX))),
    "nan is less than every number": (
        "nan",
        TopK,
        None,
        lambda case: reference.top_k(
            inputs(case)[0], Order.MAX, case.operation.axis, case.operation.k, nan_first=False
        ),
    ),
    "any element that ties is among the unsorted": ("unsorted", TopK, None, last_index_first),
    "empty tensors are refused": ("empty", object, None, lambda case: None),
    "functions are refused": ("placement", object, lambda case: case.question.title == "function", lambda case: None),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_runtime_is_found_out(name):
    topic, kinds, where, mutant = MUTANTS[name]
    outcome = Outcome.EXACT
    for case in cases(Selection(topics=[topic])):
        if isinstance(case.operation, kinds) and (where is None or where(case)):
            answer = mutant(case)
            outcome = Outcome.REFUSED if answer is None else compare(case.question, case.expected(), results(answer))
        if outcome is not Outcome.EXACT:
            break
    assert outcome is not Outcome.EXACT
    assert (outcome is Outcome.REFUSED) == name.endswith("refused")


def test_every_rule_has_a_case_that_breaks_it():
    broken = "element_type mixed_types row size_1 shapes unknown_attribute axis_2 rank_0 rank_1_default_axis"
    broken += " select_last_index select_last_index_2 keepdims_2 nothing_to_reduce"
    assert set(broken.split()) <= {case.question.title for case in cases(Selection(topics=["refusals"]))}
