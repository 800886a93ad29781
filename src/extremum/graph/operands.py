"""The inputs of a node: which of them are there, and what is known of those that stand for an attribute.

Decides when the values in a list of integers are known before the model runs: a Constant gives them, or an initializer
that is no input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx
from numpy.typing import NDArray

from extremum.graph.nodes import canonical
from extremum.graph.tensors import list_of_integers
from extremum.spec import ONNX, OperatorVersion
from extremum.tensors import TensorType

__all__ = ["integers", "names", "types"]


def names(node: onnx.NodeProto, schema: OperatorVersion | None) -> list[str]:
    """Return the names of a node's inputs, without those at the end that may be left out and are."""
    found = list(node.input)
    while schema is not None and schema.input.maximum < len(found) <= schema.most_inputs and not found[-1]:
        found.pop()
    return found


def types(schema: OperatorVersion, arrays: Sequence[NDArray[Any]]) -> list[TensorType]:
    """Return the types of the inputs of a node that runs, with the values of those that stand for an attribute."""
    data = schema.input.maximum
    return [*map(TensorType.of, arrays[:data]), *map(TensorType.of_list, arrays[data:])]


def integers(node: onnx.NodeProto) -> tuple[int, ...] | None:
    """Return the list of integers that a Constant gives, or None for any other node or value."""
    if (canonical(node.domain), node.op_type) == (ONNX, "Constant") and len(node.attribute) == 1:
        (attribute,) = node.attribute
        if attribute.name == "value_ints" and not attribute.ref_attr_name:
            return tuple(attribute.ints)
        if attribute.name == "value" and attribute.HasField("t"):
            return list_of_integers(attribute.t)
    return None
