"""Rows and columns of many lengths, the extremum at every place: where blocks and vectors end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise, is_hardmax, is_reduction, looks_for_smallest
from extremum.conformance.values import array
from extremum.spec import OperatorVersion

__all__ = ["ask"]

_SQUARES = (2, 17, 33)
_LONG = 1000


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for squares with the extremum on the diagonal, and for a long row with it near the end."""
    peak = 1 if looks_for_smallest(version) else 3
    if is_elementwise(version):
        for length in (*_SQUARES, _LONG):
            x = array(dtype, np.full(length, 2))
            y = x.copy()
            y[-1] = array(dtype, peak)
            yield Question(f"length_{length}", (x, y), says="the elementwise extremum of all inputs")
        return
    says = "1 at the first maximum, 0 elsewhere" if is_hardmax(version) else "the index of the extremum"
    if is_reduction(version):
        says = "the extremum along the axis"
    for length in _SQUARES:
        square = np.full((length, length), 2)
        np.fill_diagonal(square, peak)
        for axis in (0, 1):
            if axis == 0 and version.coerced:
                continue
            yield Question(f"square_{length}_axis_{axis}", (array(dtype, square),), {"axis": axis}, says)
    row = np.full((1, _LONG), 2)
    row[0, _LONG - 2] = peak
    yield Question(f"row_{_LONG}", (array(dtype, row),), {"axis": 1}, says)
    yield Question(f"column_{_LONG}", (array(dtype, np.tile(row.T, (1, 3))),), {"axis": 0}, says)
