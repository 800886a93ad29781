"""EX001: an attribute that the version does not have."""

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
    for attribute in site.node.attribute:
        yield from refusals(validate.known_attribute, row, attribute.name)


RULE = Rule(
    code="EX001",
    title="unknown attribute",
    severity=Severity.ERROR,
    what="An attribute is stated that the version of the operator does not have.",
    why="Runtimes refuse it, drop it silently, or obey a later version than the model asks for.",
    example="""\
<ir_version: 8, opset_import: ["" : 11]>
g (float[1, 1000] scores) => (int64[1, 1] label) {
   label = ArgMax <axis = 1, select_last_index = 1> (scores)
}
""",
    instead="""\
<ir_version: 8, opset_import: ["" : 12]>
g (float[1, 1000] scores) => (int64[1, 1] label) {
   label = ArgMax <axis = 1, select_last_index = 1> (scores)
}
""",
    look=_look,
)
