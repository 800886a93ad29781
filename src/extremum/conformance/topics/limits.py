"""The largest and the smallest number of each type, and neighbours that wider arithmetic would confuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise
from extremum.conformance.values import bits, is_float, limits
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for rows of the type's own limits and their neighbours."""
    low, high = limits(dtype)
    for title, elements in _rows(dtype, low, high):
        row = np.array(elements, dtype)
        if is_elementwise(version):
            yield Question(title, (row, row[::-1].copy()), says="the elementwise extremum of all inputs")
        else:
            yield Question(title, (row[None],), {"axis": 1}, "the place of the extremum")


def _rows(dtype: np.dtype[Any], low: Any, high: Any) -> Iterator[tuple[str, list[Any]]]:
    if is_float(dtype):
        ones = {"float16": 0x3C00, "bfloat16": 0x3F80, "float32": 0x3F800000, "float64": 0x3FF0000000000000}
        one = ones[dtype.name]
        yield "finite", [0, low, high, 1]
        # One unit in the last place apart.
        yield "neighbours", list(bits(dtype, one + 1, one, one + 2, one - 1))
        return
    yield "range", [1, low, high, 0]
    if dtype.kind == "b":
        return
    yield "neighbours", [high - 2, high - 1, high, low, low + 1, low + 2]
    if dtype.itemsize == 8:
        # Doubles cannot tell these apart, nor can 32 bits.
        yield "beyond_double", [2**53 + 1, 2**53, 2**53 + 2, 2**40, 2**40 + 1, 2**32]
        yield "beyond_32_bits", [0, 1, 2**53, 2**32 + 1, 5]
        # The upper halves are equal, and the lower ones compare as unsigned; whoever takes two or four at a time meets
        # both halves of that range in each place.
        yield "lower_32_bits", [2**31 - 1, 2**32 - 1, 2**31, 0, 2**31 + 1, 1, 2, 2**31 + 2]
    if dtype.kind == "u":
        yield "sign_bit", [1, high // 2, high // 2 + 1, high // 2 - 1]
