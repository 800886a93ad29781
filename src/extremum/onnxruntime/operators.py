"""The operators of ``ai.extremum`` as a model may hold them by itself: their attributes, each of one kind.

Decides what is refused of such a node. ONNX Runtime passes on whatever attributes a custom operator has, and tells the
operator none of their names: the library refuses those of a wrong kind, but one that it never asks for it cannot see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import onnx

from extremum.errors import SpecError
from extremum.graph.sites import Site

__all__ = ["DOMAIN", "require"]

DOMAIN = "ai.extremum"
"""The domain of the custom operators; its version is 1."""

_INT, _INTS, _STRING = onnx.AttributeProto.INT, onnx.AttributeProto.INTS, onnx.AttributeProto.STRING

_AXES = {"axes": _INTS, "axis": _INT, "to_last": _INT}

_ATTRIBUTES: Mapping[str, Mapping[str, int]] = {
    "ArgReduce": {"order": _STRING, **_AXES, "keepdims": _INT, "select_last_index": _INT},
    "OneHot": _AXES,
    "Extremum": {"order": _STRING, "broadcast": _INT},
    "Reduce": {"order": _STRING, "axes": _INTS, "keepdims": _INT, "noop_with_empty_axes": _INT, "identity": _INT},
}

_KINDS: Mapping[int, str] = {_INT: "an integer", _INTS: "a list of at least one integer", _STRING: "a text"}


def require(sites: Iterable[Site]) -> None:
    """Refuse a node of the domain with an attribute that its operator does not have, or one of another kind."""
    for site in sites:
        # A function of the model's own goes before an operator of its name.
        if site.node.domain == DOMAIN and site.node.op_type in _ATTRIBUTES and not site.is_call:
            version = site.opsets.get(DOMAIN, 1)
            if version != 1:
                raise SpecError(f"{DOMAIN} has version 1, not {version}", where=site.place, remedy="import version 1")
            for attribute in site.node.attribute:
                _require_kind(site.node.op_type, attribute, site.place)


def _require_kind(operator: str, attribute: onnx.AttributeProto, place: str) -> None:
    known = _ATTRIBUTES[operator]
    if attribute.name not in known:
        reason = f"{operator}: there is no attribute {attribute.name!r}"
        raise SpecError(reason, where=place, remedy=f"the attributes are {', '.join(known)}")
    # One that refers to an attribute of its function has no value yet, and its type may be left out.
    kind = known[attribute.name]
    refers = bool(attribute.ref_attr_name)
    fits = attribute.type == kind or (refers and not attribute.type)
    if not fits or (kind == _INTS and not refers and not attribute.ints):
        reason = f"{operator}: attribute {attribute.name!r} is not {_KINDS[kind]}"
        given = onnx.AttributeProto.AttributeType.Name(attribute.type)
        raise SpecError(
            reason, where=place, given=f"{attribute.name} of kind {given}", remedy=f"give it as {_KINDS[kind]}"
        )
