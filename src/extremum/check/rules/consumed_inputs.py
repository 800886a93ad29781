"""EX013: an attribute without effect."""

from __future__ import annotations

from collections.abc import Iterator

from extremum.check.finding import Severity
from extremum.check.rule import Rule, Targets
from extremum.errors import ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["RULE"]


def _look(site: Site, row: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    for attribute in row.attributes:
        if attribute.name == "consumed_inputs" and attribute.name in site.attributes:
            yield SpecError(f"{row} does nothing with 'consumed_inputs'", remedy="drop it")


RULE = Rule(
    code="EX013",
    title="consumed_inputs",
    severity=Severity.INFO,
    what="Max or Min of version 1 states `consumed_inputs`.",
    why="It let early runtimes overwrite the inputs it names. Today it has no effect; version 6 dropped it.",
    example="""\
<ir_version: 8, opset_import: ["" : 1]>
g (float[3] a, float[3] b) => (float[3] c) {
   c = Max <consumed_inputs = [0, 0]> (a, b)
}
""",
    instead="""\
<ir_version: 8, opset_import: ["" : 1]>
g (float[3] a, float[3] b) => (float[3] c) {
   c = Max (a, b)
}
""",
    look=_look,
)
