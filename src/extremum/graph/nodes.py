"""A node of a model, read: its place, its attributes, its subgraphs, and what it says about its output.

Decides how a place is written (``graph.node[2].then_branch.node[0] 'argmax_0'``) and is the boundary at which an error
learns of the values that were given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import onnx

from extremum import infer, spec, validate
from extremum.errors import ExtremumError
from extremum.graph.tensors import array
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType
from extremum.validate import Attributes

__all__ = [
    "canonical",
    "given",
    "graphs",
    "is_of_family",
    "located",
    "named",
    "opsets",
    "place",
    "resolve",
    "stated",
    "subgraphs",
    "value",
    "version",
    "walk",
]


_PLAIN = tuple(getattr(onnx.AttributeProto, name) for name in ("INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS"))


_PLAIN = tuple(getattr(onnx.AttributeProto, name) for name in ("INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS"))


def canonical(domain: str) -> str:
    """Return the domain as it is looked up: ONNX's own has two spellings.

    Examples
    --------
    >>> from extremum.graph.nodes import canonical
    >>> canonical("ai.onnx"), canonical("ai.onnx.ml")
    ('', 'ai.onnx.ml')
    """
    return spec.ONNX if domain == "ai.onnx" else domain


def opsets(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Return the version of each domain that a model or function imports.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import opsets
    >>> opsets([onnx.helper.make_opsetid("ai.onnx", 13)])
    {'': 13}
    """
    return {canonical(each.domain): each.version for each in imports}


def place(prefix: str, index: int, node: onnx.NodeProto) -> str:
    """Return where a node is: the path of its list, its index, its name if it has one.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import place
    >>> place("graph", 7, onnx.NodeProto(name="argmax_0"))
    "graph.node[7] 'argmax_0'"
    """
    return named(f"{prefix}.node[{index}]", node)


def named(path: str, node: onnx.NodeProto) -> str:
    """Return the path of a node with its name, if it has one.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import named
    >>> named("graph.node[7]", onnx.NodeProto(name="argmax_0"))
    "graph.node[7] 'argmax_0'"
    """
    return f"{path} {node.name!r}" if node.name else path


def located(body: Iterable[onnx.NodeProto], prefix: str) -> Iterator[tuple[str, onnx.NodeProto]]:
    """Yield the nodes of a graph or function with their paths, those of subgraphs before the node that holds them.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import located
    >>> body = onnx.helper.make_graph([onnx.helper.make_node("Neg", ["x"], ["y"])], "step", [], [])
    >>> [path for path, _ in located([onnx.helper.make_node("Loop", [], [], body=body)], "graph")]
    ['graph.node[0].body.node[0]', 'graph.node[0]']
    """
    for index, node in enumerate(body):
        path = f"{prefix}.node[{index}]"
        for name, graph in subgraphs(node):
            yield from located(graph.node, f"{path}.{name}")
        yield path, node


def version(node: onnx.NodeProto, versions: Mapping[str, int]) -> OperatorVersion | None:
    """Return the row in force for a node, or None if its operator is none of this package's.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import version
    >>> str(version(onnx.helper.make_node("Max", ["a", "b"], ["c"]), {"": 11}))
    'Max-8'
    """
    return spec.find(spec.ONNX, node.op_type, versions[spec.ONNX]) if is_of_family(node) else None


def is_of_family(node: onnx.NodeProto) -> bool:
    """Return whether a node is of one of this package's operators, in whatever version.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import is_of_family
    >>> is_of_family(onnx.NodeProto(op_type="Max")), is_of_family(onnx.NodeProto(op_type="Max", domain="own"))
    (True, False)
    """
    return canonical(node.domain) == spec.ONNX and (spec.ONNX, node.op_type) in spec.OPERATORS


def value(attribute: onnx.AttributeProto) -> Any:
    """Return an attribute's value as onnx.reference passes it on: text as str, tensors as arrays.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import value
    >>> value(onnx.helper.make_attribute("axes", [0, 2]))
    [0, 2]
    """
    raw = onnx.helper.get_attribute_value(attribute)
    if isinstance(raw, bytes):
        # Text of the operators is UTF-8; what is not is no value of theirs, and said as it is.
        return raw.decode(errors="backslashreplace")
    return array(raw) if isinstance(raw, onnx.TensorProto) else raw


def stated(node: onnx.NodeProto, of_function: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes a node states, those that refer to an attribute of its function included.

    A reference to an attribute that the call of the function leaves out is no statement: the default holds.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import stated
    >>> node = onnx.helper.make_node("ArgMax", ["x"], ["y"], keepdims=0)
    >>> node.attribute.extend([onnx.AttributeProto(name="axis", ref_attr_name="along")])
    >>> stated(node, {"along": 1}), stated(node, {})
    ({'keepdims': 0, 'axis': 1}, {'keepdims': 0})
    """
    values: dict[str, Any] = {}
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            # No attribute of theirs is a tensor or a graph, and what is in one is nothing for a message.
            values[attribute.name] = value(attribute) if attribute.type in _PLAIN else _kind(attribute)
        elif attribute.ref_attr_name in of_function:
            values[attribute.name] = of_function[attribute.ref_attr_name]
    return values


def _kind(attribute: onnx.AttributeProto) -> str:
    names = {number: name for name, number in onnx.AttributeProto.AttributeType.items()}
    return f"<{names.get(attribute.type, 'unknown').lower()}>"


def subgraphs(node: onnx.NodeProto) -> Iterator[tuple[str, onnx.GraphProto]]:
    """Yield the graphs a node holds, each with the name of its attribute.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import subgraphs
    >>> body = onnx.helper.make_graph([], "step", [], [])
    >>> [name for name, _ in subgraphs(onnx.helper.make_node("Loop", [], [], body=body))]
    ['body']
    """
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.name, attribute.g


def graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and all graphs that its nodes hold.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import graphs
    >>> body = onnx.helper.make_graph([], "step", [], [])
    >>> graph = onnx.helper.make_graph([onnx.helper.make_node("Loop", [], [], body=body)], "g", [], [])
    >>> [each.name for each in graphs(graph)]
    ['g', 'step']
    """
    yield graph
    for node in graph.node:
        for _, subgraph in subgraphs(node):
            yield from graphs(subgraph)


def walk(body: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of a graph or function and those of their subgraphs.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.nodes import walk
    >>> body = onnx.helper.make_graph([onnx.helper.make_node("Neg", ["x"], ["y"])], "step", [], [])
    >>> [node.op_type for node in walk([onnx.helper.make_node("Loop", [], [], body=body)])]
    ['Loop', 'Neg']
    """
    for node in body:
        yield node
        for _, graph in subgraphs(node):
            yield from walk(graph.node)


def resolve(
    row: OperatorVersion, attributes: Mapping[str, object], names: Sequence[str], types: Sequence[TensorType]
) -> tuple[Attributes, TensorType]:
    """Validate a node and infer its output; an error says what was given.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    attributes : mapping of str to object
        What the node states.
    names : sequence of str
        Names of the inputs.
    types : sequence of TensorType
        What is known of the inputs.

    Returns
    -------
    tuple
        The values of all attributes, and the type of the output.

    Raises
    ------
    SpecError, AxisError, ElementTypeError
        Whatever :mod:`extremum.validate` and :mod:`extremum.infer` refuse.

    Examples
    --------
    >>> from extremum import spec
    >>> from extremum.graph.nodes import resolve
    >>> from extremum.tensors import TensorType
    >>> row = spec.find(spec.ONNX, "ArgMin", 13)
    >>> str(resolve(row, {"keepdims": 0}, ["x"], [TensorType("int8", ("n", 3))])[1])
    'int64[3]'
    """
    try:
        values = validate.attributes(row, attributes)
        validate.inputs(row, types)
        return values, infer.output(row, values, types)
    except ExtremumError as error:
        raise error.with_context(given=given(attributes, names, types)) from None


def given(attributes: Mapping[str, object], names: Sequence[str], types: Sequence[TensorType]) -> str:
    """Return the inputs and attributes of a node as an error says them.

    Examples
    --------
    >>> from extremum.graph.nodes import given
    >>> from extremum.tensors import TensorType
    >>> given({"axis": 1}, ["x"], [TensorType("int8", ("n", 3))])
    'x: int8[n, 3], axis=1'
    """
    inputs = [f"{name}: {tensor}" for name, tensor in zip(names, types, strict=True)]
    return ", ".join(inputs + [f"{name}={value}" for name, value in attributes.items()])
