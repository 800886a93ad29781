"""onnxruntime: each execution provider that is there, and the one way in which this package opens its sessions."""

from __future__ import annotations

from typing import Any

import onnx
import onnxruntime as ort

from extremum.runtimes.bfloat16 import through_float32
from extremum.runtimes.runtime import Feeds, Run, Runtime

__all__ = ["CPU", "OnnxRuntime", "open_session", "runtimes", "silent"]

CPU = "CPUExecutionProvider"
"""The execution provider that every build has."""

_FATAL = 4

# It runs models elsewhere, not here.
_REMOTE = "AzureExecutionProvider"


def silent() -> Any:
    """Return options of a session that prints nothing: a refusal is an answer here, not a line on the terminal."""
    options = ort.SessionOptions()
    options.log_severity_level = _FATAL
    return options


def open_session(model: bytes, options: Any, provider: str = CPU, session: Any = ort.InferenceSession) -> Any:
    """Return a session of a class for a model's bytes; whatever is raised is a refusal."""
    return session(model, options, providers=[provider])


class OnnxRuntime:
    """One execution provider of the installed onnxruntime."""

    version: str = ort.__version__

    def __init__(self, name: str, provider: str = CPU, session: Any = ort.InferenceSession) -> None:
        self.name = name
        self._provider = provider
        self._session = session

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model in a new session."""
        return through_float32(model, self._open)

    def _open(self, model: onnx.ModelProto) -> Run:
        session = open_session(model.SerializeToString(), silent(), self._provider, self._session)

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
            found.append(OnnxRuntime("onnxruntime" if provider == CPU else f"onnxruntime:{short}", provider))
    return found
