"""The gallery: what exporters write is checked, fixed, run and compared, for every runtime that is installed."""

import re

import numpy as np
import pytest

from benchmarks.gallery import EXHIBITS, EXPORTERS, Exhibit, large
from extremum import backend, runtimes
from extremum.check import Severity, check
from extremum.errors import ElementTypeError, ModelError
from extremum.fix import fix

pytest.importorskip("onnxruntime")

# This package answers each of its operators, wherever it runs the others.
OTHERS = [each.name for each in runtimes.installed() if each.name.partition(":")[0] != "extremum"]
# No version of their operators takes their element types.
FORBIDDEN = {
    Exhibit("torch", "best_of_bfloat16"): "TopK-11 does not take bfloat16",
    Exhibit("torch", "first_of_bool"): "ArgMax-13 does not take bool",
    Exhibit("torch", "largest_of_int16"): "ReduceMax-20 does not take int16",
    Exhibit("tensorflow", "labels_of_int16"): "ReduceMin-18 does not take int16",
}
# What a runtime lacks for other operators of a model: then it runs neither the model nor what `fix` makes of it.
LACKING = {
    "onnx.reference": {
        "torch/detr": "GatherElements of more than 64 rows",
        "torch/yolo_end_to_end": "GatherElements of more than 64 rows",
        "torch/yolo_suppressed": "NonMaxSuppression of one box",
        "tensorflow/classes": "OneHot of a depth of rank 1",
        "optimised/classifier": "com.microsoft.FusedGemm",
        "optimised/segmentation": "com.microsoft.FusedConv",
        "optimised/yolo_end_to_end": "GatherElements of more than 64 rows",
    },
    "openvino": {
        "sklearn/forest_float32": "ai.onnx.ml.TreeEnsembleClassifier",
        "sklearn/naive_bayes_float64": "ai.onnx.ml.ArrayFeatureExtractor",
        "sklearn/neighbors_float32": "ai.onnx.ml.ArrayFeatureExtractor",
        "sklearn/network_float64": "ai.onnx.ml.ArrayFeatureExtractor",
        "sklearn/ordinal_float32": "ai.onnx.ml.LabelEncoder",
        "sklearn/tree_float32": "ai.onnx.ml.TreeEnsembleClassifier",
    },
    "tract": {
        "torch/beam": "a size that is computed from an open one",
        "torch/proposals": "k that is computed from an open size",
        "torch/yolo_end_to_end": "Equal of bool",
        "torch/yolo_suppressed": "NonMaxSuppression",
        "sklearn/forest_float32": "an axis without a name",
        "sklearn/kmeans_float64": "an axis without a name",
        "sklearn/naive_bayes_float64": "an axis without a name",
        "sklearn/neighbors_float32": "an axis without a name",
        "sklearn/network_float64": "an axis without a name",
        "sklearn/ordinal_float32": "an axis without a name",
        "sklearn/tree_float32": "an axis without a name",
        "optimised/classifier": "com.microsoft.FusedGemm",
        "optimised/segmentation": "com.microsoft.FusedConv",
        "optimised/yolo_end_to_end": "Equal of bool",
    },
}
ALLOWED = [each for each in EXHIBITS if each not in FORBIDDEN]


def title(value):
    return value.title if isinstance(value, Exhibit) else None


def assert_same(answers, expected):
    """Integers are equal, and floats up to the rounding of what is before the operators."""
    for answer, right in zip(answers, expected, strict=False):
        # scikit-learn numbers clusters in int32.
        assert (answer.dtype.kind, answer.shape) == (right.dtype.kind, right.shape)
        if right.dtype.kind == "f":
            np.testing.assert_allclose(answer, right, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(answer, right)


def findings(model, runtime):
    """The findings about a model for a runtime, without infos."""
    return [each for each in check(model, runtime=runtime).findings if each.severity is not Severity.INFO]


def test_a_random_input_of_a_usual_length_has_the_types_and_ranks_of_the_one_that_was_tried():
    for exhibit in EXHIBITS:
        inputs, _ = exhibit.tried()
        usual = large(exhibit.model)
        assert {name: (x.dtype, x.ndim) for name, x in usual.items()} == {
            name: (x.dtype, x.ndim) for name, x in inputs.items()
        }


def test_every_exporter_has_models():
    assert {each.folder for each in EXHIBITS} == set(EXPORTERS)
    assert len(EXHIBITS) == 30
    assert all(each.path.stat().st_size < 20_000 for each in EXHIBITS)


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=title)
def test_no_model_knows_the_machine_that_made_it(exhibit):
    assert re.search(rb"site-packages|/home/|/tmp/|/Users/|[A-Z]:\\", exhibit.path.read_bytes()) is None


@pytest.mark.parametrize("exhibit", ALLOWED, ids=title)
def test_a_model_answers_as_the_library_that_exported_it(exhibit):
    from extremum.onnxruntime import InferenceSession

    inputs, outputs = exhibit.tried()
    session = InferenceSession(exhibit.path, providers=["CPUExecutionProvider"])
    assert_same(session.run(None, inputs), outputs)
    assert_same(backend.prepare(exhibit.model).run(inputs), outputs)


@pytest.mark.parametrize("exhibit", FORBIDDEN, ids=title)
def test_a_model_of_a_type_that_its_version_forbids_is_refused_by_name(exhibit):
    with pytest.raises(ElementTypeError, match=FORBIDDEN[exhibit]):
        backend.prepare(exhibit.model)


@pytest.mark.parametrize("runtime", OTHERS)
@pytest.mark.parametrize("exhibit", EXHIBITS, ids=title)
def test_check_and_fix_agree_and_what_is_fixed_runs(exhibit, runtime, in_process):
    before = findings(exhibit.model, runtime)
    is_lacking = exhibit.title in LACKING.get(runtime, ())
    try:
        fixed = fix(exhibit.model, runtime)
    except ModelError:
        # It compares whole models, and the runtime does not run the other operators.
        if is_lacking:
            return
        raise
    if fixed.refusals:
        # Then the runtime does not run the model, which is a finding too.
        assert before
        return
    if fixed.changes:
        assert len(findings(fixed.model, runtime)) <= len(before)
    if not is_lacking:
        inputs, outputs = exhibit.tried()
        assert_same(runtimes.find(runtime).load(fixed.model)(inputs), outputs)
