"""The enumerations of directml.h, and the feature levels."""

from __future__ import annotations

import re
from enum import Enum, IntEnum, IntFlag
from typing import TypeVar

from extremum.errors import ArgumentError
from extremum.tensors import ElementType, element_of

Member = TypeVar("Member", bound="Enumeration")


class Enumeration(Enum):
    """An enumeration of directml.h."""

    @property
    def c_name(self) -> str:
        """The enumerator in directml.h."""
        words = re.sub("(?<=[a-z])(?=[A-Z])", "_", type(self).__name__).upper().removesuffix("S")
        return f"DML_{words}_{self.name.removeprefix('FL_')}"


class TensorDataType(Enumeration, IntEnum):
    """DML_TENSOR_DATA_TYPE, without the 4-bit integers and UNKNOWN.

    >>> from extremum import directml as dml
    >>> dml.TensorDataType.INT64.value, dml.TensorDataType.INT64.c_name
    (11, 'DML_TENSOR_DATA_TYPE_INT64')
    """

    FLOAT32 = 1
    FLOAT16 = 2
    UINT32 = 3
    UINT16 = 4
    UINT8 = 5
    INT32 = 6
    INT16 = 7
    INT8 = 8
    FLOAT64 = 9
    UINT64 = 10
    INT64 = 11

    @property
    def element_type(self) -> ElementType:
        """The element type in :mod:`extremum.tensors`."""
        return element_of(self.name.lower())


class TensorFlags(Enumeration, IntFlag):
    """DML_TENSOR_FLAGS.

    >>> from extremum import directml as dml
    >>> dml.TensorFlags.OWNED_BY_DML.c_name
    'DML_TENSOR_FLAG_OWNED_BY_DML'
    """

    NONE = 0
    OWNED_BY_DML = 1


class AxisDirection(Enumeration, IntEnum):
    """DML_AXIS_DIRECTION: the tie rule. INCREASING selects the first of equal elements, DECREASING the last.

    >>> from extremum import directml as dml
    >>> dml.AxisDirection.DECREASING.value
    1
    """

    INCREASING = 0
    DECREASING = 1


class ReduceFunction(Enumeration, IntEnum):
    """The members of DML_REDUCE_FUNCTION that select an element.

    >>> from extremum import directml as dml
    >>> dml.ReduceFunction.MAX.value
    7
    """

    ARGMAX = 0
    ARGMIN = 1
    MAX = 7
    MIN = 8


class FeatureLevel(Enumeration, IntEnum):
    """DML_FEATURE_LEVEL. A level accepts everything that lower levels accept.

    >>> from extremum import directml as dml
    >>> hex(dml.FeatureLevel.FL_4_1), str(dml.FeatureLevel.FL_4_1)
    ('0x4100', '4_1')
    """

    FL_1_0 = 0x1000
    FL_2_0 = 0x2000
    FL_2_1 = 0x2100
    FL_3_0 = 0x3000
    FL_3_1 = 0x3100
    FL_4_0 = 0x4000
    FL_4_1 = 0x4100
    FL_5_0 = 0x5000
    FL_5_1 = 0x5100
    FL_5_2 = 0x5200
    FL_6_0 = 0x6000
    FL_6_1 = 0x6100
    FL_6_2 = 0x6200
    FL_6_3 = 0x6300
    FL_6_4 = 0x6400

    def __str__(self) -> str:
        return self.name.removeprefix("FL_")


def feature_level_of(level: object) -> FeatureLevel:
    """Return the feature level of a number such as 0x4100 or a text such as ``4_1``."""
    try:
        return FeatureLevel[f"FL_{level}"] if isinstance(level, str) else FeatureLevel(level)  # type: ignore[arg-type]
    except (KeyError, ValueError):
        text = hex(level) if isinstance(level, int) else repr(level)
        raise ArgumentError(
            f"there is no feature level {text}",
            remedy=f"the levels are {', '.join(map(str, FeatureLevel))}; 4_1 is also 0x4100",
        ) from None
