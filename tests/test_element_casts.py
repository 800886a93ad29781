"""Element types that exporters write and a version forbids: a fix casts them exactly, and a session runs them."""

import numpy as np
import onnx
import pytest

import extremum as ex
from extremum.check import check
from extremum.fix import fix
from extremum.spec import ONNX, find
from extremum.tensors import ELEMENT_TYPES, element_of, wider_types
from models import model
from sessions import session
from stock import ORT, edges, in_stock

K = "k = Constant <value_ints = [2]> ()"
# The node, its outputs, the opset, and the array functions that give the same.
NODES = {
    "ArgMax": ("y = ArgMax <axis = 1> (x)", 13, lambda x: [ex.argmax(x, 1, keepdims=True)]),
    "ArgMin": ("y = ArgMin <axis = 1> (x)", 18, lambda x: [ex.argmin(x, 1, keepdims=True)]),
    "ReduceMax": ("y = ReduceMax <axes = [1]> (x)", 12, lambda x: [ex.max(x, 1, keepdims=True)]),
    "ReduceMin": (
        "a = Constant <value_ints = [1]> () y = ReduceMin (x, a)",
        20,
        lambda x: [ex.min(x, 1, keepdims=True)],
    ),
    "Max": ("y = Max (x, x)", 11, lambda x: [x]),
    "Min": ("y = Min (x, x)", 13, lambda x: [x]),
    "Hardmax": ("y = Hardmax <axis = 1> (x)", 13, lambda x: [ex.hardmax(x, 1)]),
    "TopK": (f"{K} y, i = TopK (x, k)", 10, lambda x: ex.top_k(x, 2)),
    "TopK-11": (f"{K} y, i = TopK (x, k)", 18, lambda x: ex.top_k(x, 2)),
}
FORBIDDEN = [
    (name, each.name)
    for name, (_, opset, _) in NODES.items()
    for each in ELEMENT_TYPES
    if each.name not in find(ONNX, name.partition("-")[0], opset).types and not (each.name == "bfloat16" and opset < 13)
]


def given(name, element):
    """A model with one node whose version does not take its element type; bfloat16 is between two Casts."""
    node, opset, expected = NODES[name]
    outputs = "y, i" if name.startswith("TopK") else "y"
    spelled = onnx.TensorProto.DataType.Name(element_of(element).onnx_number).lower()
    if element != "bfloat16":
        return model(f"({spelled}[n, 5] x) => ({outputs}) {{ {node} }}", opset), expected
    body = f"b = Cast <to = 16> (x) {node.replace('(x', '(b').replace('y,', 'r,').replace('y =', 'r =')}"
    return model(f"(float[n, 5] x) => ({outputs}) {{ {body} y = Cast <to = 1> (r) }}", opset), expected


def array(element):
    random = np.random.default_rng(3)
    values = np.array([False, True]) if element == "bool" else edges(element)
    values = values[values == values]  # NaN is another test's
    return values[random.integers(len(values), size=(4, 5))]


@pytest.mark.parametrize(("name", "element"), FORBIDDEN)
def test_a_fix_casts_exactly_and_a_session_runs_it(name, element):
    proto, function = given(name, element)
    (finding,) = check(proto, select=["EX004"]).findings
    (site_types,) = {find(ONNX, name.partition("-")[0], NODES[name][1]).types}
    wider = wider_types(element, site_types)
    x = array(element)
    expected = function(x)
    for one, other in zip(session(proto).run(None, {"x": x}), expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    fixed = fix(proto)
    if not wider:
        # No type of the version holds every value: only a later version takes it.
        assert element in ("int64", "uint64")
        assert len(fixed.refusals) == 1
        return
    assert finding.remedy.startswith(f"Cast to {wider[0]} first; ")
    assert fixed.summary() == f"1 node rewritten for {ORT}"
    assert check(fixed.model).counted() == ()
    for one, other in zip(in_stock(fixed.model, {"x": x}), expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_casts_go_on_into_other_nodes_of_these_operators():
    body = "(int16[n, 4] x) => (y) { m = ReduceMax <axes = [0], keepdims = 0> (x) y = ArgMax (m) }"
    fixed = fix(model(body))
    assert [change.operator for change in fixed.changes] == ["ReduceMax-13", "ArgMax-13"]
    x = np.array([[1, 9, 3, 4], [5, 2, 7, 9]], np.int16)
    assert in_stock(fixed.model, {"x": x})[0].tolist() == [1]
    assert session(model(body)).run(None, {"x": x})[0].tolist() == [1]


@pytest.mark.parametrize("text", ["string", "complex64"])
def test_what_has_no_order_is_refused(text):
    proto = model(f"({text}[n, 4] x) => (y) {{ y = ArgMax (x) }}")
    assert len(fix(proto).refusals) == 1
    with pytest.raises(TypeError, match=r"is not an element type that can be compared here|does not take"):
        session(proto)
