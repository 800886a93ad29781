"""Attributes that are left out have the default of their version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_arg, is_hardmax, is_reduction
from extremum.conformance.values import distinct
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask without attributes."""
    if is_arg(version):
        yield Question("none", (distinct(rng, dtype, (3, 4)),), says="axis is 0 and keepdims 1")
    if is_reduction(version):
        yield Question("none", (distinct(rng, dtype, (3, 4)),), says="all axes are reduced and keepdims is 1")
    if is_hardmax(version):
        default = version.attributes[0].default
        yield Question("rank_3", (distinct(rng, dtype, (3, 4, 5)),), says=f"axis is {default}")
        yield Question("rank_2", (distinct(rng, dtype, (3, 4)),), says=f"axis is {default}")
