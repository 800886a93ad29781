"""What a topic asks of one operator version on one element type."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.spec import Family, OperatorVersion

__all__ = [
    "Ask",
    "Placement",
    "Question",
    "is_arg",
    "is_elementwise",
    "is_hardmax",
    "is_reduction",
    "looks_for_smallest",
    "spelt",
    "text",
]

Array = NDArray[Any]


class Placement(enum.Enum):
    """Where the node stands in its model, and how the shapes of the model's inputs are declared."""

    GRAPH = "graph"
    SYMBOLIC = "graph with symbolic dimensions"
    SUBGRAPH = "subgraph of If"
    FUNCTION = "model-local function"


@dataclass(frozen=True, slots=True)
class Question:
    """One node with its inputs, before it has a model and an expected answer."""

    # A few words with underscores, unique within the topic, version and element type.
    title: str
    # What the node is fed.
    inputs: tuple[Array, ...]
    # What the node states, or is given as an input where its version wants that.
    attributes: Mapping[str, object] = field(default_factory=dict)
    # What the specification says, in a few words.
    says: str = ""
    # What it does not say, so that runtimes may rightly differ; empty where it says everything.
    leaves_open: str = ""
    # Whether the node breaks a promise of its version, so that there is no answer.
    refused: bool = False
    # Where the node stands.
    placement: Placement = Placement.GRAPH


Ask = Callable[[OperatorVersion, np.dtype[Any], np.random.Generator], Iterator[Question]]
"""What a topic is: the questions it has for a version on an element type, which may be none."""


def is_arg(version: OperatorVersion) -> bool:
    """Return whether the operator gives indices."""
    return version.family in (Family.ARGMAX, Family.ARGMIN)


def is_hardmax(version: OperatorVersion) -> bool:
    """Return whether the operator marks the largest element."""
    return version.family is Family.HARDMAX


def is_elementwise(version: OperatorVersion) -> bool:
    """Return whether the operator takes several operands."""
    return version.family in (Family.MAXIMUM, Family.MINIMUM)


def is_reduction(version: OperatorVersion) -> bool:
    """Return whether the operator gives the elements that it finds along axes."""
    return version.family in (Family.LARGEST, Family.SMALLEST)


def looks_for_smallest(version: OperatorVersion) -> bool:
    """Return whether the extremum is the smallest."""
    return version.family in (Family.ARGMIN, Family.MINIMUM, Family.SMALLEST)


def spelt(version: OperatorVersion, question: Question) -> Question:
    """Return a question about one axis as a version asks it: some have a list of ``axes``."""
    if version.attribute("axes") is None or "axis" not in question.attributes:
        return question
    others = {name: value for name, value in question.attributes.items() if name != "axis"}
    return replace(question, attributes={"axes": (question.attributes["axis"],), **others})


def text(value: object) -> str:
    """Return a number as a part of a title: ``minus_1`` for -1."""
    return str(value).replace("-", "minus_")
