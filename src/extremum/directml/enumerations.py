"""DirectML's enumerations, with DirectML's values and the names that directml.h gives them.

Decides nothing: which operator takes which value at which feature level is said in :mod:`extremum.spec`.
"""

from __future__ import annotations

import re
from enum import Enum, IntEnum, IntFlag

from extremum import dtypes
from extremum.dtypes import ElementType
from extremum.errors import ArgumentError

__all__ = ["AxisDirection", "FeatureLevel", "ReduceFunction", "TensorDataType", "TensorFlags", "feature_level_of"]


class _Enumeration(Enum):
    """An enumeration of directml.h, which names its enumerators after itself."""

    @property
    def c_name(self) -> str:
        """The enumerator of directml.h."""
        words = re.sub("(?<=[a-z])(?=[A-Z])", "_", type(self).__name__).upper().removesuffix("S")
        return f"DML_{words}_{self.name.removeprefix('FL_')}"


class TensorDataType(_Enumeration, IntEnum):
    """DML_TENSOR_DATA_TYPE, without the 4-bit integers and UNKNOWN.

    Examples
    --------
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
        """The row of :mod:`extremum.dtypes`."""
        return dtypes.from_directml(self.name)


class TensorFlags(_Enumeration, IntFlag):
    """DML_TENSOR_FLAGS.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> dml.TensorFlags.OWNED_BY_DML.c_name
    'DML_TENSOR_FLAG_OWNED_BY_DML'
    """

    NONE = 0
    OWNED_BY_DML = 1


class AxisDirection(_Enumeration, IntEnum):
    """DML_AXIS_DIRECTION: which of several equal elements is selected, the first or the last.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> dml.AxisDirection.DECREASING.value
    1
    """

    INCREASING = 0
    DECREASING = 1


class ReduceFunction(_Enumeration, IntEnum):
    """DML_REDUCE_FUNCTION, those that pick an element.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> dml.ReduceFunction.MAX.value
    7
    """

    ARGMAX = 0
    ARGMIN = 1
    MAX = 7
    MIN = 8


class FeatureLevel(_Enumeration, IntEnum):
    """DML_FEATURE_LEVEL: every level accepts what the ones below it accept.

    Examples
    --------
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


def feature_level_of(given: object) -> FeatureLevel:
    """Return the feature level of a number such as 0x4100 or a text such as ``4_1``, or refuse what is none."""
    try:
        return FeatureLevel[f"FL_{given}"] if isinstance(given, str) else FeatureLevel(given)  # type: ignore[arg-type]
    except (KeyError, ValueError):
        text = hex(given) if isinstance(given, int) else repr(given)
        levels = ", ".join(map(str, FeatureLevel))
        raise ArgumentError(
            f"there is no feature level {text}", remedy=f"they are {levels}; 4_1 is also 0x4100"
        ) from None
