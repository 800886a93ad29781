"""The operators of this package for onnx's reference evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from extremum import errors, lower
from extremum.errors import ExtremumError
from extremum.graph.attributes import attributes_of
from extremum.graph.calls import schema_of
from extremum.graph.operands import operand_names, operand_types, resolve_node
from extremum.operations import Operation, results
from extremum.spec import ONNX, OPERATORS, OperatorVersion
from extremum.tensors import element_of, require_memory


class FamilyOperator(OpRun):
    """An operator of this package in onnx's reference evaluator; a subclass for each name."""

    op_schema = None  # so that the evaluator fills in no defaults: they depend on the model's opset
    place: str | None = None
    # The types of the last inputs, with their operation and outputs: most calls repeat the same types.
    _last: tuple[object, Operation, Sequence[Any]] | None = None

    def run(
        self, *inputs: Any, linked_attributes: Mapping[str, Any] | None = None, **_: Any
    ) -> tuple[Any, ...]:
        """Compute the node; the evaluator passes the attributes of the function that holds the node."""
        # The evaluator's own ``run`` replaces every TypeError, and our ElementTypeError is a TypeError.
        # Some of its operators return a NumPy scalar for a tensor of rank 0.
        inputs = tuple(np.asarray(x) if isinstance(x, np.generic) else x for x in inputs)
        try:
            plan = self._last
            data = self._version.input.maximum
            # A plan depends on the types, and on the values of inputs that stand for attributes.
            signature: list[Any] = [(x.dtype, x.shape) if isinstance(x, np.ndarray) else None for x in inputs]
            if len(inputs) > data:
                signature += (x.tobytes() for x in inputs[data:] if isinstance(x, np.ndarray))
            # A function's attributes may differ from call to call.
            if linked_attributes or plan is None or plan[0] != signature:
                plan = (signature, *self._plan(inputs, linked_attributes or {}))
                self._last = None if linked_attributes else plan
            _signature, operation, outputs = plan
            for output in outputs:
                require_memory(*output)
            return results(operation(*inputs[:data]))
        except ExtremumError as error:
            place = self.place or f"the node that gives {self.onnx_node.output[0]!r}"
            raise error.with_context(where=f"{place}, opset {self.run_params['opsets']['']}") from None

    _run = run

    @cached_property
    def _version(self) -> OperatorVersion:
        version = schema_of(self.onnx_node, self.run_params["opsets"])
        assert version is not None
        return version

    def _plan(
        self, inputs: tuple[Any, ...], linked_attributes: Mapping[str, Any]
    ) -> tuple[Operation, Sequence[Any]]:
        """Return the operation, and for each output its sizes, its type and its name in errors."""
        version = self._version
        names = operand_names(self.onnx_node, version)
        inputs = inputs[: len(names)]
        for name, x in zip(names, inputs, strict=True):
            if not isinstance(x, np.ndarray):
                raise errors.ElementTypeError(f"{version} takes tensors", given=f"{name}: {type(x).__name__}")
        attributes = attributes_of(self.onnx_node, linked_attributes)
        values, outputs = resolve_node(version, attributes, names, operand_types(version, inputs))
        what = f"the output of {version}"
        types = [(each.sizes or (), element_of(str(each.element)).dtype, what) for each in outputs]
        return lower.operation(version, values, inputs[0].ndim), types


# The evaluator finds an operator by the name of its class.
_OPERATORS = [
    type(name, (FamilyOperator,), {"__doc__": f"ONNX {name}, every version.", "__module__": __name__})
    for domain, name in sorted(OPERATORS)
    if domain == ONNX
]


def reference_ops() -> list[type[OpRun]]:
    """Return this package's operators, one class each, for ``onnx.reference.ReferenceEvaluator(model, new_ops=...)``.

    They follow the opset of the model. The evaluator itself gives new operators to the graph and its subgraphs, but not
    to model-local functions; :func:`extremum.backend.prepare` covers those too.

    >>> import numpy as np
    >>> import onnx
    >>> from extremum import backend
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> model = onnx.parser.parse_model(text)
    >>> evaluator = onnx.reference.ReferenceEvaluator(model, new_ops=backend.reference_ops())
    >>> evaluator.run(None, {"x": np.array([1, np.nan, 3], np.float32)})
    [array([1])]
    """
    return list(_OPERATORS)
