"""How good an answer is: exact, or what differs from the expected one."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from extremum.runtimes.runtime import Array
from extremum.spec import Family, OperatorVersion


class Outcome(enum.Enum):
    """How an answer compares with the expected one, best first."""

    EXACT = "exact"
    ZERO = "sign of zero"
    NAN = "NaN"
    TIE = "tie"
    TYPE = "type"
    SHAPE = "shape"
    WRONG = "wrong"
    ACCEPTED = "not refused"
    REFUSED = "refused"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class NodeQuestion:
    """A node with its inputs."""

    version: OperatorVersion
    attributes: Mapping[str, object]
    inputs: Sequence[Array]


def compare(question: NodeQuestion, expected: Sequence[Array] | None, answers: Sequence[Array]) -> Outcome:
    """Return the outcome of an answer; `expected` is None where the runtime should refuse the node."""
    if expected is None:
        return Outcome.ACCEPTED
    axis = axis_of_any_order(question)
    if axis is not None and _are_sortable(answers, expected):
        expected = _by_index(expected, axis)
        answers = _by_index(answers, axis)
    # Signalling NaNs and numbers beyond a type do not call for a warning.
    with np.errstate(all="ignore"):
        outcomes = [
            _outcome(question, at, *pair) for at, pair in enumerate(zip(expected, answers, strict=True))
        ]
    return max(outcomes, key=list(Outcome).index)


def axis_of_any_order(question: NodeQuestion) -> int | None:
    """Return the axis along which an answer may have any order, the same in all outputs; None where there is none."""
    is_unsorted = question.version.family is Family.TOP and question.attributes.get("sorted") == 0
    return _axis(question) if is_unsorted else None


def _are_sortable(answers: Sequence[Array], expected: Sequence[Array]) -> bool:
    """Return whether the last output of an answer can say in which order the answer is."""
    return answers[-1].dtype.kind != "O" and [x.shape for x in answers] == [x.shape for x in expected]


def _by_index(outputs: Sequence[Array], axis: int) -> list[Array]:
    """Return values and indices in the order of the indices."""
    order = np.argsort(outputs[-1], axis)
    return [np.take_along_axis(x, order, axis) for x in outputs]


def _outcome(question: NodeQuestion, at: int, expected: Array, answer: Array) -> Outcome:
    """Return the outcome of the output at a place."""
    if answer.dtype != expected.dtype:
        outcome = Outcome.TYPE
        is_same = _same_values(answer, expected)
    elif answer.shape != expected.shape:
        outcome = Outcome.SHAPE
        is_same = answer.size == expected.size and same_bits(answer.reshape(expected.shape), expected)
    else:
        outcome = Outcome.EXACT
        is_same = same_bits(answer, expected)
    if is_same:
        return outcome
    if any(_is_nan(x).any() for x in question.inputs):
        return Outcome.NAN
    if outcome is not Outcome.EXACT:
        return Outcome.WRONG
    if not _points(question, at):
        if _same_values(answer, expected):
            return Outcome.ZERO
        return Outcome.WRONG
    # Another place is another answer to a tie if the element there is the same.
    actual = _elements(question, answer)
    right = _elements(question, expected)
    if actual is None or right is None or not _same_values(actual, right):
        return Outcome.WRONG
    return Outcome.TIE if same_bits(actual, right) else Outcome.ZERO


def _points(question: NodeQuestion, at: int) -> bool:
    """Return whether an output points to elements: by an index, or by the ones of Hardmax."""
    # The second output holds indices.
    return at > 0 or question.version.family in (Family.ARGMAX, Family.ARGMIN, Family.HARDMAX)


def _elements(question: NodeQuestion, answer: Array) -> Array | None:
    """Return the elements that an answer points to, or None if it points to a wrong number of them or outside."""
    x = question.inputs[0]
    axis = _axis(question)
    if question.version.family is Family.HARDMAX:
        return _elements_at_ones(question, x, answer, axis)
    index = answer
    if question.version.family is not Family.TOP:
        index = answer.reshape([1 if at == axis else size for at, size in enumerate(x.shape)])
    has_repeats = (np.diff(np.sort(index, axis), axis=axis) == 0).any()
    is_outside = ((index < 0) | (index >= x.shape[axis])).any()
    if has_repeats or is_outside:
        return None
    return np.take_along_axis(x, index, axis)


def _elements_at_ones(question: NodeQuestion, x: Array, answer: Array, axis: int) -> Array | None:
    if question.version.coerced:
        rows = int(np.prod(x.shape[:axis]))
        x = x.reshape(rows, -1)
        answer = answer.reshape(rows, -1)
        axis = 1
    ones = answer == 1
    if not (ones | (answer == 0)).all() or not (ones.sum(axis) == 1).all():
        return None
    return np.take_along_axis(x, np.expand_dims(ones.argmax(axis), axis), axis)


def _axis(question: NodeQuestion) -> int:
    axis = question.attributes.get("axis", question.version.attributes[0].default)
    assert isinstance(axis, int)
    return axis % question.inputs[0].ndim


def _same_values(actual: Array, expected: Array) -> bool:
    if {actual.dtype.kind, expected.dtype.kind} <= set("iub"):
        return np.array_equal(actual, expected)
    # Text and records hold no numbers.
    with contextlib.suppress(TypeError, ValueError):
        return np.array_equal(actual.astype(np.float64), expected.astype(np.float64), equal_nan=True)
    return False


def same_bits(actual: Array, expected: Array) -> bool:
    """Return whether two arrays of one shape and element type agree in every bit; any NaN agrees with any other."""
    are_nan = _is_nan(actual) & _is_nan(expected)
    return bool(((_bits(actual) == _bits(expected)) | are_nan).all())


def _bits(x: Array) -> Array:
    # ascontiguousarray makes an array of rank 0 one of rank 1.
    return np.ascontiguousarray(x).reshape(x.shape).view(f"u{x.dtype.itemsize}")


def _is_nan(x: Array) -> Array:
    return np.not_equal(x, x)
