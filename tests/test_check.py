"""A check walks the whole model, reads no weights, asks onnxruntime once, and says what it could not ask."""

import math
from pathlib import Path

import numpy as np
import onnx
import pytest

from extremum import backend, runtimes, spec
from extremum.check import Report, check
from extremum.cli.explain import markdown
from extremum.errors import ArgumentError, ExtremumError, ModelError
from extremum.runtimes.runtime import refusal as runtime_refusal
from models import model
from refusal import refusal

ROOT = Path(__file__).parents[1]
WRONG = "ArgMax <axis=9>"


def places(body, functions="", **options):
    report = check(model(body, functions=functions), select=["EX003"], **options)
    return [each.place for each in report.findings]


def test_looks_at_the_graph_beside_other_operators():
    body = f"(float[3] x) => (y) {{ a = Neg (x) [here] y = {WRONG} (a) }}"
    assert places(body) == ["graph.node[1] 'here'"]


def test_looks_into_subgraphs():
    body = f"""(bool c, float[3] x) => (y) {{
        y = If (c) <then_branch = t () => (z) {{ z = {WRONG} (x) }}, else_branch = e () => (z) {{ z = ArgMax (x) }}>
    }}"""
    assert places(body) == ["graph.node[0].then_branch.node[0]"]


def test_looks_into_functions_with_the_types_of_their_calls():
    functions = f"""
        <domain: "own", opset_import: ["" : 13, "own" : 1]> Outer (x) => (y) {{ a = Abs (x) y = own.Inner (a) }}
        <domain: "own", opset_import: ["" : 13]> Inner (x) => (y) {{ a = Neg (x) y = {WRONG} (a) }}
    """
    body = "(float[3] x, double[3, 2] w) => (y, z) { y = own.Outer (x) z = own.Inner (w) }"
    report = check(model(body, functions=functions), select=["EX003"])
    assert [(each.place, each.given) for each in report.findings] == [
        ("functions[1].node[1]", "a: float32[3], axis=9"),
        ("functions[1].node[1]", "a: float64[3, 2], axis=9"),
    ]
    assert report.nodes == 1


def test_checks_nothing_of_a_function_that_depends_on_its_call():
    functions = '<domain: "own", opset_import: ["" : 13]> F <k> (x) => (y) { y = ArgMax <axis: int = @k> (x) }'
    assert places("(float[3] x) => (y) { y = own.F <k=9> (x) }", functions) == []


def test_finds_whatever_prepare_refuses():
    body = "(float[3] x) => (y) { y = ArgMin <keepdims=2> (x) }"
    with pytest.raises(ExtremumError) as caught:
        backend.prepare(model(body))
    (finding,) = check(model(body)).counted()
    assert (finding.reason, finding.given, finding.remedy) == (
        caught.value.reason,
        caught.value.given,
        caught.value.remedy,
    )


def test_goes_on_after_a_finding():
    body = "(float[3] x) => (y, z) { y = ArgMin <keepdims=2, axis=4> (x) z = Max <axis=0> (x) }"
    assert [each.code for each in check(model(body)).counted()] == ["EX002", "EX003", "EX001"]


def test_reads_no_weights(tmp_path):
    rows = 2**20
    weight = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[rows, 1024])
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="absent.bin")
    graph = model("(float[4, 1048576] x) => (y) { a = MatMul (x, w) y = ArgMax <axis=2> (a) }")
    graph.graph.initializer.append(weight)
    assert math.prod(weight.dims) * 4 > 2**31
    onnx.save(graph, tmp_path / "large.onnx")
    (finding,) = check(tmp_path / "large.onnx", select=["EX003"]).findings
    assert finding.given == "a: float32[4, 1024], axis=2"


def test_a_small_weight_in_another_file_is_not_read_either(tmp_path):
    axes = onnx.TensorProto(name="s", data_type=onnx.TensorProto.INT64, dims=[2])
    axes.data_location = onnx.TensorProto.EXTERNAL
    axes.external_data.add(key="location", value="absent.bin")
    graph = model("(float[4, 6] x) => (y) { a = Reshape (x, s) y = ArgMax (x) }")
    graph.graph.initializer.append(axes)
    onnx.save(graph, tmp_path / "m.onnx")
    assert check(tmp_path / "m.onnx").counted() == ()


@pytest.mark.parametrize("name", ["classifier", "kmeans"])
def test_an_ordinary_model_is_clean(name):
    report = check(ROOT / "examples" / "digits" / f"{name}.onnx", feature_level=0x4100)
    assert (report.nodes, report.counted(), report.notes) == (1, (), ())


def test_select_and_ignore_take_codes_in_either_case():
    body = "(float[3] x) => (y) { y = ArgMin <keepdims=2, axis=4> (x) }"
    assert [each.code for each in check(model(body), select=["ex002"]).findings] == ["EX002"]
    assert [each.code for each in check(model(body), ignore=["ex002"]).counted()] == ["EX003"]


def test_refuses_a_code_that_is_none():
    assert refusal(ArgumentError, check, model("(float[3] x) => (y) { y = ArgMax (x) }"), select=["EX999"]) == (
        "there is no rule 'EX999'"
    )


def test_refuses_a_feature_level_that_is_none():
    assert refusal(ArgumentError, check, model("(float[3] x) => (y) { y = ArgMax (x) }"), feature_level=0x9900) == (
        "there is no feature level 0x9900"
    )


def test_refuses_what_is_no_model():
    assert refusal(ModelError, check, b"no model") == "the bytes hold no ONNX model"


def test_says_that_onnxruntime_is_missing(without_onnxruntime):
    report = check(model("(int16[3] x) => (y) { y = ArgMax (x) }"))
    assert report.counted() == ()
    assert report.notes == (
        "what onnxruntime refuses was not asked: onnxruntime is not installed; "
        "help: pip install 'extremum[onnxruntime]'",
    )


def test_says_that_a_type_is_unknown():
    report = check(model("(x) => (y) { y = ArgMax (x) }"))
    assert report.notes == ("an element type at graph.node[0] is not known, so less could be asked about it",)


def test_onnxruntime_is_asked_once_for_each_kind_of_node():
    asked = []

    class Counting:
        def load(self, model):
            asked.append(model)
            return runtimes.find("onnxruntime").load(model)

    counting, row = Counting(), spec.find(spec.ONNX, "Max", 13)
    answers = [runtime_refusal(counting, row, 13, element) for element in ("int16", "float32", "int16", "float32")]
    assert [answer is None for answer in answers] == [False, True, False, True]
    assert len(asked) == 2


def test_a_report_counts():
    report = check(model("(float[3] x) => (y) { y = ArgMax <axis=4, keepdims=3> (x) }"))
    assert report.summary() == "1 node checked: 2 errors, no warnings, 1 info"
    assert len(report.counted()) == 2
    assert len(report.counted(strict=True)) == 3
    assert Report((), 2, ()).summary() == "2 nodes checked: no errors, no warnings, no info"


def test_the_model_is_left_as_it_is():
    given = model("(float[3] x) => (y) { y = ArgMax <axis=4> (x) }")
    given.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(1000, np.float32), "w"))
    before = given.SerializeToString(deterministic=True)
    check(given)
    assert given.SerializeToString(deterministic=True) == before


def test_the_page_is_fresh():
    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    assert page == markdown(), "write docs/check.md anew: extremum explain --markdown"


def test_says_that_a_domain_is_not_imported():
    text = '<ir_version: 9, opset_import: ["own" : 1]> g (float[3] x) => (y) { y = ArgMax (x) }'
    report = check(onnx.parser.parse_model(text))
    assert (report.nodes, report.notes) == (
        0,
        ("ArgMax at graph.node[0] has no version: its domain is not imported",),
    )
