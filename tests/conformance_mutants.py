"""Runtimes that are wrong in one way each: what the suite has to find out.

A mutant takes a case and returns its answer, or None where it refuses. Each is the reference with one mistake in it.
"""

from dataclasses import replace

import numpy as np

from extremum import reference, spec
from extremum.errors import ExtremumError
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie

MUTANTS = {}


def mutant(function):
    MUTANTS[function.__name__] = function
    return function


def accepts(case):
    """Whether a right runtime answers."""
    return not case.question.refused


def operation_of(case, **changed):
    given = {**case.question.attributes, **changed}
    given = {name: value for name, value in given.items() if value is not None}
    return replace(case, question=replace(case.question, attributes=given)).operation


def answer(case, operation=None, inputs=None):
    if not accepts(case):
        return None
    return reference.run(operation or operation_of(case), *(inputs or case.question.inputs))


def of_inputs(change):
    """A mutant that sees other elements than those it was given; elementwise, its answer is made of them."""

    def run(case):
        return answer(case, inputs=[change(x) for x in case.question.inputs])

    return run


def as_signed(x):
    return x.view(f"i{x.dtype.itemsize}") if x.dtype.kind == "u" else x


def retyped(case, result):
    return None if result is None else result.astype(case.question.inputs[0].dtype)


def is_kind(case, kind):
    return isinstance(operation_of(case), kind) if accepts(case) else False


@mutant
def the_last_element_of_a_row_is_left_out(case):
    if not is_kind(case, ArgReduce) or case.question.inputs[0].shape[operation_of(case).axes[0]] < 17:
        return answer(case)
    axis = operation_of(case).axes[0]
    x = case.question.inputs[0]
    return answer(case, inputs=[x.take(range(x.shape[axis] - 1), axis)])


@mutant
def the_last_element_of_an_operand_is_not_compared(case):
    result = answer(case)
    if is_kind(case, Extremum) and len(case.question.inputs) > 1 and result.ndim == 1 and result.size > 16:
        result[-1] = case.question.inputs[0].reshape(-1)[-1]
    return result


@mutant
def the_last_of_equals(case):
    if not is_kind(case, ArgReduce):
        return answer(case)
    return answer(case, replace(operation_of(case), tie=Tie.LAST))


@mutant
def the_first_of_equals_on_request_of_the_last(case):
    if not is_kind(case, ArgReduce):
        return answer(case)
    return answer(case, replace(operation_of(case), tie=Tie.FIRST))


@mutant
def nan_is_passed_over(case):
    x = case.question.inputs[0]
    if not is_kind(case, ArgReduce) or not np.not_equal(x, x).any():
        return answer(case)
    worst = -np.inf if operation_of(case).order is Order.MAX else np.inf
    return answer(case, inputs=[np.where(np.not_equal(x, x), np.asarray(worst, x.dtype), x)])


@mutant
def nan_counts_at_rank_1_only(case):
    return answer(case) if case.question.inputs[0].ndim == 1 else nan_is_passed_over(case)


@mutant
def numbers_beat_nan_elementwise(case):
    if not is_kind(case, Extremum):
        return answer(case)
    worst = -np.inf if operation_of(case).order is Order.MAX else np.inf
    inputs = case.question.inputs
    clean = [np.where(np.not_equal(x, x), np.asarray(worst, x.dtype), x) for x in inputs]
    return answer(case, inputs=clean)


@mutant
def the_second_of_two_zeros_elementwise(case):
    if not is_kind(case, Extremum):
        return answer(case)
    last = case.question.inputs[-1]
    result = answer(case)
    return np.where((result == 0) & (last == 0), last, result).astype(result.dtype)


@mutant
def zeros_differ_in_a_reduction(case):
    x = case.question.inputs[0]
    if not is_kind(case, ArgReduce) or x.dtype.kind != "f":
        return answer(case)
    below = np.asarray(-np.finfo(x.dtype).smallest_subnormal, x.dtype)
    return answer(case, inputs=[np.where((x == 0) & np.signbit(x), below, x)])


@mutant
def integers_are_compared_as_doubles(case):
    if case.element not in ("int64", "uint64") or is_kind(case, Extremum):
        return answer(case)
    return answer(case, inputs=[x.astype(np.float64) for x in case.question.inputs])


@mutant
def integers_go_through_32_bits(case):
    if case.element not in ("int64", "uint64"):
        return answer(case)
    return answer(case, inputs=[x.astype(np.int32).astype(x.dtype) for x in case.question.inputs])


@mutant
def lower_halves_are_compared_as_signed(case):
    """Of two 64-bit integers with the same upper 32 bits."""
    if case.element not in ("int64", "uint64"):
        return answer(case)
    flip = np.uint64(2**31)

    def flipped(x):
        return (x.view(np.uint64) ^ flip).view(x.dtype)

    result = of_inputs(flipped)(case)
    return result if result is None or is_kind(case, ArgReduce) else flipped(result)


@mutant
def unsigned_is_compared_as_signed(case):
    if not is_kind(case, ArgReduce):
        return answer(case)
    return of_inputs(as_signed)(case)


@mutant
def bfloat16_is_rounded(case):
    if case.element != "bfloat16":
        return answer(case)

    def rounded(x):
        return (x.view(np.uint16) & 0xFFFC).view(x.dtype) if x.dtype.itemsize == 2 else x

    return of_inputs(rounded)(case)


@mutant
def float16_is_rounded(case):
    return of_inputs(lambda x: (x.view(np.uint16) & 0xFFF0).view(x.dtype) if x.dtype == np.float16 else x)(case)


@mutant
def denormals_are_zero(case):
    def flushed(x):
        return np.where(np.abs(x) < np.finfo(x.dtype).tiny, 0, x).astype(x.dtype) if x.dtype.kind == "f" else x

    return of_inputs(flushed)(case)


@mutant
def a_search_begins_at_the_limits_of_finite_numbers(case):
    x = case.question.inputs[0]
    if not is_kind(case, ArgReduce) or x.dtype.kind != "f":
        return answer(case)
    limits = np.finfo(x.dtype)
    low, high = (limits.min, np.inf) if operation_of(case).order is Order.MAX else (-np.inf, limits.max)
    return answer(case, inputs=[np.clip(x, low, high).astype(x.dtype)])


@mutant
def infinities_are_finite(case):
    return of_inputs(lambda x: np.nan_to_num(x, nan=np.nan) if x.dtype.kind == "f" else x)(case)


@mutant
def the_smallest_for_the_largest(case):
    operation = operation_of(case) if accepts(case) else None
    return answer(case, replace(operation, order=Order.MIN) if isinstance(operation, Extremum) else operation)


@mutant
def only_two_operands(case):
    return answer(case, inputs=list(case.question.inputs[:2])) if is_kind(case, Extremum) else answer(case)


@mutant
def hardmax_marks_every_maximum(case):
    if not is_kind(case, OneHot) or 0 in case.question.inputs[0].shape:
        return answer(case)
    x = case.question.inputs[0]
    return (x == x.max(operation_of(case).axes, keepdims=True)).astype(x.dtype)


@mutant
def hardmax_of_nan_is_zero(case):
    if not is_kind(case, OneHot):
        return answer(case)
    x = case.question.inputs[0]
    return answer(case) * np.asarray(~np.not_equal(x, x), x.dtype)


@mutant
def hardmax_before_13_looks_along_one_axis(case):
    operation = operation_of(case) if accepts(case) else None
    if isinstance(operation, OneHot) and case.version.coerced:
        return answer(case, OneHot(operation.axes[:1]))
    return answer(case)


@mutant
def hardmax_before_13_has_the_default_of_13(case):
    if is_kind(case, OneHot) and case.version.coerced and "axis" not in case.question.attributes:
        return answer(case, OneHot((case.question.inputs[0].ndim - 1,)))
    return answer(case)


@mutant
def hardmax_13_is_coerced(case):
    operation = operation_of(case) if accepts(case) else None
    if isinstance(operation, OneHot) and not case.version.coerced:
        return answer(case, OneHot(tuple(range(operation.axes[0], case.question.inputs[0].ndim))))
    return answer(case)


@mutant
def hardmax_13_has_the_default_of_11(case):
    if is_kind(case, OneHot) and not case.version.coerced and "axis" not in case.question.attributes:
        return answer(case, OneHot((1,)))
    return answer(case)


@mutant
def hardmax_takes_the_first_in_column_major_order(case):
    operation = operation_of(case) if accepts(case) else None
    if not isinstance(operation, OneHot) or len(operation.axes) < 2:
        return answer(case)
    kept = [axis for axis in range(case.question.inputs[0].ndim) if axis not in operation.axes]
    order = [*kept, *reversed(operation.axes)]
    x = case.question.inputs[0].transpose(order)
    ones = reference.run(OneHot(tuple(range(len(kept), x.ndim))), x)
    return np.ascontiguousarray(ones.transpose(np.argsort(order)))


@mutant
def keepdims_is_0_by_default(case):
    if not is_kind(case, ArgReduce) or "keepdims" in case.question.attributes:
        return answer(case)
    return answer(case, operation_of(case, keepdims=0))


@mutant
def keepdims_is_ignored(case):
    return answer(case, operation_of(case, keepdims=1)) if is_kind(case, ArgReduce) else answer(case)


@mutant
def the_default_axis_is_the_last(case):
    if not is_kind(case, ArgReduce) or "axis" in case.question.attributes:
        return answer(case)
    return answer(case, operation_of(case, axis=-1))


@mutant
def negative_axes_are_off_by_one(case):
    axis = case.question.attributes.get("axis", 0)
    if not accepts(case) or axis >= 0 or -axis == case.question.inputs[0].ndim:
        return answer(case)
    return answer(case, operation_of(case, axis=axis - 1))


@mutant
def indices_have_32_bits(case):
    return answer(case).astype(np.int32) if is_kind(case, ArgReduce) else answer(case)


def _accepting(topic, title):
    """A mutant that answers one kind of case which has to be refused."""

    def run(case):
        if case.topic != topic or not case.question.title.startswith(title):
            return answer(case)
        x = case.question.inputs[0]
        return np.zeros((1,), np.int64 if case.version.family is spec.Family.ARGMAX else x.dtype)

    return run


for _title in ("element_type", "mixed_types", "row", "shapes", "unknown_attribute", "axis_2", "rank_0", "rank_1"):
    MUTANTS[f"accepts_{_title}"] = _accepting("refusals", _title)
for _title in ("select_last_index", "keepdims_2", "nothing_to_reduce"):
    MUTANTS[f"accepts_{_title}"] = _accepting("refusals", _title)


@mutant
def broadcasting_before_8(case):
    if case.topic != "refusals" or case.question.title not in ("row", "size_1"):
        return answer(case)
    return reference.run(Extremum(Order.MAX), *case.question.inputs)


@mutant
def empty_tensors_are_refused(case):
    return None if any(x.size == 0 for x in case.question.inputs) else answer(case)


@mutant
def functions_are_refused(case):
    return None if case.question.title == "function" else answer(case)


def asked(run, case):
    try:
        return run(case)
    except ExtremumError:
        return None
