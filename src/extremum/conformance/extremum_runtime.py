"""extremum as a runtime among others: its backend, and onnxruntime with its operators in it."""

from __future__ import annotations

import onnx

from extremum import __version__, backend
from extremum.errors import DependencyError
from extremum.runtimes.runtime import Feeds, Run, Runtime

__all__ = ["runtimes"]


class Extremum:
    """The backend."""

    name = "extremum"
    version = __version__

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model."""
        prepared = backend.prepare(model)

        def run(feeds: Feeds) -> tuple[object, ...]:
            return prepared.run(feeds)

        return run


def runtimes() -> list[Runtime]:
    """Return the backend, and the session where onnxruntime is installed."""
    try:
        from extremum.onnxruntime import InferenceSession
        from extremum.runtimes.onnxruntime import OnnxRuntime
    except (ImportError, DependencyError):
        return [Extremum()]
    return [Extremum(), OnnxRuntime("extremum:onnxruntime", "CPUExecutionProvider", InferenceSession)]
