"""Ordinary elements, no two equal, along every axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_arg, is_elementwise, is_reduction
from extremum.conformance.values import distinct
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the extremum along each axis, and of two operands."""
    if is_elementwise(version):
        x = distinct(rng, dtype, (2, 3, 4))
        yield Question("two", (x, np.array(np.flip(x))), says="the elementwise extremum of all inputs")
        yield Question("one", (x,), says="the elementwise extremum of all inputs, which is the only one")
        return
    says = "the index of the extremum along axis" if is_arg(version) else "1 at the first maximum, 0 elsewhere"
    if is_reduction(version):
        says = "the extremum along axis"
    for axis in range(3):
        yield Question(f"axis_{axis}", (distinct(rng, dtype, (3, 4, 5)),), {"axis": axis}, says)
