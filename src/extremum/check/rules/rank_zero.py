"""EX010: a scalar where an axis is needed."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Rule, Targets, refusals
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["RULE"]


def _look(site: Site, row: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    for tensor in site.inputs:
        yield from refusals(validate.shape, row, tensor)


RULE = Rule(
    code="EX010",
    title="rank 0",
    severity=Severity.ERROR,
    what="ArgMax, ArgMin or Hardmax has an input of rank 0.",
    why="A scalar has no axis to look along. onnx's reference evaluator answers 0, onnxruntime refuses the model.",
    example="""\
<ir_version: 8, opset_import: ["" : 13]>
g (float score) => (label) {
   label = ArgMax (score)
}
""",
    instead="""\
<ir_version: 8, opset_import: ["" : 13]>
g (float[1] score) => (int64[1] label) {
   label = ArgMax (score)
}
""",
    look=_look,
)
