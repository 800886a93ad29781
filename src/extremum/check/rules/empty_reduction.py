"""EX009: the extremum of no element."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import infer
from extremum.check.finding import Severity
from extremum.check.rule import Targets, accepted_values, refusals, rule
from extremum.errors import AxisError, ExtremumError
from extremum.graph.sites import Site
from extremum.spec import Family, OperatorVersion

__all__ = ["look"]


@rule("EX009", "nothing to choose from", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The axis that ArgMax or ArgMin reduces has no element, or one of ReduceMax's or ReduceMin's of version 12.

    There is no index to give, and only the other versions say what the largest of no element is: the node fails.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 0] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[0, 10] scores) => (int64[0, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    if schema.family not in (Family.MAXIMUM, Family.MINIMUM) and site.inputs:
        for error in refusals(infer.output, schema, accepted_values(site, schema), site.inputs):
            # An axis that is not there is another rule's.
            if not isinstance(error, AxisError):
                yield error
