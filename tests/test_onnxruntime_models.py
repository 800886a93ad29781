"""Models as users have them: scikit-learn's, exported by skl2onnx (see data/sklearn/export.py)."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from commands import printed
from extremum import backend
from extremum import directml as dml
from extremum.check import check
from extremum.fix import fix
from extremum.onnxruntime import InferenceSession, convert

FOLDER = Path(__file__).parent / "data" / "sklearn"
MODELS = sorted(FOLDER.glob("*.onnx"))


# Their operators crash onnx's shape inference where a type is unknown.
DEADLY = ("forest", "ordinal", "tree")
QUIET = onnxruntime.SessionOptions()
QUIET.log_severity_level = 3


def test_there_are_four_in_two_element_types_and_three_in_one():
    assert len(MODELS) == 4 * 2 + len(DEADLY)


def tried(path):
    with np.load(path.with_suffix(".npz")) as arrays:
        return arrays["x"], arrays["labels"]


def stock_outputs(model, x):
    stock = onnxruntime.InferenceSession(model, QUIET, providers=["CPUExecutionProvider"])
    return stock.run(None, {"x": x})


def assert_same(ours, stock):
    assert all(map(np.array_equal, ours, stock))
    assert len(ours) == len(stock)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_labels_are_those_of_scikit_learn_and_of_stock_onnxruntime(path):
    x, labels = tried(path)
    ours = InferenceSession(path, QUIET)
    # Trees and forests use none of this package's operators.
    assert ours.conversion.modified == (not path.stem.startswith(("tree", "forest")))
    assert np.array_equal(ours.run(None, {"x": x})[0], labels)
    assert np.array_equal(stock_outputs(path, x)[0], labels)
    assert np.array_equal(backend.run_model(path, [x])[0], labels)


def with_an_index(path):
    """The model of a file, with the index of the largest input as one more output."""
    proto = onnx.load(path)
    proto.graph.node.add(op_type="ArgMax", input=["x"], output=["largest"])
    proto.graph.node[-1].attribute.append(onnx.helper.make_attribute("axis", 1))
    proto.graph.output.add(name="largest")
    return proto


@pytest.mark.parametrize("name", DEADLY)
def test_every_way_through_a_model_that_shape_inference_does_not_survive(name, tmp_path):
    x, _ = tried(FOLDER / f"{name}_float32.onnx")
    proto = with_an_index(FOLDER / f"{name}_float32.onnx")
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    stock = stock_outputs(path, x)
    assert_same(InferenceSession(path, QUIET).run(None, {"x": x}), stock)
    converted = convert(path)
    assert [change.before for change in converted.changes][-1].startswith("ArgMax")
    assert_same(backend.prepare(path).run([x]), stock)
    assert not check(path).counted()
    lowered = dml.lower(path, sizes={})
    assert [refusal.reason[:24] for refusal in lowered.refusals][-1] == "the sizes of 'x' are not"
    assert not fix(path).changes
    np.save(tmp_path / "x.npy", x)
    assert "largest" in printed("run", path, "-i", f"x={tmp_path / 'x.npy'}")
