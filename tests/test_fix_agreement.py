"""What a check reports and what a fix does agree: for one model and one target, before and after the fix."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from extremum import backend, runtimes
from extremum.check import check
from extremum.fix import fix
from extremum.runtimes.process import InProcess
from models import model

ROOT = Path(__file__).parents[1]

HEAD = """(float[1, 6, n] x) => (boxes, best, label) <int64[1] k = {2}, float low = {0.0}, float high = {9.0}> {
    s = Constant <value_ints = [2, 4]> () place, scores = Split <axis = 1> (x, s)
    t = Transpose <perm = [0, 2, 1]> (scores)
    m = ReduceMax <axes = [2], keepdims = 0> (t)
    c = ArgMax <axis = 2, keepdims = 0> (t)
    best, i = TopK (m, k)
    label = GatherElements <axis = 1> (c, i)
    inside = Max (place, low) boxes = Min (inside, high)
}"""
K = "k = Constant <value_ints = [2]> ()"
MODELS = {
    "a detection head": (13, HEAD),
    "a classifier": (13, "(float[n, 10] x) => (int64[n, 1] y) { y = ArgMax <axis = 1> (x) }"),
    "hardmax of blocks": (11, "(float[2, 3, 4] x) => (y) { y = Hardmax <axis = 1> (x) }"),
    "an axis from the end": (10, "(float[3, 4] x) => (y) { y = ArgMax <axis = -1> (x) }"),
    "an axis from the end of an unknown rank": (
        10,
        "(float[3, 4] x, int64[r] s) => (y) { a = Reshape (x, s) y = ArgMax <axis = -1> (a) }",
    ),
    "axes from the end of a type that is refused": (
        10,
        "(uint32[3, 4] x, uint16[3, 4] z) => (y, v) { y = ReduceMax <axes = [-1]> (x) v = ArgMax <axis = -1> (z) }",
    ),
    "k of 0": (1, "(float[3, 4] x) => (v, i) { v, i = TopK <k = 0> (x) }"),
    "k above the axis": (13, f"(float[1] x) => (v, i) {{ {K} v, i = TopK (x, k) }}"),
    "an output of another shape": (13, "(float[3, 4] x) => (int64[3] y) { y = ArgMax <axis = 1> (x) }"),
    "a type that no version takes": (20, "(int16[3, 4] x) => (y) { y = ReduceMax (x) }"),
    "a mixed bag": (13, "(bool[3, 4] x, double[3] h) => (y, z) { y = ArgMax <axis = 1> (x) z = Hardmax (h) }"),
    "an output without a name": (13, f'(float[3, 4] x) => (i) {{ {K} "", i = TopK (x, k) }}'),
    "an attribute without effect": (1, "(float[3] a, float[3] b) => (c) { c = Max <consumed_inputs = [0, 0]> (a, b) }"),
    "operands that are one value": (13, "(uint16[3] x, uint16 z) => (a, b) { a = Max (x, z, x) b = Min (x, x) }"),
    "an unknown opset": (99, "(int16[3] x) => (y) { y = ArgMax (x) }"),
    "no node of these operators": (13, "(float[3] x) => (y) { y = Neg (x) }"),
}
# A node of each kind that onnxruntime does not run, whose operand has no known rank.
UNKNOWN = {
    "an axis beyond the third of an unknown rank": "y = ArgMax <axis = 4> (z)",
    "an axis far from the end of an unknown rank": "y = ArgMin <axis = -5> (z)",
    "a selection along an axis of an unknown rank": f"{K} y, i = TopK <axis = 3> (z, k)",
    "an unknown rank beside a known one": "y = Max (x, z, w)",
    "an unknown rank beside a scalar": "s = Constant <value = uint16 {5}> () y = Min (s, z)",
}
for _name, _node in UNKNOWN.items():
    MODELS[_name] = (13, f"(uint16[2, 3] x, uint16[4, n, 1] w, int64[r] s0) => (y) {{ z = Reshape (x, s0) {_node} }}")

# Those of this package's adapters that are installed here.
TARGETS = [None, *(each.name for each in runtimes.installed(["onnxruntime", "onnx.reference", "openvino", "tract"]))]


# The others do not take a Reshape whose result has no known rank.
TAKES_UNKNOWN_RANKS = (None, "onnxruntime", "onnx.reference")
CASES = [
    (name, target)
    for name in MODELS
    for target in TARGETS
    if "unknown rank" not in name or target in TAKES_UNKNOWN_RANKS
]


@pytest.mark.parametrize("strict", [False, True], ids=["", "strict"])
@pytest.mark.parametrize(("name", "target"), CASES)
def test_a_check_after_a_fix_reports_no_more_and_both_have_one_status(name, target, strict, in_process):
    opset, body = MODELS[name]
    given = model(body, opset)
    fixed = fix(given, target, strict=strict)
    # A strict fix without a target asks onnxruntime about its answers.
    runtime = "onnxruntime" if strict and target is None else target
    before = check(given, runtime=runtime).counted(strict=strict)
    after = check(fixed.model, runtime=runtime).counted(strict=strict)
    assert len(after) <= len(before)
    assert bool(after) == bool(fixed.refusals or fixed.differences or fixed.kept)
    assert bool(before) >= bool(fixed.changes)
    again = fix(fixed.model, target, strict=strict)
    assert again.changes == ()
    assert again.model == fixed.model


@pytest.mark.parametrize("name", [*UNKNOWN, "operands that are one value"])
def test_what_onnxruntime_refuses_is_found_and_rewritten(name, in_process):
    opset, body = MODELS[name]
    given = model(body, opset)
    report = check(given, runtime="onnxruntime")
    assert {each.code for each in report.counted()} == {"EX106"}
    fixed = fix(given, "onnxruntime")
    assert (fixed.refusals, fixed.differences, fixed.kept) == ((), (), ())
    assert len(fixed.changes) == len(report.counted())


def test_an_ordinary_classifier_passes_for_onnxruntime(in_process):
    report = check(ROOT / "examples" / "digits" / "classifier.onnx", runtime="onnxruntime")
    assert report.counted() == ()
    assert {each.code for each in report.findings} <= {"EX110"}
    assert fix(ROOT / "examples" / "digits" / "classifier.onnx").notes == ()


def test_the_nodes_of_a_fix_are_one_node_to_a_check(in_process):
    fixed = fix(model("(float[n, 3] x) => (y) { y = ArgMax <axis = 1> (x) }"), "onnxruntime", strict=True).model
    assert {"ReduceMax", "ArgMax"} <= {node.op_type for node in fixed.graph.node}
    before = json.loads(fixed.graph.node[-1].metadata_props[1].value)
    assert (before["opset"], before["node"]["opType"]) == (13, "ArgMax")
    assert check(fixed, runtime="onnxruntime").counted(strict=True) == ()
    # Each alone is answered differently for NaN.
    for node in fixed.graph.node:
        del node.metadata_props[:]
    assert {each.code for each in check(fixed, runtime="onnxruntime").counted(strict=True)} == {"EX110"}


def swap(fixed):
    """Let the last node choose the other of two elements."""
    chosen = fixed.graph.node[-1]
    chosen.input[1], chosen.input[2] = chosen.input[2], chosen.input[1]


def test_a_model_that_was_edited_after_a_fix_is_found_out(in_process):
    fixed = fix(model("(double[n, 3] x, double[3] z) => (y) { y = Max (x, z) }"), "onnx.reference", strict=True).model
    assert fixed.graph.node[-1].op_type == "Where"
    swap(fixed)
    findings = check(fixed, runtime="onnx.reference").counted()
    assert {each.code for each in findings} == {"EX107"}
    assert " answers what replaces Max-13 on float64 differently: wrong" in findings[0].reason


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("extremum.fix", "[1, {}]"),
        ("extremum.fix", "no JSON"),
        ("extremum.fix", '["another"]'),
        ("extremum.fix.before", "[]"),
        ("extremum.fix.before", '{"opset": "13", "node": {}}'),
        ("extremum.fix.before", '{"opset": 13, "node": {"opType": "Neg", "output": ["y"]}}'),
        ("extremum.fix.before", '{"opset": 13, "node": {"opType": "ArgMax"}}'),
        ("extremum.fix.before", '{"opset": 13, "node": {"opType": "ArgMax", "input": ["q"], "output": ["y"]}}'),
        ("extremum.fix.before", '{"opset": 1e999, "node": {"what": 1}}'),
        pytest.param("extremum.fix.before", "[" * 100_000, id="nested too deep"),
    ],
)
def test_a_mark_that_is_not_true_is_not_believed(key, value, in_process):
    fixed = fix(model("(bfloat16[n, 3] x) => (y) { y = ArgMax (x) }")).model
    marks = [each for node in fixed.graph.node for each in node.metadata_props if each.key == key]
    marks[0].value = value
    plain = onnx.ModelProto()
    plain.CopyFrom(fixed)
    for node in plain.graph.node:
        del node.metadata_props[:]
    assert check(fixed, runtime="onnxruntime").findings == check(plain, runtime="onnxruntime").findings


def test_two_rewrites_of_one_input_share_their_common_half(in_process):
    body = "(float[n, 4] x) => (y, z) { y = ReduceMax <axes = [1]> (x) z = ArgMax <axis = 1, keepdims = 0> (x) }"
    given = model(body)
    fixed = fix(given, "onnx.reference", strict=True)
    operators = [node.op_type for node in fixed.model.graph.node]
    assert (operators.count("IsNaN"), operators.count("ArgMax"), operators.count("Less")) == (1, 2, 1)
    assert check(fixed.model, runtime="onnx.reference").counted(strict=True) == ()
    x = np.array([[1, np.nan, 3, 3], [-0.0, 0.0, -1, -2]], np.float32)
    for one, other in zip(backend.run_model(fixed.model, [x]), backend.run_model(given, [x]), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("level", ["3_0", "4_1", "5_1"])
@pytest.mark.parametrize(
    "body",
    [
        "(double[2, 3, 4] x) => (y) { y = ReduceMax <axes = [0, 1, 2]> (x) }",
        "(double[2, 3] x) => (y, z) { y = ArgMax <axis = 1> (x) z = Hardmax (x) }",
        "(bfloat16[2, 3] x) => (y) { y = Min (x, x) }",
        "(int64[2, 3] x) => (y) { y = ArgMin (x) }",
    ],
)
def test_both_agree_about_a_feature_level_of_directml(body, level):
    given = model(body)
    fixed = fix(given, f"directml-{level}")
    rules = {"feature_level": level, "select": ["EX0", "EX102", "EX104"]}
    before, after = (check(each, **rules).counted() for each in (given, fixed.model))
    assert len(after) <= len(before)
    assert bool(after) == bool(fixed.refusals or fixed.differences or fixed.kept)


def in_reverse(_, proto, feeds):
    """An answer whose last axis is in the other order."""
    return [np.flip(each, -1) for each in backend.run_model(proto, list(feeds.values()))]


def test_another_order_of_unsorted_results_is_an_info(monkeypatch, in_process):
    monkeypatch.setattr(InProcess, "ask", in_reverse)
    body = "(int32[n, 4] x) => (v, i) {{ k = Constant <value_ints = [3]> () v, i = TopK <sorted = {}> (x, k) }}"
    unsorted, ordered = (check(model(body.format(flag)), runtime="onnx.reference") for flag in (0, 1))
    assert unsorted.counted() == ()
    assert [each.code for each in unsorted.findings] == ["EX110"]
    assert unsorted.findings[0].reason.endswith("differently: order of unsorted results")
    assert {each.code for each in ordered.counted()} == {"EX107"}
