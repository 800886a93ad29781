"""What a runtime is: something with a name and a version that loads a model and runs it. What its answers are worth."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum.errors import said
from extremum.graph.nodes import one_node
from extremum.spec import Family, OperatorVersion

Array = NDArray[Any]
Feeds = Mapping[str, Array]
"""The inputs of a model by name."""

Run = Callable[[Feeds], Sequence[Any]]
"""Takes the inputs by name and returns the outputs in the model's order."""

Load = Callable[[onnx.ModelProto], Run]
"""Takes a model and returns what runs it; an exception, here or in a run, is a refusal."""


class Runtime(Protocol):
    """A runtime that is installed."""

    @property
    def name(self) -> str:
        """As the command line spells it, such as ``onnxruntime`` or ``onnxruntime:cuda``."""

    @property
    def version(self) -> str:
        """Version of the package that does the work."""

    def load(self, model: onnx.ModelProto, /) -> Run:
        """Return what runs a model."""
        ...

    def __hash__(self) -> int:
        """Every object has one: what a runtime refuses is cached by it."""
        ...


@functools.cache
def refusal(runtime: Runtime, schema: OperatorVersion, opset: int, element: str) -> str | None:
    """Return what a runtime says when it does not load a node of rank 2, or None if it loads it.

    Releases and builds differ, so that no table can tell: the runtime loads a model of one node.
    """
    try:
        runtime.load(one_node(schema, opset, element))
    except Exception as error:
        # The exceptions of runtimes share no class of their own.
        return said(error)
    return None


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
    if question.attributes.get("sorted") == 0 and [x.shape for x in answers] == [x.shape for x in expected]:
        # Values and indices in the order of the indices.
        axis = _axis(question)
        expected, answers = (
            [np.take_along_axis(each, np.argsort(outputs[1], axis), axis) for each in outputs]
            for outputs in (expected, answers)
        )
    ranks = list(Outcome)
    # Signalling NaNs and numbers beyond a type are no reason to warn.
    with np.errstate(all="ignore"):
        outcomes = [_outcome(question, at, *pair) for at, pair in enumerate(zip(expected, answers, strict=True))]
    return max(outcomes, key=ranks.index)


def _outcome(question: Question, at: int, expected: Array, answer: Array) -> Outcome:
    """Return the outcome of one output."""
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
    if answer.dtype != expected.dtype or answer.shape != expected.shape:
        return Outcome.WRONG
    # The second output holds indices.
    if question.version.family not in (Family.ARGMAX, Family.ARGMIN, Family.HARDMAX) and at == 0:
        return Outcome.ZERO if _same_values(answer, expected) else Outcome.WRONG
    chosen, right = (_chosen(question, each) for each in (answer, expected))
    if chosen is None or right is None or not _same_values(chosen, right):
        return Outcome.WRONG
    return Outcome.TIE if _same_bits(chosen, right) else Outcome.ZERO


def _chosen(question: Question, answer: Array) -> Array | None:
    """Return the elements that an answer points to, or None where it points to none or to several in a row."""
    x, axis = question.inputs[0], _axis(question)
    if question.version.family is not Family.HARDMAX:
        index = answer
        if question.version.family is not Family.TOP:
            index = answer.reshape([1 if at == axis else size for at, size in enumerate(x.shape)])
        ascending = np.sort(index, axis)
        repeated = (np.diff(ascending, axis=axis) == 0).any()
        if repeated or ((index < 0) | (index >= x.shape[axis])).any():
            return None
        return np.take_along_axis(x, index, axis)
    if question.version.coerced:
        rows = int(np.prod(x.shape[:axis]))
        x, answer, axis = x.reshape(rows, -1), answer.reshape(rows, -1), 1
    values = answer.astype(np.float64)
    ones = values == 1
    if not np.isin(values, (0, 1)).all() or not (ones.sum(axis) == 1).all():
        return None
    return np.take_along_axis(x, np.expand_dims(ones.argmax(axis), axis), axis)


def _axis(question: Question) -> int:
    stated = question.attributes.get("axis", question.version.attributes[0].default)
    assert isinstance(stated, int)
    return stated % question.inputs[0].ndim


def _same_values(actual: Array, expected: Array) -> bool:
    if actual.shape != expected.shape:
        return False
    if not {actual.dtype.kind, expected.dtype.kind} <= set("iub"):
        actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    return bool(((actual == expected) | (_is_nan(actual) & _is_nan(expected))).all())


def _same_bits(actual: Array, expected: Array) -> bool:
    unsigned = np.dtype(f"u{expected.dtype.itemsize}")
    x, y = (np.ascontiguousarray(each).reshape(each.shape).view(unsigned) for each in (actual, expected))
    return bool(((x == y) | (_is_nan(actual) & _is_nan(expected))).all())


def _is_nan(x: Array) -> Array:
    return np.not_equal(x, x)
