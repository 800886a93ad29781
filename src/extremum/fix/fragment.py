"""The nodes that stand for one node, and their place in the model.

Decides how their values are called, how an operator is written at the model's opset, and that everything else of the
model stays as it is. Which nodes they are is decided by :mod:`extremum.fix.rewrites`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import dtypes
from extremum.graph import nodes

__all__ = ["Fragment", "names", "same_bits", "splice"]


def same_bits(first: Any, second: Any) -> bool:
    """Return whether two values agree in type, shape and every bit; any NaN agrees with any other."""
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same_bits, first, second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same_bits(first[key], second[key]) for key in first)
    first, second = np.asarray(first), np.asarray(second)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    if first.dtype.kind in "fV":
        signed = np.signbit(first) == np.signbit(second)
        return bool(np.all((first == second) & signed | (first != first) & (second != second)))
    return bool(np.array_equal(first, second))


# From here on the axes are an input, and how many TopK gives.
_COUNT_IS_AN_INPUT = 10
_AXES_ARE_AN_INPUT = {"ReduceMax": 18, "ReduceMin": 18, "Squeeze": 13}


class Fragment:
    """A list of nodes that grows."""

    def __init__(self, opset: int, prefix: str) -> None:
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self._prefix = prefix

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Append a node and return the name of its output."""
        name = f"{self._prefix}{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: NDArray[Any]) -> str:
        """Append a constant and return its name."""
        return self.add("Constant", value=onnx.numpy_helper.from_array(value))

    def cast(self, x: str, element: str) -> str:
        """Append a Cast and return the name of its output."""
        return self.add("Cast", x, to=dtypes.from_name(element).onnx_number)

    def reduce(self, operator: str, x: str, axes: Sequence[int]) -> str:
        """Append ReduceMax or ReduceMin, which keeps the rank, or Squeeze, and return the name of its output."""
        if self.opset >= _AXES_ARE_AN_INPUT[operator]:
            return self.add(operator, x, self.constant(np.array(axes, np.int64)))
        return self.add(operator, x, axes=list(axes))

    def largest(self, x: str, axis: int) -> str:
        """Append the largest along one axis, which stays, by an operator that no target refuses; return its name."""
        if self.opset >= _COUNT_IS_AN_INPUT:
            name = self.add("TopK", x, self.constant(np.array([1], np.int64)), axis=axis)
        else:
            name = self.add("TopK", x, axis=axis, k=1)
        self.nodes[-1].output.append(f"{name}/index")
        return name

    def like(self, node: onnx.NodeProto, *inputs: str, operator: str | None = None) -> str:
        """Append a node with the attributes of another, those that refer to a function's included."""
        name = self.add(operator or node.op_type, *inputs)
        self.nodes[-1].attribute.extend(node.attribute)
        return name

    def finish(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """Give the last node the name and the output of the one it stands for, and return all nodes."""
        self.nodes[-1].output[0] = node.output[0]
        if node.name:
            self.nodes[-1].name = node.name
        return self.nodes


def names(model: onnx.ModelProto) -> frozenset[str]:
    """Return the names of all values that nodes read or write, and of the nodes, wherever they stand."""
    found = {value.name for value in model.graph.input}
    for _, _, node in nodes.everywhere(model):
        found.update((node.name, *node.input, *node.output))
    return frozenset(found - {""})


def splice(model: onnx.ModelProto, replacements: Mapping[str, Sequence[onnx.NodeProto]]) -> onnx.ModelProto:
    """Return a copy of a model with other nodes in the place of some."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for _, prefix, body in nodes.bodies(copy):
        _splice(body, prefix, replacements)
    return copy


def _splice(
    body: onnx.GraphProto | onnx.FunctionProto, prefix: str, replacements: Mapping[str, Sequence[onnx.NodeProto]]
) -> None:
    result: list[Any] = []
    for index, node in enumerate(body.node):
        for name, graph in nodes.subgraphs(node):
            _splice(graph, nodes.path(prefix, index, name), replacements)
        result.extend(replacements.get(nodes.path(prefix, index), [node]))
    if any(path.rpartition(".")[0] == prefix for path in replacements):
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in result]
        del body.node[:]
        body.node.extend(copies)
