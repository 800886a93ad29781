"""Integers of 16 bits as int32 and uint32 as int64: both hold every value, in the same order."""

from __future__ import annotations

from extremum.fix.fragment import Fragment
from extremum.fix.rewrite import Rewrite
from extremum.graph.sites import Site
from extremum.spec import Family

__all__ = ["REWRITE"]

_WIDER = {"int16": "int32", "uint16": "int32", "uint32": "int64"}


def _build(fragment: Fragment, site: Site) -> None:
    element = str(site.inputs[0].element)
    wide = [fragment.cast(name, _WIDER[element]) for name in site.node.input]
    result = fragment.like(site.node, *wide)
    if site.schema is not None and site.schema.family in (Family.MAXIMUM, Family.MINIMUM):
        fragment.cast(result, element)


REWRITE = Rewrite(
    title="on wider integers",
    answers=("EX101", "EX102", "EX106"),
    families=frozenset({Family.ARGMAX, Family.ARGMIN, Family.MAXIMUM, Family.MINIMUM}),
    elements=frozenset(_WIDER),
    since=6,
    build=_build,
)
