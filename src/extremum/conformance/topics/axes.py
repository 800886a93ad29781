"""Several axes, all of them, and none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_reduction
from extremum.conformance.values import distinct
from extremum.spec import OperatorVersion

__all__ = ["ask"]

# Which axes are meant has nothing to do with the elements.
_ELEMENTS = ("float32", "int64")


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask with lists of axes, in sequence and not, and with what a version says of an empty one."""
    if not is_reduction(version) or dtype.name not in _ELEMENTS:
        return
    says = "reduced along the axes that are listed"
    lists = {"first_two": (0, 1), "outer": (0, 2), "not_in_sequence": (2, 0), "all": (0, 1, 2)}
    for title, axes in lists.items():
        for keepdims in (0, 1):
            x = distinct(rng, dtype, (3, 2, 4))
            yield Question(f"{title}_keepdims_{keepdims}", (x,), {"axes": axes, "keepdims": keepdims}, says)
    leaves_open = "" if version.since >= 11 else "what a negative axis means"
    yield Question("negative", (distinct(rng, dtype, (3, 2, 4)),), {"axes": (-1, 0)}, says, leaves_open)
    scalar = distinct(rng, dtype, ())
    leaves_open = "what becomes of a tensor of rank 0" if version.since == 12 else ""
    yield Question("rank_0", (scalar,), says="tensors of rank zero are valid", leaves_open=leaves_open)
    if version.attribute("noop_with_empty_axes") is not None:
        x = distinct(rng, dtype, (3, 4))
        for noop, says in ((0, "no axis means all of them"), (1, "no axis means none")):
            yield Question(f"left_out_{noop}", (x,), {"noop_with_empty_axes": noop}, says)
            yield Question(f"empty_{noop}", (x,), {"axes": (), "noop_with_empty_axes": noop}, says)
