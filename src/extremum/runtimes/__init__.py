"""Runtimes of ONNX models, each by an adapter of a few lines.

Another package registers its adapter as an entry point of the group ``extremum.runtimes``: a function without
parameters that returns its :class:`Runtime` objects and raises ImportError if a required package is not installed. A
Python file with such a function, named ``runtimes``, is an adapter too: see :func:`add_file`.
"""

from extremum.errors import required_by

# Before the modules, so that the message names this package.
with required_by("extremum.runtimes"):
    import onnx  # noqa: F401

from extremum.runtimes.registry import add_file, files, find, installed, known, shown
from extremum.runtimes.runtime import Feeds, Run, Runtime

__all__ = ["Feeds", "Run", "Runtime", "add_file", "files", "find", "installed", "known", "shown"]
__dir__ = __all__.copy
