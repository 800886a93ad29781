"""The nodes of a model, each with what is known at its place.

Decides the order of the walk (the graph, subgraphs before the node that holds them, then the model-local functions) and
what is known of a tensor at each node. :mod:`extremum.backend` checks the nodes and stops at the first invalid one;
:mod:`extremum.check` checks all.
"""

from __future__ import annotations

import contextlib
import functools
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import onnx

from extremum.errors import ExtremumError, SpecError
from extremum.graph import types
from extremum.graph.attributes import attributes_of, constant_integers
from extremum.graph.calls import Key, callees_first, canonical, key_of, schema_of
from extremum.graph.inference import Body, InferenceInput, attribute_of
from extremum.graph.operands import describe_node, operand_names, resolve_node
from extremum.graph.walk import node_path, with_name
from extremum.spec import ONNX, OperatorVersion
from extremum.tensors import TensorType
from extremum.validate import UNKNOWN, Attributes, Value, attribute_value, input_values, output_count


@dataclass(frozen=True, slots=True)
class Written:
    """The nodes that stand in the place of a node, and the version of ONNX's domain for them."""

    nodes: tuple[onnx.NodeProto, ...]
    opset: int


@dataclass(frozen=True)
class Site:
    """A node at its place in the model."""

    node: onnx.NodeProto
    path: str  # without its name: ``graph.node[2].then_branch.node[0]``
    opsets: Mapping[str, int]  # the version of each domain that is imported there
    types: Mapping[str, TensorType]  # what is known of the tensors there, including the node's outputs
    declared_types: Mapping[str, TensorType]  # what the model declares for outputs of nodes
    is_call: bool = False  # whether it calls a function of the model
    results: frozenset[str] = frozenset()  # outputs of nodes in the same graph or function, or around it
    written: Written | None = None  # if `extremum fix` rewrote the node, what it wrote

    @property
    def place(self) -> str:
        """Where the node is, with its name if it has one."""
        return with_name(self.path, self.node)

    @property
    def where(self) -> str:
        """The place and the version that is imported there, as an error shows them."""
        opset = self.opsets.get(canonical(self.node.domain))
        return f"{self.place}, opset {opset}" if opset else self.place

    # Each is computed once, after the walk has reached the node: only then are the types of its inputs known.
    @functools.cached_property
    def schema(self) -> OperatorVersion | None:
        """The version in force, or None if the operator is not in this package or its domain is not imported."""
        if self.is_call or canonical(self.node.domain) not in self.opsets:
            return None
        return schema_of(self.node, self.opsets)

    @property
    def version(self) -> OperatorVersion:
        """The version in force of one of this package's operators."""
        assert self.schema is not None
        return self.schema

    @functools.cached_property
    def attributes(self) -> dict[str, Any]:
        """The attributes that the node states itself, without those that the call of its function gives."""
        return attributes_of(self.node, {})

    @functools.cached_property
    def names(self) -> list[str]:
        """The names of the inputs, without omitted optional inputs at the end."""
        return operand_names(self.node, self.schema)

    @functools.cached_property
    def inputs(self) -> list[TensorType]:
        """What is known of each input."""
        tensors = [self.types.get(name, TensorType()) for name in self.names]
        # If the call of the function gives some attributes, shapes cannot be checked.
        is_whole = len(self.attributes) == len(self.node.attribute)
        if is_whole:
            return tensors
        return [TensorType(tensor.element) for tensor in tensors]

    @functools.cached_property
    def operands(self) -> list[TensorType]:
        """What is known of the inputs that hold elements, without those that stand for an attribute."""
        if self.schema is None:
            return self.inputs
        return self.inputs[: self.schema.input.maximum]

    @property
    def attribute_values(self) -> dict[str, Any]:
        """The attributes that the node states itself; UNKNOWN for a required attribute that a call passes."""
        references = (self.version.attribute(each.name) for each in self.node.attribute if each.ref_attr_name)
        return {each.name: UNKNOWN for each in references if each and each.required} | self.attributes

    @functools.cached_property
    def values(self) -> dict[str, Any]:
        """The attributes that the node states itself, and those that are inputs."""
        return {**self.attribute_values, **input_values(self.version, self.inputs)}

    @functools.cached_property
    def accepted(self) -> Attributes:
        """The value of every attribute of the version; its default if the node states no valid value."""
        result: dict[str, Value] = {}
        for each in self.version.attributes:
            result[each.name] = UNKNOWN if each.required else each.default
            with contextlib.suppress(SpecError):
                result[each.name] = attribute_value(self.version, each, self.values)
        return result

    @property
    def element(self) -> str | None:
        """The element type of the first input, if there is one and its type is known."""
        return self.inputs[0].element if self.inputs else None

    @property
    def given(self) -> str:
        """What the node states, as an error shows it."""
        return describe_node(self.attributes, self.names, self.inputs)

    def outputs(self, *, any_element: bool = False) -> tuple[TensorType, ...]:
        """Return what is known of the outputs, for a node of one of this package's operators.

        With ``any_element`` also for an element type that the version does not take.
        """
        _, outputs = resolve_node(
            self.version, self.attribute_values, self.names, self.inputs, any_element=any_element
        )
        output_count(self.version, len(self.node.output))
        return outputs


def sites(model: onnx.ModelProto, *, inlined: bool = False) -> Iterator[Site]:
    """Yield the nodes of the graph, of its subgraphs and of the model-local functions.

    The types in a function are those of its calls; its nodes appear once for each different set of them. If
    ``inlined``, they appear at each call, in execution order, with the attributes and value names of that call.
    """
    source = InferenceInput(model)
    graph = source.infer()
    tensors = types.types_in(graph)
    calls: _Calls = {name: {(): (body, graph, tensors)} for name, body in source.orphans.items()}
    if inlined:
        yield from _walk(source.graph, graph, tensors, tensors, None)
        return
    yield from _walk(source.graph, graph, tensors, tensors, calls)
    for function in reversed(callees_first(model.functions)):
        for inputs, call in sorted(calls.get(key_of(function), {}).items(), key=lambda each: str(each[0])):
            by_model = {
                **_by_model_names(call[0], call[2]),
                **dict(zip(function.input, inputs, strict=False)),
            }
            yield from _walk(*call, by_model, calls)


Types = MutableMapping[str, TensorType]
_Calls = dict[Key, dict[tuple[TensorType, ...], tuple[Body, onnx.GraphProto, Types]]]
"""For each function and each set of input types, the nodes of one such call in the inferred graph."""


def _walk(
    body: Body,
    graph: onnx.GraphProto,
    inferred: Types,
    tensors: Types,
    calls: _Calls | None = None,
    results: frozenset[str] = frozenset(),
) -> Iterator[Site]:
    """Yield the nodes of a body: ``inferred`` has the names of inference, ``tensors`` those of the model.

    Adds the calls of functions to ``calls``; without it, the nodes of a function replace the call.
    """
    name_of = body.name_of if calls is None else str
    declared = {name_of(name): types.declared_type(each) for name, each in body.declared_types.items()}
    results |= {name_of(name) for entry in body.entries for name in entry.node.output}
    for index, entry in enumerate(body.entries):
        for subgraph, proto in entry.subgraphs(graph):
            inner = ChainMap(types.types_in(proto), inferred)
            is_named = body.names is None or calls is None
            if is_named:
                by_model = inner
            else:
                by_model = ChainMap(_by_model_names(subgraph, inner.maps[0]), tensors)
            yield from _walk(subgraph, proto, inner, by_model, calls, results)
        if entry.call is not None:
            if calls is None:
                yield from _walk(entry.call, graph, inferred, inferred)
                continue
            inputs = tuple(tensors.get(name, TensorType()) for name in entry.node.input)
            calls.setdefault(key_of(entry.node), {}).setdefault(inputs, (entry.call, graph, inferred))
        node = body.in_place(entry.node) if calls is None else entry.node
        site = Site(
            node, node_path(body.path, index), body.opsets, tensors, declared, entry.call is not None, results
        )
        yield site
        if (values := constant_integers(node)) is not None and len(node.output) == 1:
            tensors[node.output[0]] = TensorType("int64", (len(values),), values)
        if site.schema is not None:
            # The caller reports what is wrong with the node; the types that the model declares stay.
            with contextlib.suppress(ExtremumError):
                outputs = zip(node.output, site.outputs(any_element=True), strict=True)
                tensors.update((name, each) for name, each in outputs if name)


def _by_model_names(body: Body, inferred: Mapping[str, TensorType]) -> dict[str, TensorType]:
    """Return what is known of the values of a body by the names that they have in the model."""
    assert body.names is not None
    return {name: inferred[alias] for name, alias in body.names.items() if alias in inferred}


def require_harmless(sites: Iterable[Site]) -> None:
    """Refuse a Split whose num_outputs is not its number of outputs: it ends the process in onnxruntime."""
    # A test of every version of every operator, with valid and invalid nodes, found no other such case.
    for site in sites:
        node = site.node
        number = attribute_of(site.node, "num_outputs").i
        count = len(site.node.output)
        is_split = not site.is_call and canonical(node.domain) == ONNX and node.op_type == "Split"
        if is_split and number not in (0, count):
            raise SpecError(
                f"Split has num_outputs={number}, but {count} outputs",
                where=site.where,
                remedy=f"use num_outputs={count}",
            )
