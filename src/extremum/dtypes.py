"""One row per element type: its names in NumPy and ONNX, and its size.

:mod:`extremum.spec` says which operator accepts which type. bfloat16 comes from ml_dtypes, which is imported when its
dtype is first used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extremum.errors import ElementTypeError
from extremum.loading import load_module


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type, by its name in NumPy or ml_dtypes."""

    name: str
    # The value in TensorProto.DataType.
    onnx_number: int
    itemsize: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype; the first look at bfloat16's imports ml_dtypes."""
        if self.name == "bfloat16":
            dtype: np.dtype[Any] = np.dtype(load_module("ml_dtypes").bfloat16)
            return dtype
        return np.dtype(self.name)


ELEMENT_TYPES: tuple[ElementType, ...] = (
    ElementType("bool", 9, 1),
    ElementType("int8", 3, 1),
    ElementType("int16", 5, 2),
    ElementType("int32", 6, 4),
    ElementType("int64", 7, 8),
    ElementType("uint8", 2, 1),
    ElementType("uint16", 4, 2),
    ElementType("uint32", 12, 4),
    ElementType("uint64", 13, 8),
    ElementType("float16", 10, 2),
    ElementType("bfloat16", 16, 2),
    ElementType("float32", 1, 4),
    ElementType("float64", 11, 8),
)

_BY_NAME = {row.name: row for row in ELEMENT_TYPES}


def from_name(name: str) -> ElementType:
    """Return the element type called ``name`` in NumPy or ml_dtypes: a dtype's name, whatever its byte order."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    reason = f"{name} is not an element type that can be compared here"
    raise ElementTypeError(reason, remedy=f"use one of {', '.join(_BY_NAME)}")
