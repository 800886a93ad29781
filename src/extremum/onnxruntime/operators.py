"""The custom operators of ``ai.extremum``: their names, their attributes, and the library that has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx

from extremum import _native
from extremum.spec import Family

DOMAIN = "ai.extremum"
"""The domain of the custom operators; its version is 1."""
INT = onnx.AttributeProto.INT
INTS = onnx.AttributeProto.INTS
STRING = onnx.AttributeProto.STRING
_AXES = {"axes": INTS, "axis": INT, "to_last": INT}
ATTRIBUTES: Mapping[str, Mapping[str, int]] = {
    "ArgReduce": {"order": STRING, **_AXES, "keepdims": INT, "select_last_index": INT},
    "OneHot": _AXES,
    "Extremum": {"order": STRING, "broadcast": INT},
    "Reduce": {"order": STRING, "axes": INTS, "keepdims": INT, "noop_with_empty_axes": INT, "identity": INT},
    "TopK": dict.fromkeys(("axis", "k", "largest", "sorted"), INT),
}
KINDS: Mapping[int, str] = {INT: "an integer", INTS: "a list of at least one integer", STRING: "a text"}
OPERATORS: Mapping[Family, tuple[str, str | None]] = {
    Family.ARGMAX: ("ArgReduce", "max"),
    Family.ARGMIN: ("ArgReduce", "min"),
    Family.HARDMAX: ("OneHot", None),
    Family.MAXIMUM: ("Extremum", "max"),
    Family.MINIMUM: ("Extremum", "min"),
    Family.LARGEST: ("Reduce", "max"),
    Family.SMALLEST: ("Reduce", "min"),
    Family.TOP: ("TopK", None),
}
"""The operator and its order."""


def library_path() -> Path:
    """Return the shared library of the custom operators, for sessions of onnxruntime 1.18 or later in Python.

    It is this package's native module and needs Python's symbols. A host without Python, in C++, C#, Rust or
    JavaScript, takes the standalone library: each release has it, and ``cargo build --release --package
    extremum-onnxruntime`` builds it.

    >>> import onnxruntime
    >>> from extremum.onnxruntime import library_path
    >>> options = onnxruntime.SessionOptions()
    >>> options.register_custom_ops_library(str(library_path()))
    """
    # Python has loaded this path. `dlopen` and `LoadLibrary` return a loaded library again, so that its static state
    # exists once: the number of threads and the instruction set.
    return Path(_native.__file__)
