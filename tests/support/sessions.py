"""How tests run a model in onnxruntime with this package's operators; bfloat16 exists only between two casts."""

import functools

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from extremum.onnxruntime import InferenceSession
from extremum.tensors import element_of


@functools.cache
def loads_opset(opset):
    """Whether the installed onnxruntime loads models of an opset."""
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g (float x) => (float y) {{ y = Identity (x) }}'
    try:
        return bool(session(onnx.parser.parse_model(text)))
    except Exception as error:
        return "opset" not in str(error)


def session(model, **options):
    """A session for the model that prints no warnings."""
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 3
    # For a few elements, threads cost more than they save.
    quiet.intra_op_num_threads = 1
    return InferenceSession(model.SerializeToString(), quiet, **options)


def run_model(model, inputs, **options):
    """The outputs for inputs in the model's order."""
    names = [value.name for value in model.graph.input]
    return session(model, **options).run(None, dict(zip(names, inputs, strict=True)))


def node_model(row, given, inputs, results):
    """A model with one node of a version; it declares ranks, but no sizes."""
    names = [f"x{position}" for position in range(len(inputs))]
    outputs = [f"y{position}" for position in range(len(results))]
    nodes = [helper.make_node(row.name, names, outputs, name="node", **given)]
    passed = [declare(name, x) for name, x in zip(names, inputs, strict=True)]
    returned = [declare(name, result) for name, result in zip(outputs, results, strict=True)]
    for position, (name, x) in enumerate(zip(names, inputs, strict=True)):
        if x.dtype.name == "bfloat16":
            nodes.insert(0, helper.make_node("Cast", [f"{name}_float"], [name], to=TensorProto.BFLOAT16))
            passed[position] = declare(f"{name}_float", x, "float32")
    if results[0].dtype.name == "bfloat16":
        nodes.append(helper.make_node("Cast", ["y0"], ["y_float"], to=TensorProto.FLOAT))
        returned[0] = declare("y_float", results[0], "float32")
    graph = helper.make_graph(nodes, "g", passed, returned)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", row.since)])


def declare(name, array, element=None):
    number = element_of(element or array.dtype.name).onnx_number
    return helper.make_tensor_value_info(name, number, [f"{name}_{axis}" for axis in range(array.ndim)])


def run_node(row, given, inputs, results):
    """The outputs of a node of a version, in the element types of the results that are expected."""
    fed = [x.astype(np.float32) if x.dtype.name == "bfloat16" else x for x in inputs]
    model = node_model(row, given, inputs, results)
    onnx.checker.check_model(model)
    outputs = zip(run_model(model, fed), results, strict=True)
    return [output.astype(result.dtype) if result.dtype.name == "bfloat16" else output for output, result in outputs]
