"""The attributes of a node: their values, and those that stand for attributes of a function."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import onnx

from extremum.graph.calls import canonical
from extremum.graph.types import array, list_of_integers
from extremum.spec import ONNX


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """Return an attribute's value as onnx.reference passes it on: text as str, tensors as arrays."""
    raw = onnx.helper.get_attribute_value(attribute)
    if isinstance(raw, bytes):
        # No operator takes text that is not UTF-8; only messages show it.
        return raw.decode(errors="backslashreplace")
    return array(raw) if isinstance(raw, onnx.TensorProto) else raw


def attributes_of(node: onnx.NodeProto, of_function: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes a node states, including those that refer to an attribute of its function."""
    # If a node refers to an attribute that the call of the function omits, the default applies.
    values: dict[str, Any] = {}
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            # No operator of this package has a tensor or a graph as attribute, and no message shows one.
            kind = onnx.AttributeProto.AttributeType.Name(attribute.type).lower()
            is_plain = kind.removesuffix("s") in ("int", "float", "string")
            values[attribute.name] = attribute_value(attribute) if is_plain else f"<{kind}>"
        elif attribute.ref_attr_name in of_function:
            values[attribute.name] = of_function[attribute.ref_attr_name]
    return values


def resolve_references(node: onnx.NodeProto, attributes: Mapping[str, onnx.AttributeProto]) -> onnx.NodeProto:
    """Return a node with the attributes of the call in place of references to them."""
    if not any(attribute.ref_attr_name for attribute in node.attribute):
        return node
    copy = deepcopy(node)
    del copy.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            copy.attribute.append(attribute)
        elif attribute.ref_attr_name in attributes:
            copy.attribute.append(attributes[attribute.ref_attr_name])
            copy.attribute[-1].name = attribute.name
    return copy


def constant_integers(node: onnx.NodeProto) -> tuple[int, ...] | None:
    """Return the list of integers that a Constant gives, or None for any other node or value."""
    if (canonical(node.domain), node.op_type) == (ONNX, "Constant") and len(node.attribute) == 1:
        (attribute,) = node.attribute
        if attribute.name == "value_ints" and not attribute.ref_attr_name:
            return tuple(attribute.ints)
        if attribute.name == "value" and attribute.HasField("t"):
            return list_of_integers(attribute.t)
    return None
