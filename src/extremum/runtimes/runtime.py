"""What a runtime is here: something with a name and a version that loads a model and runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import onnx
from numpy.typing import NDArray

__all__ = ["Feeds", "Load", "Run", "Runtime"]

Feeds = Mapping[str, NDArray[Any]]
"""The inputs of a model by name."""

Run = Callable[[Feeds], Sequence[Any]]
"""Takes the inputs by name and gives the outputs in the model's order."""

Load = Callable[[onnx.ModelProto], Run]
"""Takes a model and gives what runs it; whatever is raised, here or by a run, is a refusal."""


class Runtime(Protocol):
    """A runtime that is installed.

    Attributes
    ----------
    name : str
        As the command line spells it, such as ``onnxruntime`` or ``onnxruntime:cuda``.
    version : str
        Of the package that does the work.
    """

    @property
    def name(self) -> str:
        """The name."""

    @property
    def version(self) -> str:
        """The version."""

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model."""
        ...

    def __hash__(self) -> int:
        """Every object has one: what a runtime has said is kept."""
        ...
