"""ONNX Min: versions 1, 6, 8, 12 and 13.

6 dropped ``consumed_inputs``, 8 added broadcasting, 12 the integers, 13 bfloat16.
"""

from extremum.spec.schema import (
    FLOATS,
    INTEGERS,
    ONNX,
    Attribute,
    AttributeRange,
    AttributeType,
    Broadcasting,
    Family,
    OperatorVersion,
    Parameter,
)

__all__ = ["VERSIONS"]

_NUMBERS = (*INTEGERS, *FLOATS)
_MOST_INPUTS = 2**31 - 1

_CONSUMED_INPUTS = Attribute("consumed_inputs", AttributeType.INTS, None, AttributeRange.ANY)


def _version(since: int, types: tuple[str, ...], broadcasting: Broadcasting, *attributes: Attribute) -> OperatorVersion:
    return OperatorVersion(
        domain=ONNX,
        name="Min",
        since=since,
        family=Family.MINIMUM,
        input=Parameter("data_0", types, _MOST_INPUTS),
        output=Parameter("min", types),
        attributes=attributes,
        broadcasting=broadcasting,
    )


VERSIONS = (
    _version(1, FLOATS, Broadcasting.NONE, _CONSUMED_INPUTS),
    _version(6, FLOATS, Broadcasting.NONE),
    _version(8, FLOATS, Broadcasting.MULTIDIRECTIONAL),
    _version(12, _NUMBERS, Broadcasting.MULTIDIRECTIONAL),
    _version(13, (*_NUMBERS, "bfloat16"), Broadcasting.MULTIDIRECTIONAL),
)
