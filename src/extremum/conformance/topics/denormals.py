"""Numbers below the smallest normal one: they are not zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise
from extremum.conformance.values import denormal, is_float
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the extremum of zero and the numbers nearest to it."""
    if not is_float(dtype):
        return
    tiny = denormal(dtype)
    row = np.array([0, -tiny, tiny, tiny + tiny], dtype)
    if is_elementwise(version):
        zeros = np.zeros(3, dtype)
        yield Question("beside_zero", (row[1:], zeros), says="the elementwise extremum of all inputs")
    else:
        yield Question("beside_zero", (row[None],), {"axis": 1}, "the place of the extremum")
