"""The model of a case: one node, where the case wants it to stand."""

from __future__ import annotations

import functools
from typing import Any

import onnx
from onnx import helper

from extremum import dtypes
from extremum.conformance.case import Case
from extremum.conformance.question import Array, Placement, is_arg

__all__ = ["model_of"]

_FUNCTION_DOMAIN = "extremum.conformance"


def model_of(case: Case, expected: Array | None) -> onnx.ModelProto:
    """Return the model that puts the question of a case; `expected` settles the declared output."""
    question = case.question
    symbolic = question.placement is Placement.SYMBOLIC
    names = [f"x{position}" for position in range(len(question.inputs))]
    inputs = [
        _value(name, _number(x), [f"{name}_{axis}" if symbolic else size for axis, size in enumerate(x.shape)])
        for name, x in zip(names, question.inputs, strict=True)
    ]
    if expected is None:
        element = "int64" if is_arg(case.version) else case.element
        output = _value("y", _number_of(element), None)
    else:
        sizes = [f"y_{axis}" if symbolic else size for axis, size in enumerate(expected.shape)]
        output = _value("y", _number(expected), sizes)

    attributes: dict[str, Any] = case.stated
    # Constants, because many a runtime takes nothing else.
    initializers = [onnx.numpy_helper.from_array(values, name) for name, values in case.listed.items()]
    names += case.listed
    node = helper.make_node(case.version.name, names, ["y"], **attributes)
    functions = []
    # A function needs version 8 of the format; everything else the oldest that has the opset.
    opsets = [helper.make_opsetid("", case.version.since)]
    ir_version = max(helper.find_min_ir_version_for(opsets), 3)
    match question.placement:
        case Placement.SUBGRAPH:
            branches = [helper.make_graph([node], branch, [], [output]) for branch in ("then", "else")]
            initializers.append(helper.make_tensor("condition", onnx.TensorProto.BOOL, (), [True]))
            inputs_of_if = ["condition"]
            node = helper.make_node("If", inputs_of_if, ["y"], then_branch=branches[0], else_branch=branches[1])
            ir_version = max(ir_version, 4)
        case Placement.FUNCTION:
            functions.append(helper.make_function(_FUNCTION_DOMAIN, "Question", names, ["y"], [node], opsets[:1]))
            opsets.append(helper.make_opsetid(_FUNCTION_DOMAIN, 1))
            node = helper.make_node("Question", names, ["y"], domain=_FUNCTION_DOMAIN)
            ir_version = max(ir_version, 8)
        case _:
            pass
    graph = helper.make_graph([node], case.name, inputs, [output], initializers)
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=ir_version, functions=functions, producer_name="extremum"
    )


@functools.cache
def _number_of(name: str) -> int:
    return dtypes.from_name(name).onnx_number


def _number(x: Array) -> int:
    return _number_of(x.dtype.name)


def _value(name: str, number: int, shape: list[str | int] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, number, shape)
