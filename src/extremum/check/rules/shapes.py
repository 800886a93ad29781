"""EX008: shapes of Max and Min that do not go together."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import infer
from extremum.check.finding import Severity
from extremum.check.rule import Targets, accepted_values, refusals, rule
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import Family, OperatorVersion

__all__ = ["look"]


@rule("EX008", "shapes that do not go together", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The inputs of Max or Min differ in shape before opset 8, or cannot be broadcast from then on.

    Before opset 8 there is no broadcasting. onnx's reference evaluator does it, other runtimes refuse.

    Example::

        <ir_version: 8, opset_import: ["" : 7]>
        g (float[2, 3] a, float[3] b) => (float[2, 3] c) {
           c = Max (a, b)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 8]>
        g (float[2, 3] a, float[3] b) => (float[2, 3] c) {
           c = Max (a, b)
        }
    """
    if schema.family in (Family.MAXIMUM, Family.MINIMUM):
        yield from refusals(infer.output, schema, accepted_values(site, schema), site.inputs)
