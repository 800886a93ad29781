"""The interface that every ONNX backend has, as functions of this module and as the class ``Backend``.

Other operators run too, in onnxruntime if it is installed, else in onnx's reference implementation. ``prepare`` refuses
errors that the model alone shows, and a run refuses the rest. A symbolic dimension has the same size in all inputs of a
run.
"""

from __future__ import annotations

from extremum.errors import required_by

with required_by("extremum.backend"):
    from extremum.backend.interface import (
        ENGINES,
        Backend,
        is_compatible,
        prepare,
        run_model,
        run_node,
        supports_device,
    )
    from extremum.backend.operators import reference_ops
    from extremum.backend.prepared import PreparedModel

__all__ = [
    "ENGINES",
    "Backend",
    "PreparedModel",
    "is_compatible",
    "prepare",
    "reference_ops",
    "run_model",
    "run_node",
    "supports_device",
]
__dir__ = __all__.copy
