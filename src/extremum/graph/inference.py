"""What a model says about its values, completed by onnx's shape inference.

Decides what third-party native code sees. Inference assumes that every value has a type and that every node keeps the
promise of its operator's schema; otherwise several operators end the process. So inference gets a model without weights
and functions (each call is replaced by the function's nodes). In this model, every value that a node reads has a type
and every node keeps its promise. All other nodes are left out; the kinds of their outputs are declared if the schema
alone decides them.
"""

from __future__ import annotations

import functools
import re
from collections import ChainMap
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, MutableMapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain, count, cycle, repeat, zip_longest
from typing import Any

import onnx
from onnx.defs import OpSchema

from extremum.graph import types
from extremum.graph.attributes import resolve_references
from extremum.graph.calls import Key, callees_first, canonical, is_of_family, key_of, opsets_of
from extremum.graph.walk import all_graphs, all_nodes, node_path, subgraphs_of
from extremum.tensors import Dimension, differ

# Nodes that keep the promise of their schema and still end or hang the process in onnx's inference, found with random
# values of attributes. The operator's document forbids each of them too, so no valid model loses anything.

# Letters with at most one ellipsis, for each operand and after the arrow.
_TERM = rb"[A-Za-z]*(\.\.\.)?[A-Za-z]*"
_EQUATION = re.compile(_TERM + rb"(," + _TERM + rb")*(->" + _TERM + rb")?")


def attribute_of(node: onnx.NodeProto, name: str) -> onnx.AttributeProto:
    """Return an attribute of a node, or an empty attribute if the node does not state it."""
    return next((each for each in node.attribute if each.name == name), onnx.AttributeProto())


# Whether a node of some version must be hidden from inference, by its operator.
_DEADLY: Mapping[str, Callable[[onnx.NodeProto, int], bool]] = {
    # Loops forever at a character that it does not know.
    "Einsum": lambda node, _: not _EQUATION.fullmatch(attribute_of(node, "equation").s.replace(b" ", b"")),
    # Starts at a dimension before the first.
    "GatherND": lambda node, _: attribute_of(node, "batch_dims").i < 0,
    # Writes num_outputs sizes, even if the node has fewer outputs.
    "Split": lambda node, _: attribute_of(node, "num_outputs").i not in (0, len(node.output)),
    # In onnx 1.19, the first versions read the third dimension of an input of any rank.
    "RNN": lambda _, since: since == 1,
    "LSTM": lambda _, since: since == 1,
    "GRU": lambda _, since: since == 3,
}
_CONSTANTS = {"value_float": "float", "value_int": "int64", "value_string": "string"}
_LARGEST_VERSION = 2**31 - 1


class _Parameter:
    """A formal input or output: its type variable, the kinds it may have, and whether it is required."""

    def __init__(self, formal: OpSchema.FormalParameter) -> None:
        self.type = formal.type_str
        self.kinds = formal.types
        self.required = formal.option == OpSchema.FormalParameterOption.Single
        # Each tensor of such a variadic parameter may have its own type.
        self.is_free = formal.option == OpSchema.FormalParameterOption.Variadic and not formal.is_homogeneous


class Signature:
    """What one version of an operator promises: the number and kinds of inputs, the attributes, the outputs."""

    def __init__(self, schema: OpSchema) -> None:
        has_own = schema.has_type_and_shape_inference_function
        # onnx's stubs lack these two, and the number of an attribute's kind.
        attributes: Mapping[str, Any] = schema.attributes
        has_body = any(getattr(schema, name) for name in ("has_function", "has_context_dependent_function"))
        self.since = schema.since_version
        self.infers = (has_own or has_body) and not schema.deprecated
        # Inference through the body of an operator follows values as the nodes of the body do.
        self.follows_values = schema.has_data_propagation_function or not has_own
        self.inputs = list(map(_Parameter, schema.inputs))
        self.outputs = list(map(_Parameter, schema.outputs))
        self.counts = (
            range(schema.min_input, schema.max_input + 1),
            range(schema.min_output, schema.max_output + 1),
        )
        self.attributes = {name: each.type.value for name, each in attributes.items()}
        self.required = {name for name, each in attributes.items() if each.required}

    def _bind(self, kinds: Sequence[str | None]) -> tuple[dict[str, str], bool]:
        """Return the kind of each type variable, and whether inputs of these kinds fit."""
        bindings = dict[str, str]()
        fits = True
        for kind, parameter in zip(kinds, chain(self.inputs, cycle(self.inputs[-1:])), strict=False):
            if not kind or kind not in parameter.kinds:
                fits = fits and kind == "" and not parameter.required
            elif not parameter.is_free:
                fits = bindings.setdefault(parameter.type, kind) == kind and fits
        return bindings, fits

    def is_kept(self, node: onnx.NodeProto, kinds: Sequence[str | None]) -> bool:
        """Return whether a node keeps the promise, with inputs of these kinds (empty: left out; None: unknown)."""
        numbers = {each.name: each.type for each in node.attribute if not each.ref_attr_name}
        return (
            len(node.input) in self.counts[0]
            and len(node.output) in self.counts[1]
            and len(numbers) == len(node.attribute)
            and self.required <= numbers.keys()
            and all(self.attributes.get(name) == number for name, number in numbers.items())
            and self._bind(kinds)[1]
            and all(name or not each.required for name, each in zip(node.output, self.outputs, strict=False))
        )

    def gives(self, node: onnx.NodeProto, kinds: Sequence[str | None]) -> list[str | None]:
        """Return the kind of each output, as far as inputs and attributes determine it."""
        bindings, _ = self._bind(kinds)
        result: list[str | None] = []
        for _, parameter in zip(node.output, chain(self.outputs, cycle(self.outputs[-1:])), strict=False):
            if len(parameter.kinds) == 1:
                (only,) = parameter.kinds
                result.append(only)
                continue
            if parameter.is_free:
                kind = None
            else:
                kind = bindings.get(parameter.type) or _stated_kind(node)
            result.append(kind if kind in parameter.kinds else None)
        return result


def _stated_kind(node: onnx.NodeProto) -> str | None:
    """Return the kind of tensor that the attributes of a node state."""
    for attribute in node.attribute:
        if attribute.name in ("to", "dtype") and attribute.type == onnx.AttributeProto.INT:
            return types.tensor_kind(attribute.i)
        if attribute.name == "value" and attribute.type == onnx.AttributeProto.TENSOR:
            return types.tensor_kind(attribute.t.data_type)
        if node.op_type == "Constant" and (element := _CONSTANTS.get(attribute.name.removesuffix("s"))):
            return f"tensor({element})"
    return "tensor(float)" if node.op_type == "ConstantOfShape" else None


@functools.cache
def signature(domain: str, name: str, opset: int) -> Signature | None:
    """Return the promise of an operator in the version in force, or None if onnx has no such operator."""
    try:
        if 0 < opset <= _LARGEST_VERSION:
            return Signature(onnx.defs.get_schema(name, opset, domain))
        return None
    except onnx.defs.SchemaError:
        return None


# onnx's shape inference follows the values from which shapes are computed. For each vector on the way it writes one
# dimension per element, 140 bytes each, even if the vector is long. So it may follow values only through nodes that
# read scalars, short vectors (shapes are short) or tensors of other ranks: the operators of all other nodes get names
# that it does not know. It infers sizes for all nodes.

_SHORT = 1024  # elements of the longest vector whose values are followed; no shape has more dimensions
_ROUNDS = 8  # the number of times that sizes lead to values, and values to sizes
_PREFIX = "hidden."


def infer_types(model: onnx.ModelProto) -> onnx.GraphProto:
    """Return the graph of a model with the types that can be inferred, including those of its subgraphs."""
    opsets = opsets_of(model.opset_import)
    result = model
    before = None
    names = {size.dim_param for size in _sizes(model.graph)}
    try:
        for _ in range(_ROUNDS):
            result = onnx.shape_inference.infer_shapes(result)
            _forget(result.graph, names)
            if result == before:
                break
            before = deepcopy(result)
            is_whole = _hide(result.graph, opsets, {})
            result = onnx.shape_inference.infer_shapes(result, data_prop=True)
            if is_whole:
                break
            _forget(result.graph, names)
            for graph in all_graphs(result.graph):
                for node in graph.node:
                    node.op_type = node.op_type.removeprefix(_PREFIX)
    except Exception:
        # The checks of the nodes give a better error.
        return model.graph
    return result.graph


def _sizes(graph: onnx.GraphProto) -> Iterator[onnx.TensorShapeProto.Dimension]:
    for each in all_graphs(graph):
        for value in (*each.input, *each.value_info, *each.output):
            yield from value.type.tensor_type.shape.dim


def _forget(graph: onnx.GraphProto, names: Container[str]) -> None:
    """Remove the names that inference makes up for unknown sizes: the next round would keep them."""
    for size in _sizes(graph):
        if size.dim_param and size.dim_param not in names:
            size.Clear()


def _hide(graph: onnx.GraphProto, opsets: Mapping[str, int], outer: MutableMapping[str, bool]) -> bool:
    """Hide the operators of nodes through which values must not be followed; return whether nothing is hidden."""
    # By the name of a value, whether values may be followed through a node that reads it.
    short = ChainMap({}, outer)
    for value in (*graph.input, *graph.value_info, *graph.output):
        sizes = value.type.tensor_type.shape.dim
        short[value.name] = value.type.tensor_type.HasField("shape") and (
            len(sizes) != 1 or (sizes[0].HasField("dim_value") and sizes[0].dim_value <= _SHORT)
        )
    for tensor in graph.initializer:
        short[tensor.name] = len(tensor.dims) > 1 or all(size <= _SHORT for size in tensor.dims)
    is_whole = True
    for node in graph.node:
        domain = canonical(node.domain)
        promise = signature(domain, node.op_type, opsets.get(domain, 0))
        if (
            promise is not None
            and promise.follows_values
            and not all(short.get(name, not name) for name in node.input)
        ):
            node.op_type = f"{_PREFIX}{node.op_type}"
            is_whole = False
        else:
            for _, subgraph in subgraphs_of(node):
                is_whole &= _hide(subgraph, opsets, short)
    return is_whole


def is_made_up(name: str) -> bool:
    """Return whether the name of a dimension comes from onnx's inference and not from its model."""
    return name.startswith("unk__")


def with_declared_shape(
    inferred: onnx.TypeProto | None, declaration: onnx.TypeProto
) -> onnx.TypeProto | None:
    """Return an inferred type extended by a declaration, or None if the latter adds nothing or contradicts it."""
    if inferred is None or inferred.WhichOneof("value") is None:
        return declaration
    ours = types.declared_type(inferred).shape
    theirs = types.declared_type(declaration).shape
    if inferred.tensor_type.elem_type != declaration.tensor_type.elem_type or theirs is None:
        return None
    if ours is None:
        return declaration
    # Some exporters declare impossible shapes.
    if differ(ours, theirs):
        return None

    def content(size: Dimension) -> tuple[bool, ...]:
        # A size is most precise, then a name from the model, then another name.
        return isinstance(size, int), size is not None, not is_made_up(str(size))

    sizes = [max(pair, key=content) for pair in zip(ours, theirs, strict=True)]
    if sizes != list(ours):
        return types.tensor_type(declaration.tensor_type.elem_type, sizes)
    return None


@dataclass(slots=True)
class Entry:
    """A node of the model, and its place in the input of inference."""

    node: onnx.NodeProto
    position: int | None = None  # None if inference does not get the node
    graphs: list[tuple[str, Body]] = field(default_factory=list)  # the graphs it holds, by attribute
    call: Body | None = None  # the nodes of the function it calls

    def subgraphs(self, around: onnx.GraphProto) -> Iterator[tuple[Body, onnx.GraphProto]]:
        """Yield the graphs that the node holds, each with its inferred form from the inferred graph around."""
        by_name = dict[str, onnx.GraphProto]()
        if self.graphs and self.position is not None:
            by_name.update(subgraphs_of(around.node[self.position]))
        for name, body in self.graphs:
            yield body, by_name.get(name, body.graph)


@dataclass(slots=True)
class Body:
    """A graph, or the nodes of a function at one call."""

    path: str  # in the model, such as ``graph.node[2].then_branch``
    opsets: Mapping[str, int]  # the version of each domain that it imports
    graph: onnx.GraphProto  # in the input of inference
    # Of the values of ``graph``, by name.
    kinds: MutableMapping[str, str | None] = field(default_factory=dict)
    # The names of its values in the input of inference: inputs and outputs of a function have the caller's names,
    # other values have a prefix of the call. None if all names are those of the model.
    names: dict[str, str] | None = None
    prefix: str = ""
    # Those that the call gives the function.
    attributes: Mapping[str, onnx.AttributeProto] = field(default_factory=dict)
    outputs: dict[str, onnx.ValueInfoProto] = field(default_factory=dict)  # outputs of ``graph``, by name
    # What the model declares for outputs of nodes.
    declared_types: dict[str, onnx.TypeProto] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)

    def name_of(self, name: str) -> str:
        """Return the name of a value in the input of inference."""
        if self.names is None:
            return name
        return self.names.setdefault(name, f"{self.prefix}{name}")

    def declare(self, name: str, declared: onnx.TypeProto | str | None) -> None:
        """Declare the type of a value, or its kind, if it is known and was not declared before."""
        declared = (
            types.type_proto(declared) if isinstance(declared, str) else declared and types.sound(declared)
        )
        if declared is not None and self.kinds.get(name) is None:
            self.kinds[name] = types.kind(declared)
            (self.outputs.get(name) or self.graph.value_info.add(name=name)).type.CopyFrom(declared)

    def note_types(self, values: Iterable[onnx.ValueInfoProto]) -> None:
        """Note the types that the model declares for outputs of nodes, and declare their kinds."""
        for value in values:
            self.declared_types[value.name] = value.type
            self.declare(self.name_of(value.name), types.kind(value.type))

    def in_place(self, node: onnx.NodeProto) -> onnx.NodeProto:
        """Return a node with the attributes and the names of values that it has at this call."""
        if self.names is None:
            return node
        copy = deepcopy(resolve_references(node, self.attributes))
        copy.input[:] = map(self.name_of, node.input)
        copy.output[:] = map(self.name_of, node.output)
        return copy

    def declare_shapes(self, inferred: onnx.GraphProto) -> bool:
        """Add the shapes that the model declares beyond the inferred ones; return whether there are any."""
        adds = self._declare_own_shapes(inferred) if self.declared_types else False
        for entry in self.entries:
            if entry.call is not None:
                adds |= entry.call.declare_shapes(inferred)
            for body, graph in entry.subgraphs(inferred):
                adds |= body.declare_shapes(graph)
        return adds

    def _declare_own_shapes(self, inferred: onnx.GraphProto) -> bool:
        """Do the same for the values of this graph alone."""
        adds = False
        claims = {self.name_of(name): types.sound(each) for name, each in self.declared_types.items()}
        by_name = {value.name: value.type for value in (*inferred.value_info, *inferred.output)}
        for value in (*self.graph.value_info, *self.graph.output):
            declared = claims.get(value.name)
            if declared is None:
                continue
            better = with_declared_shape(by_name.get(value.name), declared)
            if better is not None:
                value.type.CopyFrom(better)
                adds = True
        return adds


class InferenceInput:
    """A model as inference gets it."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._functions = {key_of(each): (index, each) for index, each in enumerate(model.functions)}
        self._callees = set[Key]()
        self._numbers = count(1)
        of_family = (node for _, _, node in all_nodes(model) if is_of_family(node))
        self._infers = any(key_of(node) not in self._functions for node in of_family)
        opsets = opsets_of(model.opset_import)
        # The model's version of each domain; else the newest of its functions; else, for ONNX, the newest.
        imports = (pair for each in model.functions for pair in opsets_of(each.opset_import).items())
        self._versions = {"": onnx.defs.onnx_opset_version(), **dict(sorted(imports)), **opsets}
        self.model = onnx.ModelProto(ir_version=onnx.IR_VERSION)
        for domain, version in self._versions.items():
            self.model.opset_import.add(domain=domain, version=min(max(version, 1), _LARGEST_VERSION))
        self.graph = Body("graph", opsets, self.model.graph)
        self._graph(self.graph, model.graph)
        # Callers first, so that a function that they call counts as called.
        self.orphans = {
            key_of(each): self._call(each, onnx.NodeProto(), self.graph)
            for each in reversed(callees_first(model.functions))
            if key_of(each) not in self._callees
        }

    def infer(self) -> onnx.GraphProto:
        """Return the graph with the types that onnx can infer."""
        graph = infer_types(self.model) if self._infers else self.model.graph
        # Declared shapes are added to inferred ones, so that a wrong declaration has no effect.
        if self.graph.declare_shapes(graph) and self._infers:
            return infer_types(self.model)
        return graph

    def _graph(
        self, body: Body, source: onnx.GraphProto, kinds: Sequence[str | None] = ()
    ) -> list[str | None]:
        """Add a graph to which values of some kinds are passed, and return the kinds of its outputs."""
        graph = body.graph
        name_of = body.name_of
        graph.name = "graph"
        inputs = {value.name for value in source.input}
        for value, kind in zip_longest(source.input, kinds[: len(source.input)]):
            declared = types.sound(value.type) or (types.type_proto(kind) if kind else None)
            graph.input.add(name=name_of(value.name), type=declared)
            if declared is None:
                body.kinds[name_of(value.name)] = None
            else:
                body.kinds[name_of(value.name)] = types.kind(declared)
        body.outputs = {
            name_of(value.name): graph.output.add(name=name_of(value.name)) for value in source.output
        }
        body.note_types(value for value in (*source.value_info, *source.output) if value.name not in inputs)
        for tensor in source.initializer:
            name = name_of(tensor.name)
            if tensor.name not in inputs:
                body.declare(name, types.tensor_type(tensor.data_type, tensor.dims))
            if body.kinds.get(name) == types.tensor_kind(tensor.data_type) and types.is_small(tensor):
                graph.initializer.append(tensor)
                graph.initializer[-1].name = name
        for sparse in source.sparse_initializer:
            if sparse.values.name not in inputs:
                body.declare(
                    name_of(sparse.values.name), types.tensor_type(sparse.values.data_type, sparse.dims)
                )
        self._nodes(body, source.node)
        return [body.kinds.get(name_of(value.name)) for value in source.output]

    def _nodes(self, body: Body, source: Iterable[onnx.NodeProto]) -> None:
        for node in source:
            entry = Entry(node)
            _, function = self._functions.get(key_of(node), (None, None))
            if function is not None:
                entry.call = self._call(function, node, body)
            else:
                for name, kind in zip(node.output, self._node(body, entry), strict=False):
                    if name:
                        body.declare(body.name_of(name), kind)
            body.entries.append(entry)

    def _node(self, body: Body, entry: Entry) -> list[str | None]:
        """Add a node if inference survives it, and return the kinds of its outputs."""
        node = resolve_references(entry.node, body.attributes)
        domain = canonical(node.domain)
        inputs = [body.kinds.get(body.name_of(name)) if name else "" for name in node.input]
        promise = signature(domain, node.op_type, body.opsets.get(domain, 0))
        visible = promise is not None and self._survives(node, promise, inputs)
        copy = onnx.NodeProto()
        if visible:
            entry.position = len(body.graph.node)
            copy = body.graph.node.add(op_type=node.op_type, domain=domain, name=node.name)
            copy.input.extend(map(body.name_of, node.input))
            copy.output.extend(map(body.name_of, node.output))
        graph_outputs = dict[str, list[str | None]]()
        for attribute in node.attribute:
            if attribute.HasField("g"):
                graph = copy.attribute.add(name=attribute.name, type=attribute.type).g
                path = node_path(body.path, len(body.entries), attribute.name)
                scope = ChainMap({}, body.kinds)
                inner = Body(path, body.opsets, graph, scope, body.names, body.prefix, body.attributes)
                entry.graphs.append((attribute.name, inner))
                kinds = _graph_inputs(node.op_type, inputs, attribute.g)
                graph_outputs[attribute.name] = self._graph(inner, attribute.g, kinds)
            elif visible:
                copy.attribute.append(attribute)
            elif (
                attribute.name == "value"
                and attribute.HasField("t")
                and node.op_type == "Constant"
                and node.output
            ):
                body.declare(
                    body.name_of(node.output[0]), types.tensor_type(attribute.t.data_type, attribute.t.dims)
                )
        if promise is not None:
            by_promise = promise.gives(node, inputs)
        else:
            by_promise = [None] * len(node.output)
        by_graphs = chain(_graph_outputs(node.op_type, graph_outputs), repeat(None))
        return [one or other for one, other in zip(by_promise, by_graphs, strict=False)]

    def _survives(self, node: onnx.NodeProto, promise: Signature, inputs: Sequence[str | None]) -> bool:
        """Return whether inference survives a node, with inputs of these kinds."""
        # A function may import another version than the model, whose version is in force.
        domain = canonical(node.domain)
        in_force = signature(domain, node.op_type, self._versions.get(domain, 0))
        if in_force is None or in_force.since != promise.since:
            return False
        if not (self._infers and promise.infers and promise.is_kept(node, inputs)):
            return False
        tensors = (each for attribute in node.attribute for each in types.attribute_tensors(attribute))
        if not all(map(types.is_small, tensors)):
            return False
        return node.op_type not in _DEADLY or not _DEADLY[node.op_type](node, promise.since)

    def _call(self, function: onnx.FunctionProto, node: onnx.NodeProto, caller: Body) -> Body:
        """Add the nodes of a function where it is called."""
        self._callees.add(key_of(function))
        names = dict.fromkeys(("", *function.input), "")
        names.update(zip(function.input, map(caller.name_of, node.input), strict=False))
        aliases = []
        for formal, actual in zip(function.output, map(caller.name_of, node.output), strict=False):
            if formal in names:
                aliases.append((names[formal], actual))
            elif actual:
                names[formal] = actual
        attributes = {each.name: each for each in function.attribute_proto}
        attributes.update((each.name, each) for each in resolve_references(node, caller.attributes).attribute)
        path = f"functions[{self._functions[key_of(function)][0]}]"
        opsets = opsets_of(function.opset_import)
        prefix = f"{function.name}:{next(self._numbers)}/"
        body = Body(path, opsets, caller.graph, caller.kinds, names, prefix, attributes, caller.outputs)
        body.note_types(function.value_info)
        self._nodes(body, function.node)
        for source, actual in aliases:
            if actual and body.kinds.get(source) is not None:
                caller.declare(actual, body.kinds[source])
                caller.graph.node.add(op_type="Identity", input=[source], output=[actual])
        return body


def _graph_inputs(operator: str, inputs: list[str | None], graph: onnx.GraphProto) -> list[str | None]:
    """Return the kinds of the inputs of a graph that a node holds, empty if the node does not determine them."""
    if operator == "Loop":
        return ["tensor(int64)", "tensor(bool)", *inputs[2:]]
    if operator == "Scan" and len(inputs) == len(graph.input):
        return inputs
    return []


def _graph_outputs(operator: str, graph_outputs: Mapping[str, list[str | None]]) -> list[str | None]:
    """Return the kinds of an operator's outputs that come from its graphs."""
    if operator == "If":
        one = graph_outputs.get("then_branch", [])
        other = graph_outputs.get("else_branch", [])
        return [first if first == second else None for first, second in zip(one, other, strict=False)]
    kinds = graph_outputs.get("body", [])
    if operator == "Loop":
        return kinds[1:]
    if operator == "Scan":
        return kinds
    return []
