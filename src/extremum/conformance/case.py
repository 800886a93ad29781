"""A case: one question of a topic to one version of an operator on one element type, with its exact answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extremum import lower, reference, spec, validate
from extremum.conformance.topics import Question
from extremum.graph.operands import operand_types
from extremum.operations import Operation, results
from extremum.runtimes.comparison import axis_of_any_order
from extremum.runtimes.runtime import Array
from extremum.spec import OperatorVersion

VERSIONS = [row for (domain, _), rows in spec.OPERATORS.items() if domain == spec.ONNX for row in rows]
"""Every version of every operator that the suite tests."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a topic, such as ``nan``, to a version of an operator on one element type, such as ``float32``."""

    version: OperatorVersion
    element: str
    topic: str
    question: Question

    @property
    def name(self) -> str:
        """The name, made of operator, version, element type, topic and title."""
        return f"{self.version.name.lower()}_{self.version.since}_{self.element}_{self.topic}_{self.question.title}"

    @property
    def feeds(self) -> dict[str, Array]:
        """The inputs of the model by name."""
        return {f"x{position}": x for position, x in enumerate(self.question.inputs)}

    @property
    def specified(self) -> bool:
        """Whether a document decides the answer, so that a runtime with another answer is wrong."""
        return not self.question.leaves_open

    @property
    def output_names(self) -> list[str]:
        """The outputs of the model in their order."""
        return [f"y{position or ''}" for position in range(len(self.version.outputs))]

    @property
    def any_order_along(self) -> int | None:
        """The axis along which the outputs may have any order, the same in all of them; None where there is none."""
        if self.question.refused:
            return None
        return axis_of_any_order(self.question)

    @property
    def stated(self) -> dict[str, Any]:
        """The attributes of the node."""
        return {name: value for name, value in self.question.attributes.items() if name not in self.listed}

    @property
    def listed(self) -> dict[str, Array]:
        """The attributes that are inputs, after the tensors."""
        attributes = self.question.attributes
        names = (each.name for each in self.version.input_attributes if each.name in attributes)
        return {name: np.array(attributes[name], np.int64, ndmin=1) for name in names}

    @property
    def operation(self) -> Operation:
        """The operation that the version specifies for the node."""
        types = operand_types(self.version, [*self.question.inputs, *self.listed.values()])
        attributes = validate.attributes(self.version, self.stated, types)
        return lower.operation(self.version, attributes, self.question.inputs[0].ndim)

    def expected(self) -> tuple[Array, ...] | None:
        """Return the answer by :mod:`extremum.reference`, or None where the node has to be refused."""
        if self.question.refused:
            return None
        return results(reference.run(self.operation, *self.question.inputs))
