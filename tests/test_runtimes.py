"""Runtimes in general: what one is asked, and bfloat16 where Python has no way in."""

import ml_dtypes
import numpy as np
import onnx
import onnxruntime

from extremum import runtimes, spec
from extremum.runtimes.adapters import ADAPTERS, through_float32
from extremum.runtimes.runtime import refusal
from models import model

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def test_what_a_runtime_says_of_an_operator():
    stock = runtimes.find("onnxruntime")
    hardmax = spec.find(spec.ONNX, "Hardmax", 11)
    assert refusal(stock, hardmax, 11, "float32") is None
    assert "Hardmax(11)" in refusal(stock, hardmax, 11, "float64")


def test_runtimes_are_made_once():
    assert runtimes.find("onnxruntime") is runtimes.find("onnxruntime")


def test_every_execution_provider_is_a_runtime(monkeypatch):
    providers = ["CUDAExecutionProvider", "AzureExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: providers)
    assert [each.name for each in ADAPTERS["onnxruntime"][0]()] == ["onnxruntime:cuda", "onnxruntime"]


def test_bfloat16_comes_in_and_goes_out_of_onnxruntime():
    run = runtimes.find("onnxruntime").load(model("(bfloat16[2] x) => (bfloat16[2] y) { y = Identity (x) }"))
    x = np.array([1.5, np.inf], BFLOAT16)
    (y,) = run({"x": x})
    assert y.dtype == BFLOAT16
    assert y.tobytes() == x.tobytes()


def test_names_of_the_model_stay_its_own():
    body = "(bfloat16[2] x) => (bfloat16[2] y) { a = Identity (x) y = Identity (a) }"
    proto = model(body)
    proto.graph.node[0].output[0] = proto.graph.node[1].input[0] = "x/float32"
    (y,) = runtimes.find("onnxruntime").load(proto)({"x": np.array([1, 2], BFLOAT16)})
    assert y.tolist() == [1, 2]


def test_an_input_with_a_default_keeps_it():
    proto = model("(bfloat16[2] x, bfloat16[2] w) => (bfloat16[2] y) { y = Where (c, x, w) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([7, 8], BFLOAT16), "w"))
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([True, False]), "c"))
    (y,) = runtimes.find("onnx.reference").load(proto)({"x": np.array([1, 2], BFLOAT16)})
    assert y.tolist() == [1, 8]
    (y,) = through_float32(runtimes.find("onnx.reference").load)(proto)({"x": np.array([1, 2], BFLOAT16)})
    assert y.tolist() == [1, 8]
