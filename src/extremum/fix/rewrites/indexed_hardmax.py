"""Hardmax as the places that equal an index, for feature levels of DirectML that have ArgMax and no Hardmax."""

from __future__ import annotations

import numpy as np

from extremum import validate
from extremum.errors import SpecError
from extremum.fix.fragment import Fragment
from extremum.fix.rank import CARRIERS, carried, ranks
from extremum.fix.rewrite import Rewrite
from extremum.graph.sites import Site
from extremum.spec import Family

__all__ = ["REWRITE"]


def _build(fragment: Fragment, site: Site) -> None:
    schema, tensor, name = site.schema, site.inputs[0], site.node.input[0]
    assert schema is not None
    if tensor.rank is None:
        raise SpecError(f"the rank of the input of {schema} is not known", remedy="state the shape in the model")
    axis, *others = validate.axes(schema, validate.attributes(schema, site.attributes), tensor.rank)
    element, rank = str(tensor.element), tensor.rank
    x = carried(fragment, name, element)
    if others:
        x, axis, rank = fragment.add("Flatten", x, axis=axis), 1, 2
    index = fragment.add("ArgMax", ranks(fragment, x, [axis], element=element, largest=True), axis=axis)
    zero, one, chosen = (fragment.constant(np.array(value, np.int64)) for value in (0, 1, axis))
    count = fragment.add("Gather", fragment.add("Shape", x), chosen)
    trailing = fragment.constant(np.array([-1] + [1] * (rank - 1 - axis), np.int64))
    places = fragment.add("Reshape", fragment.add("Range", zero, count, one), trailing)
    hot = fragment.cast(fragment.add("Equal", index, places), element)
    if others:
        fragment.add("Reshape", hot, fragment.add("Shape", name))


REWRITE = Rewrite(
    title="as the places of an index",
    answers=("EX102",),
    families=frozenset({Family.HARDMAX}),
    elements=frozenset(CARRIERS),
    since=11,
    build=_build,
)
