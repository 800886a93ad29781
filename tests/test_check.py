"""A check walks the whole model, reads no weights, tries a runtime once for each kind of node, in its own process."""

import math
import re
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from extremum import backend, runtimes
from extremum.check import Report, check
from extremum.check.question import samples
from extremum.cli.explain import markdown
from extremum.errors import ArgumentError, ExtremumError
from extremum.fix import fix
from extremum.graph.sites import sites
from extremum.runtimes import registry
from extremum.runtimes.process import InProcess
from hostile_runtimes import make_known
from models import model
from refusal import error_of, refusal
from stock import FINDS_NAN_ALONG_A_VECTOR, ORT

ROOT = Path(__file__).parents[1]
RIGHT = "(float[3] x) => (y) { y = ArgMax (x) }"
TWICE = "(float[3] x) => (y) { y = ArgMin <keepdims=2, axis=4> (x) }"


CALLS = "(float[3] x, double[3, 2] w) => (y, z) { y = own.Outer (x) z = own.Inner (w) }"
BRANCHES = "then_branch = t () => (z) { z = ArgMax <axis=9> (x) }, else_branch = e () => (z) { z = ArgMax (x) }"
OUTER = '<domain: "own", opset_import: ["" : 13, "own" : 1]> Outer (x) => (y) { a = Abs (x) y = own.Inner (a) }'
INNER = '<domain: "own", opset_import: ["" : 13]> Inner (x) => (y) { a = Neg (x) y = ArgMax <axis=9> (a) }'
OF_CALL = '<domain: "own", opset_import: ["" : 13]> F <k> (x) => (y) { y = ArgMax <axis: int = @k> (x) }'


@pytest.mark.parametrize(
    ("body", "path", "types"),
    [
        ("(float[3] x) => (y) { a = Neg (x) [b] y = ArgMax <axis=9> (a) }", "graph.node[1] 'b'", ["a: float32[3]"]),
        (
            f"(bool c, float[3] x) => (y) {{ y = If (c) <{BRANCHES}> }}",
            "graph.node[0].then_branch.node[0]",
            ["x: float32[3]"],
        ),
        (f"{CALLS} {OUTER} {INNER}", "functions[1].node[1]", ["a: float32[3]", "a: float64[3, 2]"]),
        (f"(float[3] x) => (y) {{ y = own.F <k=9> (x) }} {OF_CALL}", "", []),
    ],
    ids=["graph", "subgraph", "functions", "attribute of the call"],
)
def test_looks_at_every_node_with_the_types_that_it_gets(body, path, types):
    report = check(model(body), select=["EX003"])
    assert [(each.place, each.given) for each in report.findings] == [(path, f"{each}, axis=9") for each in types]
    assert report.nodes == 1 + ("If" in body)


def test_finds_whatever_prepare_refuses_and_goes_on():
    error = error_of(ExtremumError, backend.prepare, model(TWICE))
    first, second = check(model(TWICE)).counted()
    assert first.record().items() >= {name: getattr(error, name) for name in ("reason", "given", "remedy")}.items()
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


def test_an_ordinary_model_is_clean():
    for name in ("classifier", "kmeans"):
        report = check(ROOT / "examples" / "digits" / f"{name}.onnx", feature_level=0x4100)
        assert (report.nodes, report.counted(), report.notes) == (1, (), ())


def test_says_that_onnxruntime_is_missing(without_onnxruntime):
    report = check(model(RIGHT.replace("float", "int16")))
    note = "onnxruntime was not asked what it refuses: onnxruntime is not installed; help: pip install"
    assert (report.counted(), report.notes) == ((), (f"{note} 'extremum[onnxruntime]'",))


def test_says_what_it_could_not_check():
    unknown = "an element type at graph.node[0] is not known, so some rules do not apply to it"
    lacking = "ArgMax at graph.node[0] has no version: its domain is not imported"
    given = model("(x) => (y) { y = ArgMax (x) }"), model("(float[3] x) => (y) { y = ArgMax (x) }")
    del given[1].opset_import[:1]
    reports = [check(each) for each in given]
    assert [(each.nodes, each.notes) for each in reports] == [(1, (unknown,)), (0, (lacking,))]


def test_a_report_counts_and_the_model_is_left_as_it_is():
    given = model("(float[3] x) => (y) { y = ArgMax <axis=4, keepdims=3> (x) }")
    given.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(1000, np.float32), "w"))
    before = given.SerializeToString(deterministic=True)
    report = check(given)
    assert report.summary() == "1 node checked: 2 errors, no warnings, 1 info"
    assert (len(report.counted()), len(report.counted(strict=True))) == (2, 3)
    assert Report((), 2, ()).summary() == "2 nodes checked: no errors, no warnings, no info"
    assert given.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("(float[3] x) => (y) { y = Neg (x) }", "0 nodes checked: the only node is of another operator"),
        ("(float[3] x) => (y) { a = Neg (x) y = Abs (a) }", "0 nodes checked: all 2 nodes are of other operators"),
        ("(float[3] x) => (x) { }", "0 nodes checked: no errors, no warnings, no info"),
    ],
)
def test_a_report_without_nodes_of_these_operators_says_so(body, text):
    assert check(model(body)).summary() == text


@pytest.mark.parametrize("runtime", [None, "onnxruntime"])
def test_an_opset_that_a_runtime_does_not_load_is_no_matter_of_rewriting(runtime, in_process):
    given = model("(int16[3] x) => (y) { y = ArgMax (x) }", 99)
    (finding,) = check(given, runtime=runtime, select=["EX101", "EX106"]).findings
    (refused,) = fix(given, runtime).refusals
    assert finding.reason == refused.reason == f"{ORT} loads no model of opset 99"
    assert finding.remedy == refused.remedy == "export the model at an opset that it knows"


def test_the_page_is_fresh():
    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    assert page == markdown(), "write docs/check.md anew: extremum explain --markdown"


# The runtimes of the package's own adapters that are installed here.
REAL = {each.name for each in runtimes.installed(["onnxruntime", "onnx.reference", "openvino", "tract"])}


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    make_known(tmp_path, monkeypatch)


def findings(inputs, node, runtime, opset=13):
    body = f"({inputs}) => (y) {{ y = {node} }}"
    return check(model(body, opset), runtime=runtime, select=["EX101", "EX106", "EX107", "EX110"]).findings


ARGMAX = "({}[n, 3] x) => (int64[n, 1] y) {{ y = ArgMax <axis=1> (x) }}"
ROW = r"float32\[1, 1, 2\]"
NAN = f"EX110 {re.escape(ORT)} answers Arg.*-13 on .* differently: NaN: "


@pytest.mark.parametrize(
    ("inputs", "node", "opset", "runtime", "expected"),
    [
        # Two elements in one row: fewer show no difference.
        (
            "float[2, 3, n] x",
            "Hardmax <axis=1> (x)",
            11,
            "onnx.reference",
            [
                r"EX107 onnx\.reference \S+ answers Hardmax-11 on float32 differently: wrong: Hardmax <axis=1> \(x\), "
                rf"opset 11; x = {ROW} .*; expected {ROW} .*; answered {ROW} \[\[\[1\.0, 1\.0\]\]\]",
                ".* differently: NaN: .*",
            ],
        ),
        ("float[2, 3, n] x", "Hardmax <axis=1> (x)", 11, "extremum", []),
        ("int32[n, 3] x", "ArgMax (x) z = Max (x, x)", 13, "onnxruntime", []),
        # onnxruntime does not give the index of a NaN along the rows of a matrix; along a vector, old versions do.
        ("float[n] x", "ArgMax (x)", 13, "onnxruntime", [] if FINDS_NAN_ALONG_A_VECTOR else [f"{NAN}.*"]),
        (
            "double[n, m] x",
            "ArgMin <axis=-2, keepdims=0> (x)",
            13,
            "onnxruntime",
            [rf"{NAN}ArgMin <axis=-2, keepdims=0> \(x\), opset 13; x = float64\[2, 1\] \[\[.*"],
        ),
        (
            "int8[1, 1] ties_rows",
            "ArgMax <axis=1> (ties_rows)",
            13,
            "hostile:segfault",
            ["EX106 hostile:segfault 1.0 crashes on ArgMax-13 on int8 at opset 13: .*: SIGSEGV"],
        ),
    ],
)
def test_findings_have_the_smallest_input(inputs, node, opset, runtime, expected, hostile, request):
    if "hostile" not in runtime:
        request.getfixturevalue("in_process")
    texts = [f"{each.code} {each.reason}: {each.given}" for each in findings(inputs, node, runtime, opset)]
    assert len(texts) == len(expected)
    assert all(map(re.fullmatch, expected, texts))


def test_a_node_that_breaks_its_promise_is_not_asked(monkeypatch, in_process):
    monkeypatch.setattr(InProcess, "ask", None)
    assert findings("float[3] x, s", "ArgMax <axis=4> (x) z = Max (s)", "onnx.reference") == ()


def test_nodes_that_differ_in_names_and_large_sizes_alone_are_asked_once(monkeypatch, in_process):
    questions = []
    wrong = lambda self, proto, feeds: questions.append(proto) or [np.array([[9]])]  # noqa: E731
    monkeypatch.setattr(InProcess, "ask", wrong)
    findings("float[1, 20] x", "ArgMax <axis=1> (x)", "onnx.reference")
    once = len(questions)
    questions.clear()
    more = "b = Neg (a) [n] z = ArgMax <axis=1> (b) v = ArgMax <axis=1> (c)"
    results = findings("float[1, n] a, float[1, 300] c", f"ArgMax <axis=1> (a) {more}", "onnx.reference")
    assert len(questions) == once > 0
    first = [each.given for each in results if each.place == "graph.node[0]"]
    assert first[0].startswith("ArgMax <axis=1> (a), opset 13; a = float32[1, ")
    for at, name in ((2, "b"), (3, "c")):
        others = [each.given for each in results if each.place.startswith(f"graph.node[{at}]")]
        assert others == [text.replace("(a)", f"({name})").replace("; a =", f"; {name} =") for text in first]


def test_axes_that_are_an_input_stay_as_they_are(monkeypatch, in_process):
    """The smallest input that shows a difference has fewer elements of the tensor, and the same axes."""
    monkeypatch.setattr(InProcess, "ask", lambda self, proto, feeds: [np.float32(9)])
    node = "a = Constant <value_ints = [0, 1]> () y = ReduceMin <keepdims=0> (x, a)"
    body = f"(float[n, 7] x) => (y) {{ {node} }}"
    results = check(model(body, 18), runtime="onnx.reference", select=["EX107"]).findings
    assert results
    for each in results:
        assert re.search(r"x = float32\[1, 1\] \[\[.*\]\]; a = int64\[2\] \[0, 1\]; expected", each.given)


def test_a_runtime_that_is_not_installed(hostile):
    for act in (lambda given: check(given, runtime="absent"), lambda given: fix(given, "absent")):
        assert refusal(ArgumentError, act, model(ARGMAX.format("float"))) == "absent is not installed"


@pytest.mark.parametrize(
    ("name", "package"), [("openvino", "openvino"), ("jaxonnxruntime", "jaxonnxruntime absl-py"), ("tract", "tract")]
)
def test_the_error_says_what_to_install(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    registry._open.cache_clear()
    error = error_of(ArgumentError, runtimes.find, name)
    assert (error.reason, error.remedy) == (f"{name} is not installed", f"pip install {package}")


FIXABLE = [
    ("uint16[n, 3] x", "ArgMax <axis=1> (x)", 13),
    ("float[3] x", "Hardmax <axis=0> (x)", 13),
    ("int16[n, 3] x, int16[3] z", "Max (x, z)", 13),
    ("uint32[n, 3] x", "ReduceMin <axes=[1]> (x)", 13),
]


@pytest.mark.parametrize(("inputs", "node", "opset"), FIXABLE)
@pytest.mark.parametrize("runtime", [name for name in runtimes.known() if name in REAL], ids=str)
def test_a_fix_for_a_real_runtime_runs_there_with_the_same_answers(runtime, inputs, node, opset, in_process):
    original = model(f"({inputs}) => (y) {{ y = {node} }}", opset)
    fixed = fix(original, runtime)
    if not fixed.changes and (stays := fixed.refusals or fixed.differences):
        (error,) = stays
        assert runtime != "onnxruntime"
        refused = r"(takes no exact replacement|does not run the replacement) of "
        assert re.match(rf"\S+ \S+ ({refused}|answers \S+ on \S+ differently: wrong$)", error.reason)
        return
    feeds = next(samples(*sites(original)))
    (answer,) = runtimes.find(runtime).load(fixed.model)(feeds)
    np.testing.assert_array_equal(answer, backend.run_model(original, feeds)[0])
    assert fixed.changes or runtime != "onnxruntime" or not inputs.startswith(("uint16", "uint32", "int16"))


def test_a_fix_is_verified_in_the_runtime_that_was_named(hostile, in_process):
    fixed = fix(model(ARGMAX.format("int16")), "hostile:narrow")
    assert fixed.summary() == "1 node rewritten for hostile:narrow 1.0"
    assert [node.op_type for node in fixed.model.graph.node] == ["Cast", "ArgMax"]
    (error,) = fix(model(ARGMAX.format("int16")), "hostile:refuse").refusals
    assert error.reason == "hostile:refuse 1.0 does not run the replacement of ArgMax-13"
