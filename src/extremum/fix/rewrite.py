"""What a rewrite is: which nodes it is for, and the nodes it puts in their place.

Decides nothing about any node; the rewrites are in :mod:`extremum.fix.rewrites`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from extremum.fix.fragment import Fragment
from extremum.graph.sites import Site
from extremum.spec import Family

__all__ = ["Rewrite"]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One way to say the same with other operators."""

    # What it does, in a few words.
    title: str
    # The codes of the rules whose findings it answers.
    answers: tuple[str, ...]
    # What the node may compute.
    families: frozenset[Family]
    # The element types it is for.
    elements: frozenset[str]
    # The first opset that has the operators it needs.
    since: int
    # Appends the nodes to a fragment; the last one gives the result. An error says why it cannot.
    build: Callable[[Fragment, Site], None]
