"""ONNX Hardmax: versions 1, 11 and 13.

1 and 11 see the input as 2-D, split at the axis, which is 1 by default; 11 defined negative axes. 13 looks along one
axis, the last by default, and added bfloat16.
"""

from extremum.spec.schema import (
    FLOATS,
    ONNX,
    Attribute,
    AttributeRange,
    AttributeType,
    Family,
    OperatorVersion,
    Parameter,
)

__all__ = ["VERSIONS"]


def _version(
    since: int, types: tuple[str, ...], default_axis: int, axis_range: AttributeRange, *, coerced: bool
) -> OperatorVersion:
    return OperatorVersion(
        domain=ONNX,
        name="Hardmax",
        since=since,
        family=Family.HARDMAX,
        input=Parameter("input", types),
        output=Parameter("output", types),
        attributes=(Attribute("axis", AttributeType.INT, default_axis, axis_range),),
        coerced=coerced,
        ranks=(1, None),
    )


VERSIONS = (
    _version(1, FLOATS, 1, AttributeRange.AXIS_UNSTATED, coerced=True),
    _version(11, FLOATS, 1, AttributeRange.AXIS, coerced=True),
    _version(13, (*FLOATS, "bfloat16"), -1, AttributeRange.AXIS, coerced=False),
)
