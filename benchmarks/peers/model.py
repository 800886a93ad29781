"""A case as an ONNX model, for the runtimes that take nothing else.

Several axes, which ONNX's ArgMax does not have, are moved to the end and flattened inside the model.
"""

from __future__ import annotations

from typing import Any

from onnx import helper

from benchmarks.matrix import Case
from extremum import dtypes

__all__ = ["build"]

_OPERATORS = {"argmax": "ArgMax", "argmin": "ArgMin", "max": "Max", "min": "Min", "hardmax": "Hardmax"}


def build(case: Case) -> bytes:
    """Return the serialized model of a case: inputs ``x0``, ``x1`` ..., one output ``y``, static shapes."""
    number = dtypes.from_name(case.element_type).onnx_number
    inputs = [helper.make_tensor_value_info(f"x{i}", number, shape) for i, shape in enumerate(case.operand_shapes)]
    operator = _OPERATORS[case.operator]
    names = [value.name for value in inputs]
    constants = []
    if case.elementwise:
        nodes, shape, number_out = [helper.make_node(operator, names, ["y"])], case.shape, number
    elif case.operator == "hardmax":
        nodes, shape, number_out = [helper.make_node(operator, names, ["y"], axis=case.reduced[0])], case.shape, number
    else:
        options: dict[str, Any] = {"keepdims": 0, "select_last_index": int(case.last)}
        nodes, source, axis = [], names[0], case.reduced[0]
        if len(case.reduced) > 1:
            order = case.kept + case.reduced
            if order != tuple(range(len(order))):
                nodes.append(helper.make_node("Transpose", [source], ["moved"], perm=order))
                source = "moved"
            axis = len(case.kept)
            constants.append(helper.make_tensor("rows", 7, [axis + 1], [*case.kept_shape, -1]))
            nodes.append(helper.make_node("Reshape", [source, "rows"], ["flat"]))
            source = "flat"
        nodes.append(helper.make_node(operator, [source], ["y"], axis=axis, **options))
        shape, number_out = case.kept_shape, 7
    graph = helper.make_graph(
        nodes, "case", inputs, [helper.make_tensor_value_info("y", number_out, shape)], initializer=constants
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8)
    return bytes(model.SerializeToString())
