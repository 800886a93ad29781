"""ONNX ArgMax: versions 1, 11, 12 and 13.

11 defined negative axes, 12 added ``select_last_index``, 13 added bfloat16.
"""

from extremum.spec.schema import (
    FLOATS,
    INTEGERS,
    ONNX,
    Attribute,
    AttributeRange,
    AttributeType,
    Family,
    OperatorVersion,
    Parameter,
)

__all__ = ["VERSIONS"]

_NUMBERS = (*INTEGERS, *FLOATS)
_REDUCED = Parameter("reduced", ("int64",))

_AXIS = Attribute("axis", AttributeType.INT, 0, AttributeRange.AXIS)
_AXIS_1 = Attribute("axis", AttributeType.INT, 0, AttributeRange.AXIS_UNSTATED)
_KEEPDIMS = Attribute("keepdims", AttributeType.INT, 1, AttributeRange.FLAG)
_SELECT_LAST_INDEX = Attribute("select_last_index", AttributeType.INT, 0, AttributeRange.FLAG)


def _version(since: int, types: tuple[str, ...], *attributes: Attribute) -> OperatorVersion:
    return OperatorVersion(
        domain=ONNX,
        name="ArgMax",
        since=since,
        family=Family.ARGMAX,
        input=Parameter("data", types),
        output=_REDUCED,
        attributes=attributes,
        ranks=(1, None),
    )


VERSIONS = (
    _version(1, _NUMBERS, _AXIS_1, _KEEPDIMS),
    _version(11, _NUMBERS, _AXIS, _KEEPDIMS),
    _version(12, _NUMBERS, _AXIS, _KEEPDIMS, _SELECT_LAST_INDEX),
    _version(13, (*_NUMBERS, "bfloat16"), _AXIS, _KEEPDIMS, _SELECT_LAST_INDEX),
)
