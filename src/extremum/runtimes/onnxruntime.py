"""onnxruntime: each execution provider that is there."""

from __future__ import annotations

from typing import Any

import onnx
import onnxruntime as ort

from extremum.runtimes.bfloat16 import through_float32
from extremum.runtimes.runtime import Feeds, Run, Runtime

__all__ = ["OnnxRuntime", "runtimes"]

# Fatal only: a refusal is an answer here, not a line on the terminal.
_SILENT = 4

# It runs models elsewhere, not here.
_REMOTE = "AzureExecutionProvider"


class OnnxRuntime:
    """One execution provider of the installed onnxruntime.

    Parameters
    ----------
    name : str
        The name of the runtime.
    provider : str
        The execution provider, as onnxruntime spells it.
    session : type
        The class of its sessions.
    """

    version: str = ort.__version__

    def __init__(self, name: str, provider: str, session: Any = ort.InferenceSession) -> None:
        self.name = name
        self._provider = provider
        self._session = session

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model in a new session."""
        return through_float32(model, self._open)

    def _open(self, model: onnx.ModelProto) -> Run:
        options = ort.SessionOptions()
        options.log_severity_level = _SILENT
        session = self._session(model.SerializeToString(), options, providers=[self._provider])

        def run(feeds: Feeds) -> list[Any]:
            results: list[Any] = session.run(None, dict(feeds))
            return results

        return run


def runtimes() -> list[Runtime]:
    """Return stock onnxruntime, one for each provider."""
    found: list[Runtime] = []
    for provider in ort.get_available_providers():
        short = provider.removesuffix("ExecutionProvider").lower()
        if provider != _REMOTE:
            found.append(OnnxRuntime("onnxruntime" if short == "cpu" else f"onnxruntime:{short}", provider))
    return found
