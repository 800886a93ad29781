"""Indices of floats through their ranks, so that NaN is the extremum whatever the runtime makes of it."""

from __future__ import annotations

from extremum import validate
from extremum.errors import SpecError
from extremum.fix.fragment import Fragment
from extremum.fix.rank import CARRIERS, carried, ranks
from extremum.fix.rewrite import Rewrite
from extremum.graph.sites import Site
from extremum.spec import Family

__all__ = ["REWRITE"]


def _build(fragment: Fragment, site: Site) -> None:
    schema = site.schema
    assert schema is not None
    if len(site.attributes) < len(site.node.attribute):
        raise SpecError(f"{schema} gets its axis from the call of its function", remedy="inline the function first")
    axis = validate.attributes(schema, site.attributes)["axis"]
    assert isinstance(axis, int)
    element = str(site.inputs[0].element)
    x = carried(fragment, site.node.input[0], element)
    # The rank of what the operator looks for is the largest one, whether that is the largest element or the smallest.
    ranked = ranks(fragment, x, [axis], element=element, largest=schema.family is Family.ARGMAX)
    fragment.like(site.node, ranked, operator="ArgMax")


REWRITE = Rewrite(
    title="on ranks of its elements",
    answers=("EX101", "EX102", "EX106"),
    families=frozenset({Family.ARGMAX, Family.ARGMIN}),
    elements=frozenset(CARRIERS),
    since=9,
    build=_build,
)
