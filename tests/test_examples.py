"""The demo does what it says, and its models answer what scikit-learn answered."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from extremum import backend

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def held_out():
    return dict(np.load(EXAMPLES / "digits" / "held_out.npz"))


def answer(model, images):
    (result,) = backend.prepare(EXAMPLES / "digits" / model).run([images])
    return result


@pytest.mark.parametrize(
    ("model", "operator", "expected"),
    [("classifier.onnx", "ArgMax", "sklearn_labels"), ("kmeans.onnx", "ArgMin", "sklearn_clusters")],
)
def test_a_model_answers_what_scikit_learn_answered(held_out, model, operator, expected):
    assert onnx.load(EXAMPLES / "digits" / model).graph.node[-1].op_type == operator
    labels = answer(model, held_out["images"])
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, held_out[expected])


def test_the_demo_prints_predictions_and_accuracy(held_out):
    result = subprocess.run(
        [sys.executable, str(EXAMPLES / "digits.py")], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    lines = result.stdout.splitlines()
    assert lines[8].split() == ["true", "digits", *map(str, held_out["digits"][:8])]
    assert lines[9].split() == ["classifier,", "ArgMax", *map(str, held_out["sklearn_labels"][:8])]
    assert lines[11:] == [
        "classifier, ArgMax: 488 of 500 held-out digits right (97.6%)",
        "k-means, ArgMin: 468 of 500 held-out digits right (93.6%)",
    ]
