"""The element types; the type and shape of a tensor before it exists, and whether it fits into memory.

A dimension is a size, a symbol or unknown. :mod:`extremum.spec` says which operator accepts which element type, and
:mod:`extremum.infer` computes the types of outputs. bfloat16 is from ml_dtypes, imported when its dtype is first used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ElementTypeError, MemoryLimitError
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
        """The NumPy dtype; the first use of bfloat16 imports ml_dtypes."""
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


def element_of(name: str) -> ElementType:
    """Return the element type called ``name`` in NumPy or ml_dtypes: a dtype's name, whatever its byte order."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    raise ElementTypeError(
        f"{name} is not an element type that can be compared here",
        remedy=f"use one of {', '.join(_BY_NAME)}",
    )


_WIDER: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("bool", "int8", "uint8", "int16", "uint16"), ("int32", "int64", "float32", "float64")),
    **dict.fromkeys(("int32", "uint32"), ("int64", "float64")),
    **dict.fromkeys(("float16", "bfloat16"), ("float32", "float64")),
    "float32": ("float64",),
}


def wider_types(element: str, accepted: Sequence[str]) -> tuple[str, ...]:
    """Return those of the accepted types that hold every value of an element type in the same order.

    They come in the order in which runtimes are likely to have them.

    >>> from extremum.tensors import wider_types
    >>> wider_types("bool", ("int8", "int32", "float32"))
    ('int32', 'float32')
    """
    return tuple(wide for wide in _WIDER.get(element, ()) if wide in accepted)


Dimension = int | str | None
"""A size, the name of a size, or None if unknown."""

Shape = tuple[Dimension, ...]


@dataclass(frozen=True, slots=True)
class TensorType:
    """The element type and shape of a tensor, as far as they are known; no shape if the rank is unknown."""

    # Such as ``float32``.
    element: str | None = None
    shape: Shape | None = None
    # The elements of a list of integers, if they are known and may be needed.
    values: tuple[int, ...] | None = None

    @classmethod
    def of(cls, array: NDArray[Any], *, is_list: bool = False) -> TensorType:
        """Return the type of an existing array, with the elements if it is a list of integers."""
        is_list = is_list and array.ndim == 1 and array.dtype.kind == "i"
        return cls(array.dtype.name, array.shape, tuple(array.tolist()) if is_list else None)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, if known."""
        return None if self.shape is None else len(self.shape)

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """The shape, if every size of it is known."""
        sizes = tuple(size for size in self.shape or () if isinstance(size, int))
        return sizes if self.rank == len(sizes) else None

    def __str__(self) -> str:
        text = f"{self.element or '?'}{'[...]' if self.shape is None else shape_text(self.shape)}"
        if self.values is None:
            return text
        return f"{text} = {list(self.values)}"


def shape_text(shape: Shape) -> str:
    """Return a shape as messages write it."""
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def differ(first: Shape, second: Shape) -> bool:
    """Return whether no tensor can have both shapes: their ranks differ, or two sizes of one axis differ."""
    sizes = zip(first, second, strict=False)
    return len(first) != len(second) or any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in sizes
    )


_SMALL = 1 << 20
"""Bytes that need no check: the check takes longer than most operations on an array of this size."""


def require_memory(shape: Sequence[int], dtype: np.dtype[Any], what: str) -> None:
    """Refuse an array that would not fit into the memory available now; a small array is not worth the check."""
    size = math.prod(shape) * dtype.itemsize
    if size <= _SMALL:
        return
    import psutil

    available = psutil.virtual_memory().available
    if size > available:
        raise MemoryLimitError(
            f"{what} would not fit into memory",
            given=f"{dtype.name}{list(shape)}: {size:,} bytes, of which {available:,} are available",
        )
