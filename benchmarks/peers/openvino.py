"""OpenVINO: a compiled model called on NumPy arrays; threads are INFERENCE_NUM_THREADS of the CPU device.

It computes 64-bit integers in 32 bits; the benchmark's numbers are small enough for that.
"""

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

__all__ = ["OpenVino", "connect"]


class OpenVino:
    """One compiled model per case."""

    name = "openvino"

    def __init__(self, threads: int) -> None:
        module: Any = import_module("openvino")
        self.version: str = module.__version__.split("-")[0]
        self._core = module.Core()
        self._options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared:
        """Compile the model."""
        compiled = self._core.compile_model(self._core.read_model(build(case)), "CPU", self._options)
        return Prepared(partial(compiled, list(arrays)), partial(_first, arrays[0].dtype))


def _first(dtype: np.dtype[Any], outputs: Any) -> NDArray[Any]:
    result = np.asarray(outputs[0])
    # bfloat16 bits come back labelled float16.
    return result.view(dtype) if dtype.name == "bfloat16" and result.dtype == np.float16 else result


def connect(threads: int) -> OpenVino:
    """Return the adapter; raises ImportError where openvino is missing."""
    return OpenVino(threads)
