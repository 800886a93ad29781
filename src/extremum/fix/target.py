"""The runtimes that a fixed model is for, and how a node is run there.

Decides which rule says what a target refuses and how its answers are had: onnxruntime is asked itself, another runtime
in a process of its own; DirectML's operators are dispatched by :mod:`extremum.directml` and everything around them runs
in :mod:`extremum.backend`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import backend, dtypes, infer, runtimes, validate
from extremum.check.question import AskedRuntime
from extremum.check.rule import Targets
from extremum.directml import FeatureLevel
from extremum.directml.lowering import steps
from extremum.directml.operator import create_operator
from extremum.errors import ArgumentError
from extremum.graph import nodes
from extremum.runtimes import Runtime, shown
from extremum.runtimes.processes import Subprocess
from extremum.spec import OperatorVersion

__all__ = ["DirectML", "Installed", "Target", "opened"]

Arrays = Mapping[str, NDArray[Any]]


class Target(Protocol):
    """A runtime."""

    # As a message says it.
    name: str
    # The rule that finds what it refuses, and the one that finds what it answers otherwise, if there is one.
    refuses: str
    differs: str | None
    # What these rules ask.
    asked: Targets

    @property
    def runtime(self) -> Runtime | None:
        """What loads a whole model, if anything does."""

    def run(self, body: list[onnx.NodeProto], opset: int, inputs: Arrays, output: str, element: str) -> NDArray[Any]:
        """Run nodes that give one output, of an element type."""
        ...


class Installed:
    """A runtime that is installed, as it is: without any operator of this package."""

    def __init__(self, runtime: Runtime, refuses: str, differs: str, asked: Targets) -> None:
        self.runtime = runtime
        self.name = shown(runtime)
        self.refuses = refuses
        self.differs: str | None = differs
        self.asked = asked

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

    refuses = "EX102"
    differs: str | None = None
    runtime = None

    def __init__(self, feature_level: FeatureLevel) -> None:
        self._feature_level = feature_level
        self.name = f"DirectML {feature_level}"
        self.asked = Targets(feature_level=feature_level)

    def run(self, body: list[onnx.NodeProto], opset: int, inputs: Arrays, output: str, element: str) -> NDArray[Any]:
        """Run nodes that give one output, of an element type."""
        values: dict[str, NDArray[Any]] = dict(inputs)
        for node in body:
            schema = nodes.version(node, {"": opset})
            inputs_of_node = {name: values[name] for name in nodes.operand_names(node, schema)}
            if schema is None:
                results = backend.run_node(node, inputs_of_node, opset_version=opset)
                values.update(zip(node.output, results, strict=True))
            else:
                values[node.output[0]] = self._dispatch(schema, node, inputs_of_node)
        return values[output]

    def _dispatch(self, schema: OperatorVersion, node: onnx.NodeProto, inputs: Arrays) -> NDArray[Any]:
        types = nodes.operand_types(schema, list(inputs.values()))
        attributes = validate.attributes(schema, nodes.stated(node, {}), types)
        output = infer.output(schema, attributes, types)
        assert output.element is not None
        assert output.sizes is not None
        result = np.empty(output.sizes, dtypes.from_name(output.element).dtype)
        tensors = {name: np.ravel(array) for name, array in {**inputs, node.output[0]: result}.items()}
        named = list(zip(inputs, types, strict=True))[: schema.input.maximum]
        for step in steps(schema, attributes, named, (node.output[0], output), self._feature_level):
            operator = create_operator(step.desc, feature_level=self._feature_level)
            operator.dispatch(inputs=[tensors[name] for name in step.inputs], outputs=[tensors[step.output]])
        return result


@contextmanager
def opened(text: str) -> Iterator[Target]:
    """Give the target called ``onnxruntime``, ``directml-4_1`` or as another runtime, until the end of the block."""
    levels = {f"directml-{level}": level for level in FeatureLevel}
    if text == "onnxruntime":
        runtime = runtimes.find(text)
        yield Installed(runtime, "EX101", "EX108", Targets(runtime=runtime))
    elif re.fullmatch(r"directml-\w+", text) and text in levels:
        yield DirectML(levels[text])
    elif text.partition(":")[0] in runtimes.known():
        with Subprocess(text) as watched:
            yield Installed(watched, "EX106", "EX107", Targets(asked=AskedRuntime(watched)))
    else:
        known = ", ".join((*runtimes.known(), *levels))
        raise ArgumentError(f"there is no target {text!r}", remedy=f"the targets are {known}")
