"""The marks of nodes that ``extremum fix`` wrote, so that a check sees them as the one node that they replace.

Each such node alone may answer differently where all together are exact. So each has the names of the rewrites that it
belongs to, and the last one of a rewrite also has the node before. A mark is only believed if the nodes around it still
compute the outputs of that node from its inputs alone.
"""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import onnx
from google.protobuf import json_format

from extremum.graph.calls import is_of_family
from extremum.graph.sites import Site, Written
from extremum.spec import ONNX

_PART = "extremum.fix"
_BEFORE = "extremum.fix.before"


def mark(written: Sequence[onnx.NodeProto], before: onnx.NodeProto, opset: int) -> None:
    """Mark nodes as those that replace a node of an opset; the last one gives its result."""
    for node in written:
        node.metadata_props.add(key=_PART, value=json.dumps([before.output[0]]))
    content = {"opset": opset, "node": json_format.MessageToDict(before)}
    written[-1].metadata_props.add(key=_BEFORE, value=json.dumps(content))


def share(node: onnx.NodeProto, other: onnx.NodeProto) -> None:
    """Add to the parts of a node those of another one, whose work it does too."""
    parts = list(dict.fromkeys([*_parts(node), *_parts(other)]))
    for each in node.metadata_props:
        if each.key == _PART:
            each.value = json.dumps(parts)


def _parts(node: onnx.NodeProto) -> list[str]:
    """Return the rewrites that a node belongs to."""
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(_property(node, _PART) or "[]")
        if isinstance(value, list):
            return [each for each in value if isinstance(each, str)]
    return []


def _property(node: onnx.NodeProto, key: str) -> str:
    return next((each.value for each in node.metadata_props if each.key == key), "")


def _node_before(last: onnx.NodeProto) -> tuple[onnx.NodeProto, int] | None:
    """Return the node that a mark describes, and its opset; None for any other mark."""
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError, json_format.ParseError):
        content = json.loads(_property(last, _BEFORE))
        before = json_format.ParseDict(content["node"], onnx.NodeProto())
        opset = content["opset"]
        if isinstance(opset, int) and opset > 0 and before.output and is_of_family(before):
            return before, opset
    return None


@dataclass(frozen=True, slots=True)
class Replaced:
    """What the marks of a model say."""

    # The site of the node before, by the number of the site whose node now gives its result.
    before: Mapping[int, Site]
    # All sites whose nodes were written, each with the number of the site that gives the result.
    written: Mapping[int, int]


def replaced(sites: Sequence[Site]) -> Replaced:
    """Return the nodes that were replaced, each with the nodes that were written in its place."""
    # The nodes of one graph, or of one call of a function, share one table of types.
    parts = defaultdict[tuple[int, str], list[int]](list)
    for number, site in enumerate(sites):
        for part in dict.fromkeys(_parts(site.node)):
            parts[id(site.types), part].append(number)
    before: dict[int, Site] = {}
    written: dict[int, int] = {}
    for numbers in parts.values():
        group = [sites[number] for number in numbers]
        original = _original(group)
        if original is not None:
            last = numbers[-1]
            before[last] = original
            written.update(dict.fromkeys(numbers, last))
    return Replaced(before, written)


def _original(group: Sequence[Site]) -> Site | None:
    """Return the site of the node that a group of nodes replaces, or None if the group no longer computes it."""
    last = group[-1]
    description = _node_before(last.node)
    if description is None or ONNX not in last.opsets:
        return None
    before, opset = description
    written = Written(tuple(site.node for site in group), last.opsets[ONNX])
    results = {name for node in written.nodes for name in node.output}
    operands = {name for node in written.nodes for name in node.input}
    is_whole = operands <= results | set(before.input) and set(before.output) <= results
    if not is_whole:
        return None
    return replace(last, node=before, opsets={**last.opsets, ONNX: opset}, declared_types={}, written=written)
