"""onnx2torch: ONNX models as PyTorch modules."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import onnx

from extremum.runtimes.bfloat16 import through_float32
from extremum.runtimes.runtime import Feeds, Run, Runtime

__all__ = ["runtimes"]


class Onnx2Torch:
    """onnx2torch on the CPU."""

    name = "onnx2torch"

    def __init__(self) -> None:
        import onnx2torch
        import torch

        self.version = version("onnx2torch")
        self._convert, self._torch = onnx2torch.convert, torch

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model."""
        return through_float32(model, self._load)

    def _load(self, model: onnx.ModelProto) -> Run:
        module = self._convert(model)
        names = [value.name for value in model.graph.input]

        def run(feeds: Feeds) -> list[Any]:
            with self._torch.no_grad():
                # A copy: PyTorch takes no array that cannot be written to.
                answer = module(*(self._torch.from_numpy(feeds[name].copy()) for name in names))
            return [each.numpy() for each in (answer if isinstance(answer, list | tuple) else [answer])]

        return run


def runtimes() -> list[Runtime]:
    """Return onnx2torch."""
    return [Onnx2Torch()]
