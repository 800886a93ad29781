"""Many operands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_elementwise
from extremum.conformance.values import distinct
from extremum.spec import OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask with three to seventeen operands, one or several of them the same tensor."""
    if not is_elementwise(version):
        return
    for count in (3, 8, 17):
        operands = tuple(distinct(rng, dtype, (2, 5)) for _ in range(count))
        yield Question(str(count), operands, says="1 to 2147483647 inputs")
