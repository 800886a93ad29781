"""ONNX Runtime: session.run on its CPU provider, fed NumPy arrays; threads are a session option."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.matrix import Case
from benchmarks.peers.contender import Prepared
from benchmarks.peers.model import build

__all__ = ["OnnxRuntime", "connect"]


class OnnxRuntime:
    """One session per case."""

    name = "onnxruntime"

    def __init__(self, threads: int) -> None:
        self._module: Any = import_module("onnxruntime")
        self.version: str = self._module.__version__
        self._options = self._module.SessionOptions()
        self._options.intra_op_num_threads = threads
        self._options.inter_op_num_threads = 1
        # Fatal only: a type that has no kernel is a case left out, not a line on the terminal.
        self._options.log_severity_level = 4

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared:
        """Make the session; ONNX Runtime refuses the element types that it has no kernel for."""
        session = self._module.InferenceSession(build(case), self._options, providers=["CPUExecutionProvider"])
        feeds = {f"x{i}": array for i, array in enumerate(arrays)}
        return Prepared(partial(session.run, None, feeds), _first)


def _first(outputs: Any) -> NDArray[Any]:
    return np.asarray(outputs[0])


def connect(threads: int) -> OnnxRuntime:
    """Return the adapter; raises ImportError where onnxruntime is missing."""
    return OnnxRuntime(threads)
