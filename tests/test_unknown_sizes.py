"""A negative size is an unknown one: exporters write -1 for a dynamic dimension, and runtimes run such models."""

import json

import dask.array as da
import numpy as np
import onnx
import pytest
from click.testing import CliRunner

import extremum.dask
from extremum import backend
from extremum.check import check
from extremum.cli.program import program
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
            for each in content if field.is_repeated else [content]:
                yield from dimensions(each)


@pytest.fixture
def path(tmp_path):
    onnx.save(unknown(), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def called(*arguments):
    result = CliRunner().invoke(program, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("size", [-1, -7, -(2**63)])
@pytest.mark.parametrize("engine", backend.ENGINES)
def test_the_backend_takes_any_number_of_elements(size, engine):
    assert backend.prepare(unknown(size=size), engine=engine).run([X]).y.tolist() == [[3]] * 3


def test_the_model_that_was_given_is_not_modified():
    model = unknown()
    before = model.SerializeToString()
    backend.prepare(model).run([X])
    check(model)
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


def test_run_draws_such_a_dimension_and_takes_its_size(path):
    report = json.loads(called("run", path, "--random", "--set", "x.0=5", "--json"))
    assert report["outputs"][0]["shape"] == [5, 1]


def test_lower_takes_the_size_of_such_a_dimension(path):
    (node,) = json.loads(called("lower", path, "--set", "x.0=5", "--json"))["nodes"]
    assert node["steps"][0]["desc"]["OutputTensor"]["Sizes"] == [5, 1]
    error = CliRunner().invoke(program, ["lower", str(path), "--set", "n=5"]).exception
    assert error.remedy == "its symbolic dimensions are: x.0"


def test_apply_cuts_such_a_dimension(path, tmp_path):
    np.save(tmp_path / "x.npy", X)
    called("apply", path, tmp_path / "x.npy", "-o", tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").tolist() == [[3]] * 3


def test_dask_cuts_such_a_dimension():
    lazy = extremum.dask.run(unknown(), da.from_array(X, chunks=(2, 4)))
    assert lazy.compute(scheduler="sync").tolist() == [[3]] * 3


def test_a_session_takes_any_number_of_elements():
    session = InferenceSession(unknown().SerializeToString())
    assert session.run(None, {"x": X})[0].tolist() == [[3]] * 3
    assert session.conversion.modified


def test_fix_compares_the_whole_model():
    fixed = fix(unknown(TEXT.replace("float", "int16")))
    assert len(fixed.changes) == 1
    assert fixed.notes == ()


def test_check_finds_no_mismatch_of_shapes():
    body = "(int64[n, 5] a, int64[4, 5] b) => (int64[n, 5] y) { y = Max (a, b) }"
    text = f'<ir_version: 8, opset_import: ["" : 13]> g {body}'
    assert "EX012" not in [each.code for each in check(unknown(text)).findings]
