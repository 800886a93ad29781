"""One case of the suite: a question, the model it becomes, and the answer that is expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extremum import lower, reference, validate
from extremum.conformance.question import Array, Question
from extremum.operations import Operation
from extremum.runtimes.outcome import Asked
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType

__all__ = ["Case"]


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a topic to one version of an operator on one element type.

    Attributes
    ----------
    version : OperatorVersion
        The version asked.
    element : str
        Element type of the inputs, such as ``float32``.
    topic : str
        Name of the topic, such as ``nan``.
    question : Question
        The node and its inputs.
    """

    version: OperatorVersion
    element: str
    topic: str
    question: Question

    @property
    def name(self) -> str:
        """The name, made of operator, version, element type, topic and title."""
        parts = (self.version.name.lower(), str(self.version.since), self.element, self.topic, self.question.title)
        return "_".join(part for part in parts if part)

    @property
    def specified(self) -> bool:
        """Whether a document decides the answer, so that a runtime that gives another one is wrong."""
        return not self.question.leaves_open

    @property
    def asked(self) -> Asked:
        """What an answer is compared by."""
        return Asked(self.version, self.question.attributes, self.question.inputs)

    @property
    def stated(self) -> dict[str, object]:
        """The attributes that the node states."""
        return {name: value for name, value in self.question.attributes.items() if name not in self.listed}

    @property
    def listed(self) -> dict[str, Array]:
        """The attributes that come as inputs, after the tensors."""
        given = self.question.attributes
        names = (each.name for each in self.version.input_attributes if each.name in given)
        return {name: np.array(given[name], np.int64) for name in names}

    @property
    def operation(self) -> Operation:
        """What the version means by the node."""
        types = [*map(TensorType.of, self.question.inputs), *map(TensorType.of_list, self.listed.values())]
        attributes = validate.attributes(self.version, self.stated, types)
        return lower.operation(self.version, attributes, self.question.inputs[0].ndim)

    def expected(self) -> Array | None:
        """Return the answer by :mod:`extremum.reference`, or None where the node has to be refused."""
        if self.question.refused:
            return None
        return reference.run(self.operation, *self.question.inputs)
