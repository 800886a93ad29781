"""A model checked and fixed for a runtime by name: what that one makes of the nodes, in a process of its own."""

import json
import re
import sys

import numpy as np
import onnx
import pytest

from extremum import backend, runtimes
from extremum.check import check
from extremum.cli import main
from extremum.errors import ArgumentError
from extremum.fix import fix
from extremum.runtimes import processes
from hostile_runtimes import make_known
from models import model
from refusal import refusal
from stock import FINDS_NAN_ALONG_A_VECTOR, ORT

# Those of the package's own adapters that are installed where the tests run.
REAL = {each.name for each in runtimes.installed(["onnxruntime", "onnx.reference", "openvino", "tract"])}


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    make_known(tmp_path, monkeypatch)


def findings(inputs, node, runtime, opset=13):
    body = f"({inputs}) => (y) {{ y = {node} }}"
    return check(model(body, opset), runtime=runtime, select=["EX101", "EX106", "EX107"]).findings


ARGMAX = "({}[n, 3] x) => (int64[n, 1] y) {{ y = ArgMax <axis=1> (x) }}"
ROW = r"float32\[1, 1, 2\]"
NAN = f"EX107 {re.escape(ORT)} answers Arg.*-13 on .* differently: NaN: "


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
            "int8[2, 3] ties_rows",
            "ArgMax <axis=1> (ties_rows)",
            13,
            "hostile:segfault",
            ["EX106 hostile:segfault 1.0 crashes on ArgMax-13 on int8 at opset 13: .*: SIGSEGV"],
        ),
    ],
)
def test_findings_have_the_smallest_input(inputs, node, opset, runtime, expected, hostile):
    found = [f"{each.code} {each.reason}: {each.given}" for each in findings(inputs, node, runtime, opset)]
    assert len(found) == len(expected)
    assert all(map(re.fullmatch, expected, found))


def test_a_node_that_breaks_its_promise_is_not_asked(monkeypatch):
    monkeypatch.setattr(processes.Subprocess, "ask", None)
    assert findings("float[3] x, s", "ArgMax <axis=4> (x) z = Max (s)", "onnx.reference") == ()


def test_equal_nodes_are_asked_once(monkeypatch):
    asked = []
    monkeypatch.setattr(
        processes.Subprocess, "ask", lambda self, proto, feeds: asked.append(proto) or [np.array([[0]])]
    )
    findings("float[1, 1] x", "ArgMax (x) [b] y = ArgMax (x)", "onnx.reference")
    once = len(asked)
    asked.clear()
    findings("float[1, 1] x", "ArgMax (x)", "onnx.reference")
    assert len(asked) == once > 0


def test_a_runtime_that_is_not_installed(hostile):
    for act in (lambda given: check(given, runtime="absent"), lambda given: fix(given, "absent")):
        assert refusal(ArgumentError, act, model(ARGMAX.format("float"))) == "absent is not installed"


@pytest.mark.parametrize(
    ("name", "package"), [("openvino", "openvino"), ("jaxonnxruntime", "jaxonnxruntime absl-py"), ("tract", "tract")]
)
def test_the_error_says_what_to_install(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    runtimes._open.cache_clear()
    with pytest.raises(ArgumentError) as caught:
        runtimes.find(name)
    assert (caught.value.reason, caught.value.remedy) == (f"{name} is not installed", f"pip install {package}")


def test_the_command(tmp_path, capsys):
    paths = [str(tmp_path / name) for name in ("model.onnx", "other.onnx")]
    for path in paths:
        onnx.save(model(ARGMAX.format("int16")), path)
    for options, status in ((["--for", "onnxruntime", "--json"], 1), (["--for", "nobody"], 2)):
        with pytest.raises(SystemExit) as ended:
            main(["check", *paths, *options])
        assert ended.value.code == status
        out, err = capsys.readouterr()
        if status == 1:
            found = [[each["code"] for each in report["findings"]] for report in json.loads(out)["models"]]
            assert found == [["EX106"], ["EX106"]]
    assert "there is no runtime 'nobody'" in err


FIXABLE = {
    "(uint16[n, 3] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }": 13,
    "(uint32[n, 3] x) => (int64[n, 1] y) { y = ArgMin <axis=1> (x) }": 13,
    "(float[3] x) => (float[3] y) { y = Hardmax <axis=0> (x) }": 13,
    "(int16[n, 3] x, int16[3] z) => (int16[n, 3] y) { y = Max (x, z) }": 13,
    "(uint8[n, 3] x) => (uint8[1, 3] y) { y = ReduceMax <axes=[0]> (x) }": 12,
    "(uint32[n, 3] x) => (uint32[n, 1] y) { y = ReduceMin <axes=[1]> (x) }": 13,
}


@pytest.mark.parametrize("body", FIXABLE)
@pytest.mark.parametrize("runtime", [name for name in runtimes.known() if name in REAL], ids=str)
def test_a_fix_for_a_real_runtime_runs_there_with_the_same_answers(runtime, body):
    original = model(body, FIXABLE[body])
    fixed = fix(original, runtime)
    if fixed.refusals:
        (error,) = fixed.refusals
        assert runtime != "onnxruntime"
        assert re.match(r"\S+ \S+ (takes no exact replacement|does not run the replacement) of ", error.reason)
        return
    random = np.random.default_rng(0)
    feeds = {
        each.name: random.integers(0, 9, (2, 3)[-len(each.type.tensor_type.shape.dim) :]).astype(
            onnx.helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type)
        )
        for each in original.graph.input
    }
    (answer,) = runtimes.find(runtime).load(fixed.model)(feeds)
    np.testing.assert_array_equal(answer, backend.run_model(original, feeds)[0])
    stock = set() if runtime != "onnxruntime" else {"uint16", "uint32", "int16"}
    assert bool(fixed.changes) >= any(each in body for each in stock)


def test_a_fix_is_verified_in_the_runtime_that_was_named(hostile):
    fixed = fix(model(ARGMAX.format("int16")), "hostile:narrow")
    assert fixed.summary() == "1 node rewritten for hostile:narrow 1.0"
    assert [node.op_type for node in fixed.model.graph.node] == ["Cast", "ArgMax"]
    (error,) = fix(model(ARGMAX.format("int16")), "hostile:refuse").refusals
    assert error.reason == "hostile:refuse 1.0 does not run the replacement of ArgMax-13"
