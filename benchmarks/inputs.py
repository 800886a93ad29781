"""The arrays that a case runs on: the same small whole numbers in every element type, in the case's layout.

The numbers come from a bell curve and are rounded, so that rows hold ties as logits of a quantised model do, and one
expected answer serves all twelve element types. No NaN: peers disagree on it, and this is about speed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.matrix import Case
from extremum import dtypes

__all__ = ["LAYOUTS", "arrays", "draw", "place", "span", "typed"]


def draw(case: Case) -> tuple[NDArray[np.int8], ...]:
    """Return the numbers of every operand of a case, the same at every call."""
    generator = np.random.default_rng(20)
    if case.layout == "broadcast":
        return (np.broadcast_to(_numbers(generator, (1, *case.shape[1:])), case.shape),)
    return tuple(_numbers(generator, shape) for shape in case.operand_shapes)


def _numbers(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int8]:
    numbers = generator.standard_normal(shape, dtype=np.float32)
    return np.asarray(np.clip(np.rint(numbers * 16), -127, 127), dtype=np.int8)


def typed(numbers: NDArray[np.int8], element_type: str) -> NDArray[Any]:
    """Return the numbers in an element type, in the same order: floats a sixteenth, unsigned shifted by 128."""
    dtype = dtypes.from_name(element_type).dtype
    if dtype.kind == "i":
        return numbers.astype(dtype)
    if dtype.kind == "u":
        return (numbers.view(np.uint8) ^ np.uint8(128)).astype(dtype)
    return (numbers.astype(np.float32) / 16).astype(dtype)


def _contiguous(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.empty(shape, dtype)


def _transposed(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.empty((shape[1], shape[0], *shape[2:]), dtype).swapaxes(0, 1)


def _fortran(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.empty(shape, dtype, order="F")


def _strided(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.empty((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]


def _reversed(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.empty(shape, dtype)[(slice(None, None, -1),) * len(shape)]


def _broadcast(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    row = np.empty(shape[1:], dtype)
    return np.lib.stride_tricks.as_strided(row, shape, (0, *row.strides))


# From a shape and a type to an array of both that lies in memory as the name says, its elements not yet set.
LAYOUTS: dict[str, Callable[[tuple[int, ...], np.dtype[Any]], NDArray[Any]]] = {
    "contiguous": _contiguous,
    "transposed": _transposed,
    "fortran": _fortran,
    "strided": _strided,
    "reversed": _reversed,
    "broadcast": _broadcast,
}


def place(values: NDArray[Any], layout: str) -> NDArray[Any]:
    """Return an array of the same values that lies in memory as ``layout`` says."""
    placed = LAYOUTS[layout](values.shape, values.dtype)
    placed[...] = values
    return placed


def arrays(case: Case, numbers: Sequence[NDArray[np.int8]]) -> list[NDArray[Any]]:
    """Return the operands of a case: of several, every second one in the case's layout, the others contiguous."""
    layouts = [case.layout] if len(numbers) == 1 else ["contiguous", case.layout] * len(numbers)
    placed = zip(numbers, layouts, strict=False)
    return [place(typed(operand, case.element_type), layout) for operand, layout in placed]


def span(array: NDArray[Any]) -> int:
    """Return how many bytes of memory an array reaches over: a stride of 2 counts twice, a broadcast axis once."""
    reach = ((size - 1) * abs(stride) for size, stride in zip(array.shape, array.strides, strict=True))
    return int(sum(reach)) + array.itemsize
