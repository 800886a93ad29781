"""Axes that are counted from the last one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise, text
from extremum.conformance.values import distinct
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for every negative axis of a tensor of rank 3."""
    if is_elementwise(version):
        return
    leaves_open = "" if version.since >= 11 else "what a negative axis means"
    for axis in (-1, -2, -3):
        x = distinct(rng, dtype, (3, 4, 5))
        yield Question(text(axis), (x,), {"axis": axis}, "the axis lies in [-r, r-1]", leaves_open)
