"""The last of equal elements, on request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, looks_for_smallest
from extremum.conformance.values import array, is_float
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask with each value of select_last_index, where the version has it."""
    if version.attribute("select_last_index") is None:
        return
    peak = 1 if looks_for_smallest(version) else 7
    rows = array(dtype, [[2, peak, peak, 2], [peak, 2, 2, peak], [5, 5, 5, 5]])
    for last in (0, 1):
        says = f"the {'last' if last else 'first'} of equal elements"
        for title, x, axis in (("rows", rows, 1), ("columns", rows.T.copy(), 0), ("rank_1", rows[0], 0)):
            yield Question(f"{last}_{title}", (x,), {"axis": axis, "select_last_index": last}, says)
    if is_float(dtype):
        x = array(dtype, [[2, np.nan, 7, np.nan, 4]])
        yield Question(
            "nan", (x,), {"axis": 1, "select_last_index": 1}, "the last of equal elements", "what NaN compares to"
        )
