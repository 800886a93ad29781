"""The operators of this package inside ONNX Runtime: custom operators, model conversion, and a session with both.

``library_path`` and ``convert`` need no onnxruntime; ``InferenceSession`` is imported on first access.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from extremum import _native
from extremum.errors import lacking

try:
    from extremum.onnxruntime.convert import Change, Conversion, convert
except ModuleNotFoundError as error:
    # This extra brings onnx too.
    raise lacking("extremum.onnxruntime", error, beside="onnxruntime") from None

if TYPE_CHECKING:
    from extremum.onnxruntime.session import InferenceSession

__all__ = ["Change", "Conversion", "InferenceSession", "convert", "library_path"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name != "InferenceSession":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from extremum.onnxruntime.session import InferenceSession

    return InferenceSession


def library_path() -> Path:
    """Return the shared library of the custom operators, for sessions in a process of Python.

    It is this package's native module and needs Python's symbols. A host without Python, in C++, C#, Rust or
    JavaScript, takes the standalone library: each release has it, and ``cargo build --release --package
    extremum-onnxruntime`` builds it.

    Returns
    -------
    pathlib.Path
        The file, for onnxruntime 1.18 and later.

    Examples
    --------
    >>> import onnxruntime
    >>> from extremum.onnxruntime import library_path
    >>> options = onnxruntime.SessionOptions()
    >>> options.register_custom_ops_library(str(library_path()))
    """
    # Python has loaded this path. `dlopen` and `LoadLibrary` return a loaded library again, so that its static state
    # exists once: the number of threads and the instruction set.
    return Path(_native.__file__)
