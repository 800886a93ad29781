"""The backend with onnxruntime and without: who runs a model, and the same answers and refusals from either."""

import numpy as np
import pytest

from extremum import backend
from extremum.backend.engines import Executor, Session, suits
from extremum.errors import ArgumentError, DependencyError, ExecutionError, SpecError, UnknownOperatorError
from extremum.graph.sites import sites
from models import model

MIXED = "(float[n, 3] x) => (int64[1, 3] y) { z = Neg(x) y = ArgMax(z) }"
OPEN = "(float[n, m] x) => (int64[1, m] y) { z = Neg(x) y = ArgMax(z) }"
GELU = "(float[n, 3] x) => (int64[1, 3] y) { z = com.microsoft.Gelu(x) y = ArgMax(z) }"
ZIPMAP = "(float[n, 3] x) => (y, i) { y = ai.onnx.ml.ZipMap <classlabels_int64s = [7, 8, 9]> (x) i = ArgMax(x) }"
# onnxruntime has no Neg on bfloat16, onnx's reference implementation has.
NEG = "(bfloat16[3] x) => (bfloat16[3] y) { z = Neg(x) y = Max(z) }"
X = np.array([[1, 5, 9], [7, 7, 2]], np.float32)


def importing(body):
    """A model that imports the domains of onnxruntime."""
    proto = model(body)
    proto.opset_import.add(domain="com.microsoft", version=1)
    proto.opset_import.add(domain="ai.onnx.ml", version=1)
    return proto


def engine(prepared):
    return type(prepared._executor)


def test_other_operators_run_in_onnxruntime():
    prepared = backend.prepare(model(MIXED))
    assert engine(prepared) is Session
    assert prepared.run([X]).y.tolist() == prepared.run([X.astype(">f4")]).y.tolist() == [[0, 0, 1]]
    assert repr(prepared.run([X]).y) == "array([[0, 0, 1]])"
    assert backend.prepare(importing(GELU)).run([X]).y.tolist() == [[1, 1, 0]]


def test_our_operators_alone_need_no_onnxruntime():
    proto = model(
        "(float[n, 3] x) => (y) { y = own.Arg(x) }",
        functions='<domain: "own", opset_import: ["" : 13]> Arg (x) => (y) { y = ArgMax(x) }',
    )
    assert not suits(sites(proto))
    assert engine(backend.prepare(proto)) is Executor


def test_what_onnxruntime_refuses_the_reference_runs():
    assert engine(backend.prepare(model(NEG))) is Executor


def test_without_onnxruntime_the_reference_runs_everything_that_it_has(without_onnxruntime):
    prepared = backend.prepare(model(MIXED))
    assert engine(prepared) is Executor
    assert prepared.run([X]).y.tolist() == [[0, 0, 1]]
    for body, name in ((GELU, "com.microsoft.Gelu"), (ZIPMAP, "ai.onnx.ml.ZipMap")):
        with pytest.raises(UnknownOperatorError) as caught:
            backend.prepare(importing(body))
        assert caught.value.reason == f"there is no implementation of {name}"
        assert caught.value.remedy == (
            "pip install 'extremum[onnxruntime]', which may have it, or give it as a model-local function"
        )
    with pytest.raises(DependencyError):
        backend.prepare(importing(ZIPMAP), engine="onnxruntime")


def test_zipmap_runs_in_onnxruntime_alone():
    outputs = backend.prepare(importing(ZIPMAP)).run([X])
    assert outputs.y == [{7: 1.0, 8: 5.0, 9: 9.0}, {7: 7.0, 8: 7.0, 9: 2.0}]
    assert outputs.i.tolist() == [[1, 1, 0]]
    with pytest.raises(UnknownOperatorError) as caught:
        backend.prepare(importing(ZIPMAP), engine="reference")
    assert (caught.value.given, caught.value.remedy) == (None, "give it as a model-local function")


@pytest.mark.parametrize(("name", "kind"), [("onnxruntime", Session), ("reference", Executor)])
@pytest.mark.parametrize("body", [MIXED, "(float[n, 3] x) => (int64[1, 3] y) { y = ArgMin(x) }"])
def test_the_engine_that_is_named_runs_the_model(body, name, kind):
    prepared = backend.prepare(model(body), engine=name)
    assert (engine(prepared), prepared.engine) == (kind, name)
    assert prepared.run([X]).y.tolist() == backend.run_model(model(body), [X], engine=name).y.tolist() == [[0, 0, 1]]


def test_an_engine_that_there_is_not():
    with pytest.raises(ArgumentError) as caught:
        backend.prepare(model(MIXED), engine="tensorrt")
    assert str(caught.value) == "there is no engine 'tensorrt' here\n  help  use 'onnxruntime' or 'reference'"


def test_nobody_takes_over_where_onnxruntime_is_named():
    with pytest.raises(ExecutionError) as caught:
        backend.prepare(model(NEG), engine="onnxruntime")
    assert caught.value.reason == "onnxruntime does not take the model"
    assert "NOT_IMPLEMENTED" in caught.value.given


EMPTY = np.zeros((0, 3), np.float32)


def test_where_onnxruntime_fails_the_reference_says_why():
    with pytest.raises(SpecError) as caught:
        backend.prepare(model(OPEN)).run([EMPTY])
    assert str(caught.value) == (
        "ArgMax-13 has nothing to choose from: axis 0 of its input has no element\n"
        "  at    graph.node[1], opset 13\n"
        "  given z: float32[0, 3]"
    )


@pytest.mark.parametrize(("body", "name"), [(OPEN, "onnxruntime"), (GELU, None)])
def test_where_nobody_else_can_run_a_model_onnxruntimes_failure_is_the_error(body, name):
    with pytest.raises(ExecutionError) as caught:
        backend.prepare(importing(body), engine=name).run([EMPTY])
    assert caught.value.reason == "onnxruntime could not run the model"
    assert "there is nothing to choose from: axis 0 of the input has no element" in caught.value.given
