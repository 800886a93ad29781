"""One case of the suite: a question, the model it becomes, and the answer that is expected."""

from __future__ import annotations

from dataclasses import dataclass

from extremum import lower, reference, validate
from extremum.conformance.question import Array, Question
from extremum.runtimes.outcome import Asked
from extremum.spec import OperatorVersion

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

    def expected(self) -> Array | None:
        """Return the answer by :mod:`extremum.reference`, or None where the node has to be refused."""
        if self.question.refused:
            return None
        attributes = validate.attributes(self.version, self.question.attributes)
        operation = lower.operation(self.version, attributes, self.question.inputs[0].ndim)
        return reference.run(operation, *self.question.inputs)
