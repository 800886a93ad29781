"""DirectML's DML_ARGMAX and DML_ARGMIN: feature levels 3_0 and 4_1.

4_1 added the 64-bit integers. Any set of axes is reduced, the rank is kept, and the caller picks the type of the index.
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

__all__ = ["ARGMAX_VERSIONS", "ARGMIN_VERSIONS"]

_AT_3_0 = ("float32", "float16", "int32", "int16", "int8", "uint32", "uint16", "uint8")
_INDEX = Parameter("OutputTensor", ("int64", "int32", "uint64", "uint32"))

_AXES = Attribute("axes", AttributeType.INTS, None, AttributeRange.AXIS_UNSIGNED, required=True)
_AXIS_DIRECTION = Attribute("axis_direction", AttributeType.INT, 0, AttributeRange.FLAG)


def _versions(name: str, family: Family) -> tuple[OperatorVersion, ...]:
    return tuple(
        OperatorVersion(
            domain=DIRECTML,
            name=name,
            since=since,
            family=family,
            input=Parameter("InputTensor", types),
            output=_INDEX,
            attributes=(_AXES, _AXIS_DIRECTION),
            ranks=(1, 8),
            empty=False,
        )
        for since, types in ((0x3000, _AT_3_0), (0x4100, (*_AT_3_0, "int64", "uint64")))
    )


ARGMAX_VERSIONS = _versions("DML_ARGMAX", Family.ARGMAX)
ARGMIN_VERSIONS = _versions("DML_ARGMIN", Family.ARGMIN)
