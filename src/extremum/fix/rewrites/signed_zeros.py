"""Max and Min of floats through Max alone, with the sign of a zero made certain.

Runtimes return either of two zeros. So a zero with the sign of each operand is added to the largest: one of a positive
or negative operand changes nothing, and where the largest is zero, +0 comes out if any operand is +0. Min is Max of
what is negated.
"""

from __future__ import annotations

import numpy as np

from extremum import dtypes
from extremum.fix.fragment import Fragment
from extremum.fix.rank import CARRIERS, carried
from extremum.fix.rewrite import Rewrite
from extremum.graph.sites import Site
from extremum.spec import Family

__all__ = ["REWRITE"]


def _build(fragment: Fragment, site: Site) -> None:
    assert site.schema is not None
    element = str(site.inputs[0].element)
    operands = [carried(fragment, name, element) for name in site.node.input]
    negated = site.schema.family is Family.MINIMUM
    if negated:
        operands = [fragment.add("Neg", name) for name in operands]
    dtype = dtypes.from_name(CARRIERS[element]).dtype
    low, zero, high = (fragment.constant(np.array(value, dtype)) for value in (-1, 0, 1))
    result = fragment.add("Max", *operands)
    for name in operands:
        # Zero times an infinity would be NaN.
        finite = fragment.add("Min", fragment.add("Max", name, low), high)
        result = fragment.add("Add", result, fragment.add("Mul", finite, zero))
    if negated:
        result = fragment.add("Neg", result)
    if CARRIERS[element] != element:
        fragment.cast(result, element)


REWRITE = Rewrite(
    title="on floats that are taken, zeros in order",
    answers=("EX101", "EX102", "EX106"),
    families=frozenset({Family.MAXIMUM, Family.MINIMUM}),
    elements=frozenset(CARRIERS),
    since=8,
    build=_build,
)
