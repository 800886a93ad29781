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
class Question:
    """A node with its inputs."""

    version: OperatorVersion
    attributes: Mapping[str, object]
    inputs: Sequence[Array]


def compare(question: Question, expected: Sequence[Array] | None, answers: Sequence[Array]) -> Outcome:
    """Return the outcome of an answer; `expected` is None where the runtime should refuse the node."""
    if expected is None:
        return Outcome.ACCEPTED
    is_unsorted = question.attributes.get("sorted") == 0 and answers[1].dtype.kind != "O"
    if is_unsorted and [x.shape for x in answers] == [x.shape for x in expected]:
        # Put values and indices in the order of the indices.
        axis = _axis(question)
        both = (expected, answers)
        expected, answers = ([np.take_along_axis(x, np.argsort(y[1], axis), axis) for x in y] for y in both)
    # Signalling NaNs and numbers beyond a type are no reason to warn.
    with np.errstate(all="ignore"):
        outcomes = [_outcome(question, at, *pair) for at, pair in enumerate(zip(expected, answers, strict=True))]
    return max(outcomes, key=list(Outcome).index)


def _outcome(question: Question, at: int, expected: Array, answer: Array) -> Outcome:
    if answer.dtype != expected.dtype:
        outcome, same = Outcome.TYPE, _same_values(answer, expected)
    elif answer.shape != expected.shape:
        outcome = Outcome.SHAPE
        same = answer.size == expected.size and _same_bits(answer.reshape(expected.shape), expected)
    else:
        outcome, same = Outcome.EXACT, _same_bits(answer, expected)
    if same:
        return outcome
    if any(_is_nan(x).any() for x in question.inputs):
        return Outcome.NAN
    if outcome is not Outcome.EXACT:
        return Outcome.WRONG
    # The second output holds indices.
    if question.version.family not in (Family.ARGMAX, Family.ARGMIN, Family.HARDMAX) and at == 0:
        return Outcome.ZERO if _same_values(answer, expected) else Outcome.WRONG
    actual, right = (_elements(question, each) for each in (answer, expected))
    if actual is None or right is None or not _same_values(actual, right):
        return Outcome.WRONG
    return Outcome.TIE if _same_bits(actual, right) else Outcome.ZERO


def _elements(question: Question, answer: Array) -> Array | None:
    """Return the elements that an answer points to, or None if it points to a wrong number of them or outside."""
    x, axis = question.inputs[0], _axis(question)
    if question.version.family is not Family.HARDMAX:
        index = answer
        if question.version.family is not Family.TOP:
            index = answer.reshape([1 if at == axis else size for at, size in enumerate(x.shape)])
        has_repeats = (np.diff(np.sort(index, axis), axis=axis) == 0).any()
        if has_repeats or ((index < 0) | (index >= x.shape[axis])).any():
            return None
        return np.take_along_axis(x, index, axis)
    if question.version.coerced:
        rows = int(np.prod(x.shape[:axis]))
        x, answer, axis = x.reshape(rows, -1), answer.reshape(rows, -1), 1
    ones = answer == 1
    if not (ones | (answer == 0)).all() or not (ones.sum(axis) == 1).all():
        return None
    return np.take_along_axis(x, np.expand_dims(ones.argmax(axis), axis), axis)


def _axis(question: Question) -> int:
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


def _same_bits(actual: Array, expected: Array) -> bool:
    unsigned = np.dtype(f"u{expected.dtype.itemsize}")
    x, y = (np.ascontiguousarray(each).reshape(each.shape).view(unsigned) for each in (actual, expected))
    return bool(((x == y) | (_is_nan(actual) & _is_nan(expected))).all())


def _is_nan(x: Array) -> Array:
    return np.not_equal(x, x)
