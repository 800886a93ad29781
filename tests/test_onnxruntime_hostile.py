"""The operators of ai.extremum in models that mean no good, each in a process of its own: an answer or a clear error.

onnxruntime runs the models as they are, with the library registered; this package's Python does not look at them.
"""

import json
import subprocess
import sys

import pytest

from extremum.onnxruntime import library_path

PRELUDE = """
import json
import sys
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

options = onnxruntime.SessionOptions()
options.log_severity_level = 4
options.register_custom_ops_library(sys.argv[1])
x = np.array([[1, 5, 2], [7, 7, 3]], np.float32)

def node(operator, inputs, output="y", **attributes):
    outputs = [output] if isinstance(output, str) else output
    return make_node(operator, inputs, outputs, domain="ai.extremum", **attributes)

def run(nodes, inputs, outputs, feeds):
    inputs = [make_tensor_value_info(name, element, shape) for name, element, shape in inputs]
    outputs = [make_tensor_value_info(name, element, None) for name, element in outputs]
    imports = [make_opsetid("", 13), make_opsetid("ai.extremum", 1)]
    model = make_model(make_graph(nodes, "g", inputs, outputs), ir_version=9, opset_imports=imports)
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        answer = {"shapes": [value.shape for value in session.run(None, feeds)]}
    except Exception as error:
        answer = {"error": str(error)}
    print(json.dumps(answer))
"""


def outcome(code):
    words = [sys.executable, "-c", PRELUDE + code, str(library_path())]
    result = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, f"status {result.returncode}: {result.stderr[-2000:]}"
    return json.loads(result.stdout)


REFUSED = {
    "two inputs": (
        'run([node("ArgReduce", ["x", "x"])], [("x", T.FLOAT, [2, 3])], [("y", T.INT64)], {"x": x})',
        "input size 2",
    ),
    "no input": ('run([node("ArgReduce", [])], [("x", T.FLOAT, [2, 3])], [("y", T.INT64)], {"x": x})', "input size 0"),
    "no operand": ('run([node("Extremum", [])], [("x", T.FLOAT, [2, 3])], [("y", T.FLOAT)], {"x": x})', "input size 0"),
    "an input left out": (
        'run([node("ArgReduce", [""])], [("x", T.FLOAT, [2, 3])], [("y", T.INT64)], {"x": x})',
        "empty string",
    ),
    "an operand left out": (
        'run([node("Extremum", ["x", ""])], [("x", T.FLOAT, [2, 3])], [("y", T.FLOAT)], {"x": x})',
        "absent",
    ),
    "two outputs": (
        'run([node("ArgReduce", ["x"], ["y", "z"])], [("x", T.FLOAT, [2, 3])], [("y", T.INT64)], {"x": x})',
        "output size 2",
    ),
    "no output": (
        'run([node("ArgReduce", ["x"], []), make_node("Neg", ["x"], ["y"])], [("x", T.FLOAT, [2, 3])], '
        '[("y", T.FLOAT)], {"x": x})',
        "output size 0",
    ),
    "operands of two types": (
        'run([node("Extremum", ["x", "b"])], [("x", T.FLOAT, [2, 3]), ("b", T.INT8, [2, 3])], [("y", T.FLOAT)], '
        '{"x": x, "b": x.astype(np.int8)})',
        "bound to different types",
    ),
    "an output of another type": (
        'run([node("ArgReduce", ["x"])], [("x", T.FLOAT, [2, 3])], [("y", T.INT8)], {"x": x})',
        "does not match expected type",
    ),
    "strings": (
        'run([node("ArgReduce", ["x"])], [("x", T.STRING, [2])], [("y", T.INT64)], {"x": np.array(["a", "b"])})',
        "tensor(string)",
    ),
    "complex numbers": (
        'run([node("Extremum", ["x"])], [("x", T.COMPLEX64, [2])], [("y", T.COMPLEX64)], {"x": x})',
        "tensor(complex64)",
    ),
    "a sequence": (
        'run([make_node("SequenceConstruct", ["x"], ["s"]), node("ArgReduce", ["s"])], [("x", T.FLOAT, [2, 3])], '
        '[("y", T.INT64)], {"x": x})',
        "seq(tensor(float))",
    ),
    "a scalar": (
        'run([node("OneHot", ["x"])], [("x", T.FLOAT, [])], [("y", T.FLOAT)], {"x": np.array(1, np.float32)})',
        "OneHot: axis -1 is out of range for an input of rank 0; given: float32[]; help: give it at least one axis",
    ),
    "a scalar and all that follows its axis": (
        'run([node("OneHot", ["x"], to_last=1)], [("x", T.FLOAT, [])], [("y", T.FLOAT)], '
        '{"x": np.array(1, np.float32)})',
        "OneHot: axis 1 is out of range for an input of rank 0; given: float32[]; help: give it at least one axis",
    ),
    "an axis twice": (
        'run([node("ArgReduce", ["x"], axes=[0, -2])], [("x", T.FLOAT, None)], [("y", T.INT64)], {"x": x})',
        "ArgReduce: axis -2 is listed twice; given: float32[2, 3]; help: list each axis once",
    ),
    "an axis beyond all ranks": (
        'run([node("ArgReduce", ["x"], axes=[-(2**63)])], [("x", T.FLOAT, None)], [("y", T.INT64)], {"x": x})',
        f"axis {-(2**63)} is out of range for an input of rank 2; given: float32[2, 3]; help: use an axis in [-2, 1]",
    ),
    "millions of axes": (
        'run([node("ArgReduce", ["x"], axes=[0] * 3_000_000)], [("x", T.FLOAT, None)], [("y", T.INT64)], {"x": x})',
        "ArgReduce: axis 0 is listed twice; given: float32[2, 3]; help: list each axis once",
    ),
    "an order that is no text": (
        'n = node("Extremum", ["x"], order="max"); n.attribute[0].s = b"max\\xff\\x00min"\n'
        'run([n], [("x", T.FLOAT, [2, 3])], [("y", T.FLOAT)], {"x": x})',
        "attribute 'order' is 'max\ufffd min'; help: use 'max', the default, or 'min'",
    ),
    "an order of many megabytes": (
        'run([node("Extremum", ["x"], order="m" * 30_000_000)], [("x", T.FLOAT, [2, 3])], [("y", T.FLOAT)], {"x": x})',
        "attribute 'order' is 'mmmm",
    ),
    "many operands that do not go together": (
        'run([node("Extremum", ["x"] * 10_000 + ["z"])], [("x", T.FLOAT, [None]), ("z", T.FLOAT, [None])], '
        '[("y", T.FLOAT)], {"x": x[0], "z": x[0, :2]})',
        "the operands cannot be broadcast against each other; given: [3], [3]",
    ),
    "a result of 2**64 elements": (
        "z = np.zeros(2**16, np.int8)\n"
        'run([node("Extremum", [*"abcd"])], [(name, T.INT8, [None] * 4) for name in "abcd"], [("y", T.INT8)], '
        '{name: z.reshape([2**16 if axis == own else 1 for axis in range(4)]) for own, name in enumerate("abcd")})',
        "Integer overflow",
    ),
    "a result of 2**60 bytes": (
        "z = np.zeros(2**20, np.int8)\n"
        'run([node("Extremum", [*"abc"])], [(name, T.INT8, [None] * 3) for name in "abc"], [("y", T.INT8)], '
        '{name: z.reshape([2**20 if axis == own else 1 for axis in range(3)]) for own, name in enumerate("abc")})',
        "Failed to allocate memory",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_node_that_cannot_be_run_ends_in_an_error(case):
    code, message = REFUSED[case]
    error = outcome(code).get("error", "no error")
    assert message in error
    assert len(error) < 2000


ANSWERED = {
    "another shape than declared": (
        'run([node("ArgReduce", ["x"])], [("x", T.FLOAT, [-2, -3])], [("y", T.INT64)], {"x": x})',
        [[1, 3]],
    ),
    "no elements": (
        'run([node("OneHot", ["x"], axes=[0, 1]), node("Extremum", ["x", "b"], "z")], '
        '[("x", T.FLOAT, [None] * 2), ("b", T.FLOAT, [None] * 2)], [("y", T.FLOAT), ("z", T.FLOAT)], '
        '{"x": np.zeros((0, 3), np.float32), "b": np.zeros((1, 1), np.float32)})',
        [[0, 3], [0, 3]],
    ),
    "no elements, and sizes whose product has no end": (
        's = [make_node("ConstantOfShape", ["s"], ["e"])]\n'
        'heads = [make_node("Shape", [name], [name + "_shape"]) for name in "yzw"]\n'
        'nodes = [node("ArgReduce", ["e"], axis=1), node("OneHot", ["e"], "z"), node("Extremum", ["e", "e"], "w")]\n'
        'run([*s, *nodes, *heads], [("s", T.INT64, [None])], [(name + "_shape", T.INT64) for name in "yzw"], '
        '{"s": np.array([0, *[2**40] * 4])})',
        [[5], [5], [5]],
    ),
    "thousands of axes": (
        'nodes = [make_node("Reshape", ["x", "s"], ["r"]), node("ArgReduce", ["r"], axes=[*range(4999, -1, -1)]), '
        'node("OneHot", ["r"], "z", axis=0, to_last=1), node("Extremum", ["r", "x"], "w")]\n'
        'nodes += [make_node("Shape", [name], [name + "_shape"]) for name in "yzw"]\n'
        'run(nodes, [("x", T.FLOAT, [2, 3]), ("s", T.INT64, [None])], [(name + "_shape", T.INT64) for name in "yzw"], '
        '{"x": x, "s": np.array([1] * 4998 + [2, 3])})',
        [[5000], [5000], [5000]],
    ),
    "thirty axes that do not merge": (
        'nodes = [node("ArgReduce", ["e"], axes=[*range(0, 20, 2)], keepdims=0)]\n'
        'nodes += [node("OneHot", ["e"], "z", axes=[*range(0, 30, 4)])]\n'
        'run([make_node("ConstantOfShape", ["s"], ["e"]), *nodes], [("s", T.INT64, [None])], '
        '[("y", T.INT64), ("z", T.FLOAT)], '
        '{"s": np.array([2, 1] * 15)})',
        [[1] * 10 + [2, 1] * 5, [2, 1] * 15],
    ),
    "a hundred thousand operands": (
        'run([node("Extremum", ["x"] * 100_000)], [("x", T.FLOAT, [2, 3])], [("y", T.FLOAT)], {"x": x})',
        [[2, 3]],
    ),
}


@pytest.mark.parametrize("case", ANSWERED)
def test_a_node_that_can_be_run_runs(case):
    code, shapes = ANSWERED[case]
    assert outcome(code) == {"shapes": shapes}
