"""EX007: a negative axis in a version that does not mention them."""

from __future__ import annotations

from collections.abc import Iterator

from extremum.check.finding import Severity
from extremum.check.rule import Targets, accepted_values, rule
from extremum.errors import ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import AttributeRange, OperatorVersion

__all__ = ["look"]


@rule("EX007", "negative axis before opset 11", Severity.WARNING)
def look(site: Site, row: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """`axis` is negative in a version whose document says nothing of negative axes.

    extremum and onnxruntime count from the end, as version 11 then said. Others may refuse it.

    Example::

        <ir_version: 8, opset_import: ["" : 10]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = -1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 10]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    values = accepted_values(site, row)
    for attribute in row.attributes:
        axis = values[attribute.name]
        if attribute.range is AttributeRange.AXIS_UNSTATED and isinstance(axis, int) and axis < 0:
            rank = site.inputs[0].rank if site.inputs else None
            plain = f"write {attribute.name}={axis + rank}" if rank and axis + rank >= 0 else "count from the front"
            yield SpecError(
                f"{row} does not say what {attribute.name}={axis} means", remedy=f"{plain}, or use opset 11 or later"
            )
