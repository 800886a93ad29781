"""A negative size is an unknown one: exporters write -1 for a dynamic dimension, and runtimes run such models."""

import json

import numpy as np
import onnx
import pytest

from commands import printed, refused
from extremum import backend
from extremum.check import check
from extremum.fix import fix
from extremum.graph.load import load
from extremum.onnxruntime import InferenceSession

TEXT = '<ir_version: 8, opset_import: ["" : 13]> g (float[n, 4] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }'
X = np.arange(12, dtype=np.float32).reshape(3, 4)


def unknown(text=TEXT, size=-1):
    """Return a model in which each dimension that has a name has a negative size instead."""
    model = onnx.parser.parse_model(text)
    for each in [each for each in dimensions(model) if each.dim_param]:
        each.dim_value = size
    return model


def dimensions(message):
    """Yield all dimensions in a message, wherever they stand."""
    if isinstance(message, onnx.TensorShapeProto.Dimension):
        yield message
    for field, content in message.ListFields():
        if field.message_type:
            messages = content if field.is_repeated else [content]
            for each in messages:
                yield from dimensions(each)


@pytest.mark.parametrize("size", [-1, -7, -(2**63)])
def test_any_number_of_elements_is_taken(size):
    for engine in backend.ENGINES:
        assert backend.prepare(unknown(size=size), engine=engine).run([X]).y.tolist() == [[3]] * 3
    assert InferenceSession(unknown().SerializeToString()).run(None, {"x": X})[0].tolist() == [[3]] * 3


def test_the_model_that_was_given_is_not_modified():
    model = unknown()
    before = model.SerializeToString()
    backend.prepare(model).run([X])
    assert "EX012" not in [each.code for each in check(model).findings]
    fix(model)
    assert model.SerializeToString() == before


def test_other_containers_hold_no_negative_size_either():
    body = """
       <ir_version: 10, opset_import: ["" : 18, "own" : 1]>
       g (bool b, seq(float[n]) s, optional(float[n]) o, float[n] x)
       => (float[n] y) { y = If (b) <then_branch = g1 () => (float[n] t) { t = own.f (x) },
                                     else_branch = g2 () => (float[n] e) { e = Max (x, x) }> }
       <domain: "own", opset_import: ["" : 18]> f (a) => (b) <float[n] c> { c = Max (a, a) b = Identity (c) }
    """
    model = unknown(body)
    assert [each.dim_value for each in dimensions(model)] == [-1] * 7
    for given in (model, model.SerializeToString()):
        assert [each.WhichOneof("value") for each in dimensions(load(given))] == [None] * 7


def test_commands_take_the_size_of_such_a_dimension(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(unknown(), "m.onnx")
    np.save("x.npy", X)

    report = json.loads(printed("run", "m.onnx", "--random", "--set", "x.0=5", "--json"))
    assert report["outputs"][0]["shape"] == [5, 1]
    (node,) = json.loads(printed("lower", "m.onnx", "--set", "x.0=5", "--json"))["nodes"]
    assert node["steps"][0]["desc"]["OutputTensor"]["Sizes"] == [5, 1]
    assert refused("lower", "m.onnx", "--set", "n=5").endswith("help: its symbolic dimensions are: x.0")
    printed("apply", "m.onnx", "x.npy", "-o", "y.npy")
    assert np.load("y.npy").tolist() == [[3]] * 3
