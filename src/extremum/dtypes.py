"""One row per element type: its names in ONNX, DirectML and NumPy, and its size.

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
    """An element type under all its names."""

    name: str
    # The name of a tensor of this type, and the value in TensorProto.DataType.
    onnx: str
    onnx_number: int
    # The name in DML_TENSOR_DATA_TYPE without its prefix; None where DirectML has no such type.
    directml: str | None
    itemsize: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype; the first look at bfloat16's imports ml_dtypes."""
        if self.name == "bfloat16":
            dtype: np.dtype[Any] = np.dtype(load_module("ml_dtypes").bfloat16)
            return dtype
        return np.dtype(self.name)


ELEMENT_TYPES: tuple[ElementType, ...] = (
    ElementType("bool", "tensor(bool)", 9, None, 1),
    ElementType("int8", "tensor(int8)", 3, "INT8", 1),
    ElementType("int16", "tensor(int16)", 5, "INT16", 2),
    ElementType("int32", "tensor(int32)", 6, "INT32", 4),
    ElementType("int64", "tensor(int64)", 7, "INT64", 8),
    ElementType("uint8", "tensor(uint8)", 2, "UINT8", 1),
    ElementType("uint16", "tensor(uint16)", 4, "UINT16", 2),
    ElementType("uint32", "tensor(uint32)", 12, "UINT32", 4),
    ElementType("uint64", "tensor(uint64)", 13, "UINT64", 8),
    ElementType("float16", "tensor(float16)", 10, "FLOAT16", 2),
    ElementType("bfloat16", "tensor(bfloat16)", 16, None, 2),
    ElementType("float32", "tensor(float)", 1, "FLOAT32", 4),
    ElementType("float64", "tensor(double)", 11, "FLOAT64", 8),
)

_BY_NAME = {row.name: row for row in ELEMENT_TYPES}
_BY_DIRECTML = {row.directml: row for row in ELEMENT_TYPES if row.directml}


def from_name(name: str) -> ElementType:
    """Return the element type called ``name`` in NumPy or ml_dtypes."""
    return _row(_BY_NAME, name)


def from_numpy(dtype: np.dtype[Any]) -> ElementType:
    """Return the element type of a NumPy dtype, whatever its byte order."""
    return _row(_BY_NAME, dtype.name)


def from_directml(name: str) -> ElementType:
    """Return the element type called ``name`` in ``DML_TENSOR_DATA_TYPE``."""
    return _row(_BY_DIRECTML, name)


def _row(rows: dict[str, ElementType], name: str) -> ElementType:
    if name in rows:
        return rows[name]
    raise ElementTypeError(
        f"{name} is not an element type that can be compared here", remedy=f"use one of {', '.join(_BY_NAME)}"
    )
