"""The suite finds out wrong runtimes: the reference with one mistake in it answers at least one case otherwise."""

from dataclasses import replace

import numpy as np
import pytest

from extremum import reference, spec
from extremum.conformance import Outcome, cases
from extremum.errors import ExtremumError
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie
from extremum.runtimes.runtime import compare

MUTANTS = {}
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


def mutant(kind=object, where=lambda case: True):
    """Add a mutant that is wrong on one kind of operation, and on some of its cases."""

    def add(function):
        def run(case):
            applies = not case.question.refused and (kind is object or isinstance(case.operation, kind)) and where(case)
            return function(case) if applies else right(case)

        MUTANTS[function.__name__] = run
        return function

    return add


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


# What the mutant sees instead of an input, and for which operations; elementwise, its answer is made of it.
ELEMENTS = {
    "integers_are_compared_as_doubles": ((ArgReduce, OneHot), in_64_bits(lambda x: x.astype(np.float64))),
    "integers_go_through_32_bits": (object, in_64_bits(lambda x: x.astype(np.int32).astype(x.dtype))),
    "unsigned_is_compared_as_signed": (
        ArgReduce,
        lambda x: x.view(f"i{x.dtype.itemsize}") if x.dtype.kind == "u" else x,
    ),
    "lower_halves_are_compared_as_signed": (
        ArgReduce,
        in_64_bits(lambda x: (x.view(np.uint64) ^ np.uint64(2**31)).view(x.dtype)),
    ),
    "bfloat16_is_rounded": (object, masked("bfloat16", 0xFFFC)),
    "float16_is_rounded": (object, masked("float16", 0xFFF0)),
    "denormals_are_zero": (object, in_floats(lambda x: np.where(np.abs(x) < np.finfo(x.dtype).tiny, 0, x))),
    "infinities_are_finite": (object, in_floats(lambda x: np.nan_to_num(x, nan=np.nan))),
    "zeros_differ_in_a_reduction": (
        ArgReduce,
        in_floats(lambda x: np.where((x == 0) & np.signbit(x), -np.finfo(x.dtype).smallest_subnormal, x)),
    ),
}
for _name, (_kind, _change) in ELEMENTS.items():

    def _of_elements(case, change=_change):
        return right(case, inputs=[change(x) for x in case.question.inputs])

    _of_elements.__name__ = _name
    mutant(_kind)(_of_elements)


@mutant(ArgReduce, lambda case: first(case).shape[case.operation.axes[0]] >= 17)
def the_last_element_of_a_row_is_left_out(case):
    x, (axis, *_) = first(case), case.operation.axes
    return right(case, inputs=[x.take(range(x.shape[axis] - 1), axis)])


@mutant(Extremum, lambda case: len(case.question.inputs) > 1 and first(case).ndim == 1 and first(case).size > 16)
def the_last_element_of_an_operand_is_not_compared(case):
    result = right(case)
    result[-1] = first(case)[-1]
    return result


@mutant(ArgReduce)
def the_last_of_equals(case):
    return right(case, replace(case.operation, tie=Tie.LAST))


@mutant(ArgReduce)
def the_first_of_equals_on_request_of_the_last(case):
    return right(case, replace(case.operation, tie=Tie.FIRST))


@mutant(ArgReduce, has_nan)
def nan_is_passed_over(case):
    return right(case, inputs=without_nan(case))


@mutant(ArgReduce, lambda case: has_nan(case) and first(case).ndim > 1)
def nan_counts_at_rank_1_only(case):
    return right(case, inputs=without_nan(case))


@mutant(Extremum, has_nan)
def numbers_beat_nan_elementwise(case):
    return right(case, inputs=without_nan(case))


@mutant(Extremum)
def the_second_of_two_zeros_elementwise(case):
    result, last = right(case), case.question.inputs[-1]
    return np.where((result == 0) & (last == 0), last, result).astype(result.dtype)


@mutant(ArgReduce, lambda case: first(case).dtype.kind == "f")
def a_search_begins_at_the_limits_of_finite_numbers(case):
    x, limits = first(case), np.finfo(first(case).dtype)
    low, high = (limits.min, np.inf) if case.operation.order is Order.MAX else (-np.inf, limits.max)
    return right(case, inputs=[np.clip(x, low, high).astype(x.dtype)])


@mutant(Extremum)
def the_smallest_for_the_largest(case):
    return right(case, replace(case.operation, order=Order.MIN))


@mutant(Extremum)
def only_two_operands(case):
    return right(case, inputs=case.question.inputs[:2])


@mutant(OneHot, lambda case: first(case).size > 0)
def hardmax_marks_every_maximum(case):
    return (first(case) == first(case).max(case.operation.axes, keepdims=True)).astype(first(case).dtype)


@mutant(OneHot, has_nan)
def hardmax_of_nan_is_zero(case):
    return right(case) * np.asarray(~np.not_equal(first(case), first(case)), first(case).dtype)


@mutant(OneHot, lambda case: case.version.coerced)
def hardmax_before_13_looks_along_one_axis(case):
    return right(case, OneHot(case.operation.axes[:1]))


@mutant(OneHot, lambda case: case.version.coerced and not states(case, "axis"))
def hardmax_before_13_has_the_default_of_13(case):
    return right(case, OneHot((first(case).ndim - 1,)))


@mutant(OneHot, lambda case: not case.version.coerced)
def hardmax_13_is_coerced(case):
    return right(case, OneHot(tuple(range(case.operation.axes[0], first(case).ndim))))


@mutant(OneHot, lambda case: not case.version.coerced and not states(case, "axis"))
def hardmax_13_has_the_default_of_11(case):
    return right(case, OneHot((1,)))


@mutant(OneHot, lambda case: len(case.operation.axes) > 1)
def hardmax_takes_the_first_in_column_major_order(case):
    axes = case.operation.axes
    kept = [axis for axis in range(first(case).ndim) if axis not in axes]
    order = [*kept, *reversed(axes)]
    x = first(case).transpose(order)
    ones = reference.run(OneHot(tuple(range(len(kept), x.ndim))), x)
    return np.ascontiguousarray(ones.transpose(np.argsort(order)))


@mutant(ArgReduce, lambda case: not states(case, "keepdims"))
def keepdims_is_0_by_default(case):
    return right(case, keepdims=0)


@mutant(ArgReduce)
def keepdims_is_ignored(case):
    return right(case, keepdims=1)


@mutant(ArgReduce, lambda case: not states(case, "axis"))
def the_default_axis_is_the_last(case):
    return right(case, axis=-1)


@mutant(where=lambda case: case.question.attributes.get("axis", 0) < 0)
def negative_axes_are_off_by_one(case):
    axis = case.question.attributes["axis"]
    return right(case, axis=axis if -axis == first(case).ndim else axis - 1)


@mutant(ArgReduce)
def indices_have_32_bits(case):
    return right(case).astype(np.int32)


@mutant(where=lambda case: any(x.size == 0 for x in case.question.inputs))
def empty_tensors_are_refused(case):
    return None


@mutant(where=lambda case: case.question.title == "function")
def functions_are_refused(case):
    return None


def accepts(*titles):
    """A mutant that answers one kind of case which has to be refused."""

    def run(case):
        if case.topic != "refusals" or not case.question.title.startswith(titles):
            return right(case)
        return np.zeros((1,), np.int64 if case.version.family is spec.Family.ARGMAX else first(case).dtype)

    return run


ACCEPTED = ("element_type", "mixed_types", "row", "size_1", "shapes", "unknown_attribute", "axis_2", "rank_0", "rank_1")
MUTANTS |= {
    f"accepts_{title}": accepts(title) for title in (*ACCEPTED, "select_last_index", "keepdims_2", "nothing_to_reduce")
}


@pytest.fixture(scope="module")
def suite():
    """Every case; a few of each topic come first, so that a mistake is found soon."""
    answered = [(case, case.expected()) for case in cases()]
    return [answered[at] for start in range(40) for at in range(start, len(answered), 40)]


def outcome(run, case, expected):
    try:
        answer = run(case)
    except ExtremumError:
        answer = None
    if answer is None:
        return Outcome.EXACT if expected is None else Outcome.REFUSED
    return compare(case.asked, expected, answer)


def test_the_reference_makes_no_mistake(suite):
    assert {outcome(right, case, expected) for case, expected in suite} == {Outcome.EXACT}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_runtime_is_found_out(name, suite):
    found = (outcome(MUTANTS[name], case, expected) for case, expected in suite)
    worst = next((each for each in found if each is not Outcome.EXACT), None)
    assert worst is not None
    assert (worst is Outcome.REFUSED) == (name in REFUSING)
