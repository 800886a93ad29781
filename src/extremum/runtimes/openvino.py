"""OpenVINO on the CPU, told to compute in the types that the model states."""

from __future__ import annotations

from typing import Any

import onnx

from extremum.runtimes.bfloat16 import through_float32
from extremum.runtimes.runtime import Feeds, Run, Runtime

__all__ = ["runtimes"]

# Otherwise it computes in bfloat16 where the processor has instructions for it.
_EXACT = {"INFERENCE_PRECISION_HINT": "f32"}


class OpenVino:
    """OpenVINO's CPU plugin."""

    name = "openvino"

    def __init__(self) -> None:
        import openvino

        self.version: str = openvino.__version__.partition("-")[0]
        self._core = openvino.Core()

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model."""
        return through_float32(model, self._compile)

    def _compile(self, model: onnx.ModelProto) -> Run:
        compiled = self._core.compile_model(self._core.read_model(model.SerializeToString(), b""), "CPU", _EXACT)

        def run(feeds: Feeds) -> list[Any]:
            answer = compiled(dict(feeds))
            return [answer[at] for at in range(len(compiled.outputs))]

        return run


def runtimes() -> list[Runtime]:
    """Return the CPU plugin."""
    return [OpenVino()]
