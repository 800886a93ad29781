"""Indices of uint64 through int64 in the same order: both halves of the range change places."""

from __future__ import annotations

import numpy as np

from extremum.fix.fragment import Fragment
from extremum.fix.rewrite import Rewrite
from extremum.graph.sites import Site
from extremum.spec import Family

__all__ = ["REWRITE", "flipped"]


def flipped(fragment: Fragment, x: str) -> str:
    """Append what makes uint64 int64 in the same order, and return the name."""
    # A Cast keeps the 64 bits. Flipping the top one adds 2**63 to what is negative now and takes it from the rest.
    # 2**63 is no int64, so the negative get 2**63 - 1 and 1; no sum leaves the range.
    limits = np.iinfo(np.int64)
    bits = fragment.cast(x, "int64")
    upper = fragment.add("Less", bits, fragment.constant(np.array(0, np.int64)))
    most, least = (fragment.constant(np.array(limit, np.int64)) for limit in (limits.max, limits.min))
    shifted = fragment.add("Add", bits, fragment.add("Where", upper, most, least))
    return fragment.add("Add", shifted, fragment.cast(upper, "int64"))


def _build(fragment: Fragment, site: Site) -> None:
    fragment.like(site.node, flipped(fragment, site.node.input[0]))


REWRITE = Rewrite(
    title="on int64 in the same order",
    answers=("EX101", "EX106"),
    families=frozenset({Family.ARGMAX, Family.ARGMIN}),
    elements=frozenset({"uint64"}),
    since=9,
    build=_build,
)
