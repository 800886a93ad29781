"""Operands of different shapes, from version 8 on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise
from extremum.conformance.values import distinct
from extremum.spec import Broadcasting, OperatorVersion

__all__ = ["ask"]

_SHAPES = {
    "row": ((3, 4), (4,)),
    "column": ((3, 4), (3, 1)),
    "scalar": ((3, 4), ()),
    "both": ((3, 1), (1, 4)),
    "first_is_smaller": ((4,), (2, 3, 4)),
    "three": ((2, 1, 4), (3, 1), (4,)),
    "size_1_and_none": ((1, 3), (3,)),
}


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for rows, columns and scalars beside a tensor, in both orders."""
    if not is_elementwise(version) or version.broadcasting is Broadcasting.NONE:
        return
    for title, shapes in _SHAPES.items():
        operands = tuple(distinct(rng, dtype, shape) for shape in shapes)
        yield Question(title, operands, says="multidirectional broadcasting")
