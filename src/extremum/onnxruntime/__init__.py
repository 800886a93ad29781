"""The operators of this package inside ONNX Runtime: custom operators, model conversion, and a session with both.

``library_path`` and ``convert`` need no onnxruntime; ``InferenceSession`` is imported on first access.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from extremum.errors import required_by

# The extra installs onnx too.
with required_by("extremum.onnxruntime", extra_of="onnxruntime"):
    from extremum.onnxruntime.convert import Conversion, NodeConversion, convert
    from extremum.onnxruntime.operators import library_path

if TYPE_CHECKING:
    from extremum.onnxruntime.session import InferenceSession

__all__ = ["Conversion", "InferenceSession", "NodeConversion", "convert", "library_path"]
__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    if name != "InferenceSession":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from extremum.onnxruntime.session import InferenceSession

    return InferenceSession
