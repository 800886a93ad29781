"""EX102: what a feature level of DirectML does not take."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import infer
from extremum.check.finding import Severity
from extremum.check.rule import Targets, accepted_values, refusals, rule
from extremum.directml.steps import steps
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType

__all__ = ["look"]


@rule("EX102", "refused by the DirectML feature level", Severity.WARNING)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """DirectML does not take the operators that would stand for the node at the feature level asked about.

    The node falls back to the CPU, with a copy in each direction, or the model is refused.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (int64[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (int32[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    if not site.node.output:
        # There is nothing to lower, and another rule says so.
        return
    unknown = any(tensor.element is None for tensor in site.operands)
    if targets.feature_level is None or unknown or any(refusals(site.output)):
        return
    values = accepted_values(site, schema)
    types = [_sized(tensor) for tensor in site.operands]
    if any(refusals(infer.output, schema, values, types)):
        # The sizes assumed do not go together, which says nothing about the model.
        return
    inputs = list(zip(site.names, types, strict=False))
    output = (site.node.output[0], infer.output(schema, values, types))
    for error in refusals(steps, schema, values, inputs, output, targets.feature_level):
        yield type(error)(error.reason, remedy=error.remedy)


def _sized(tensor: TensorType) -> TensorType:
    """Return the type with a size for every dimension: which one does not matter to a feature level."""
    shape = (None,) * 4 if tensor.shape is None else tensor.shape
    return TensorType(tensor.element, tuple(size if isinstance(size, int) else 1 for size in shape))
