"""EX106: what the runtime that was named does not run."""

from __future__ import annotations

from collections.abc import Iterator

from extremum.check.finding import Severity
from extremum.check.rule import Targets, rule
from extremum.errors import ExtremumError, UnknownOperatorError
from extremum.graph.sites import Site
from extremum.runtimes.outcome import Outcome
from extremum.spec import OperatorVersion

__all__ = ["look"]

_DOES = {
    Outcome.REFUSED: "does not run",
    Outcome.CRASHED: "crashes on",
    Outcome.TIMED_OUT: "does not come to an end with",
}


@rule("EX106", "refused by the runtime", Severity.WARNING)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The runtime that was named with `--for`, asked with a model of this one node, gives no answer.

    It runs in a process of its own, so a crash is a finding too. `extremum fix --for` rewrites a node into others that
    the runtime takes, where standard ONNX can say the same.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (uint16[4] left, uint16[4] right) => (uint16[4] louder) {
           louder = Max (left, right)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (uint16[4] left, uint16[4] right) => (uint16[4] louder) {
           wide_left = Cast <to = 6> (left)
           wide_right = Cast <to = 6> (right)
           wide = Max (wide_left, wide_right)
           louder = Cast <to = 4> (wide)
        }
    """
    asked = targets.asked
    if asked is None:
        return
    for each in asked.differences(site):
        if each.outcome in _DOES:
            yield UnknownOperatorError(
                f"{asked.name} {_DOES[each.outcome]} {schema} on {site.inputs[0].element} at opset {site.opsets['']}",
                given=f"{each.reproducer}: {each.why}",
                remedy=f"extremum fix --for {asked.watched.name} rewrites it, where standard ONNX can say the same",
            )
