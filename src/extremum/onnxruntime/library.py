"""The shared library of custom operators: where it is, and how a session gets it.

Decides nothing about the operators; they are in the library, and any host of ONNX Runtime can register it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from extremum.errors import DependencyError

__all__ = ["library_path", "register"]

_NAMES = {"win32": "extremum_onnxruntime.dll", "darwin": "libextremum_onnxruntime.dylib"}


def library_path() -> Path:
    """Return the shared library that holds the custom operators.

    It needs ONNX Runtime 1.18 or later and no Python: a C++ or C# host gives the path to its own session options.

    Returns
    -------
    pathlib.Path
        The file, which is part of this package.

    Raises
    ------
    DependencyError
        If the file is not there.

    Examples
    --------
    >>> import onnxruntime
    >>> from extremum.onnxruntime import library_path
    >>> options = onnxruntime.SessionOptions()
    >>> options.register_custom_ops_library(str(library_path()))
    """
    # In a folder that is no package: Python takes a shared library in a package for one of its modules.
    path = Path(__file__).parent / "lib" / _NAMES.get(sys.platform, "libextremum_onnxruntime.so")
    if not path.is_file():
        raise DependencyError(
            "the library for ONNX Runtime is not there", given=str(path), remedy="install extremum again: pip install ."
        )
    return path


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
