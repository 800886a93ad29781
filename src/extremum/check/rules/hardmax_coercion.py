"""EX104: Hardmax before version 13 over more than one axis."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Targets, accepted_values, refusals, rule
from extremum.errors import ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX104", "Hardmax over several axes", Severity.WARNING)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Hardmax before version 13 has more than one axis from `axis` on: each block of them gets a single 1.

    onnx's reference evaluator, and runtimes that follow version 13, put a 1 along one axis only: other answers.

    Example::

        <ir_version: 8, opset_import: ["" : 11]>
        g (float[2, 3, 4] scores) => (float[2, 3, 4] hot) {
           hot = Hardmax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 11]>
        g (float[2, 3, 4] scores) => (float[2, 3, 4] hot) {
           hot = Hardmax <axis = 2> (scores)
        }
    """
    for tensor in site.inputs[:1]:
        values = accepted_values(site, schema)
        if not schema.coerced or tensor.rank is None or any(refusals(validate.axes, schema, values, tensor.rank)):
            return
        axes = validate.axes(schema, values, tensor.rank)
        if len(axes) > 1:
            yield SpecError(
                f"{schema} puts a single 1 into each block of axes {axes[0]} to {axes[-1]}; "
                "some runtimes put one per row",
                remedy="reshape those axes into one and use opset 13 or later",
            )
