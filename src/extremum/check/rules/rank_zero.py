"""EX010: a scalar where an axis is needed."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Targets, refusals, rule
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX010", "rank 0", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax, ArgMin or Hardmax has an input of rank 0.

    A scalar has no axis to look along. onnx's reference evaluator answers 0, onnxruntime refuses the model.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float score) => (label) {
           label = ArgMax (score)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[1] score) => (int64[1] label) {
           label = ArgMax (score)
        }
    """
    for tensor in site.operands:
        yield from refusals(validate.shape, schema, tensor)
