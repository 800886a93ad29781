"""What does not change is asked once for a model or a description, not for each node or each use."""

import numpy as np
import onnx
import pytest

from extremum import backend, validate
from extremum import directml as dml
from extremum.backend import engines
from extremum.check import check
from extremum.graph import nodes
from models import model


def counted(monkeypatch, module, name):
    """Return the arguments of each call of a function, as it is made."""
    calls, inner = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given, **named: calls.append(given) or inner(*given, **named))
    return calls


def chain(length):
    """A model of many nodes of two operators."""
    body = " ".join(f"x{at + 1} = Neg (x{at}) y{at} = Max (x{at}, x{at + 1})" for at in range(length))
    return model(f"(float[n] x0) => (float[n] x{length}) {{ {body} }}")


def test_an_executor_is_made_once_for_an_operator(monkeypatch):
    made = counted(monkeypatch, engines.ReferenceEvaluator, "__init__")
    backend.prepare(chain(2), engine="reference")
    few = len(made)
    backend.prepare(chain(20), engine="reference")
    assert len(made) - few == few


def test_the_output_of_a_node_is_inferred_once(monkeypatch):
    resolved = counted(monkeypatch, nodes, "resolve")
    backend.prepare(chain(3), engine="reference")
    assert len(resolved) == 3


@pytest.mark.parametrize(("version", "runs"), [(15, True), (13, False)])
def test_an_operator_is_asked_about_in_each_version(version, runs):
    body = f"""(float[n] x) => (y, z) {{ z = Bernoulli (x) y = own.f (x) }}
    <domain: "own", opset_import: ["" : {version}]> f (a) => (b) {{ b = Bernoulli (a) }}"""
    text = f'<ir_version: 9, opset_import: ["" : 15, "own" : 1]> g {body}'
    assert backend.is_compatible(onnx.parser.parse_model(text), engine="reference") is runs


def test_the_version_of_a_node_is_looked_up_once(monkeypatch):
    looked = counted(monkeypatch, nodes, "version")
    check(chain(3))
    assert len(looked) == 6


def test_axes_of_a_directml_operator_are_validated_once(monkeypatch):
    calls = counted(monkeypatch, validate, "axes")
    x, y = dml.TensorDesc(dml.TensorDataType.FLOAT32, (2, 3)), dml.TensorDesc(dml.TensorDataType.INT64, (2, 1))
    operator = dml.create_operator(dml.ArgMaxOperatorDesc(x, y, (1,)))
    assert len(calls) == 1
    result = np.zeros(2, np.int64)
    operator.dispatch([np.array([[1, 3, 2], [4, 0, 1]], np.float32)], [result])
    assert result.tolist() == [1, 0]
    assert len(calls) == 1
