"""The largest or smallest as the element at an index, so that NaN is the extremum and zeros keep their sign.

One axis after another, the last one first: of equals the first in row-major sequence comes out, as from all at once.
Integers go this way too: where the upper halves of int64 are equal, onnxruntime compares them wrongly in ReduceMax and
ReduceMin (EX108), not in ArgMax.
"""

from __future__ import annotations

from extremum import validate
from extremum.errors import SpecError
from extremum.fix.fragment import Fragment
from extremum.fix.rank import CARRIERS, carried, ranks
from extremum.fix.rewrite import Rewrite
from extremum.fix.rewrites.flipped_integers import flipped
from extremum.graph.sites import Site
from extremum.spec import Family

__all__ = ["REWRITE"]

_WIDER = {"int8": "int32", "uint8": "int32", "uint32": "int64"}
_INTEGERS = (*_WIDER, "int32", "int64", "uint64")


def _build(fragment: Fragment, site: Site) -> None:
    schema, tensor = site.schema, site.inputs[0]
    assert schema is not None
    if tensor.rank is None:
        raise SpecError(f"the rank of the input of {schema} is not known", remedy="state the shape in the model")
    values = validate.attributes(schema, site.attributes, site.inputs)
    axes = validate.axes(schema, values, tensor.rank)
    result = site.node.input[0]
    for axis in reversed(axes):
        index = _index(fragment, result, str(tensor.element), axis, largest=schema.family is Family.LARGEST)
        result = fragment.add("GatherElements", result, index, axis=axis)
    if not axes:
        fragment.add("Identity", result)
    elif not values["keepdims"]:
        fragment.reduce("Squeeze", result, axes)


def _index(fragment: Fragment, x: str, element: str, axis: int, *, largest: bool) -> str:
    """Append what finds the extremum along one axis, which stays, and return the name of the index."""
    if element in CARRIERS:
        ranked = ranks(fragment, carried(fragment, x, element), [axis], element=element, largest=largest)
        return fragment.add("ArgMax", ranked, axis=axis)
    if element in _WIDER:
        x = fragment.cast(x, _WIDER[element])
    elif element == "uint64":
        x = flipped(fragment, x)
    return fragment.add("ArgMax" if largest else "ArgMin", x, axis=axis)


REWRITE = Rewrite(
    title="as the elements at an index",
    answers=("EX101", "EX102", "EX106"),
    families=frozenset({Family.LARGEST, Family.SMALLEST}),
    elements=frozenset({*CARRIERS, *_INTEGERS}),
    since=11,
    build=_build,
)
