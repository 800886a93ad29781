"""The file that holds the custom operators: where it is, and how a session gets it.

Decides nothing about the operators; they are in the native module, of which Python and onnxruntime share one copy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from extremum import _native
from extremum.errors import DependencyError

__all__ = ["library_path", "register"]


def library_path() -> Path:
    """Return the shared library that holds the custom operators, for sessions in a process of Python.

    It is the native module of this package itself, and needs Python's symbols. A host without Python, in C++, C#, Rust
    or JavaScript, takes the standalone library: each release has it, and ``cargo build --release --package
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
    # The path that Python itself has loaded. On every system, `dlopen` or `LoadLibrary` of a file that is loaded gives
    # the same library once more: what is static, the number of threads and the instruction set in force, is there once.
    return Path(_native.__file__)


def register(options: Any) -> None:
    """Add the operators to the options of a session; adding them again changes nothing."""
    path = library_path()
    try:
        options.register_custom_ops_library(str(path))
    except Exception as error:
        # onnxruntime's exceptions have no class of their own outside its private modules.
        raise DependencyError(
            "onnxruntime cannot load the library of custom operators", where=str(path), given=str(error)
        ) from None
