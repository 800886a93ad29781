"""Equal elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise, is_hardmax, is_reduction, looks_for_smallest
from extremum.conformance.values import array
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the place of an extremum that occurs more than once."""
    if is_elementwise(version):
        return
    says, leaves_open = "the first of equal elements", ""
    if is_reduction(version):
        says = "the extremum along the axis"
    elif not is_hardmax(version) and version.attribute("select_last_index") is None:
        says, leaves_open = "the index of the extremum", "which index, where elements are equal"
    peak = 1 if looks_for_smallest(version) else 7
    rows = array(dtype, [[2, peak, peak, 2], [peak, 2, 2, peak], [5, 5, 5, 5]])
    long = np.full((2, 70), 4)
    long[0, [40, 69]] = peak
    for title, x, axis in (
        ("rows", rows, 1),
        ("columns", rows.T.copy(), 0),
        ("long_rows", array(dtype, long), 1),
        ("rank_1", rows[0], 0),
    ):
        if version.coerced and title == "columns":
            continue
        yield Question(title, (x,), {"axis": axis}, says, leaves_open)
