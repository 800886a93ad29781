"""The rewrites, one per file.

A new rewrite is a new file and a line here. For each rule, kind of operator and element type there is at most one.
"""

from __future__ import annotations

from extremum.fix.rewrite import Rewrite
from extremum.fix.rewrites import (
    flipped_integers,
    indexed_element,
    indexed_hardmax,
    ranked_hardmax,
    ranked_index,
    signed_zeros,
    wider_integers,
)
from extremum.spec import Family

__all__ = ["REWRITES", "find"]

REWRITES: tuple[Rewrite, ...] = (
    wider_integers.REWRITE,
    flipped_integers.REWRITE,
    ranked_index.REWRITE,
    indexed_element.REWRITE,
    ranked_hardmax.REWRITE,
    indexed_hardmax.REWRITE,
    signed_zeros.REWRITE,
)
"""All rewrites; of those that fit a node the first is taken."""


def find(family: Family, element: str | None, code: str) -> Rewrite | None:
    """Return the rewrite for an operator and an element type that answers a rule, or None if there is none."""
    return next(
        (each for each in REWRITES if family in each.families and element in each.elements and code in each.answers),
        None,
    )
