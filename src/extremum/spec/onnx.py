"""The versions of ONNX's operators, as data."""

from collections.abc import Sequence
from dataclasses import replace

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

__all__ = ["OPERATORS"]


# ArgMax and ArgMin. 11 defined negative axes, 12 added select_last_index, 13 added bfloat16.
_NUMBERS = (*INTEGERS, *FLOATS)
_REDUCED = Parameter("reduced", ("int64",))

_AXIS = Attribute("axis", AttributeType.INT, 0, AttributeRange.AXIS)
_AXIS_1 = Attribute("axis", AttributeType.INT, 0, AttributeRange.AXIS_UNSTATED)
_KEEPDIMS = Attribute("keepdims", AttributeType.INT, 1, AttributeRange.FLAG)
_SELECT_LAST_INDEX = Attribute("select_last_index", AttributeType.INT, 0, AttributeRange.FLAG)


def _argmax(since: int, types: tuple[str, ...], *attributes: Attribute) -> OperatorVersion:
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


_ARGMAX = (
    _argmax(1, _NUMBERS, _AXIS_1, _KEEPDIMS),
    _argmax(11, _NUMBERS, _AXIS, _KEEPDIMS),
    _argmax(12, _NUMBERS, _AXIS, _KEEPDIMS, _SELECT_LAST_INDEX),
    _argmax(13, (*_NUMBERS, "bfloat16"), _AXIS, _KEEPDIMS, _SELECT_LAST_INDEX),
)


# Max and Min. 6 dropped consumed_inputs, 8 added broadcasting, 12 the integers, 13 bfloat16.
_MOST_INPUTS = 2**31 - 1

_CONSUMED_INPUTS = Attribute("consumed_inputs", AttributeType.INTS, None, AttributeRange.ANY)


def _max(since: int, types: tuple[str, ...], broadcasting: Broadcasting, *attributes: Attribute) -> OperatorVersion:
    return OperatorVersion(
        domain=ONNX,
        name="Max",
        since=since,
        family=Family.MAXIMUM,
        input=Parameter("data_0", types, _MOST_INPUTS),
        output=Parameter("max", types),
        attributes=attributes,
        broadcasting=broadcasting,
    )


_MAX = (
    _max(1, FLOATS, Broadcasting.NONE, _CONSUMED_INPUTS),
    _max(6, FLOATS, Broadcasting.NONE),
    _max(8, FLOATS, Broadcasting.MULTIDIRECTIONAL),
    _max(12, _NUMBERS, Broadcasting.MULTIDIRECTIONAL),
    _max(13, (*_NUMBERS, "bfloat16"), Broadcasting.MULTIDIRECTIONAL),
)


# Hardmax. 1 and 11 see the input as 2-D, split at the axis, which is 1 by default; 11 defined negative axes. 13 looks
# along one axis, the last by default, and added bfloat16.


def _hardmax(
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


_HARDMAX = (
    _hardmax(1, FLOATS, 1, AttributeRange.AXIS_UNSTATED, coerced=True),
    _hardmax(11, FLOATS, 1, AttributeRange.AXIS, coerced=True),
    _hardmax(13, (*FLOATS, "bfloat16"), -1, AttributeRange.AXIS, coerced=False),
)


# ReduceMax and ReduceMin. 11 defined negative axes, 12 added 8-bit integers, 13 bfloat16, 18 made the axes an input,
# which may be empty, 20 added bool. Every document but that of 12 defines the largest of no element.
_WIDE = ("int32", "int64", "uint32", "uint64", *FLOATS)
_WITH_8_BITS = ("int8", "uint8", *_WIDE)

_AXES_1 = Attribute("axes", AttributeType.INTS, None, AttributeRange.AXIS_UNSTATED)
_AXES = Attribute("axes", AttributeType.INTS, None, AttributeRange.AXIS)
_AXES_18 = Attribute("axes", AttributeType.INTS, None, AttributeRange.AXIS, input=Parameter("axes", types=("int64",)))
_NOOP = Attribute("noop_with_empty_axes", AttributeType.INT, 0, AttributeRange.FLAG)


def _reduce_max(since: int, types: tuple[str, ...], *attributes: Attribute, identity: bool = True) -> OperatorVersion:
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


_REDUCE_MAX = (
    _reduce_max(1, _WIDE, _AXES_1, _KEEPDIMS),
    _reduce_max(11, _WIDE, _AXES, _KEEPDIMS),
    _reduce_max(12, _WITH_8_BITS, _AXES, _KEEPDIMS, identity=False),
    _reduce_max(13, (*_WITH_8_BITS, "bfloat16"), _AXES, _KEEPDIMS),
    _reduce_max(18, (*_WITH_8_BITS, "bfloat16"), _AXES_18, _KEEPDIMS, _NOOP),
    _reduce_max(20, (*_WITH_8_BITS, "bfloat16", "bool"), _AXES_18, _KEEPDIMS, _NOOP),
)


def _mirror(versions: Sequence[OperatorVersion], name: str, family: Family, output: str) -> tuple[OperatorVersion, ...]:
    """Return the versions of the operator that picks the smallest."""
    return tuple(replace(each, name=name, family=family, output=replace(each.output, name=output)) for each in versions)


OPERATORS = (
    _ARGMAX,
    _mirror(_ARGMAX, "ArgMin", Family.ARGMIN, "reduced"),
    _MAX,
    _mirror(_MAX, "Min", Family.MINIMUM, "min"),
    _HARDMAX,
    _REDUCE_MAX,
    _mirror(_REDUCE_MAX, "ReduceMin", Family.SMALLEST, "reduced"),
)
"""All versions of each operator, oldest first."""
