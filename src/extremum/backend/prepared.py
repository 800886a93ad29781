"""A model that is ready to run, whoever runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx.backend.base import BackendRep, namedtupledict

from extremum.backend.executor import Executor
from extremum.backend.inputs import Binder
from extremum.backend.session import Session
from extremum.errors import ArgumentError
from extremum.graph.load import Model
from extremum.graph.types import listed

__all__ = ["ENGINES", "PreparedModel", "refuse"]

ENGINES = ("onnxruntime", "reference")
"""Who can run operators that are not this package's."""


class PreparedModel(BackendRep):
    """A model that has been checked and loaded, to be run any number of times.

    Attributes
    ----------
    model : onnx.ModelProto
        The model, with its weights.
    engine : str
        Who runs it, one of :data:`ENGINES`. The operators of this package are this package's in both.

    Examples
    --------
    >>> import numpy as np
    >>> import onnx
    >>> from extremum import backend
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[n] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> prepared = backend.prepare(onnx.parser.parse_model(text))
    >>> prepared.run([np.array([1, 3, 3], np.float32)]).y
    array([1])
    """

    def __init__(self, loaded: Model, executor: Executor | Session) -> None:
        self.loaded = loaded
        self.engine = "onnxruntime" if isinstance(executor, Session) else "reference"
        self._executor = executor
        self._binder = Binder(loaded.proto.graph)
        self._outputs = namedtupledict("Outputs", list(executor.output_names))

    def __repr__(self) -> str:
        graph = self.loaded.proto.graph
        defaults = {each.name for each in graph.initializer}
        inputs = [each for each in graph.input if each.name not in defaults]
        return f"<PreparedModel {listed(inputs)} -> {listed(graph.output)}, engine={self.engine!r}>"

    @property
    def model(self) -> onnx.ModelProto:
        """The model, with its weights; large ones in other files are read when this is first asked for."""
        return self.loaded.whole

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], **options: Any) -> tuple[Any, ...]:
        """Run the model.

        Parameters
        ----------
        inputs : sequence or mapping
            Arrays in the model's order, or by name. They are not modified.

        Returns
        -------
        tuple
            The outputs in the model's order, which can also be had by name.

        Raises
        ------
        InputError
            If the inputs do not fit the model's declaration.
        SpecError, AxisError, ElementTypeError
            If an operator's version does not allow what reaches it.
        MemoryLimitError
            If an output would not fit into memory.
        ExecutionError
            If an operator of onnx's reference implementation fails.
        """
        refuse(options)
        outputs: tuple[Any, ...] = self._outputs(*self._executor.run(None, self._binder.bind(inputs)))
        return outputs


def refuse(options: Mapping[str, Any]) -> None:
    """Refuse options of onnx's interface that mean nothing here."""
    for name in options:
        raise ArgumentError(f"there is no option {name!r} here")
