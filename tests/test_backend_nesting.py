"""Operators inside If, Loop, Scan and model-local functions: right version, right attributes, right place in errors."""

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from packaging.version import Version

from extremum import backend
from extremum.errors import ElementTypeError, SpecError
from models import model
from refusal import error_of
from sessions import run_model

X = np.array([[1, 5, np.nan], [7, 7, 2]], np.float32)

IF = """(bool c, float[2, 3] x) => (y) {
  y = If (c) <
    then_branch = largest () => (int64[2, 1] a) { a = ArgMax <axis=1> (x) },
    else_branch = smallest () => (int64[2, 1] b) { b = ArgMin <axis=1> (x) }
  >
}"""

LOOP = """(int64 n, bool c, float[3] start, float[3] x) => (float[3] last, all) {
  last, all = Loop (n, c, start) <
    body = step (int64 i, bool go, float[3] before) => (bool go_on, float[3] after, int64[1] at) {
      go_on = Identity(go)
      after = Max(before, x)
      at = ArgMax(after)
    }
  >
}"""

SCAN = """(float[2, 3] x) => (y) {
  y = Scan (x) <num_scan_inputs = 1, body = row (float[3] r) => (int64[1] i) { i = ArgMin(r) }>
}"""


HOT_AND_LAST = """
<domain: "own", opset_import: ["" : 11]> Hot (x) => (y) { y = Hardmax(x) }
<domain: "own", opset_import: ["" : 12]> Last <along> (x) => (y) {
  y = ArgMax <axis: int = @along, select_last_index = 1> (x)
}"""
DEFAULT = """<domain: "own", opset_import: ["" : 13]> Arg <along: int = 1> (x) => (y) {
  z = ArgMax <axis: int = @along> (x)
  s = Constant <value_ints = [1, -1]> ()
  y = Reshape(z, s)
}"""
LEFT_OUT = '<domain: "own", opset_import: ["" : 13]> Arg <along> (x) => (y) { y = ArgMax <axis: int = @along> (x) }'
NESTED = """
<domain: "own", opset_import: ["" : 13, "own" : 1]> Outer (c, x) => (y) {
  y = If (c) <
    then_branch = inner () => (a) { a = own.Inner <along = 1> (x) },
    else_branch = same () => (b) { b = own.Inner <along = 0> (x) }
  >
}
<domain: "own", opset_import: ["" : 13]> Inner <along> (x) => (y) { y = ArgMax <axis: int = @along> (x) }
"""
PASSED_ON = """
<domain: "own", opset_import: ["own" : 1]> Outer <way> (x) => (y) { y = own.Inner <along: int = @way> (x) }
<domain: "own", opset_import: ["" : 13]> Inner <along> (x) => (y) { y = ArgMax <axis: int = @along> (x) }"""
MIDDLE = """<domain: "own", opset_import: ["" : 13]> LastOfMiddle (x, z) => (y) {
  m = Max(x, z)
  n = Min(m, x, z)
  y = ArgMax <select_last_index = 1> (n)
}"""
A = np.array([7, 7, 1], np.uint16)
B = np.array([9, 7, 0], np.uint16)
TRUE = np.array(True)
FALSE = np.array(False)
EQUAL = np.array([[[1, 2], [4, 4]]], np.float32)


@pytest.mark.parametrize(
    ("body", "functions", "inputs", "expected"),
    [
        pytest.param(IF, "", [TRUE, X], [[[2], [0]]], id="then branch"),
        pytest.param(IF, "", [FALSE, X], [[[2], [2]]], id="else branch"),
        pytest.param(
            LOOP,
            "",
            [np.array(2), TRUE, np.float32([9, 0, 0]), np.float32([1, 2, 3])],
            [[9, 2, 3], [[0], [0]]],
            id="loop",
        ),
        pytest.param(SCAN, "", [X], [[[2], [2]]], id="scan"),
        pytest.param(
            "(float[1, 2, 2] x) => (float[a, b, c] y, int64[d, e, f] i) { y = own.Hot(x) i = own.Last<along=2>(x) }",
            HOT_AND_LAST,
            [EQUAL],
            [[[[0, 0], [1, 0]]], [[[1], [1]]]],
            id="attributes of functions",
        ),
        pytest.param(
            "(float[2, 3] x) => (int64[a] y) { y = own.Arg(x) }", DEFAULT, [X], [[[2, 0]]], id="default of an attribute"
        ),
        pytest.param(
            "(float[2, 3] x) => (int64[a] y) { y = own.Arg <along = 0> (x) }",
            DEFAULT,
            [X],
            [[[1, 1, 0]]],
            id="attribute in place of a default",
        ),
        pytest.param(
            "(float[2, 3] x) => (int64[a, b] y) { y = own.Arg(x) }",
            LEFT_OUT,
            [X],
            [[[1, 1, 0]]],
            id="attribute left out",
        ),
        pytest.param(
            "(bool c, float[2, 3] x) => (int64[a, b] y) { y = own.Outer(c, x) }",
            NESTED,
            [TRUE, X],
            [[[2], [0]]],
            id="function in a branch",
        ),
        pytest.param(
            "(bool c, float[2, 3] x) => (int64[a, b] y) { y = own.Outer(c, x) }",
            NESTED,
            [FALSE, X],
            [[[1, 1, 0]]],
            id="function in the other branch",
        ),
        pytest.param(
            "(float[2, 3] x) => (int64[a, b] y) { y = own.Outer <way = 1> (x) }",
            PASSED_ON,
            [X],
            [[[2], [0]]],
            id="attribute passed on",
        ),
        # Types pass through a function without declarations.
        pytest.param(
            "(uint16[3] x, uint16[3] z) => (int64[1] y) { y = own.LastOfMiddle(x, z) }",
            MIDDLE,
            [A, B],
            [[1]],
            id="types through a function",
        ),
    ],
)
def test_operators_inside(body, functions, inputs, expected):
    proto = model(body, functions=functions)
    answers = [backend.run_model(proto, inputs), run_model(proto, inputs)]
    # The Scan of onnx 1.19's own evaluator returns only the last row.
    by_onnx = body is not SCAN or Version(onnx.__version__) >= Version("1.20")
    if by_onnx:
        answers.append(backend.run_model(proto, inputs, engine="reference"))
    if by_onnx and not functions:
        feeds = dict(zip((each.name for each in proto.graph.input), inputs, strict=True))
        answers.append(ReferenceEvaluator(proto, new_ops=backend.reference_ops()).run(None, feeds))
    for answer in answers:
        assert [each.tolist() for each in answer] == expected


def test_place_of_an_error_while_a_subgraph_runs():
    body = IF.replace("float[2, 3] x", "float[n, m] x")
    error = error_of(SpecError, backend.run_model, model(body), [FALSE, np.zeros((2, 0), np.float32)])
    assert error.where == "graph.node[0].else_branch.node[0], opset 13"
    assert error.given == "x: float32[2, 0], axis=1"


def test_an_element_type_refused_inside_a_function_and_a_subgraph():
    # The evaluator wraps every TypeError on its way out of a subgraph; ours comes out as it was raised.
    proto = model("(bool c, x) => (y) { y = own.Outer(c, x) }", functions=NESTED)
    for value in proto.graph.input[1:]:
        value.type.tensor_type.elem_type = onnx.TensorProto.BOOL
    error = error_of(ElementTypeError, backend.run_model, proto, [np.array(True), np.ones((2, 2), bool)])
    assert error.reason == "ArgMax-13 does not take bool"
    assert error.where == "functions[1].node[0], opset 13"


LACKS = r"^ArgMin-11 has no attribute 'select_last_index'"


@pytest.mark.parametrize(
    ("opset", "body", "x", "kind", "message"),
    [
        (13, "z = Neg(x) y = ArgMax(z)", X[0, :0], SpecError, "at    the node that gives 'y', opset 13"),
        (11, "y = ArgMin <select_last_index=0> (x)", X[0, :2], SpecError, LACKS),
        (1, "y = Max(x)", np.ones(2, bool), ElementTypeError, "^Max-1 does not take bool"),
        (13, "y = Max(x)", np.ones(2, bool), ElementTypeError, "^Max-13 does not take bool"),
    ],
)
def test_onnx_evaluator_alone_refuses_in_the_same_words(opset, body, x, kind, message):
    proto = model(f"(float[n] x) => (y) {{ {body} }}", opset)
    with pytest.raises(kind, match=message):
        ReferenceEvaluator(proto, new_ops=backend.reference_ops()).run(None, {"x": x})
