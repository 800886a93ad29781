"""jaxonnxruntime: ONNX models by way of JAX, with 64-bit types."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import onnx

from extremum.runtimes.runtime import Feeds, Run, Runtime

__all__ = ["runtimes"]


class JaxOnnxRuntime:
    """jaxonnxruntime on JAX's default device."""

    name = "jaxonnxruntime"

    def __init__(self) -> None:
        import jax
        from jaxonnxruntime.backend import Backend

        jax.config.update("jax_enable_x64", True)
        self.version = version("jaxonnxruntime")
        self._backend = Backend

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model."""
        prepared = self._backend.prepare(model)
        names = [value.name for value in model.graph.input]

        def run(feeds: Feeds) -> list[Any]:
            return [np.asarray(x) for x in prepared.run([feeds[name] for name in names])]

        return run


def runtimes() -> list[Runtime]:
    """Return jaxonnxruntime."""
    return [JaxOnnxRuntime()]
