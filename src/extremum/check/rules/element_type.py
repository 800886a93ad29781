"""EX004: an element type that the version does not take."""

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
    for element in dict.fromkeys(tensor.element for tensor in site.inputs):
        yield from refusals(validate.element_type, row, element)


RULE = Rule(
    code="EX004",
    title="element type not allowed",
    severity=Severity.ERROR,
    what="The input has an element type that the version of the operator does not take.",
    why="The model is not valid, even where a runtime happens to run it. A later version may take the type.",
    example="""\
<ir_version: 8, opset_import: ["" : 12]>
g (bfloat16[4, 10] scores) => (int64[4, 1] label) {
   label = ArgMax <axis = 1> (scores)
}
""",
    instead="""\
<ir_version: 8, opset_import: ["" : 13]>
g (bfloat16[4, 10] scores) => (int64[4, 1] label) {
   label = ArgMax <axis = 1> (scores)
}
""",
    look=_look,
)
