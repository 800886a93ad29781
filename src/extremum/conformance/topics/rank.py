"""Tensors of rank 0 to 8."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise
from extremum.conformance.values import distinct
from extremum.spec import OperatorVersion

__all__ = ["ask"]

_LARGEST = 8
# Where elements lie depends on how wide they are, not on what they mean.
_ELEMENTS = ("int8", "float16", "float32", "int64", "float64")


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask at every rank, along an axis in the middle."""
    if dtype.name not in _ELEMENTS:
        return
    for rank in range(_LARGEST + 1):
        shape = (2, 3, 1, 2, 2, 1, 2, 2)[:rank]
        if is_elementwise(version):
            x = distinct(rng, dtype, shape)
            yield Question(str(rank), (x, np.array(np.flip(x))), says="the elementwise extremum of all inputs")
        elif rank:
            yield Question(str(rank), (distinct(rng, dtype, shape),), {"axis": rank // 2}, "the place of the extremum")
