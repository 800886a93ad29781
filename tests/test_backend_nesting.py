"""Operators inside If, Loop, Scan and model-local functions: right version, right attributes, right place in errors."""

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from extremum import backend
from extremum.errors import AxisError, ElementTypeError, ModelError, SpecError
from models import model

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


@pytest.mark.parametrize(("condition", "expected"), [(True, [[2], [0]]), (False, [[2], [2]])])
def test_if(condition, expected):
    proto = model(IF)
    assert backend.run_model(proto, [np.array(condition), X]).y.tolist() == expected
    evaluator = ReferenceEvaluator(proto, new_ops=backend.reference_ops())
    assert evaluator.run(None, {"c": np.array(condition), "x": X})[0].tolist() == expected


def test_loop():
    start, x = np.array([9, 0, 0], np.float32), np.array([1, 2, 3], np.float32)
    outputs = backend.run_model(model(LOOP), [np.array(2), np.array(True), start, x])
    assert outputs.last.tolist() == [9, 2, 3]
    assert outputs.all.tolist() == [[0], [0]]


def test_scan():
    assert backend.run_model(model(SCAN), [X]).y.tolist() == [[2], [2]]


def test_a_function_has_its_own_opset_and_attributes():
    proto = model(
        "(float[1, 2, 2] x) => (y, i) { y = own.Hot(x) i = own.Last <along = 2> (x) }",
        functions="""
        <domain: "own", opset_import: ["" : 11]> Hot (x) => (y) { y = Hardmax(x) }
        <domain: "own", opset_import: ["" : 12]> Last <along> (x) => (y) {
          y = ArgMax <axis: int = @along, select_last_index = 1> (x)
        }""",
    )
    y, i = backend.run_model(proto, [np.array([[[1, 2], [4, 4]]], np.float32)])
    assert y.tolist() == [[[0, 0], [1, 0]]]
    assert i.tolist() == [[[1], [1]]]


@pytest.mark.parametrize(("call", "expected"), [("own.Arg(x)", [[2, 0]]), ("own.Arg <along = 0> (x)", [[1, 1, 0]])])
def test_a_functions_attribute_can_have_a_default(call, expected):
    proto = model(
        f"(float[2, 3] x) => (y) {{ y = {call} }}",
        functions="""<domain: "own", opset_import: ["" : 13]> Arg <along: int = 1> (x) => (y) {
          z = ArgMax <axis: int = @along> (x)
          s = Constant <value_ints = [1, -1]> ()
          y = Reshape(z, s)
        }""",
    )
    x = np.array([[1, 5, 9], [7, 7, 2]], np.float32)
    assert backend.run_model(proto, [x]).y.tolist() == expected


def test_an_attribute_that_a_call_leaves_out_keeps_the_operators_default():
    proto = model(
        "(float[2, 3] x) => (y) { y = own.Arg(x) }",
        functions="""<domain: "own", opset_import: ["" : 13]>
        Arg <along> (x) => (y) { y = ArgMax <axis: int = @along> (x) }""",
    )
    assert backend.run_model(proto, [X]).y.tolist() == [[1, 1, 0]]


NESTED = """
<domain: "own", opset_import: ["" : 13, "own" : 1]> Outer (c, x) => (y) {
  y = If (c) <
    then_branch = inner () => (a) { a = own.Inner <along = 1> (x) },
    else_branch = same () => (b) { b = own.Inner <along = 0> (x) }
  >
}
<domain: "own", opset_import: ["" : 13]> Inner <along> (x) => (y) { y = ArgMax <axis: int = @along> (x) }
"""


def test_functions_in_any_order_and_inside_subgraphs():
    proto = model("(bool c, float[2, 3] x) => (y) { y = own.Outer(c, x) }", functions=NESTED)
    assert backend.run_model(proto, [np.array(True), X]).y.tolist() == [[2], [0]]
    assert backend.run_model(proto, [np.array(False), X]).y.tolist() == [[1, 1, 0]]


def test_an_attribute_handed_on_from_function_to_function():
    proto = model(
        "(float[2, 3] x) => (y) { y = own.Outer <way = 1> (x) }",
        functions="""
        <domain: "own", opset_import: ["own" : 1]> Outer <way> (x) => (y) { y = own.Inner <along: int = @way> (x) }
        <domain: "own", opset_import: ["" : 13]> Inner <along> (x) => (y) { y = ArgMax <axis: int = @along> (x) }""",
    )
    assert backend.run_model(proto, [X]).y.tolist() == [[2], [0]]


def test_functions_in_a_circle():
    proto = model(
        "(float[2] x) => (y) { y = own.A(x) }",
        functions="""
        <domain: "own", opset_import: ["own" : 1]> A (x) => (y) { y = own.B(x) }
        <domain: "own", opset_import: ["own" : 1]> B (x) => (y) { y = own.A(x) }""",
    )
    with pytest.raises(
        ModelError, match=r"^functions of the model call each other in a circle\n  given (A -> B -> A|B -> A -> B)$"
    ):
        backend.prepare(proto)


def test_place_of_a_static_error_in_a_subgraph():
    with pytest.raises(AxisError) as caught:
        backend.prepare(model(IF.replace("b = ArgMin <axis=1>", "[smallest] b = ArgMin <axis=2>")))
    assert str(caught.value) == (
        "ArgMin-13 has axis=2, but its input has rank 2\n"
        "  at    graph.node[0].else_branch.node[0] 'smallest', opset 13\n"
        "  given x: float32[2, 3], axis=2\n"
        "  help  use a value in [-2, 1]"
    )


def test_place_of_a_static_error_in_a_function():
    proto = model(
        "(float[2] x) => (y) { y = own.F(x) }",
        functions="""<domain: "own", opset_import: ["" : 11]>
        F (x) => (y) { a = Neg(x) y = ArgMax <select_last_index=0> (a) }""",
    )
    with pytest.raises(SpecError) as caught:
        backend.prepare(proto)
    assert caught.value.where == "functions[0].node[1], opset 11"


@pytest.mark.parametrize("condition", [True, False])
def test_place_of_an_error_while_a_subgraph_runs(condition):
    body = IF.replace("float[2, 3] x", "float[n, m] x")
    with pytest.raises(SpecError) as caught:
        backend.run_model(model(body), [np.array(condition), np.zeros((2, 0), np.float32)])
    branch = "then" if condition else "else"
    assert caught.value.where == f"graph.node[0].{branch}_branch.node[0], opset 13"
    assert caught.value.given == "x: float32[2, 0], axis=1"


def test_an_element_type_refused_inside_a_function_and_a_subgraph():
    # The evaluator wraps every TypeError on its way out of a subgraph; ours comes out as it was raised.
    proto = model("(bool c, x) => (y) { y = own.Outer(c, x) }", functions=NESTED)
    for value in proto.graph.input[1:]:
        value.type.tensor_type.elem_type = onnx.TensorProto.BOOL
    with pytest.raises(ElementTypeError) as caught:
        backend.run_model(proto, [np.array(True), np.ones((2, 2), bool)])
    assert caught.value.reason == "ArgMax-13 does not take bool"
    assert caught.value.where == "functions[1].node[0], opset 13"


def test_onnx_evaluator_alone_says_which_node():
    proto = model("(float[n] x) => (y) { z = Neg(x) y = ArgMax(z) }")
    evaluator = ReferenceEvaluator(proto, new_ops=backend.reference_ops())
    with pytest.raises(SpecError) as caught:
        evaluator.run(None, {"x": np.zeros(0, np.float32)})
    assert caught.value.where == "the node that gives 'y', opset 13"


@pytest.mark.parametrize("opset", [1, 11])
def test_onnx_evaluator_alone_refuses_what_the_opset_does_not_have(opset):
    proto = model("(float[2] x) => (y) { y = ArgMin <select_last_index=0> (x) }", opset)
    evaluator = ReferenceEvaluator(proto, new_ops=backend.reference_ops())
    with pytest.raises(SpecError, match=rf"^ArgMin-{opset} has no attribute 'select_last_index'"):
        evaluator.run(None, {"x": X[0, :2]})


@pytest.mark.parametrize("opset", [1, 13])
def test_onnx_evaluator_alone_lets_errors_of_element_types_through(opset):
    proto = model("(float[2] x) => (y) { y = Max(x) }", opset)
    evaluator = ReferenceEvaluator(proto, new_ops=backend.reference_ops())
    with pytest.raises(ElementTypeError, match=rf"^Max-{opset} does not take bool"):
        evaluator.run(None, {"x": np.ones(2, bool)})
