"""How an answer compares with the expected one."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.spec import Family, OperatorVersion

__all__ = ["Asked", "Outcome", "compare"]

Array = NDArray[Any]


class Outcome(enum.Enum):
    """The classes of answers, best first."""

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
class Asked:
    """A node with its inputs, of which there are two answers."""

    version: OperatorVersion
    attributes: Mapping[str, object]
    inputs: Sequence[Array]


def compare(asked: Asked, expected: Array | None, answer: Array) -> Outcome:
    """Return the class of an answer; `expected` is None where the node should have been refused."""
    if expected is None:
        return Outcome.ACCEPTED
    if answer.dtype != expected.dtype:
        return Outcome.TYPE if _same_values(answer, expected) else _other(asked, expected, answer)
    if answer.shape != expected.shape:
        same = answer.size == expected.size and _same_bits(answer.reshape(expected.shape), expected)
        return Outcome.SHAPE if same else _other(asked, expected, answer)
    return Outcome.EXACT if _same_bits(answer, expected) else _other(asked, expected, answer)


def _other(asked: Asked, expected: Array, answer: Array) -> Outcome:
    """Return in what a different answer differs."""
    if any(_is_nan(x).any() for x in asked.inputs):
        return Outcome.NAN
    if answer.dtype != expected.dtype or answer.shape != expected.shape:
        return Outcome.WRONG
    if asked.version.family not in (Family.ARGMAX, Family.ARGMIN, Family.HARDMAX):
        return Outcome.ZERO if _same_values(answer, expected) else Outcome.WRONG
    chosen, meant = (_chosen(asked, each) for each in (answer, expected))
    if chosen is None or meant is None or not _same_values(chosen, meant):
        return Outcome.WRONG
    return Outcome.TIE if _same_bits(chosen, meant) else Outcome.ZERO


def _chosen(asked: Asked, answer: Array) -> Array | None:
    """Return the elements that an answer points to, or None where it points to none or to several in a row."""
    x = asked.inputs[0]
    stated = asked.attributes.get("axis", asked.version.attributes[0].default)
    assert isinstance(stated, int)
    axis = stated % x.ndim
    if (answer.dtype == np.int64 and answer.shape != x.shape) or asked.version.name.startswith("Arg"):
        index = answer.reshape([1 if at == axis else size for at, size in enumerate(x.shape)])
        if ((index < 0) | (index >= x.shape[axis])).any():
            return None
        return np.take_along_axis(x, index, axis)
    if asked.version.coerced:
        rows = int(np.prod(x.shape[:axis]))
        x, answer, axis = x.reshape(rows, -1), answer.reshape(rows, -1), 1
    ones = _same_ones(answer)
    if ones is None or not (ones.sum(axis) == 1).all():
        return None
    return np.take_along_axis(x, np.expand_dims(ones.argmax(axis), axis), axis)


def _same_ones(answer: Array) -> Array | None:
    values = answer.astype(np.float64)
    return values == 1 if np.isin(values, (0, 1)).all() else None


def _same_values(actual: Array, expected: Array) -> bool:
    if actual.shape != expected.shape:
        return False
    if {actual.dtype.kind, expected.dtype.kind} <= set("iub"):
        return bool((actual == expected).all())
    x, y = actual.astype(np.float64), expected.astype(np.float64)
    return bool(((x == y) | (np.isnan(x) & np.isnan(y))).all())


def _same_bits(actual: Array, expected: Array) -> bool:
    unsigned = np.dtype(f"u{expected.dtype.itemsize}")
    x, y = (np.ascontiguousarray(each).reshape(each.shape).view(unsigned) for each in (actual, expected))
    return bool(((x == y) | (_is_nan(actual) & _is_nan(expected))).all())


def _is_nan(x: Array) -> Array:
    return np.not_equal(x, x)
