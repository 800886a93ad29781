"""The suite finds out wrong runtimes: the reference with one mistake in it answers at least one case otherwise."""

from dataclasses import replace

import numpy as np
import pytest

from extremum import reference
from extremum.conformance import Outcome, cases
from extremum.errors import ExtremumError
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie
from extremum.runtimes.runtime import compare

# A refusal is not a wrong answer; the report says it all the same.
REFUSING = {"empty_tensors_are_refused", "functions_are_refused"}


def right(case, operation=None, inputs=None, **attributes):
    """The answer of the reference, with another operation, other inputs or other attributes; None is a refusal."""
    if case.question.refused:
        return None
    if attributes:
        question = replace(case.question, attributes={**case.question.attributes, **attributes})
        operation = replace(case, question=question).operation
    return reference.run(operation or case.operation, *(inputs or case.question.inputs))


def first(case):
    return case.question.inputs[0]


def states(case, attribute):
    return attribute in case.question.attributes


def without_nan(case):
    """Lets numbers win against NaN."""
    worst = -np.inf if case.operation.order is Order.MAX else np.inf
    return [np.where(np.not_equal(x, x), np.asarray(worst, x.dtype), x) for x in case.question.inputs]


def has_nan(case):
    return any(np.not_equal(x, x).any() for x in case.question.inputs)


def masked(kind, mask):
    """Rounds elements of two bytes."""
    return lambda x: (x.view(np.uint16) & mask).view(x.dtype) if x.dtype.name == kind else x


def in_64_bits(change):
    return lambda x: change(x) if x.dtype.name in ("int64", "uint64") else x


def in_floats(change):
    return lambda x: change(x).astype(x.dtype) if x.dtype.kind == "f" else x


def last_place_of_an_operand(case):
    result = right(case)
    result[-1] = first(case)[-1]
    return result


def second_of_two_zeros(case):
    result, last = right(case), case.question.inputs[-1]
    return np.where((result == 0) & (last == 0), last, result).astype(result.dtype)


def between_finite_limits(case):
    x, limits = first(case), np.finfo(first(case).dtype)
    low, high = (limits.min, np.inf) if case.operation.order is Order.MAX else (-np.inf, limits.max)
    return right(case, inputs=[np.clip(x, low, high).astype(x.dtype)])


def first_in_column_major_order(case):
    axes = case.operation.axes
    kept = [axis for axis in range(first(case).ndim) if axis not in axes]
    order = [*kept, *reversed(axes)]
    x = first(case).transpose(order)
    ones = reference.run(OneHot(tuple(range(len(kept), x.ndim))), x)
    return np.ascontiguousarray(ones.transpose(np.argsort(order)))


def seeing(change):
    """The right answer to other inputs."""
    return lambda case: right(case, inputs=[change(x) for x in case.question.inputs])


# Which operations a mutant has wrong, where, and what it answers there.
MUTANTS = {
    "integers_are_compared_as_doubles": ((ArgReduce, OneHot), None, seeing(in_64_bits(lambda x: x.astype(float)))),
    "integers_go_through_32_bits": (object, None, seeing(in_64_bits(lambda x: x.astype(np.int32).astype(x.dtype)))),
    "unsigned_is_compared_as_signed": (
        ArgReduce,
        lambda case: first(case).dtype.kind == "u",
        seeing(lambda x: x.view(f"i{x.dtype.itemsize}")),
    ),
    "lower_halves_are_compared_as_signed": (
        ArgReduce,
        None,
        seeing(in_64_bits(lambda x: (x.view(np.uint64) ^ np.uint64(2**31)).view(x.dtype))),
    ),
    "bfloat16_is_rounded": (object, None, seeing(masked("bfloat16", 0xFFFC))),
    "float16_is_rounded": (object, None, seeing(masked("float16", 0xFFF0))),
    "denormals_are_zero": (
        object,
        None,
        seeing(in_floats(lambda x: np.where(np.abs(x) < np.finfo(x.dtype).tiny, 0, x))),
    ),
    "infinities_are_finite": (object, None, seeing(in_floats(lambda x: np.nan_to_num(x, nan=np.nan)))),
    "zeros_differ_in_a_reduction": (
        ArgReduce,
        None,
        seeing(in_floats(lambda x: np.where((x == 0) & np.signbit(x), -np.finfo(x.dtype).smallest_subnormal, x))),
    ),
    "the_last_element_of_a_row_is_left_out": (
        ArgReduce,
        lambda case: first(case).shape[case.operation.axes[0]] >= 17,
        lambda case: right(case, inputs=[np.delete(first(case), -1, case.operation.axes[0])]),
    ),
    "the_last_element_of_an_operand_is_not_compared": (
        Extremum,
        lambda case: len(case.question.inputs) > 1 and first(case).ndim == 1 and first(case).size > 16,
        last_place_of_an_operand,
    ),
    "the_last_of_equals": (ArgReduce, None, lambda case: right(case, replace(case.operation, tie=Tie.LAST))),
    "the_first_of_equals_on_request_of_the_last": (
        ArgReduce,
        None,
        lambda case: right(case, replace(case.operation, tie=Tie.FIRST)),
    ),
    "nan_is_passed_over": (ArgReduce, has_nan, lambda case: right(case, inputs=without_nan(case))),
    "nan_counts_at_rank_1_only": (
        ArgReduce,
        lambda case: has_nan(case) and first(case).ndim > 1,
        lambda case: right(case, inputs=without_nan(case)),
    ),
    "numbers_beat_nan_elementwise": (Extremum, has_nan, lambda case: right(case, inputs=without_nan(case))),
    "the_second_of_two_zeros_elementwise": (Extremum, None, second_of_two_zeros),
    "a_search_begins_at_the_limits_of_finite_numbers": (
        ArgReduce,
        lambda case: first(case).dtype.kind == "f",
        between_finite_limits,
    ),
    "the_smallest_for_the_largest": (
        Extremum,
        None,
        lambda case: right(case, replace(case.operation, order=Order.MIN)),
    ),
    "only_two_operands": (Extremum, None, lambda case: right(case, inputs=case.question.inputs[:2])),
    "hardmax_marks_every_maximum": (
        OneHot,
        lambda case: first(case).size > 0,
        lambda case: (first(case) == first(case).max(case.operation.axes, keepdims=True)).astype(first(case).dtype),
    ),
    "hardmax_of_nan_is_zero": (
        OneHot,
        has_nan,
        lambda case: right(case) * np.asarray(~np.not_equal(first(case), first(case)), first(case).dtype),
    ),
    "hardmax_before_13_looks_along_one_axis": (
        OneHot,
        lambda case: case.version.coerced,
        lambda case: right(case, OneHot(case.operation.axes[:1])),
    ),
    "hardmax_before_13_has_the_default_of_13": (
        OneHot,
        lambda case: case.version.coerced and not states(case, "axis"),
        lambda case: right(case, OneHot((first(case).ndim - 1,))),
    ),
    "hardmax_13_is_coerced": (
        OneHot,
        lambda case: not case.version.coerced,
        lambda case: right(case, OneHot(tuple(range(case.operation.axes[0], first(case).ndim)))),
    ),
    "hardmax_13_has_the_default_of_11": (
        OneHot,
        lambda case: not case.version.coerced and not states(case, "axis"),
        lambda case: right(case, OneHot((1,))),
    ),
    "hardmax_takes_the_first_in_column_major_order": (
        OneHot,
        lambda case: len(case.operation.axes) > 1,
        first_in_column_major_order,
    ),
    "keepdims_is_0_by_default": (
        ArgReduce,
        lambda case: not states(case, "keepdims"),
        lambda case: right(case, keepdims=0),
    ),
    "keepdims_is_ignored": (ArgReduce, None, lambda case: right(case, keepdims=1)),
    "the_default_axis_is_the_last": (
        ArgReduce,
        lambda case: not states(case, "axis"),
        lambda case: right(case, axis=-1),
    ),
    "negative_axes_are_off_by_one": (
        object,
        lambda case: 0 > case.question.attributes.get("axis", 0) > -first(case).ndim,
        lambda case: right(case, axis=case.question.attributes["axis"] - 1),
    ),
    "indices_have_32_bits": (ArgReduce, None, lambda case: right(case).astype(np.int32)),
    "empty_tensors_are_refused": (
        object,
        lambda case: any(x.size == 0 for x in case.question.inputs),
        lambda case: None,
    ),
    "functions_are_refused": (object, lambda case: case.question.title == "function", lambda case: None),
}


@pytest.fixture(scope="module")
def suite():
    """Every case; a few of each topic come first, so that a mistake is found soon."""
    answered = [(case, case.expected()) for case in cases()]
    return [answered[at] for start in range(40) for at in range(start, len(answered), 40)]


def outcome(case, expected, kind=object, where=None, mutant=right):
    """Compare the answer of a mutant, which is right where its mistake does not show."""
    try:
        applies = not case.question.refused and (kind is object or isinstance(case.operation, kind))
        answer = mutant(case) if applies and (where is None or where(case)) else right(case)
    except ExtremumError:
        answer = None
    if answer is None:
        return Outcome.EXACT if expected is None else Outcome.REFUSED
    return compare(case.asked, expected, answer)


def test_the_reference_makes_no_mistake(suite):
    assert {outcome(case, expected) for case, expected in suite} == {Outcome.EXACT}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_runtime_is_found_out(name, suite):
    found = (outcome(case, expected, *MUTANTS[name]) for case, expected in suite)
    worst = next((each for each in found if each is not Outcome.EXACT), None)
    assert worst is not None
    assert (worst is Outcome.REFUSED) == (name in REFUSING)


def test_every_rule_has_a_case_that_breaks_it(suite):
    broken = "element_type mixed_types row size_1 shapes unknown_attribute axis_2 rank_0 rank_1_default_axis"
    broken += " select_last_index select_last_index_2 keepdims_2 nothing_to_reduce"
    assert set(broken.split()) <= {case.question.title for case, _ in suite if case.question.refused}
