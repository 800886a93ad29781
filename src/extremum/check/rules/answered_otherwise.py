"""EX107: what the runtime that was named answers otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from extremum.check.finding import Severity
from extremum.check.rule import Targets, rule
from extremum.errors import ExecutionError, ExtremumError
from extremum.graph.sites import Site
from extremum.runtimes.outcome import Outcome
from extremum.spec import OperatorVersion

__all__ = ["look"]

_REMEDIES = {
    Outcome.NAN: "no document says what NaN compares to: keep it away from the node",
    Outcome.ZERO: "no document says which of the two zeros is the larger one: do not rely on its sign",
}
_OTHERS = "the document of the version decides this: tell whoever makes the runtime"


@rule("EX107", "answered otherwise by the runtime", Severity.WARNING)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The runtime that was named with `--for`, asked with a model of this one node, answers it otherwise.

    It is asked on ordinary values, ties, the limits of the type, infinities, both zeros and NaN; the finding has the
    smallest input that repeats it.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (int32[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    asked = targets.asked
    if asked is None:
        return
    for each in asked.differences(site):
        if not each.why:
            yield ExecutionError(
                f"{asked.name} answers {schema} on {site.inputs[0].element} otherwise: {each.outcome.value}",
                given=each.reproducer,
                remedy=_REMEDIES.get(each.outcome, _OTHERS),
            )
