"""Reduced dimensions that stay with size 1, or go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question
from extremum.conformance.values import distinct
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask with each value of keepdims, down to a result of rank 0."""
    if version.attribute("keepdims") is None:
        return
    for keepdims in (0, 1):
        says = "the reduced dimension stays with size 1" if keepdims else "the reduced dimension goes"
        for shape in ((3, 4), (5,)):
            x = distinct(rng, dtype, shape)
            yield Question(f"{keepdims}_rank_{x.ndim}", (x,), {"axis": 0, "keepdims": keepdims}, says)
