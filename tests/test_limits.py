"""TopK whose k is limited to its axis, in a fixed model and in a session: detection heads with few boxes."""

import numpy as np
import onnx
import pytest

from commands import printed
from extremum.check import check
from extremum.errors import SpecError
from extremum.fix import fix
from extremum.onnxruntime import convert
from models import model
from refusal import error_of
from sessions import session
from stock import ORT, in_stock

# Boxes come from a NonZero, so their number is unknown.
HEAD = """(float[n, 6] x, float[m] threshold) => (float[3, 6] best, int64[3] index) <int64[1] k = {{3}}> {{
    {first}
    v, index = TopK {attributes} (scores, k)
    best = Gather (x, index)
}}"""
SCORES = "s = Constant <value_ints = [5]> () c = Gather <axis = 1> (x, s) d = Constant <value_ints = [-1]> () "
SCORES += "scores = Reshape (c, d)"
X = np.arange(24, dtype=np.float32).reshape(4, 6)[::-1]
T = np.zeros(1, np.float32)


def head(opset=13, attributes="<axis = 0>"):
    return model(HEAD.format(first=SCORES, attributes=attributes), opset)


def expected(boxes):
    order = np.argsort(-boxes[:, 5], kind="stable")[:3]
    return boxes[order], order


@pytest.mark.parametrize(
    ("opset", "attributes"),
    [(10, ""), (11, "<axis = 0>"), (11, "<axis = -1>"), (12, "<axis = -1>"), (18, "<axis = 0>")],
)
def test_fewer_boxes_than_k_in_a_fixed_model_and_in_a_session(opset, attributes):
    given = head(opset, attributes)
    fixed = fix(given, limit_k=True)
    assert [change.title.rpartition("with ")[2] for change in fixed.changes] == ["k limited to its axis"]
    assert fixed.kept == fixed.differences == ()
    for boxes in (X, X[:3], X[:2], X[:1]):
        feeds = {"x": boxes, "threshold": T}
        for best, index in (in_stock(fixed.model, feeds), session(given, limit_k=True).run(None, feeds)):
            np.testing.assert_array_equal(best, expected(boxes)[0])
            np.testing.assert_array_equal(index, expected(boxes)[1])
    with pytest.raises(Exception, match="k"):
        in_stock(given, {"x": X[:2], "threshold": T})


def test_a_check_names_the_selection_and_a_fix_ends_it():
    (finding,) = check(head(), select=["EX017"]).findings
    assert finding.remedy == "extremum fix --limit-k takes as many as there are"
    assert check(fix(head(), limit_k=True).model, select=["EX017"]).findings == ()
    assert fix(head()).changes == ()


def test_sizes_that_no_longer_hold_are_not_declared():
    given = head()
    given.graph.value_info.append(onnx.helper.make_tensor_value_info("v", onnx.TensorProto.FLOAT, [3]))
    fixed = fix(given, limit_k=True).model
    shapes = [[size.dim_value for size in value.type.tensor_type.shape.dim] for value in fixed.graph.output]
    assert shapes == [[0, 6], [0]]
    assert not fixed.graph.value_info[0].type.tensor_type.HasField("shape")
    assert check(fixed, select=["EX012"]).findings == ()


BRANCHES = """(bool c, float[n] x) => (y) <int64[1] k = {2}> {
    y = If (c) <
        then_branch = t () => (a) { a, p = TopK (x, k) },
        else_branch = e () => (b) { b, q = TopK <largest = 0> (x, k) }>
}"""
FUNCTION = '<domain: "own", opset_import: ["" : 13]> Best (x, k) => (y) { y, i = TopK (x, k) }'


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(BRANCHES, id="branches"),
        pytest.param(f"(float[n] x) => (y) <int64[1] k = {{2}}> {{ y = own.Best (x, k) }} {FUNCTION}", id="a function"),
    ],
)
def test_in_subgraphs_and_functions(body):
    given = model(body)
    feeds = {"x": np.array([7], np.float32), **({"c": np.array(True)} if "bool c" in body else {})}
    assert in_stock(fix(given, limit_k=True).model, feeds)[0].tolist() == [7]
    assert session(given, limit_k=True).run(None, feeds)[0].tolist() == [7]


def test_k_that_is_above_a_known_axis_and_k_that_an_input_gives():
    above = model("(float[2] x) => (v, i) { k = Constant <value_ints = [5]> () v, i = TopK (x, k) }")
    assert len(fix(above).refusals) == 1
    fixed = fix(above, limit_k=True)
    assert (fixed.refusals, fixed.kept) == ((), ())
    assert in_stock(fixed.model, {"x": np.array([1, 2], np.float32)})[1].tolist() == [1, 0]
    given = model("(float[n] x, int64[1] k) => (v, i) { v, i = TopK (x, k) }")
    assert session(given, limit_k=True).run(None, {"x": X[0], "k": np.array([99])})[1].tolist() == [5, 4, 3, 2, 1, 0]


def test_a_k_that_always_fits_stays():
    given = model("(float[4] x) => (v, i) { k = Constant <value_ints = [4]> () v, i = TopK (x, k) }")
    assert fix(given, limit_k=True).model == given
    assert [each.after for each in convert(given, limit_k=True).changes] == ["TopK"]


def test_a_k_that_is_an_attribute_needs_a_later_opset():
    given = model("(float[n] x) => (v, i) { v, i = TopK <k = 2> (x) }", 9)
    error = error_of(SpecError, convert, given, limit_k=True)
    assert (error.reason, error.where) == (
        "TopK-1 states k as an attribute, which cannot depend on the axis",
        "graph.node[0], opset 9",
    )
    fixed = fix(given, limit_k=True, raise_opset=11)
    assert (fixed.refusals, fixed.kept) == ((), ())
    assert in_stock(fixed.model, {"x": np.array([3], np.float32)})[1].tolist() == [0]


def test_the_command(tmp_path):
    onnx.save(head(), tmp_path / "m.onnx")
    text = printed("fix", tmp_path / "m.onnx", "--limit-k", "-o", tmp_path / "out.onnx")
    assert text.endswith(f"1 node rewritten for {ORT}\nwrote {tmp_path / 'out.onnx'}\n")


@pytest.mark.parametrize("element", ["float", "int16"])
def test_a_model_whose_input_gives_k_is_compared_as_a_whole(element):
    body = f"({element}[n, 4] x, int64[1] k, int16[3] z) => (v, i, y) {{ v, i = TopK (x, k) y = ArgMax (z) }}"
    fixed = fix(model(body))
    assert (len(fixed.changes) > 0, fixed.notes) == (True, ())


def test_a_model_with_more_selected_than_a_sample_has_is_compared_as_a_whole():
    body = "(float[boxes] x, int16[3] z) => (v, i, y) <int64[1] k = {300}> { v, i = TopK (x, k) y = ArgMax (z) }"
    fixed = fix(model(body))
    assert (len(fixed.changes), fixed.notes) == (1, ())
