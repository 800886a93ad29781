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
from stock import FINDS_NAN_ALONG_A_VECTOR, ORT

CODES = ["EX101", "EX106", "EX107"]
# Those of the package's own adapters that are installed where the tests run.
REAL = {each.name for each in runtimes.installed(["onnxruntime", "onnx.reference", "openvino", "tract"])}


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    make_known(tmp_path, monkeypatch)


def findings(body, runtime, opset=13):
    return check(model(body, opset), runtime=runtime, select=CODES).findings


def test_an_answer_that_a_document_speaks_against():
    (wrong, nan) = findings("(float[2, 3, n] x) => (y) { y = Hardmax <axis=1> (x) }", "onnx.reference", opset=11)
    assert wrong.code == "EX107"
    assert re.fullmatch(r"onnx\.reference \S+ answers Hardmax-11 on float32 otherwise: wrong", wrong.reason)
    # Two elements in one row: fewer repeat nothing.
    assert re.fullmatch(
        r"Hardmax <axis=1> \(x\), opset 11; x = float32\[1, 1, 2\] .*; expected float32\[1, 1, 2\] .*; "
        r"answered float32\[1, 1, 2\] \[\[\[1\.0, 1\.0\]\]\]",
        wrong.given,
    )
    assert nan.reason.endswith("otherwise: NaN")


def test_nothing_is_found_where_the_answers_are_right():
    assert findings("(float[2, 3, n] x, float[n] v) => (y) { y = Hardmax <axis=1> (x) }", "extremum", opset=11) == ()
    assert findings("(int32[n, 3] x) => (y) { y = ArgMax (x) z = Max (x, x) }", "onnxruntime") == ()


def test_axes_ranks_and_types_are_those_of_the_model():
    """onnxruntime does not give the index of a NaN along the rows of a matrix; along a vector, old versions do."""
    found = findings("(float[n] x) => (y) { y = ArgMax (x) }", "onnxruntime")
    assert [each.code for each in found] == ([] if FINDS_NAN_ALONG_A_VECTOR else ["EX107"])
    (found,) = findings("(double[n, m] x) => (y) { y = ArgMin <axis=-2, keepdims=0> (x) }", "onnxruntime")
    assert found.given.startswith("ArgMin <axis=-2, keepdims=0> (x), opset 13; x = float64[2, 1] [[")
    assert found.reason == f"{ORT} answers ArgMin-13 on float64 otherwise: NaN"


def test_a_node_that_breaks_its_promise_is_not_asked(monkeypatch):
    monkeypatch.setattr(processes.Subprocess, "ask", None)
    assert findings("(float[3] x, s) => (y, z) { y = ArgMax <axis=4> (x) z = Max (s) }", "onnx.reference") == ()


def test_equal_nodes_are_asked_once(monkeypatch):
    asked = []
    monkeypatch.setattr(
        processes.Subprocess, "ask", lambda self, proto, feeds: asked.append(proto) or [np.array([[0]])]
    )
    findings("(float[1, 1] x) => (y, z) { [a] y = ArgMax (x) [b] y = ArgMax (x) }", "onnx.reference")
    once = len(asked)
    asked.clear()
    findings("(float[1, 1] x) => (y) { y = ArgMax (x) }", "onnx.reference")
    assert len(asked) == once > 0


def test_a_crash_costs_a_finding(hostile):
    (found,) = findings("(int8[2, 3] ties_rows) => (y) { y = ArgMax <axis=1> (ties_rows) }", "hostile:segfault")
    assert found.code == "EX106"
    assert found.reason == "hostile:segfault 1.0 crashes on ArgMax-13 on int8 at opset 13"
    assert found.given.endswith(": SIGSEGV")


def test_a_runtime_that_is_not_installed(hostile):
    original = model("(float[3] x) => (y) { y = ArgMax (x) }")
    for act in (lambda: check(original, runtime="absent"), lambda: fix(original, "absent")):
        with pytest.raises(ArgumentError) as caught:
            act()
        assert caught.value.reason == "absent is not installed"


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
    path, other = tmp_path / "model.onnx", tmp_path / "other.onnx"
    for each in (path, other):
        each.write_bytes(model("(int16[n, 3] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }").SerializeToString())
    with pytest.raises(SystemExit) as ended:
        main(["check", str(path), str(other), "--for", "onnxruntime", "--json"])
    assert ended.value.code == 1
    codes = [[each["code"] for each in found["findings"]] for found in json.loads(capsys.readouterr().out)["models"]]
    assert codes == [["EX106"], ["EX106"]]
    with pytest.raises(SystemExit) as ended:
        main(["check", str(path), "--for", "nobody"])
    assert ended.value.code == 2
    assert "there is no runtime 'nobody'" in capsys.readouterr().err


def test_there_is_nothing_to_fix_where_every_node_runs():
    fixed = fix(model("(float[n, 3] x) => (float[n, 3] y) { y = Hardmax (x) }"), "onnx.reference")
    assert (fixed.changes, fixed.refusals) == ((), ())
    assert re.fullmatch(r"not modified: onnx\.reference \S+ takes every node", fixed.summary())


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
    fixed = fix(model("(int16[n, 3] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }"), "hostile:narrow")
    assert fixed.summary() == "1 node rewritten for hostile:narrow 1.0"
    assert [node.op_type for node in fixed.model.graph.node] == ["Cast", "ArgMax"]
    refused = fix(model("(int16[n, 3] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }"), "hostile:refuse")
    (error,) = refused.refusals
    assert error.reason == "hostile:refuse 1.0 does not run the replacement of ArgMax-13"
