"""What a rewrite is: which nodes it is for, and the nodes it puts in their place.

Decides nothing about any node; the rewrites are in :mod:`extremum.fix.rewrites`, one per file.
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
    """One way to say the same with other operators.

    Attributes
    ----------
    title : str
        What it does, in a few words.
    answers : tuple of str
        The codes of the rules whose findings it answers.
    families : frozenset of Family
        What the node may compute.
    elements : frozenset of str
        The element types it is for.
    since : int
        The first opset that has the operators it needs.
    build : callable
        Appends the nodes to a fragment; the last one gives the result. An error says why it cannot.
    """

    title: str
    answers: tuple[str, ...]
    families: frozenset[Family]
    elements: frozenset[str]
    since: int
    build: Callable[[Fragment, Site], None]
