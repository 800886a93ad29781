"""onnx's reference evaluator, as onnx ships it."""

from __future__ import annotations

from typing import Any

import onnx
from onnx.reference import ReferenceEvaluator

from extremum.runtimes.runtime import Feeds, Run, Runtime

__all__ = ["runtimes"]


class Reference:
    """The evaluator without any operator of this package."""

    name = "onnx.reference"
    version: str = onnx.__version__

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model."""
        evaluator = ReferenceEvaluator(model)

        def run(feeds: Feeds) -> list[Any]:
            # A dict only where intermediate results are asked for.
            return list(evaluator.run(None, dict(feeds)))

        return run


def runtimes() -> list[Runtime]:
    """Return the evaluator."""
    return [Reference()]
