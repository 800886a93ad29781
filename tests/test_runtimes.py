"""Runtimes in general: what they refuse, and bfloat16 where a runtime does not take it from Python."""

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest

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
    assert runtimes.find("onnxruntime") is stock, "adapters run once"


def test_every_execution_provider_is_a_runtime(monkeypatch):
    providers = ["CUDAExecutionProvider", "AzureExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: providers)
    assert [each.name for each in ADAPTERS["onnxruntime"][0]()] == ["onnxruntime:cuda", "onnxruntime"]


@pytest.mark.parametrize("name", ["a", "x/float32"])
def test_bfloat16_comes_in_and_goes_out_of_onnxruntime(name):
    proto = model("(bfloat16[2] x) => (bfloat16[2] y) { a = Identity (x) y = Identity (a) }")
    proto.graph.node[0].output[0] = proto.graph.node[1].input[0] = name
    x = np.array([1.5, np.inf], BFLOAT16)
    (y,) = runtimes.find("onnxruntime").load(proto)({"x": x})
    assert (y.dtype, y.tobytes()) == (BFLOAT16, x.tobytes())


@pytest.mark.parametrize("through", [lambda load: load, through_float32], ids=["as it is", "in float32"])
def test_an_input_with_a_default_keeps_it(through):
    proto = model("(bfloat16[2] x, bfloat16[2] w) => (bfloat16[2] y) { y = Where (c, x, w) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([7, 8], BFLOAT16), "w"))
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([True, False]), "c"))
    (y,) = through(runtimes.find("onnx.reference").load)(proto)({"x": np.array([1, 2], BFLOAT16)})
    assert y.tolist() == [1, 8]
