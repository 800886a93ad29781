"""EX005: more or fewer inputs or outputs than the version has."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Targets, refusals, rule
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX005", "number of inputs or outputs", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """A node has more or fewer inputs or outputs than its operator takes and gives.

    Runtimes refuse the model. ArgMax has no output for the largest value: that is ReduceMax.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, float[4] b) => (int64[1] index) {
           index = ArgMax (a, b)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, float[4] b) => (int64[1] index) {
           larger = Max (a, b)
           index = ArgMax (larger)
        }
    """
    yield from refusals(validate.input_count, schema, len(site.names))
    yield from refusals(validate.output_count, schema, len(site.node.output))
