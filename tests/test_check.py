"""A check walks the whole model, reads no weights, tries onnxruntime once, and says what it could not check."""

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
RIGHT, TWICE = "(float[3] x) => (y) { y = ArgMax (x) }", "(float[3] x) => (y) { y = ArgMin <keepdims=2, axis=4> (x) }"


@pytest.mark.parametrize(
    ("body", "functions", "findings"),
    [
        (
            "(float[3] x) => (y) { a = Neg (x) [here] y = ArgMax <axis=9> (a) }",
            "",
            [("graph.node[1] 'here'", "a: float32[3], axis=9")],
        ),
        (
            """(bool c, float[3] x) => (y) { y = If (c) <
            then_branch = t () => (z) { z = ArgMax <axis=9> (x) }, else_branch = e () => (z) { z = ArgMax (x) }> }""",
            "",
            [("graph.node[0].then_branch.node[0]", "x: float32[3], axis=9")],
        ),
        (
            "(float[3] x, double[3, 2] w) => (y, z) { y = own.Outer (x) z = own.Inner (w) }",
            """<domain: "own", opset_import: ["" : 13, "own" : 1]> Outer (x) => (y) { a = Abs (x) y = own.Inner (a) }
            <domain: "own", opset_import: ["" : 13]> Inner (x) => (y) { a = Neg (x) y = ArgMax <axis=9> (a) }""",
            [
                ("functions[1].node[1]", "a: float32[3], axis=9"),
                ("functions[1].node[1]", "a: float64[3, 2], axis=9"),
            ],
        ),
        # An attribute that the call gives.
        (
            "(float[3] x) => (y) { y = own.F <k=9> (x) }",
            '<domain: "own", opset_import: ["" : 13]> F <k> (x) => (y) { y = ArgMax <axis: int = @k> (x) }',
            [],
        ),
    ],
    ids=["graph", "subgraph", "functions", "attribute of the call"],
)
def test_looks_at_every_node_with_the_types_that_it_gets(body, functions, findings):
    report = check(model(body, functions=functions), select=["EX003"])
    assert [(each.place, each.given) for each in report.findings] == findings
    assert report.nodes == 1 + ("If" in body)


def test_finds_whatever_prepare_refuses_and_goes_on():
    with pytest.raises(ExtremumError) as caught:
        backend.prepare(model(TWICE))
    first, second = check(model(TWICE)).counted()
    assert (
        first.record().items() >= {name: getattr(caught.value, name) for name in ("reason", "given", "remedy")}.items()
    )
    assert (first.code, second.code) == ("EX002", "EX003")
    assert [each.code for each in check(model(TWICE), select=["ex002"]).findings] == ["EX002"]
    assert [each.code for each in check(model(TWICE), ignore=["ex002"]).counted()] == ["EX003"]


@pytest.mark.parametrize(
    ("name", "kind", "dims", "body", "given"),
    [
        (
            "w",
            onnx.TensorProto.FLOAT,
            (2**20, 1024),
            "(float[4, 1048576] x) => (y) { a = MatMul (x, w) y = ArgMax <axis=2> (a) }",
            ["a: float32[4, 1024], axis=2"],
        ),
        ("s", onnx.TensorProto.INT64, (2,), "(float[4, 6] x) => (y) { a = Reshape (x, s) y = ArgMax (x) }", []),
    ],
)
def test_reads_no_weights(name, kind, dims, body, given, tmp_path):
    weight = onnx.TensorProto(name=name, data_type=kind, dims=dims, data_location=onnx.TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="absent.bin")
    graph = model(body)
    graph.graph.initializer.append(weight)
    onnx.save(graph, tmp_path / "m.onnx")
    assert [each.given for each in check(tmp_path / "m.onnx").counted()] == given
    assert name == "s" or math.prod(dims) * 4 > 2**31


@pytest.mark.parametrize("name", ["classifier", "kmeans"])
def test_an_ordinary_model_is_clean(name):
    report = check(ROOT / "examples" / "digits" / f"{name}.onnx", feature_level=0x4100)
    assert (report.nodes, report.counted(), report.notes) == (1, (), ())


@pytest.mark.parametrize(
    ("error", "given", "options", "reason"),
    [
        (ArgumentError, model(RIGHT), {"select": ["EX999"]}, "there is no rule 'EX999'"),
        (ArgumentError, model(RIGHT), {"feature_level": 0x9900}, "there is no feature level 0x9900"),
        (ModelError, b"no model", {}, "the bytes hold no ONNX model"),
    ],
)
def test_refuses(error, given, options, reason):
    assert refusal(error, check, given, **options) == reason


def test_says_that_onnxruntime_is_missing(without_onnxruntime):
    report = check(model(RIGHT.replace("float", "int16")))
    note = "onnxruntime was not asked what it refuses: onnxruntime is not installed; help: pip install"
    assert (report.counted(), report.notes) == ((), (f"{note} 'extremum[onnxruntime]'",))


@pytest.mark.parametrize(
    ("text", "nodes", "note"),
    [
        (
            '<ir_version: 9, opset_import: ["" : 13]> g (x) => (y) { y = ArgMax (x) }',
            1,
            "an element type at graph.node[0] is not known, so some rules do not apply to it",
        ),
        (
            '<ir_version: 9, opset_import: ["own" : 1]> g (float[3] x) => (y) { y = ArgMax (x) }',
            0,
            "ArgMax at graph.node[0] has no version: its domain is not imported",
        ),
    ],
)
def test_says_what_it_could_not_check(text, nodes, note):
    report = check(onnx.parser.parse_model(text))
    assert (report.nodes, report.notes) == (nodes, (note,))


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


def test_a_report_counts_and_the_model_is_left_as_it_is():
    given = model("(float[3] x) => (y) { y = ArgMax <axis=4, keepdims=3> (x) }")
    given.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(1000, np.float32), "w"))
    before = given.SerializeToString(deterministic=True)
    report = check(given)
    assert report.summary() == "1 node checked: 2 errors, no warnings, 1 info"
    assert (len(report.counted()), len(report.counted(strict=True))) == (2, 3)
    assert Report((), 2, ()).summary() == "2 nodes checked: no errors, no warnings, no info"
    assert given.SerializeToString(deterministic=True) == before


def test_the_page_is_fresh():
    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    assert page == markdown(), "write docs/check.md anew: extremum explain --markdown"
