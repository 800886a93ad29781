"""The backend with onnxruntime and without: who runs a model, and the same answers and refusals from either."""

import sys

import numpy as np
import pytest

from extremum import backend
from extremum.backend.executor import Executor
from extremum.backend.session import Session, serves
from extremum.errors import ExecutionError, SpecError, UnknownOperatorError
from models import model

MIXED = "(float[n, 3] x) => (int64[1, 3] y) { z = Neg(x) y = ArgMax(z) }"
X = np.array([[1, 5, 9], [7, 7, 2]], np.float32)


@pytest.fixture
def without_onnxruntime(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.delitem(sys.modules, "extremum.onnxruntime.installed", raising=False)


def engine(prepared):
    return type(prepared._executor)


def test_other_operators_run_in_onnxruntime():
    prepared = backend.prepare(model(MIXED))
    assert engine(prepared) is Session
    assert prepared.run([X]).y.tolist() == [[0, 0, 1]]
    assert prepared.run([X.astype(">f4")]).y.tolist() == [[0, 0, 1]]
    assert repr(prepared.run([X]).y) == "array([[0, 0, 1]])"


def test_our_operators_alone_need_no_onnxruntime():
    proto = model(
        "(float[n, 3] x) => (y) { y = own.Arg(x) }",
        functions='<domain: "own", opset_import: ["" : 13]> Arg (x) => (y) { y = ArgMax(x) }',
    )
    assert not serves(proto)
    assert engine(backend.prepare(proto)) is Executor


def test_without_onnxruntime_the_reference_runs_everything(without_onnxruntime):
    prepared = backend.prepare(model(MIXED))
    assert engine(prepared) is Executor
    assert prepared.run([X]).y.tolist() == [[0, 0, 1]]


def test_an_operator_of_onnxruntimes_own():
    proto = model("(float[n, 3] x) => (int64[1, 3] y) { z = com.microsoft.Gelu(x) y = ArgMax(z) }")
    proto.opset_import.add(domain="com.microsoft", version=1)
    prepared = backend.prepare(proto)
    assert prepared.run([X]).y.tolist() == [[1, 1, 0]]


def test_an_operator_of_onnxruntimes_own_without_onnxruntime(without_onnxruntime):
    proto = model("(float[n, 3] x) => (int64[1, 3] y) { z = com.microsoft.Gelu(x) y = ArgMax(z) }")
    proto.opset_import.add(domain="com.microsoft", version=1)
    with pytest.raises(UnknownOperatorError, match=r"no implementation of com\.microsoft\.Gelu"):
        backend.prepare(proto)


def test_what_onnxruntime_refuses_the_reference_runs():
    # onnxruntime has no Neg on bfloat16, onnx's reference implementation has.
    prepared = backend.prepare(model("(bfloat16[3] x) => (bfloat16[3] y) { z = Neg(x) y = Max(z) }"))
    assert engine(prepared) is Executor


def test_where_onnxruntime_fails_the_reference_says_why():
    prepared = backend.prepare(model("(float[n, m] x) => (int64[1, m] y) { z = Neg(x) y = ArgMax(z) }"))
    assert engine(prepared) is Session
    with pytest.raises(SpecError) as caught:
        prepared.run([np.zeros((0, 3), np.float32)])
    assert str(caught.value) == (
        "ArgMax-13 has nothing to choose from: axis 0 of its input has no element\n"
        "  at    graph.node[1], opset 13\n"
        "  given z: float32[0, 3]"
    )


def test_where_nobody_else_can_run_a_model_onnxruntimes_failure_is_the_error():
    proto = model("(float[n, m] x) => (int64[1, m] y) { z = com.microsoft.Gelu(x) y = ArgMax(z) }")
    proto.opset_import.add(domain="com.microsoft", version=1)
    with pytest.raises(ExecutionError) as caught:
        backend.prepare(proto).run([np.zeros((0, 3), np.float32)])
    assert caught.value.reason == "onnxruntime could not run the model"
    assert "there is nothing to choose from: axis 0 of the input has no element" in caught.value.given
