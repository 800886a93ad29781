"""Infinities are larger and smaller than every number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise, is_reduction
from extremum.conformance.values import array, is_float, limits
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for rows with one infinity, with both, and with nothing else."""
    if not is_float(dtype):
        return
    lowest, highest = (float(limit) for limit in limits(dtype))
    rows = {
        "both": [lowest, np.inf, highest, -np.inf],
        # One who starts from the largest finite number, or is content with it, does not find it.
        "lowest": [-np.inf, lowest],
        "highest": [np.inf, highest],
    }
    for title, elements in rows.items():
        row = array(dtype, elements)
        if is_elementwise(version):
            yield Question(title, (row, row[::-1].copy()), says="the elementwise extremum of all inputs")
        else:
            yield Question(title, (row[None],), {"axis": 1}, says="the place of the extremum")
    if is_elementwise(version):
        return
    for title, value in (("all_minus", -np.inf), ("all_plus", np.inf)):
        first = (
            is_reduction(version)
            or version.attribute("select_last_index") is not None
            or version.coerced
            or version.since >= 13
        )
        leaves_open = "" if first else "which index, where elements are equal"
        yield Question(title, (array(dtype, [[value] * 4]),), {"axis": 1}, "the first of equals", leaves_open)
