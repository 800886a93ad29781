"""What onnx's own shape inference is shown of a model.

Decides what third-party native code sees. Inference takes for granted that every value has a type and that every node
keeps the promise of its operator's schema; where that is not so, several operators end the process. So the rule is:
what is shown is a model without weights and without functions (each call is replaced by the nodes of its function), in
which every value that a node reads has a type and every node keeps its promise. Nodes of which that cannot be said are
left out, and the kinds of their outputs are declared where their schema alone decides them.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence

import onnx

from extremum.graph import nodes
from extremum.graph.body import Body, Entry, Kinds, Names, believe, resolved
from extremum.graph.functions import Key, callees_first, key
from extremum.graph.guards import guarded
from extremum.graph.inference import inferred
from extremum.graph.kinds import declaration, kind, sound, tensor_kind, tensor_type
from extremum.graph.signature import signature
from extremum.graph.tensors import attribute_tensors, is_small

__all__ = ["Shown"]

_LARGEST_VERSION = 2**31 - 1


class Shown:
    """A model as inference is shown it."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._functions = {key(each): (index, each) for index, each in enumerate(model.functions)}
        self._called = set[Key]()
        self._calls = 0
        self._infers = any(
            nodes.is_of_family(node) and key(node) not in self._functions for _, _, node in nodes.everywhere(model)
        )
        opsets = nodes.opsets(model.opset_import)
        self._versions = _versions(opsets, model.functions)
        self.model = onnx.ModelProto(
            ir_version=onnx.IR_VERSION,
            opset_import=[onnx.helper.make_opsetid(domain, version) for domain, version in self._versions.items()],
        )
        self.graph = Body("graph", opsets, self.model.graph)
        kinds: Kinds = {}
        self._graph(self.graph, model.graph, kinds)
        # Callers first, so that what only they call is met there.
        self.uncalled = [
            self._call(each, onnx.NodeProto(), self.graph, kinds)
            for each in reversed(callees_first(model.functions))
            if key(each) not in self._called
        ]

    def inferred(self) -> onnx.GraphProto:
        """Return the shown graph with the types that onnx can infer."""
        if not self._infers:
            believe(self.graph, self.model.graph)
            return self.model.graph
        graph = inferred(self.model)
        # Only then what the model declares, so that a wrong declaration misleads nobody.
        return inferred(self.model) if believe(self.graph, graph) else graph

    def _graph(
        self, body: Body, source: onnx.GraphProto, kinds: Kinds, handed: Sequence[str | None] = ()
    ) -> list[str | None]:
        """Show a graph that is handed values of these kinds, and return the kinds of its outputs."""
        shown = body.graph
        shown.name = "graph"
        for index, value in enumerate(source.input):
            name = body.called(value.name)
            declared = sound(value.type) or (declaration(handed[index]) if index < len(handed) else None)
            shown.input.add(name=name)
            kinds[name] = None
            if declared is not None:
                shown.input[-1].type.CopyFrom(declared)
                kinds[name] = kind(declared)
        inputs = {value.name for value in source.input}
        for value in source.output:
            name = body.called(value.name)
            body.outputs[name] = shown.output.add(name=name)
        body.state((value for value in (*source.value_info, *source.output) if value.name not in inputs), kinds)
        for tensor in source.initializer:
            name = body.called(tensor.name)
            if tensor.name not in inputs:
                body.declare(name, tensor_type(tensor.data_type, tensor.dims), kinds)
            if kinds.get(name) == tensor_kind(tensor.data_type) and is_small(tensor):
                shown.initializer.append(tensor)
                shown.initializer[-1].name = name
        for sparse in source.sparse_initializer:
            if sparse.values.name not in inputs:
                stated = tensor_type(sparse.values.data_type, sparse.dims)
                body.declare(body.called(sparse.values.name), stated, kinds)
        self._nodes(body, source.node, kinds)
        return [kinds.get(name) for name in map(body.called, (value.name for value in source.output))]

    def _nodes(self, body: Body, source: Iterable[onnx.NodeProto], kinds: Kinds) -> None:
        for node in source:
            entry = Entry(node)
            function = self._functions.get(key(node))
            if function is not None:
                entry.call = self._call(function[1], node, body, kinds)
            else:
                found = self._node(body, entry, kinds)
                for name, given in zip(node.output, found, strict=True):
                    if name:
                        body.declare(body.called(name), declaration(given), kinds)
            body.entries.append(entry)

    def _node(self, body: Body, entry: Entry, kinds: Kinds) -> Sequence[str | None]:
        """Show a node if it may be shown, and return the kinds of its outputs."""
        node = resolved(entry.node, body.attributes)
        domain = nodes.canonical(node.domain)
        given = [kinds.get(body.called(name)) if name else "" for name in node.input]
        schema = signature(domain, node.op_type, body.opsets.get(domain, 0))
        in_force = signature(domain, node.op_type, self._versions.get(domain, 0))
        visible = (
            self._infers
            and schema is not None
            # A function may import another version than what is shown.
            and in_force is not None
            and in_force.since == schema.since
            and schema.keeps(node, given)
            and all(is_small(tensor) for attribute in node.attribute for tensor in attribute_tensors(attribute))
            and not guarded(node, schema.since)
        )
        ends = (
            self._visible(body, entry, node, kinds, given) if visible else self._hidden(body, entry, node, kinds, given)
        )
        by_schema = schema.gives(node, given) if schema is not None else [None] * len(node.output)
        by_graphs = _of_graphs(node.op_type, ends)
        return [each or next(iter(by_graphs[index : index + 1]), None) for index, each in enumerate(by_schema)]

    def _visible(
        self, body: Body, entry: Entry, node: onnx.NodeProto, kinds: Kinds, given: Sequence[str | None]
    ) -> dict[str, list[str | None]]:
        shown, ends = body.graph, {}
        entry.position = len(shown.node)
        if body.names is None and not any(attribute.HasField("g") for attribute in node.attribute):
            shown.node.append(node)
            shown.node[-1].domain = nodes.canonical(node.domain)
            return {}
        copy = shown.node.add(op_type=node.op_type, domain=nodes.canonical(node.domain), name=node.name)
        copy.input.extend(map(body.called, node.input))
        copy.output.extend(map(body.called, node.output))
        for attribute in node.attribute:
            if attribute.HasField("g"):
                copy.attribute.add(name=attribute.name, type=attribute.type)
                ends[attribute.name] = self._subgraph(body, entry, attribute, copy.attribute[-1].g, kinds, given)
            else:
                copy.attribute.append(attribute)
        return ends

    def _hidden(
        self, body: Body, entry: Entry, node: onnx.NodeProto, kinds: Kinds, given: Sequence[str | None]
    ) -> dict[str, list[str | None]]:
        ends = {}
        for attribute in node.attribute:
            if attribute.HasField("g"):
                ends[attribute.name] = self._subgraph(body, entry, attribute, onnx.GraphProto(), kinds, given)
            if attribute.name == "value" and attribute.HasField("t") and node.op_type == "Constant" and node.output:
                stated = tensor_type(attribute.t.data_type, attribute.t.dims)
                body.declare(body.called(node.output[0]), stated, kinds)
        return ends

    def _subgraph(
        self,
        body: Body,
        entry: Entry,
        attribute: onnx.AttributeProto,
        shown: onnx.GraphProto,
        kinds: Kinds,
        given: Sequence[str | None],
    ) -> list[str | None]:
        path = nodes.path(body.path, len(body.entries), attribute.name)
        graph = Body(path, body.opsets, shown, body.names, body.attributes)
        entry.graphs.append((attribute.name, graph))
        handed = _handed(entry.node.op_type, given, len(attribute.g.input))
        return self._graph(graph, attribute.g, ChainMap({}, kinds), handed)

    def _call(self, function: onnx.FunctionProto, node: onnx.NodeProto, caller: Body, kinds: Kinds) -> Body:
        """Show the nodes of a function where it is called."""
        called = key(function)
        self._called.add(called)
        self._calls += 1
        names = Names(f"{function.name}:{self._calls}/")
        names.update(dict.fromkeys(function.input, ""))
        names.update(zip(function.input, map(caller.called, node.input), strict=False))
        passed_on = []
        for formal, given in zip(function.output, map(caller.called, node.output), strict=False):
            if formal in names:
                passed_on.append((names[formal], given))
            elif given:
                names[formal] = given
        attributes = {each.name: each for each in function.attribute_proto}
        attributes.update((each.name, each) for each in resolved(node, caller.attributes).attribute)
        path, opsets = f"functions[{self._functions[called][0]}]", nodes.opsets(function.opset_import)
        body = Body(path, opsets, caller.graph, names, attributes, function, caller.outputs)
        body.state(function.value_info, kinds)
        self._nodes(body, function.node, kinds)
        for source, given in passed_on:
            found = kinds.get(source)
            if given and found is not None:
                caller.declare(given, declaration(found), kinds)
                caller.graph.node.add(op_type="Identity", input=[source], output=[given])
        return body


def _versions(opsets: Mapping[str, int], functions: Iterable[onnx.FunctionProto]) -> dict[str, int]:
    """Return the versions that are shown: those of the model, and for other domains the newest of the functions."""
    versions: dict[str, int] = {}
    for function in functions:
        for domain, version in nodes.opsets(function.opset_import).items():
            versions[domain] = max(version, versions.get(domain, version))
    versions = {"": onnx.defs.onnx_opset_version(), **versions, **opsets}
    return {domain: min(max(version, 1), _LARGEST_VERSION) for domain, version in versions.items()}


def _of_graphs(operator: str, ends: Mapping[str, list[str | None]]) -> list[str | None]:
    """Return the kinds of the outputs of an operator that come out of its graphs."""
    match operator:
        case "If":
            one, other = ends.get("then_branch", []), ends.get("else_branch", [])
            return [first if first == second else None for first, second in zip(one, other, strict=False)]
        case "Loop":
            return ends.get("body", [])[1:]
        case "Scan":
            return ends.get("body", [])
    return []


def _handed(operator: str, given: Sequence[str | None], count: int) -> Sequence[str | None]:
    """Return the kinds of the values that an operator hands to its graph."""
    match operator:
        case "Loop":
            return ("tensor(int64)", "tensor(bool)", *given[2:])
        case "Scan" if len(given) == count:
            return given
    return ()
