"""Hardmax through the ranks of its elements, which are float32: the type that every onnxruntime takes."""

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
    schema, tensor = site.schema, site.inputs[0]
    assert schema is not None
    if tensor.rank is None:
        raise SpecError(f"the rank of the input of {schema} is not known", remedy="state the shape in the model")
    axes = validate.axes(schema, validate.attributes(schema, site.attributes), tensor.rank)
    element = str(tensor.element)
    x = carried(fragment, site.node.input[0], element)
    ranked = ranks(fragment, x, axes, element=element, largest=True)
    hot = fragment.like(site.node, ranked)
    if element != "float32":
        fragment.cast(hot, element)


REWRITE = Rewrite(
    title="on ranks of its elements",
    answers=("EX101", "EX106"),
    families=frozenset({Family.HARDMAX}),
    elements=frozenset(CARRIERS),
    since=9,
    build=_build,
)
