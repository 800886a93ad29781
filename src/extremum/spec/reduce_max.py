"""ONNX ReduceMax: versions 1, 11, 12, 13, 18 and 20.

11 defined negative axes, 12 added 8-bit integers, 13 bfloat16, 18 made the axes an input that may say "none", 20 added
bool. Every document but that of 12 says what the largest of no element is.
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

_WIDE = ("int32", "int64", "uint32", "uint64", *FLOATS)
_NUMBERS = ("int8", "uint8", *_WIDE)

_AXES_1 = Attribute("axes", AttributeType.INTS, None, AttributeRange.AXIS_UNSTATED)
_AXES = Attribute("axes", AttributeType.INTS, None, AttributeRange.AXIS)
_AXES_18 = Attribute("axes", AttributeType.INTS, None, AttributeRange.AXIS, input=Parameter("axes", types=("int64",)))
_KEEPDIMS = Attribute("keepdims", AttributeType.INT, 1, AttributeRange.FLAG)
_NOOP = Attribute("noop_with_empty_axes", AttributeType.INT, 0, AttributeRange.FLAG)


def _version(since: int, types: tuple[str, ...], *attributes: Attribute, identity: bool = True) -> OperatorVersion:
    return OperatorVersion(
        domain=ONNX,
        name="ReduceMax",
        since=since,
        family=Family.LARGEST,
        input=Parameter("data", types),
        output=Parameter("reduced", types),
        attributes=attributes,
        every_axis=True,
        identity=identity,
    )


VERSIONS = (
    _version(1, _WIDE, _AXES_1, _KEEPDIMS),
    _version(11, _WIDE, _AXES, _KEEPDIMS),
    _version(12, _NUMBERS, _AXES, _KEEPDIMS, identity=False),
    _version(13, (*_NUMBERS, "bfloat16"), _AXES, _KEEPDIMS),
    _version(18, (*_NUMBERS, "bfloat16"), _AXES_18, _KEEPDIMS, _NOOP),
    _version(20, (*_NUMBERS, "bfloat16", "bool"), _AXES_18, _KEEPDIMS, _NOOP),
)
