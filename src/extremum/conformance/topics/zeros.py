"""The two zeros."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise, looks_for_smallest
from extremum.conformance.values import array, is_float
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask which zero is the extremum, in both orders."""
    if not is_float(dtype):
        return
    if is_elementwise(version):
        plus, minus = array(dtype, np.zeros(3)), array(dtype, -np.zeros(3))
        leaves_open = "which of the two zeros is the larger one"
        yield Question("minus_plus", (minus, plus), leaves_open=leaves_open)
        yield Question("plus_minus", (plus, minus), leaves_open=leaves_open)
        return
    other = 1.0 if looks_for_smallest(version) else -1.0
    leaves_open = "whether the two zeros are equal"
    for title, row in (("minus_plus", [other, -0.0, 0.0]), ("plus_minus", [other, 0.0, -0.0])):
        yield Question(title, (array(dtype, [row]),), {"axis": 1}, leaves_open=leaves_open)
