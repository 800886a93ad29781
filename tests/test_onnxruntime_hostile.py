"""The operators of ai.extremum in hostile models, in a process of their own: an answer or a clear error."""

import json
import subprocess
import sys

import pytest

from extremum.onnxruntime import library_path

PROGRAM = """
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
FIXED, ANY, INDEX, ELEMENT = [("x", T.FLOAT, [2, 3])], [("x", T.FLOAT, None)], [("y", T.INT64)], [("y", T.FLOAT)]

def node(operator, inputs="x", output="y", **attributes):
    inputs, outputs = ([each] if isinstance(each, str) else each for each in (inputs, output))
    return make_node(operator, inputs, outputs, domain="ai.extremum", **attributes)

def run(nodes, outputs, inputs=FIXED, feeds={"x": x}):
    inputs = [make_tensor_value_info(name, element, shape) for name, element, shape in inputs]
    outputs = [make_tensor_value_info(name, element, None) for name, element in outputs]
    imports = [make_opsetid("", 13), make_opsetid("ai.extremum", 1)]
    model = make_model(make_graph(nodes, "g", inputs, outputs), ir_version=9, opset_imports=imports)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return [value.shape for value in session.run(None, feeds)]

def broadcast(size, names):
    "Operands whose result has as many dimensions of a size as there are names."
    shapes = [[size if axis == own else 1 for axis in range(len(names))] for own in range(len(names))]
    feeds = {name: np.zeros(shape, np.int8) for name, shape in zip(names, shapes)}
    inputs = [(name, T.INT8, [None] * len(names)) for name in names]
    return run([node("Extremum", [*names])], [("y", T.INT8)], inputs, feeds)

s = ("s", T.INT64, [None])
empty = make_node("ConstantOfShape", ["s"], ["e"])
shapes = [make_node("Shape", [name], [name * 2]) for name in "yzw"], [(name * 2, T.INT64) for name in "yzw"]
outcomes = {}
for case, lines in json.loads(sys.argv[2]).items():
    print(case, file=sys.stderr, flush=True)
    *first, last = lines.splitlines()
    exec("\\n".join(first))
    try:
        outcomes[case] = eval(last)
    except Exception as error:
        outcomes[case] = str(error)
print(json.dumps(outcomes))
"""


RANK_0 = "is out of range for an input of rank 0; given: float32[]; help: give it at least one axis"
SCALAR = '[("x", T.FLOAT, [])], {"x": np.array(1, np.float32)}'
CASES = {
    "two inputs": ('run([node("ArgReduce", ["x", "x"])], INDEX)', "input size 2"),
    "no input": ('run([node("ArgReduce", [])], INDEX)', "input size 0"),
    "no operand": ('run([node("Extremum", [])], ELEMENT)', "input size 0"),
    "an input left out": ('run([node("ArgReduce", "")], INDEX)', "empty string"),
    "an operand left out": ('run([node("Extremum", ["x", ""])], ELEMENT)', "absent"),
    "two outputs": ('run([node("ArgReduce", output=["y", "z"])], INDEX)', "output size 2"),
    "no output": ('run([node("ArgReduce", output=[]), make_node("Neg", ["x"], ["y"])], ELEMENT)', "output size 0"),
    "operands of two types": (
        'b = ("b", T.INT8, [2, 3])\n'
        'run([node("Extremum", ["x", "b"])], ELEMENT, [*FIXED, b], {"x": x, "b": x.astype(np.int8)})',
        "bound to different types",
    ),
    "an output of another type": ('run([node("ArgReduce")], [("y", T.INT8)])', "does not match expected type"),
    "strings": (
        'run([node("ArgReduce")], INDEX, [("x", T.STRING, [2])], {"x": np.array(["a", "b"])})',
        "tensor(string)",
    ),
    "complex numbers": (
        'run([node("Extremum")], [("y", T.COMPLEX64)], [("x", T.COMPLEX64, [2])])',
        "tensor(complex64)",
    ),
    "a sequence": (
        'run([make_node("SequenceConstruct", ["x"], ["s"]), node("ArgReduce", "s")], INDEX)',
        "seq(tensor(float))",
    ),
    "a scalar": (f'run([node("OneHot")], ELEMENT, {SCALAR})', f"OneHot: axis -1 {RANK_0}"),
    "a scalar and all that follows its axis": (
        f'run([node("OneHot", to_last=1)], ELEMENT, {SCALAR})',
        f"OneHot: axis 1 {RANK_0}",
    ),
    "an axis twice": (
        'run([node("ArgReduce", axes=[0, -2])], INDEX, ANY)',
        "ArgReduce: axis -2 is listed twice; given: float32[2, 3]; help: list each axis once",
    ),
    "an axis beyond all ranks": (
        'run([node("ArgReduce", axes=[-(2**63)])], INDEX, ANY)',
        f"axis {-(2**63)} is out of range for an input of rank 2; given: float32[2, 3]; help: use an axis in [-2, 1]",
    ),
    "millions of axes": (
        'run([node("ArgReduce", axes=[0] * 3_000_000)], INDEX, ANY)',
        "ArgReduce: axis 0 is listed twice; given: float32[2, 3]; help: list each axis once",
    ),
    "an order that is not text": (
        'n = node("Extremum", order="max"); n.attribute[0].s = b"max\\xff\\x00min"\nrun([n], ELEMENT)',
        "attribute 'order' is 'max\ufffd min'; help: use 'max', the default, or 'min'",
    ),
    "an order of many megabytes": (
        'run([node("Extremum", order="m" * 30_000_000)], ELEMENT)',
        "attribute 'order' is 'mmmm",
    ),
    "many operands that do not go together": (
        'run([node("Extremum", ["x"] * 10_000 + ["z"])], ELEMENT, [("x", T.FLOAT, [None]), ("z", T.FLOAT, [None])], '
        '{"x": x[0], "z": x[0, :2]})',
        "the operands cannot be broadcast against each other; given: float32[3], float32[3]",
    ),
    "a result of 2**64 elements": ('broadcast(2**16, "abcd")', "Integer overflow"),
    "a result of 2**60 bytes": ('broadcast(2**20, "abc")', "Failed to allocate memory"),
    "another shape than declared": ('run([node("ArgReduce")], INDEX, [("x", T.FLOAT, [-2, -3])])', [[1, 3]]),
    "no elements": (
        'run([node("OneHot", axes=[0, 1]), node("Extremum", ["x", "b"], "z")], '
        '[("y", T.FLOAT), ("z", T.FLOAT)], [("x", T.FLOAT, [None] * 2), ("b", T.FLOAT, [None] * 2)], '
        '{"x": np.zeros((0, 3), np.float32), "b": np.zeros((1, 1), np.float32)})',
        [[0, 3], [0, 3]],
    ),
    "no elements, and sizes whose product has no end": (
        'nodes = [node("ArgReduce", "e", axis=1), node("OneHot", "e", "z"), node("Extremum", ["e", "e"], "w")]\n'
        'run([empty, *nodes, *shapes[0]], shapes[1], [s], {"s": np.array([0, *[2**40] * 4])})',
        [[5], [5], [5]],
    ),
    "thousands of axes": (
        'nodes = [make_node("Reshape", ["x", "s"], ["r"]), node("ArgReduce", "r", axes=[*range(4999, -1, -1)]), '
        'node("OneHot", "r", "z", axis=0, to_last=1), node("Extremum", ["r", "x"], "w")]\n'
        'run([*nodes, *shapes[0]], shapes[1], [*FIXED, s], {"x": x, "s": np.array([1] * 4998 + [2, 3])})',
        [[5000], [5000], [5000]],
    ),
    "thirty axes that do not merge": (
        'nodes = [node("ArgReduce", "e", axes=[*range(0, 20, 2)], keepdims=0)]\n'
        'nodes += [node("OneHot", "e", "z", axes=[*range(0, 30, 4)])]\n'
        'run([empty, *nodes], [("y", T.INT64), ("z", T.FLOAT)], [s], {"s": np.array([2, 1] * 15)})',
        [[1] * 10 + [2, 1] * 5, [2, 1] * 15],
    ),
    "a hundred thousand operands": ('run([node("Extremum", ["x"] * 100_000)], ELEMENT)', [[2, 3]]),
}


@pytest.fixture(scope="module")
def outcomes():
    """The error or the shapes of each case. The process prints each case first: after a crash, blame the last one."""
    codes = {case: code for case, (code, _) in CASES.items()}
    words = [sys.executable, "-c", PROGRAM, str(library_path()), json.dumps(codes)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, f"status {result.returncode}: {result.stderr[-2000:]}"
    return json.loads(result.stdout)


@pytest.mark.parametrize("case", CASES)
def test_a_node_ends_in_an_answer_or_a_clear_error(case, outcomes):
    _, expected = CASES[case]
    if isinstance(expected, list):
        assert outcomes[case] == expected
    else:
        assert expected in outcomes[case]
        assert len(outcomes[case]) < 2000
