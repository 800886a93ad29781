"""NaN: first, in the middle, last, everywhere, with different payloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise
from extremum.conformance.values import array, bits, is_float
from extremum.spec import OperatorVersion

__all__ = ["ask"]

_QUIET = {
    "float16": (0x7E00, 0xFE01),
    "bfloat16": (0x7FC0, 0xFFC1),
    "float32": (0x7FC00000, 0xFFC00001),
    "float64": (0x7FF8000000000000, 0xFFF8000000000001),
}
_ROWS = {
    "first": [np.nan, 7, 2, 5, 1],
    "middle": [2, 7, np.nan, 5, 1],
    "last": [2, 7, 1, 5, np.nan],
    "all": [np.nan] * 5,
    "with_infinities": [np.inf, 2, np.nan, -np.inf, np.inf],
}


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask at rank 1 and 2, along the rows and along the columns."""
    if not is_float(dtype):
        return
    leaves_open = "what NaN compares to"
    numbers = array(dtype, [1, 2, 3, 4, 5])
    payloads = numbers.copy()
    payloads[[1, 3]] = bits(dtype, *_QUIET[dtype.name])
    rows = {title: array(dtype, row) for title, row in _ROWS.items()} | {"payload": payloads}
    for title, row in rows.items():
        if is_elementwise(version):
            yield Question(title, (row, numbers), leaves_open=leaves_open)
            yield Question(f"{title}_second", (numbers, row), leaves_open=leaves_open)
            continue
        for place, x, axis in (("row", row[None], 1), ("column", row[:, None], 0), ("rank_1", row, 0)):
            if version.coerced and axis == 0 and x.ndim == 2:
                continue
            yield Question(f"{title}_{place}", (x,), {"axis": axis}, leaves_open=leaves_open)
