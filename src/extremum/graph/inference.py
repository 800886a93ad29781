"""What a model says of its values, completed by onnx's shape inference.

Decides what third-party native code sees. Inference assumes that every value has a type and that every node keeps the
promise of its operator's schema; where that is not so, several operators end the process. So inference gets a model
without weights and without functions (each call is replaced by the nodes of its function), in which every value that a
node reads has a type and every node keeps its promise. Other nodes are left out, and the kinds of their outputs are
declared where their schema alone decides them.
"""

from __future__ import annotations

import functools
import re
from collections import ChainMap
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

import onnx
from onnx.defs import OpSchema

from extremum.graph import nodes
from extremum.graph.nodes import Key, callees_first, key
from extremum.graph.types import attribute_tensors, declaration, is_small, kind, sound, tensor_kind, tensor_type

__all__ = [
    "Body",
    "Entry",
    "InferenceInput",
    "Kinds",
    "Names",
    "Signature",
    "believe",
    "guarded",
    "held",
    "inferred",
    "is_made_up",
    "num_outputs",
    "resolved",
    "signature",
    "splits_otherwise",
    "with_declared_shape",
]


# Nodes that keep the promise of their schema and still end the process in onnx's inference. Random values of attributes
# found each of them. Each is wrong by the operator's document too, so no right model loses anything.


def _integer(node: onnx.NodeProto, name: str) -> int:
    return next((each.i for each in node.attribute if each.name == name), 0)


def num_outputs(node: onnx.NodeProto) -> int:
    """Return the outputs that a Split says it has; 0 where it does not say."""
    return _integer(node, "num_outputs")


def splits_otherwise(node: onnx.NodeProto) -> bool:
    """Return whether a Split has another number of outputs than it says."""
    return num_outputs(node) not in (0, len(node.output))


# Letters with at most one ellipsis for each operand, and after the arrow.
_TERM = rb"[A-Za-z]*(\.\.\.)?[A-Za-z]*"
_EQUATION = re.compile(_TERM + rb"(," + _TERM + rb")*(->" + _TERM + rb")?")


def _equation(node: onnx.NodeProto) -> bytes:
    return next((each.s.replace(b" ", b"") for each in node.attribute if each.name == "equation"), b"")


_GUARDS: Mapping[str, Callable[[onnx.NodeProto], bool]] = {
    # Looks without end for what comes after a sign it does not know.
    "Einsum": lambda node: _EQUATION.fullmatch(_equation(node)) is None,
    # Counts dimensions from before the first.
    "GatherND": lambda node: _integer(node, "batch_dims") < 0,
    # Writes one size for each of num_outputs, however many outputs there are.
    "Split": splits_otherwise,
}
# Look at the third dimension of whatever they are given, in onnx 1.19.
_VERSIONS = {("RNN", 1), ("GRU", 3), ("LSTM", 1)}


def guarded(node: onnx.NodeProto, since: int) -> bool:
    """Return whether a node of ONNX's own domain, of the version of ``since``, has to be kept from onnx's inference."""
    guard = _GUARDS.get(node.op_type)
    return (node.op_type, since) in _VERSIONS or (guard is not None and guard(node))


# The shape that a model declares for a value, beside the inferred one. A declaration counts where it adds a size to the
# inferred shape; some exporters declare shapes that cannot be.


# What onnx's inference calls a size that it does not know.
_MADE_UP = "unk__"


def with_declared_shape(inferred: onnx.TypeProto | None, stated: onnx.TypeProto) -> onnx.TypeProto | None:
    """Return an inferred type with what a declaration adds to it, or None if that is nothing or contradicts it."""
    if inferred is None or inferred.WhichOneof("value") is None:
        return stated
    if not (inferred.HasField("tensor_type") and stated.HasField("tensor_type")):
        return None
    ours, theirs = inferred.tensor_type, stated.tensor_type
    if ours.elem_type != theirs.elem_type or not theirs.HasField("shape"):
        return None
    if not ours.HasField("shape"):
        return stated
    if len(ours.shape.dim) != len(theirs.shape.dim):
        return None
    result = onnx.TypeProto()
    result.CopyFrom(inferred)
    more = False
    for known, declared in zip(result.tensor_type.shape.dim, theirs.shape.dim, strict=True):
        if declared.HasField("dim_value"):
            if known.HasField("dim_value"):
                if known.dim_value != declared.dim_value:
                    return None
                continue
        elif not declared.dim_param or known.HasField("dim_value") or not _is_open(known):
            continue
        known.CopyFrom(declared)
        more = True
    return result if more else None


def _is_open(dimension: onnx.TensorShapeProto.Dimension) -> bool:
    return not dimension.dim_param or is_made_up(dimension.dim_param)


def is_made_up(name: str) -> bool:
    """Return whether a dimension has its name from onnx's inference and not from its model."""
    return name.startswith(_MADE_UP)


# What the schema of an operator's version promises: the number and kinds of inputs, the attributes, the outputs. onnx's
# own inference assumes all of it: a node that breaks it can end the process. So nodes are checked here as far as types
# tell, and the kinds of their outputs follow.


_REQUIRED = OpSchema.FormalParameterOption.Single
_VARIADIC = OpSchema.FormalParameterOption.Variadic
_NEWEST = 2**31 - 1
_NUMBERS = {
    getattr(OpSchema.AttrType, name): number
    for name, number in onnx.AttributeProto.AttributeType.items()
    if hasattr(OpSchema.AttrType, name)
}
# Attributes that say the element type of an output, beside those that hold the value itself.
_NUMBERED = ("to", "dtype")
_CONSTANTS = {"value_float": "float", "value_int": "int64", "value_string": "string"}


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A formal input or output: the name of its type, the kinds that are allowed, whether it has to be there."""

    type: str
    kinds: frozenset[str]
    required: bool
    free: bool

    @property
    def only(self) -> str | None:
        return next(iter(self.kinds)) if len(self.kinds) == 1 else None


@dataclass(frozen=True, slots=True)
class Signature:
    """The promise of one version of an operator."""

    since: int
    shown: bool
    inputs: tuple[_Parameter, ...]
    outputs: tuple[_Parameter, ...]
    input_counts: range
    output_counts: range
    attributes: Mapping[str, int]
    required: frozenset[str]

    def keeps(self, node: onnx.NodeProto, kinds: Sequence[str | None]) -> bool:
        """Return whether a node keeps the promise, with inputs of these kinds (empty: left out; None: unknown)."""
        if not self.shown or len(node.input) not in self.input_counts or len(node.output) not in self.output_counts:
            return False
        stated = {each.name: each.type for each in node.attribute if not each.ref_attr_name}
        if len(stated) != len(node.attribute) or not self.required <= stated.keys():
            return False
        if any(self.attributes.get(name) != number for name, number in stated.items()):
            return False
        bound = dict[str, str]()
        for index, given in enumerate(kinds):
            parameter = self.inputs[min(index, len(self.inputs) - 1)]
            if not given:
                if given is None or parameter.required:
                    return False
                continue
            if given not in parameter.kinds:
                return False
            if not parameter.free and bound.setdefault(parameter.type, given) != given:
                return False
        return all(
            index >= len(node.output) or node.output[index] for index, each in enumerate(self.outputs) if each.required
        )

    def gives(self, node: onnx.NodeProto, kinds: Sequence[str | None]) -> list[str | None]:
        """Return the kind of each output, as far as inputs and attributes decide it."""
        bound = dict[str, str]()
        for index, given in enumerate(kinds):
            if given and self.inputs:
                parameter = self.inputs[min(index, len(self.inputs) - 1)]
                if not parameter.free and given in parameter.kinds:
                    bound.setdefault(parameter.type, given)
        return [self._given(index, node, bound) for index in range(len(node.output))]

    def _given(self, index: int, node: onnx.NodeProto, bound: Mapping[str, str]) -> str | None:
        if not self.outputs:
            return None
        parameter = self.outputs[min(index, len(self.outputs) - 1)]
        found = parameter.only or (None if parameter.free else bound.get(parameter.type) or _said(node))
        return found if found in parameter.kinds else None


def _said(node: onnx.NodeProto) -> str | None:
    """Return the kind of tensor that the attributes of a node say."""
    for attribute in node.attribute:
        if attribute.name in _NUMBERED and attribute.type == onnx.AttributeProto.INT:
            return tensor_kind(attribute.i)
        if attribute.name == "value" and attribute.type == onnx.AttributeProto.TENSOR:
            return tensor_kind(attribute.t.data_type)
        if node.op_type == "Constant" and (element := _CONSTANTS.get(attribute.name.removesuffix("s"))):
            return f"tensor({element})"
    return "tensor(float)" if node.op_type == "ConstantOfShape" else None


@functools.cache
def signature(domain: str, name: str, opset: int) -> Signature | None:
    """Return the promise of an operator in the version in force, or None if onnx knows no such operator."""
    if not 0 < opset <= _NEWEST:
        return None
    try:
        schema = onnx.defs.get_schema(name, opset, domain)
    except onnx.defs.SchemaError:
        return None
    constraints = {each.type_param_str: frozenset(each.allowed_type_strs) for each in schema.type_constraints}

    def parameter(formal: OpSchema.FormalParameter) -> _Parameter:
        kinds = constraints.get(formal.type_str, frozenset((formal.type_str,)))
        free = formal.option == _VARIADIC and not formal.is_homogeneous
        return _Parameter(formal.type_str, kinds, formal.option == _REQUIRED, free)

    return Signature(
        schema.since_version,
        not schema.deprecated and (schema.has_type_and_shape_inference_function or _has_body(schema)),
        tuple(map(parameter, schema.inputs)),
        tuple(map(parameter, schema.outputs)),
        range(schema.min_input, schema.max_input + 1),
        range(schema.min_output, schema.max_output + 1),
        {each.name: _NUMBERS[each.type] for each in schema.attributes.values()},
        frozenset(each.name for each in schema.attributes.values() if each.required),
    )


def _has_body(schema: OpSchema) -> bool:
    return any(getattr(schema, name) for name in ("has_function", "has_context_dependent_function"))


# onnx's shape inference follows the values that shapes are computed from. For each vector on that way it writes out one
# dimension for each element, 140 bytes each, however long the vector is. So it may follow values only through nodes
# that read scalars, short vectors (as shapes are) or tensors of other ranks. Sizes are inferred for all nodes.


# Elements of the longest vector whose values are followed: no shape has so many dimensions.
_SHORT = 1024
# How often sizes that were found lead to values, and these to sizes.
_ROUNDS = 8
# Whether values may be followed through nodes that read a value, by its name.
_Followed = MutableMapping[str, bool]


def inferred(model: onnx.ModelProto) -> onnx.GraphProto:
    """Return the graph of a model with the types that can be inferred, those of its subgraphs included."""
    opsets = nodes.opsets(model.opset_import)
    named = {size.dim_param for value in _values(model.graph) for size in _sizes(value)}
    try:
        sized = onnx.shape_inference.infer_shapes(model)
        for _ in range(_ROUNDS):
            _forget(sized.graph, named)
            if _is_known(sized.graph):
                return sized.graph
            followed = onnx.ModelProto()
            followed.CopyFrom(sized)
            whole = _leave_out(followed.graph, opsets, {})
            followed = onnx.shape_inference.infer_shapes(followed, data_prop=True)
            if whole:
                return followed.graph
            _forget(followed.graph, named)
            learnt = _learn(sized.graph, followed.graph)
            sized = onnx.shape_inference.infer_shapes(sized)
            if not learnt:
                break
    except Exception:
        # What is wrong is said better by whoever looks at the nodes.
        return model.graph
    return sized.graph


def _values(graph: onnx.GraphProto) -> Iterator[onnx.ValueInfoProto]:
    for each in nodes.graphs(graph):
        yield from (*each.input, *each.value_info, *each.output)


def _sizes(value: onnx.ValueInfoProto) -> Iterable[onnx.TensorShapeProto.Dimension]:
    return value.type.tensor_type.shape.dim


def _forget(graph: onnx.GraphProto, named: Container[str]) -> None:
    """Take away the names that inference gives to sizes that it does not know: it would keep to them."""
    for value in _values(graph):
        for size in _sizes(value):
            if size.dim_param and size.dim_param not in named:
                size.Clear()


def _is_known(graph: onnx.GraphProto) -> bool:
    """Return whether there is no size of any value left to find."""
    return all(
        each.type.HasField("tensor_type")
        and each.type.tensor_type.HasField("shape")
        and all(size.WhichOneof("value") is not None for size in each.type.tensor_type.shape.dim)
        for body in nodes.graphs(graph)
        for each in (*body.value_info, *body.output)
    )


def _leave_out(graph: onnx.GraphProto, opsets: dict[str, int], outer: _Followed) -> bool:
    """Take the nodes out of a graph through which no values may be followed; whether there was none."""
    followed: _Followed = ChainMap({}, outer)
    for value in (*graph.input, *graph.value_info, *graph.output):
        followed[value.name] = _may_be_followed(value.type)
    for tensor in graph.initializer:
        followed[tensor.name] = len(tensor.dims) > 1 or all(size <= _SHORT for size in tensor.dims)
    whole, kept = True, []
    for node in graph.node:
        if _follows(node, opsets) and not all(followed.get(name, not name) for name in node.input):
            whole = False
            continue
        for _, subgraph in nodes.subgraphs(node):
            whole &= _leave_out(subgraph, opsets, followed)
        kept.append(onnx.NodeProto.FromString(node.SerializeToString()))
    if len(kept) < len(graph.node):
        del graph.node[:]
        graph.node.extend(kept)
    return whole


def _may_be_followed(kind: onnx.TypeProto) -> bool:
    if not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape"):
        return False
    sizes = kind.tensor_type.shape.dim
    return len(sizes) != 1 or (sizes[0].HasField("dim_value") and sizes[0].dim_value <= _SHORT)


def _follows(node: onnx.NodeProto, opsets: dict[str, int]) -> bool:
    domain = nodes.canonical(node.domain)
    try:
        schema = onnx.defs.get_schema(node.op_type, opsets.get(domain, 0), domain)
    except onnx.defs.SchemaError:
        return False
    # What is inferred by a body is inferred as the nodes of the body are.
    by_body = not schema.has_type_and_shape_inference_function
    return bool(schema.has_data_propagation_function or by_body)


def _learn(graph: onnx.GraphProto, followed: onnx.GraphProto) -> bool:
    """Give a graph what was found of its values where values were followed; whether that is more than it had."""
    before = {value.name: value.type for value in (*graph.value_info, *graph.output)}
    learnt = any(value.type != before.get(value.name) for value in (*followed.value_info, *followed.output))
    del graph.value_info[:]
    graph.value_info.extend(followed.value_info)
    found = {value.name: value.type for value in followed.output}
    for value in graph.output:
        value.type.CopyFrom(found[value.name])
    return learnt


# A graph or a function of a model, with the place of each of its nodes in the input of inference, the names of its
# values there, and the declared types that inference gets.


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
                better = with_declared_shape(types.get(value.name), declared)
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


_LARGEST_VERSION = 2**31 - 1


class InferenceInput:
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
