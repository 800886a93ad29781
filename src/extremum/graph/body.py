"""A graph or a function of a model, and where its nodes went in what inference is shown.

Decides what its values are called there, and what is shown of the types that the model declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field

import onnx

from extremum.graph.believed import believed
from extremum.graph.kinds import declaration, kind, sound

__all__ = ["Body", "Entry", "Kinds", "Names", "believe", "held", "resolved"]

Kinds = MutableMapping[str, str | None]
"""What is known of the values of the shown graph, by name."""


class Names(dict[str, str]):
    """What the values of a function are called at one call: inputs and outputs as by the caller, the rest anew."""

    def __init__(self, prefix: str) -> None:
        super().__init__({"": ""})
        self._prefix = prefix

    def __missing__(self, name: str) -> str:
        self[name] = f"{self._prefix}{name}"
        return self[name]


@dataclass(slots=True)
class Entry:
    """A node of the model, and where it went."""

    node: onnx.NodeProto
    # In the shown graph; None if it is left out.
    position: int | None = None
    # The graphs it holds, by attribute.
    graphs: list[tuple[str, Body]] = field(default_factory=list)
    # The nodes of the function it calls.
    call: Body | None = None


@dataclass(slots=True)
class Body:
    """A graph, or the nodes of a function at one call."""

    # Where it is in the model, such as ``graph.node[2].then_branch``.
    path: str
    # The version of each domain that is imported there.
    opsets: Mapping[str, int]
    # Where its nodes are shown, as it was before inference.
    graph: onnx.GraphProto
    # What its values are called there; None: as in the model.
    names: Names | None = None
    # What the call gives the function.
    attributes: Mapping[str, onnx.AttributeProto] = field(default_factory=dict)
    function: onnx.FunctionProto | None = None
    # Those of the shown graph, by name.
    outputs: dict[str, onnx.ValueInfoProto] = field(default_factory=dict)
    # What the model declares of values that nodes give, by the names of the model.
    stated: dict[str, onnx.TypeProto] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)

    def declare(self, name: str, declared: onnx.TypeProto | None, kinds: Kinds) -> None:
        """Show the type of a value, if it is known and nothing was before."""
        declared = None if declared is None else sound(declared)
        if declared is not None and kinds.get(name) is None:
            kinds[name] = kind(declared)
            (self.outputs.get(name) or self.graph.value_info.add(name=name)).type.CopyFrom(declared)

    def state(self, values: Iterable[onnx.ValueInfoProto], kinds: Kinds) -> None:
        """Note what the model declares of values that nodes give, and show their kinds."""
        for value in values:
            self.stated[value.name] = value.type
            self.declare(self.called(value.name), declaration(kind(value.type)), kinds)

    def called(self, name: str) -> str:
        """Return what a value is called where it is shown."""
        return name if self.names is None else self.names[name]

    def in_place(self, node: onnx.NodeProto) -> onnx.NodeProto:
        """Return a node with the attributes and the names of values that it has at this call."""
        if self.names is None:
            return node
        copy = onnx.NodeProto()
        copy.CopyFrom(resolved(node, self.attributes))
        del copy.input[:], copy.output[:]
        copy.input.extend(map(self.called, node.input))
        copy.output.extend(map(self.called, node.output))
        return copy


def believe(body: Body, inferred: onnx.GraphProto) -> bool:
    """Show what the model declares of shapes beyond what was inferred, and return whether there is anything."""
    found = False
    stated = {body.called(name): sound(stated) for name, stated in body.stated.items()}
    if stated:
        types = {value.name: value.type for value in (*inferred.value_info, *inferred.output)}
        for value in (*body.graph.value_info, *body.graph.output):
            if (declared := stated.get(value.name)) is not None:
                better = believed(types.get(value.name), declared)
                if better is not None:
                    value.type.CopyFrom(better)
                    found = True
    for entry in body.entries:
        if entry.call is not None:
            found |= believe(entry.call, inferred)
        for name, graph in entry.graphs:
            found |= believe(graph, held(entry, name, inferred) or graph.graph)
    return found


def held(entry: Entry, name: str, graph: onnx.GraphProto) -> onnx.GraphProto | None:
    """Return a graph that a node holds in the shown graph, or None if the node is not shown."""
    if entry.position is None:
        return None
    return next(each.g for each in graph.node[entry.position].attribute if each.name == name)


def resolved(node: onnx.NodeProto, attributes: Mapping[str, onnx.AttributeProto]) -> onnx.NodeProto:
    """Return a node with the attributes that its function was given in the place of references to them."""
    if not any(attribute.ref_attr_name for attribute in node.attribute):
        return node
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            copy.attribute.append(attribute)
        elif attribute.ref_attr_name in attributes:
            copy.attribute.append(attributes[attribute.ref_attr_name])
            copy.attribute[-1].name = attribute.name
    return copy
