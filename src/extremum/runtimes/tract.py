"""tract, by its Python package."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import onnx

from extremum.runtimes.bfloat16 import through_float32
from extremum.runtimes.file import file_of
from extremum.runtimes.runtime import Feeds, Run, Runtime

__all__ = ["runtimes"]


class Tract:
    """tract on the CPU."""

    name = "tract"

    def __init__(self) -> None:
        import tract

        self.version = version("tract")
        self._tract = tract

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model."""
        return through_float32(model, self._load)

    def _load(self, model: onnx.ModelProto) -> Run:
        with file_of(model) as path:
            runnable = self._tract.onnx().load(path).into_model().into_runnable()
        names = [value.name for value in model.graph.input]

        def run(feeds: Feeds) -> list[Any]:
            # A 0-d array has no contiguous copy of its own rank.
            answers = runnable.run([np.ascontiguousarray(feeds[name]).reshape(feeds[name].shape) for name in names])
            return [answer.to_numpy() for answer in answers]

        return run


def runtimes() -> list[Runtime]:
    """Return tract."""
    return [Tract()]
