"""The installed onnxruntime, and the library of custom operators that its sessions load.

Decides which releases of onnxruntime serve: importing this module asks for one. Decides nothing about the operators;
they are in the native module, of which Python and onnxruntime share one copy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from extremum import _native
from extremum.errors import DependencyError, lacking, needed

__all__ = ["OLDEST", "library_path", "onnxruntime", "open_session", "register", "session_options"]


try:
    from packaging.version import Version
except ModuleNotFoundError as error:
    raise lacking("onnxruntime's version", error) from None


OLDEST = Version("1.21")
"""The first release that takes a model as bytes and its weights from a folder; the library itself serves 1.18 too."""
_REMEDY = needed("onnxruntime")


try:
    import onnxruntime
except ImportError as error:
    raise DependencyError("onnxruntime cannot be imported", given=str(error), remedy=_REMEDY) from None


if Version(onnxruntime.__version__) < OLDEST:
    raise DependencyError(
        f"onnxruntime is too old: {OLDEST} is the first to run what is converted here",
        given=f"onnxruntime {onnxruntime.__version__}",
        remedy=_REMEDY,
    )


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


def session_options() -> Any:
    """Return options of a session that prints nothing: a refusal is an answer here, not a line on the terminal."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # fatal
    return options


def open_session(model: bytes, options: Any) -> Any:
    """Return a session on the processor; any exception is a refusal."""
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


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
