"""EX007: a negative axis in a version that does not mention them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from extremum.check.finding import Severity
from extremum.check.rule import Targets, accepted_values, rule
from extremum.errors import ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import AttributeRange, OperatorVersion

__all__ = ["look"]


@rule("EX007", "negative axis before opset 11", Severity.WARNING)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """`axis`, or one of `axes`, is negative in a version whose document says nothing of negative axes.

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
    values = accepted_values(site, schema)
    for attribute in schema.attributes:
        value = values[attribute.name]
        axes = (value,) if isinstance(value, int) else value if isinstance(value, tuple) else ()
        if attribute.range is AttributeRange.AXIS_UNSTATED and any(axis < 0 for axis in axes):
            rank = site.inputs[0].rank if site.inputs else None
            plain = "count from the front"
            if rank and all(axis + rank >= 0 for axis in axes):
                plain = f"write {attribute.name}={_text(value, [axis % rank for axis in axes])}"
            yield SpecError(
                f"{schema} does not say what {attribute.name}={_text(value, axes)} means",
                remedy=f"{plain}, or use opset 11 or later",
            )


def _text(value: object, axes: Sequence[int]) -> str:
    return str(axes[0] if isinstance(value, int) else list(axes))
