"""The runtimes that a fixed model is for, and how a node is run there.

Decides which rule says what a target refuses and how its answers are had: onnxruntime is asked itself; DirectML's
operators are dispatched by :mod:`extremum.directml` and everything around them runs in :mod:`extremum.backend`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import backend, dtypes, infer, runtimes, validate
from extremum.check.rule import Targets
from extremum.directml.enumerations import FeatureLevel
from extremum.directml.operator import create_operator
from extremum.directml.steps import steps
from extremum.errors import ArgumentError
from extremum.graph import nodes
from extremum.runtimes import Runtime, shown
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType

__all__ = ["DirectML", "OnnxRuntime", "Target", "parse"]

Arrays = Mapping[str, NDArray[Any]]


class Target(Protocol):
    """A runtime."""

    # As a message says it.
    name: str
    # The rule that finds what it refuses.
    code: str
    # What that rule asks.
    asked: Targets

    @property
    def runtime(self) -> Runtime | None:
        """What loads a whole model, if anything does."""

    def run(self, body: list[onnx.NodeProto], opset: int, inputs: Arrays, output: str, element: str) -> NDArray[Any]:
        """Run nodes that give one output, of an element type."""
        ...


class OnnxRuntime:
    """The installed onnxruntime, without any library of this package."""

    code = "EX101"

    def __init__(self) -> None:
        self.runtime = runtimes.find("onnxruntime")
        self.name = shown(self.runtime)
        self.asked = Targets(runtime=self.runtime)

    def run(self, body: list[onnx.NodeProto], opset: int, inputs: Arrays, output: str, element: str) -> NDArray[Any]:
        """Run nodes that give one output, of an element type."""
        declared = [
            onnx.helper.make_tensor_value_info(name, dtypes.from_numpy(x.dtype).onnx_number, x.shape)
            for name, x in inputs.items()
        ]
        result = onnx.helper.make_tensor_value_info(output, dtypes.from_name(element).onnx_number, None)
        graph = onnx.helper.make_graph(body, "nodes", declared, [result])
        imports = [onnx.helper.make_opsetid("", opset)]
        model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=8)
        answer: NDArray[Any] = self.runtime.load(model)(inputs)[0]
        return answer


class DirectML:
    """DirectML at a feature level."""

    code = "EX102"
    runtime = None

    def __init__(self, feature_level: FeatureLevel) -> None:
        self._feature_level = feature_level
        self.name = f"DirectML {feature_level}"
        self.asked = Targets(feature_level=feature_level)

    def run(self, body: list[onnx.NodeProto], opset: int, inputs: Arrays, output: str, element: str) -> NDArray[Any]:
        """Run nodes that give one output, of an element type."""
        values: dict[str, NDArray[Any]] = dict(inputs)
        for node in body:
            row = nodes.version(node, {"": opset})
            operands = {name: values[name] for name in node.input}
            if row is None:
                (values[node.output[0]],) = backend.run_node(node, operands, opset_version=opset)
            else:
                values[node.output[0]] = self._dispatch(row, node, operands)
        return values[output]

    def _dispatch(self, row: OperatorVersion, node: onnx.NodeProto, operands: Arrays) -> NDArray[Any]:
        attributes = validate.attributes(row, nodes.stated(node, {}))
        types = [TensorType.of(array) for array in operands.values()]
        output = infer.output(row, attributes, types)
        assert output.element is not None
        assert output.sizes is not None
        result = np.empty(output.sizes, dtypes.from_name(output.element).dtype)
        tensors = {name: np.ravel(array) for name, array in {**operands, node.output[0]: result}.items()}
        named = list(zip(operands, types, strict=True))
        for step in steps(row, attributes, named, (node.output[0], output), self._feature_level):
            operator = create_operator(step.desc, feature_level=self._feature_level)
            operator.dispatch(inputs=[tensors[name] for name in step.inputs], outputs=[tensors[step.output]])
        return result


def parse(text: str) -> Target:
    """Return the target called ``onnxruntime`` or ``directml-4_1``."""
    if text == "onnxruntime":
        return OnnxRuntime()
    levels = {f"directml-{level}": level for level in FeatureLevel}
    if re.fullmatch(r"directml-\w+", text) and text in levels:
        return DirectML(levels[text])
    raise ArgumentError(f"there is no target {text!r}", remedy=f"the targets are onnxruntime, {', '.join(levels)}")
