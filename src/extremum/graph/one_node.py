"""A model of one node, for asking a runtime whether it supports an operator."""

from __future__ import annotations

from typing import Any

import onnx

from extremum.spec import Family, OperatorVersion
from extremum.tensors import element_of


def one_node(schema: OperatorVersion, opset: int, element: str) -> onnx.ModelProto:
    """Return a model of one node on tensors of rank 2, for asking a runtime whether it supports the operator."""
    number = element_of(element).onnx_number
    names = ["a", "b"] if schema.family in (Family.MAXIMUM, Family.MINIMUM) else ["a"]
    required = [each for each in schema.attributes if each.required]
    values: dict[str, Any] = {each.name: 1 for each in required if each.input is None}
    lists = [
        onnx.helper.make_tensor(each.name, onnx.TensorProto.INT64, [1], [1])
        for each in required
        if each.input
    ]
    outputs = [f"y{at}" for at in range(len(schema.outputs))]
    node = onnx.helper.make_node(schema.name, [*names, *(each.name for each in lists)], outputs, **values)
    # Rank 2: before opset 13 the default axis of Hardmax is 1.
    inputs = [onnx.helper.make_tensor_value_info(name, number, ("m", "n")) for name in names]
    results = [onnx.helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = onnx.helper.make_graph([node], "question", inputs, results, lists)
    # The format version is fixed: onnx itself has one only for published opsets.
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8)
