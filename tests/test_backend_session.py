"""The backend with onnxruntime and without: who runs a model, and the same answers and refusals from either."""

import numpy as np
import pytest

from extremum import backend
from extremum.backend.executor import Executor
from extremum.backend.session import Session, suits
from extremum.errors import ArgumentError, DependencyError, ExecutionError, SpecError, UnknownOperatorError
from extremum.graph.sites import sites
from models import model

MIXED = "(float[n, 3] x) => (int64[1, 3] y) { z = Neg(x) y = ArgMax(z) }"
X = np.array([[1, 5, 9], [7, 7, 2]], np.float32)


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
    assert not suits(sites(proto))
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
    with pytest.raises(UnknownOperatorError, match=r"no implementation of com\.microsoft\.Gelu") as caught:
        backend.prepare(proto)
    assert caught.value.remedy == (
        "pip install 'extremum[onnxruntime]', which may have it, or give it as a model-local function"
    )


ZIPMAP = "(float[n, 3] x) => (y, i) { y = ai.onnx.ml.ZipMap <classlabels_int64s = [7, 8, 9]> (x) i = ArgMax(x) }"


def zipmap():
    proto = model(ZIPMAP)
    proto.opset_import.add(domain="ai.onnx.ml", version=1)
    return proto


def test_zipmap_runs_in_onnxruntime_alone():
    outputs = backend.prepare(zipmap()).run([X])
    assert outputs.y == [{7: 1.0, 8: 5.0, 9: 9.0}, {7: 7.0, 8: 7.0, 9: 2.0}]
    assert outputs.i.tolist() == [[1, 1, 0]]
    with pytest.raises(UnknownOperatorError) as caught:
        backend.prepare(zipmap(), engine="reference")
    assert (caught.value.given, caught.value.remedy) == (None, "give it as a model-local function")


def test_zipmap_without_onnxruntime(without_onnxruntime):
    with pytest.raises(UnknownOperatorError) as caught:
        backend.prepare(zipmap())
    assert caught.value.reason == "there is no implementation of ai.onnx.ml.ZipMap"
    assert caught.value.remedy.startswith("pip install 'extremum[onnxruntime]'")
    with pytest.raises(DependencyError):
        backend.prepare(zipmap(), engine="onnxruntime")


@pytest.mark.parametrize(("name", "kind"), [("onnxruntime", Session), ("reference", Executor)])
def test_the_engine_that_is_asked_for_runs_the_model(name, kind):
    for body in (MIXED, "(float[n, 3] x) => (int64[1, 3] y) { y = ArgMin(x) }"):
        prepared = backend.prepare(model(body), engine=name)
        assert engine(prepared) is kind
        assert prepared.engine == name
        assert (
            prepared.run([X]).y.tolist() == backend.run_model(model(body), [X], engine=name).y.tolist() == [[0, 0, 1]]
        )


def test_an_engine_that_there_is_not():
    with pytest.raises(ArgumentError) as caught:
        backend.prepare(model(MIXED), engine="tensorrt")
    assert str(caught.value) == "there is no engine 'tensorrt' here\n  help  use 'onnxruntime' or 'reference'"


def test_nobody_takes_over_where_onnxruntime_was_asked_for():
    with pytest.raises(ExecutionError) as caught:
        backend.prepare(model("(bfloat16[3] x) => (bfloat16[3] y) { z = Neg(x) y = Max(z) }"), engine="onnxruntime")
    assert caught.value.reason == "onnxruntime does not take the model"
    assert "NOT_IMPLEMENTED" in caught.value.given
    prepared = backend.prepare(
        model("(float[n, m] x) => (int64[1, m] y) { z = Neg(x) y = ArgMax(z) }"), engine="onnxruntime"
    )
    with pytest.raises(ExecutionError, match="onnxruntime could not run the model"):
        prepared.run([np.zeros((0, 3), np.float32)])


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
