"""Tensors without elements whose answer is empty too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_arg, is_elementwise, is_hardmax
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for results of which only the shape can be wrong."""
    leaves_open = "what becomes of a tensor without elements"
    none = np.zeros((0, 3), dtype)
    if is_elementwise(version):
        yield Question("two", (none, none), leaves_open=leaves_open)
        if version.since >= 8:
            row = np.zeros((1, 3), dtype)
            yield Question("broadcast", (none, row), leaves_open=leaves_open)
        return
    says = "the input must not be empty" if is_arg(version) and version.since == 11 else ""
    for keepdims in (None,) if version.attribute("keepdims") is None else (0, 1):
        attributes = {"axis": 1} if keepdims is None else {"axis": 1, "keepdims": keepdims}
        title = "rows" if keepdims is None else f"keepdims_{keepdims}"
        yield Question(title, (none,), attributes, says, leaves_open)
    if version.identity:
        says = "the largest of no element is minus infinity or the least of the type, the smallest the other end"
        yield Question("columns", (np.zeros((3, 0), dtype),), {"axis": 1}, says)
        yield Question("all", (np.zeros((0, 3), dtype),), says=says)
    elif is_hardmax(version):
        yield Question("columns", (np.zeros((3, 0), dtype),), {"axis": 1}, leaves_open=leaves_open)
