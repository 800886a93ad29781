"""The model of a case: one node, in the graph, a subgraph or a model-local function."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import helper

from extremum.conformance.case import Case
from extremum.conformance.topics import Placement
from extremum.runtimes.runtime import Array
from extremum.tensors import element_of


def model_of(case: Case, expected: tuple[Array, ...] | None) -> onnx.ModelProto:
    """Return the model of a case; `expected` determines the declared outputs."""
    placement = case.question.placement

    def value(name: str, element: str, shape: Sequence[int | str] | None) -> onnx.ValueInfoProto:
        if shape is not None and placement is Placement.SYMBOLIC:
            shape = [f"{name}_{axis}" for axis, _ in enumerate(shape)]
        return helper.make_tensor_value_info(name, element_of(element).onnx_number, shape)

    inputs = [value(name, x.dtype.name, x.shape) for name, x in case.feeds.items()]
    result_names = case.output_names
    types = ["int64" if each.types == ("int64",) else case.element for each in case.version.outputs]
    shapes = [None] * len(result_names) if expected is None else [x.shape for x in expected]
    outputs = [value(*each) for each in zip(result_names, types, shapes, strict=True)]
    # Constants, because many runtimes take nothing else.
    initializers = [onnx.numpy_helper.from_array(values, name) for name, values in case.listed.items()]
    names = [*case.feeds, *case.listed]
    node = helper.make_node(case.version.name, names, result_names, **case.stated)
    functions = []
    # The oldest version of the format that has the opset; subgraphs need version 4 and functions version 8.
    opsets = [helper.make_opsetid("", case.version.since)]
    ir = max(helper.find_min_ir_version_for(opsets), 3)
    if placement is Placement.SUBGRAPH:
        then, other = (helper.make_graph([node], name, [], outputs) for name in ("then", "else"))
        initializers.append(helper.make_tensor("condition", onnx.TensorProto.BOOL, (), [True]))
        node = helper.make_node("If", ["condition"], result_names, then_branch=then, else_branch=other)
        ir = max(ir, 4)
    elif placement is Placement.FUNCTION:
        domain = "extremum.conformance"
        functions.append(helper.make_function(domain, "Question", names, result_names, [node], opsets[:1]))
        opsets.append(helper.make_opsetid(domain, 1))
        node = helper.make_node("Question", names, result_names, domain=domain)
        ir = max(ir, 8)
    graph = helper.make_graph([node], case.name, inputs, outputs, initializers)
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=ir, functions=functions, producer_name="extremum"
    )
