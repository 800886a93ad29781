"""The same node with symbolic dimensions, in a subgraph and in a model-local function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from extremum.conformance.question import Placement, Question, is_elementwise
from extremum.conformance.values import distinct
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask on float32 alone: where a node stands has nothing to do with its element type."""
    if dtype.name != "float32":
        return
    x = distinct(rng, dtype, (3, 4))
    question = Question("", (x,), {"axis": 1}, "a node means the same wherever it stands")
    if is_elementwise(version):
        question = replace(question, inputs=(x, np.array(np.flip(x))), attributes={})
    if version.attribute("keepdims") is not None:
        question = replace(question, attributes={"axis": 1, "keepdims": 0})
    for title, placement in (
        ("symbolic", Placement.SYMBOLIC),
        ("subgraph", Placement.SUBGRAPH),
        ("function", Placement.FUNCTION),
    ):
        yield replace(question, title=title, placement=placement)
