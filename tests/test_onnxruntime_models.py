"""Models as users have them: scikit-learn's, exported by skl2onnx (see data/sklearn/export.py)."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from extremum import backend
from extremum.onnxruntime import InferenceSession

MODELS = sorted((Path(__file__).parent / "data" / "sklearn").glob("*.onnx"))


def test_there_are_four_in_two_element_types():
    assert len(MODELS) == 4 * 2


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_labels_are_those_of_scikit_learn_and_of_stock_onnxruntime(path):
    with np.load(path.with_suffix(".npz")) as tried:
        x, labels = tried["x"], tried["labels"]
    ours = InferenceSession(path)
    assert ours.conversion.modified
    assert np.array_equal(ours.run(None, {"x": x})[0], labels)
    stock = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert np.array_equal(stock.run(None, {"x": x})[0], labels)
    assert np.array_equal(backend.run_model(path, [x])[0], labels)
