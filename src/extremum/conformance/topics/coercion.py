"""Hardmax before version 13: the input is seen as a matrix, split at the axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, text
from extremum.conformance.values import array, distinct
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask at ranks above 2, where one 1 for each row of the matrix is fewer than one along an axis."""
    if not version.coerced:
        return
    says = "coerced to a matrix at axis, one 1 for each of its rows"
    for axis in (0, 1, 2):
        yield Question(f"rank_3_axis_{axis}", (distinct(rng, dtype, (2, 3, 4)),), {"axis": axis}, says)
    for axis in (0, 1, 2, 3):
        yield Question(f"rank_4_axis_{axis}", (distinct(rng, dtype, (2, 3, 2, 3)),), {"axis": axis}, says)
    ties = array(dtype, [[[1, 2], [2, 0]], [[0, 0], [0, 0]]])
    yield Question("ties", (ties,), {"axis": 1}, f"{says}; the first of equals")
    if version.since >= 11:
        x = distinct(rng, dtype, (2, 3, 4))
        yield Question(f"rank_3_axis_{text(-2)}", (x,), {"axis": -2}, says)
