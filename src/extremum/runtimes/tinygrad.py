"""tinygrad, on its Python device where no other is chosen: that one needs no compiler."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

import onnx

from extremum.runtimes.bfloat16 import through_float32
from extremum.runtimes.file import file_of
from extremum.runtimes.runtime import Feeds, Run, Runtime

__all__ = ["runtimes"]


class Tinygrad:
    """tinygrad's reader of ONNX models."""

    name = "tinygrad"

    def __init__(self) -> None:
        # It reads the environment when it is imported.
        os.environ.setdefault("DEV", "PYTHON")
        from tinygrad import Tensor
        from tinygrad.nn.onnx import OnnxRunner

        self.version = version("tinygrad")
        self._tensor, self._runner = Tensor, OnnxRunner

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model."""
        return through_float32(model, self._load)

    def _load(self, model: onnx.ModelProto) -> Run:
        with file_of(model) as path:
            runner = self._runner(path)

        def run(feeds: Feeds) -> list[Any]:
            answers = runner({name: self._tensor(x) for name, x in feeds.items()})
            return [answers[value.name].numpy() for value in model.graph.output]

        return run


def runtimes() -> list[Runtime]:
    """Return tinygrad."""
    return [Tinygrad()]
