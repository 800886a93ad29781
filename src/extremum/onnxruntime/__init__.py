"""The core operations inside ONNX Runtime: the library of custom operators, model conversion, and a session with both.

``library_path`` and ``convert`` need no onnxruntime; ``InferenceSession`` is imported when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from extremum.errors import lacking

try:
    from extremum.onnxruntime.convert import Change, Conversion, convert
except ModuleNotFoundError as error:
    # Whoever comes here wants onnxruntime next.
    raise lacking("extremum.onnxruntime", error, beside="onnxruntime") from None
from extremum.onnxruntime.library import library_path

if TYPE_CHECKING:
    from extremum.onnxruntime.session import InferenceSession

__all__ = ["Change", "Conversion", "InferenceSession", "convert", "library_path"]


def __dir__() -> list[str]:
    """Return what there is, the session that is yet to be imported included."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name != "InferenceSession":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from extremum.onnxruntime.session import InferenceSession

    return InferenceSession
