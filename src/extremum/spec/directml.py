"""DirectML's operators that pick the largest or smallest, as the tensor support tables of their documents list them.

A schema is in force from its feature level on. DML_REDUCE promises other types for each function, so each has some of
its own. No feature level takes float64 or bfloat16.
"""

from extremum.spec.schema import (
    DIRECTML,
    Attribute,
    AttributeRange,
    AttributeType,
    Family,
    OperatorVersion,
    Parameter,
)

__all__ = ["OPERATORS"]

_FLOATS = ("float32", "float16")
_WORDS = (*_FLOATS, "int32", "uint32")
_NARROW = (*_FLOATS, "int32", "int16", "int8", "uint32", "uint16", "uint8")
_ALL = (*_NARROW, "int64", "uint64")
_INDICES = ("int64", "int32", "uint64", "uint32")

_FOUR = (4, 4)
_FOUR_OR_FIVE = (4, 5)
_ANY = (1, 8)

_AXES = Attribute("axes", AttributeType.INTS, None, AttributeRange.AXIS_UNSIGNED, required=True)
_AXIS_DIRECTION = Attribute("axis_direction", AttributeType.INT, 0, AttributeRange.FLAG)
# Not a field of the structure: the one axis that its document means.
_LAST_AXIS = Attribute("axis", AttributeType.INT, -1, AttributeRange.AXIS)


def _index(
    name: str,
    family: Family,
    attributes: tuple[Attribute, ...],
    *rows: tuple[int, tuple[str, ...], tuple[str, ...], tuple[int, int]],
) -> tuple[OperatorVersion, ...]:
    return tuple(
        OperatorVersion(
            domain=DIRECTML,
            name=name,
            since=since,
            family=family,
            input=Parameter("InputTensor", types),
            output=Parameter("OutputTensor", indices),
            attributes=attributes,
            ranks=ranks,
            empty=False,
        )
        for since, types, indices, ranks in rows
    )


def _element(
    name: str,
    family: Family,
    attributes: tuple[Attribute, ...],
    *rows: tuple[int, tuple[str, ...], tuple[int, int]],
    operands: tuple[str, ...] = ("InputTensor",),
) -> tuple[OperatorVersion, ...]:
    return tuple(
        OperatorVersion(
            domain=DIRECTML,
            name=name,
            since=since,
            family=family,
            input=Parameter(", ".join(operands), types, maximum=len(operands)),
            output=Parameter("OutputTensor", types),
            attributes=attributes,
            ranks=ranks,
            empty=False,
        )
        for since, types, ranks in rows
    )


def _argmax(name: str, family: Family) -> tuple[OperatorVersion, ...]:
    return _index(
        name,
        family,
        (_AXES, _AXIS_DIRECTION),
        (0x3000, _NARROW, _INDICES, _ANY),
        (0x4100, _ALL, _INDICES, _ANY),
    )


def _reduce_to_index(name: str, family: Family) -> tuple[OperatorVersion, ...]:
    return _index(
        name,
        family,
        (_AXES,),
        (0x1000, _FLOATS, ("uint32",), _FOUR),
        (0x2100, _NARROW, ("uint32",), _FOUR),
        (0x3000, _NARROW, _INDICES, _ANY),
        (0x4100, _ALL, _INDICES, _ANY),
    )


def _reduce_to_element(name: str, family: Family) -> tuple[OperatorVersion, ...]:
    return _element(
        name,
        family,
        (_AXES,),
        (0x1000, _FLOATS, _FOUR),
        (0x2100, _WORDS, _FOUR),
        (0x3000, _NARROW, _ANY),
        (0x5000, _ALL, _ANY),
    )


def _element_wise(name: str, family: Family) -> tuple[OperatorVersion, ...]:
    return _element(
        name,
        family,
        (),
        (0x1000, _FLOATS, _FOUR),
        (0x2100, _NARROW, _FOUR),
        (0x3000, _NARROW, _ANY),
        (0x5000, _ALL, _ANY),
        operands=("ATensor", "BTensor"),
    )


OPERATORS = (
    _argmax("DML_ARGMAX", Family.ARGMAX),
    _argmax("DML_ARGMIN", Family.ARGMIN),
    _reduce_to_index("DML_REDUCE(ARGMAX)", Family.ARGMAX),
    _reduce_to_index("DML_REDUCE(ARGMIN)", Family.ARGMIN),
    _reduce_to_element("DML_REDUCE(MAX)", Family.LARGEST),
    _reduce_to_element("DML_REDUCE(MIN)", Family.SMALLEST),
    _element_wise("DML_ELEMENT_WISE_MAX", Family.MAXIMUM),
    _element_wise("DML_ELEMENT_WISE_MIN", Family.MINIMUM),
    _element(
        "DML_ACTIVATION_HARDMAX",
        Family.HARDMAX,
        (_LAST_AXIS,),
        (0x1000, _FLOATS, _FOUR),
        (0x2000, _FLOATS, _FOUR_OR_FIVE),
        (0x3000, _FLOATS, _ANY),
    ),
    _element("DML_ACTIVATION_HARDMAX1", Family.HARDMAX, (_AXES,), (0x5100, _FLOATS, _ANY)),
)
"""The versions of each operator, oldest first."""
