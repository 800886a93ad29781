"""What a runtime is: it loads a model and runs it, or refuses it with an exception."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

import onnx
from numpy.typing import NDArray

from extremum.errors import said
from extremum.graph.one_node import one_node
from extremum.spec import OperatorVersion

Array = NDArray[Any]
Feeds = Mapping[str, Array]
"""The inputs of a model by name."""

Run = Callable[[Feeds], Sequence[Any]]
"""Takes the inputs by name and returns the outputs in the model's order."""

Load = Callable[[onnx.ModelProto], Run]
"""Takes a model and returns what runs it; an exception, here or in a run, is a refusal."""


class Runtime(Hashable, Protocol):
    """An installed runtime; it is the key under which its refusals are cached."""

    @property
    def name(self) -> str:
        """As the command line spells it, such as ``onnxruntime`` or ``onnxruntime:cuda``."""

    @property
    def version(self) -> str:
        """Version of the package that does the work."""

    def load(self, model: onnx.ModelProto, /) -> Run:
        """Return what runs a model."""


@functools.cache
def refusal_of_opset(load: Load, opset: int) -> str | None:
    """Return what a runtime says when it loads no model of an opset, whatever its nodes, or None if it loads one."""
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    other = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["x"], ["y"])], "question", [value], [other]
    )
    imports = [onnx.helper.make_opsetid("", opset)]
    try:
        load(onnx.helper.make_model(graph, opset_imports=imports, ir_version=8))
    except Exception as error:
        return said(error)
    return None


@functools.cache
def refusal(runtime: Runtime, schema: OperatorVersion, opset: int, element: str) -> str | None:
    """Return what a runtime says when it does not load a node of rank 2, or None if it loads it.

    Releases and builds differ, so no table can tell: the runtime loads a model of one node.
    """
    try:
        runtime.load(one_node(schema, opset, element))
    except Exception as error:
        # The exceptions of runtimes share no class of their own.
        return said(error)
    return None
