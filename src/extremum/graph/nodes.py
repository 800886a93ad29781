"""Nodes and functions of a model: place, attributes, subgraphs, operands, and what a node says about its output.

Decides how a place is written (``graph.node[2].then_branch.node[0] 'argmax_0'``) and adds the given values to errors.
Also decides when the values in a list of integers are known before the model runs: a Constant gives them, or an
initializer that is not an input.
"""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import onnx
from numpy.typing import NDArray

from extremum import infer, spec, validate
from extremum.errors import ExtremumError, ModelError
from extremum.graph.types import array, list_of_integers
from extremum.spec import ONNX, Family, OperatorVersion
from extremum.tensors import TensorType, element_of

Importer = onnx.ModelProto | onnx.FunctionProto
"""What imports versions of operators."""


def canonical(domain: str) -> str:
    """Return the domain as look-ups spell it: ONNX's own domain has two spellings."""
    return spec.ONNX if domain == "ai.onnx" else domain


def opsets(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Return the version of each domain that a model or function imports."""
    return {canonical(each.domain): each.version for each in imports}


def path(prefix: str, index: int, graph: str = "") -> str:
    """Return the path of a node, or of a graph that it holds; only this function makes paths."""
    return f"{prefix}.node[{index}].{graph}" if graph else f"{prefix}.node[{index}]"


def with_name(place: str, node: onnx.NodeProto) -> str:
    """Return the path of a node with its name, if it has one."""
    return f"{place} {node.name!r}" if node.name else place


def with_paths(body: Iterable[onnx.NodeProto], prefix: str) -> Iterator[tuple[str, onnx.NodeProto]]:
    """Yield the nodes of a graph or function with their paths, those of subgraphs before the node that holds them."""
    for index, node in enumerate(body):
        for name, graph in subgraphs(node):
            yield from with_paths(graph.node, path(prefix, index, name))
        yield path(prefix, index), node


def bodies(model: onnx.ModelProto) -> Iterator[tuple[Importer, str, onnx.GraphProto | onnx.FunctionProto]]:
    """Yield the graph and the functions of a model, each with the importer of its operators and its path."""
    yield model, "graph", model.graph
    yield from ((function, f"functions[{index}]", function) for index, function in enumerate(model.functions))


def everywhere(model: onnx.ModelProto) -> Iterator[tuple[Importer, str, onnx.NodeProto]]:
    """Yield every node of a model, with the importer of its operator and its path."""
    for importer, prefix, body in bodies(model):
        yield from ((importer, place, node) for place, node in with_paths(body.node, prefix))


def version(node: onnx.NodeProto, versions: Mapping[str, int]) -> OperatorVersion | None:
    """Return the schema in force for a node, or None if its operator is not in this package."""
    return spec.find(spec.ONNX, node.op_type, versions[spec.ONNX]) if is_of_family(node) else None


def is_of_family(node: onnx.NodeProto) -> bool:
    """Return whether the operator of a node is in this package, in any version."""
    return canonical(node.domain) == spec.ONNX and (spec.ONNX, node.op_type) in spec.OPERATORS


def value(attribute: onnx.AttributeProto) -> Any:
    """Return an attribute's value as onnx.reference passes it on: text as str, tensors as arrays."""
    raw = onnx.helper.get_attribute_value(attribute)
    if isinstance(raw, bytes):
        # No operator takes text that is not UTF-8; only messages show it.
        return raw.decode(errors="backslashreplace")
    return array(raw) if isinstance(raw, onnx.TensorProto) else raw


def attributes_of(node: onnx.NodeProto, of_function: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes a node states, including those that refer to an attribute of its function."""
    # If a node refers to an attribute that the call of the function omits, the default applies.
    values: dict[str, Any] = {}
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            # No operator of this package has a tensor or a graph as attribute, and no message shows one.
            kind = onnx.AttributeProto.AttributeType.Name(attribute.type).lower()
            is_plain = kind.removesuffix("s") in ("int", "float", "string")
            values[attribute.name] = value(attribute) if is_plain else f"<{kind}>"
        elif attribute.ref_attr_name in of_function:
            values[attribute.name] = of_function[attribute.ref_attr_name]
    return values


def resolve_references(node: onnx.NodeProto, attributes: Mapping[str, onnx.AttributeProto]) -> onnx.NodeProto:
    """Return a node with the attributes of the call in place of references to them."""
    if not any(attribute.ref_attr_name for attribute in node.attribute):
        return node
    copy = deepcopy(node)
    del copy.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            copy.attribute.append(attribute)
        elif attribute.ref_attr_name in attributes:
            copy.attribute.append(attributes[attribute.ref_attr_name])
            copy.attribute[-1].name = attribute.name
    return copy


def subgraphs(node: onnx.NodeProto) -> Iterator[tuple[str, onnx.GraphProto]]:
    """Yield the graphs a node holds, each with the name of its attribute."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.name, attribute.g


def graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and all graphs that its nodes hold."""
    yield graph
    for node in graph.node:
        for _, subgraph in subgraphs(node):
            yield from graphs(subgraph)


def resolve(
    schema: OperatorVersion,
    attributes: Mapping[str, object],
    names: Sequence[str],
    types: Sequence[TensorType],
    *,
    any_element: bool = False,
) -> tuple[validate.Attributes, tuple[TensorType, ...]]:
    """Validate a node and infer its outputs; an error says what was given.

    With ``any_element`` the inputs may have every element type that has an order: exporters write types that a
    version forbids, and what such a node computes is clear.
    """
    try:
        values = validate.attributes(schema, attributes, types)
        validate.inputs(schema, types, any_element=any_element)
        return values, infer.outputs(schema, values, types)
    except ExtremumError as error:
        raise error.with_context(given=describe(attributes, names, types)) from None


def describe(attributes: Mapping[str, object], names: Sequence[str], types: Sequence[TensorType]) -> str:
    """Return the inputs and attributes of a node as an error shows them."""
    inputs = [f"{name}: {tensor}" for name, tensor in zip(names, types, strict=True)]
    return ", ".join(inputs + [f"{name}={value}" for name, value in attributes.items()])


def operand_names(node: onnx.NodeProto, schema: OperatorVersion | None) -> list[str]:
    """Return the names of a node's inputs, without omitted optional inputs at the end."""
    names = list(node.input)
    while schema is not None and schema.input.maximum < len(names) <= schema.most_inputs and not names[-1]:
        names.pop()
    return names


def operand_types(schema: OperatorVersion, arrays: Sequence[NDArray[Any]]) -> list[TensorType]:
    """Return the types of the inputs of a node that runs, with the values of those that stand for an attribute."""
    data = schema.input.maximum
    return [TensorType.of(array, is_list=at >= data) for at, array in enumerate(arrays)]


def constant_integers(node: onnx.NodeProto) -> tuple[int, ...] | None:
    """Return the list of integers that a Constant gives, or None for any other node or value."""
    if (canonical(node.domain), node.op_type) == (ONNX, "Constant") and len(node.attribute) == 1:
        (attribute,) = node.attribute
        if attribute.name == "value_ints" and not attribute.ref_attr_name:
            return tuple(attribute.ints)
        if attribute.name == "value" and attribute.HasField("t"):
            return list_of_integers(attribute.t)
    return None


Key = tuple[str, str, str]
"""What a node calls: a domain, a name, an overload."""


def key(proto: onnx.NodeProto | onnx.FunctionProto) -> Key:
    """Return the key of a function, or of the function that a node calls."""
    name = proto.op_type if isinstance(proto, onnx.NodeProto) else proto.name
    return canonical(proto.domain), name, proto.overload


def one_node(schema: OperatorVersion, opset: int, element: str) -> onnx.ModelProto:
    """Return a model of one node on tensors of rank 2, for asking a runtime whether it supports the operator."""
    number = element_of(element).onnx_number
    names = ["a", "b"] if schema.family in (Family.MAXIMUM, Family.MINIMUM) else ["a"]
    required = [each for each in schema.attributes if each.required]
    values: dict[str, Any] = {each.name: 1 for each in required if each.input is None}
    lists = [onnx.helper.make_tensor(each.name, onnx.TensorProto.INT64, [1], [1]) for each in required if each.input]
    outputs = [f"y{at}" for at in range(len(schema.outputs))]
    node = onnx.helper.make_node(schema.name, [*names, *(each.name for each in lists)], outputs, **values)
    # Rank 2: before opset 13 the default axis of Hardmax is 1.
    inputs = [onnx.helper.make_tensor_value_info(name, number, ("m", "n")) for name in names]
    results = [onnx.helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = onnx.helper.make_graph([node], "question", inputs, results, lists)
    # The format version is fixed: onnx itself has one only for published opsets.
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8)


def callees_first(functions: Iterable[onnx.FunctionProto]) -> list[onnx.FunctionProto]:
    """Return the functions so that each comes after those it calls."""
    # ONNX allows any order; the reference evaluator lets a function call only those before it.
    table = {key(each): each for each in functions}
    calls = {name: {key(node) for _, node in with_paths(each.node, "")} & table.keys() for name, each in table.items()}
    try:
        return [table[name] for name in graphlib.TopologicalSorter(calls).static_order()]
    except graphlib.CycleError as error:
        circle = " -> ".join(name for _, name, _ in error.args[1])
        raise ModelError("functions of the model call each other in a circle", given=circle) from None
