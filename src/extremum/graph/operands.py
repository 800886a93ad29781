"""The inputs of a node, and the outputs that follow from them; an error shows what the node was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from numpy.typing import NDArray

from extremum import infer, validate
from extremum.errors import ExtremumError
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType


def operand_names(node: onnx.NodeProto, schema: OperatorVersion | None) -> list[str]:
    """Return the names of a node's inputs, without omitted optional inputs at the end."""
    names = list(node.input)
    while schema is not None and schema.input.maximum < len(names) <= schema.most_inputs and not names[-1]:
        names.pop()
    return names


def operand_types(schema: OperatorVersion, arrays: Sequence[NDArray[Any]]) -> list[TensorType]:
    """Return the types of the inputs of a node that runs, with the values of those that stand for an attribute."""
    data = schema.input.maximum
    return [TensorType.of(array, is_list=at >= data) for at, array in enumerate(arrays)]


def describe_node(attributes: Mapping[str, object], names: Sequence[str], types: Sequence[TensorType]) -> str:
    """Return the inputs and attributes of a node as an error shows them."""
    inputs = [f"{name}: {tensor}" for name, tensor in zip(names, types, strict=True)]
    return ", ".join(inputs + [f"{name}={value}" for name, value in attributes.items()])


def resolve_node(
    schema: OperatorVersion,
    attributes: Mapping[str, object],
    names: Sequence[str],
    types: Sequence[TensorType],
    *,
    any_element: bool = False,
) -> tuple[validate.Attributes, tuple[TensorType, ...]]:
    """Validate a node and infer its outputs; an error says what was given.

    With ``any_element`` the inputs may have every element type that has an order: exporters write types that a
    version forbids, and what such a node computes is clear.
    """
    try:
        values = validate.attributes(schema, attributes, types)
        validate.inputs(schema, types, any_element=any_element)
        return values, infer.outputs(schema, values, types)
    except ExtremumError as error:
        raise error.with_context(given=describe_node(attributes, names, types)) from None
