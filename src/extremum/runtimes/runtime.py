"""What a runtime is: it loads a model and runs it, or refuses it with an exception."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

import onnx
from numpy.typing import NDArray

from extremum.errors import said
from extremum.graph.nodes import one_node
from extremum.spec import OperatorVersion

Array = NDArray[Any]
Feeds = Mapping[str, Array]
"""The inputs of a model by name."""

Run = Callable[[Feeds], Sequence[Any]]
"""Takes the inputs by name and returns the outputs in the model's order."""

Load = Callable[[onnx.ModelProto], Run]
"""Takes a model and returns what runs it; an exception, here or in a run, is a refusal."""


class Runtime(Hashable, Protocol):
    """An installed runtime; it is the key under which its refusals are cached."""

    @property
    def name(self) -> str:
        """As the command line spells it, such as ``onnxruntime`` or ``onnxruntime:cuda``."""

    @property
    def version(self) -> str:
        """Version of the package that does the work."""

    def load(self, model: onnx.ModelProto, /) -> Run:
        """Return what runs a model."""


@functools.cache
def refusal(runtime: Runtime, schema: OperatorVersion, opset: int, element: str) -> str | None:
    """Return what a runtime says when it does not load a node of rank 2, or None if it loads it.

    Releases and builds differ, so no table can tell: the runtime loads a model of one node.
    """
    try:
        runtime.load(one_node(schema, opset, element))
    except Exception as error:
        # The exceptions of runtimes share no class of their own.
        return said(error)
    return None
