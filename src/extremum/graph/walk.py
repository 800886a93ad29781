"""Where the nodes of a model are: a walk over graph, subgraphs and functions, with the path of each node.

A path is written ``graph.node[2].then_branch.node[0] 'argmax_0'``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx

Importer = onnx.ModelProto | onnx.FunctionProto
"""What imports versions of operators."""


def node_path(prefix: str, index: int, graph: str = "") -> str:
    """Return the path of a node, or of a graph that it holds; only this function makes paths."""
    if graph:
        return f"{prefix}.node[{index}].{graph}"
    return f"{prefix}.node[{index}]"


def with_name(place: str, node: onnx.NodeProto) -> str:
    """Return the path of a node with its name, if it has one."""
    return f"{place} {node.name!r}" if node.name else place


def subgraphs_of(node: onnx.NodeProto) -> Iterator[tuple[str, onnx.GraphProto]]:
    """Yield the graphs a node holds, each with the name of its attribute."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.name, attribute.g


def all_graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and all graphs that its nodes hold."""
    yield graph
    for node in graph.node:
        for _, subgraph in subgraphs_of(node):
            yield from all_graphs(subgraph)


def nodes_with_paths(body: Iterable[onnx.NodeProto], prefix: str) -> Iterator[tuple[str, onnx.NodeProto]]:
    """Yield the nodes of a graph or function with their paths, those of subgraphs before the node that holds them."""
    for index, node in enumerate(body):
        for name, graph in subgraphs_of(node):
            yield from nodes_with_paths(graph.node, node_path(prefix, index, name))
        yield node_path(prefix, index), node


def bodies_of(model: onnx.ModelProto) -> Iterator[tuple[Importer, str, onnx.GraphProto | onnx.FunctionProto]]:
    """Yield the graph and the functions of a model, each with the importer of its operators and its path."""
    yield model, "graph", model.graph
    yield from ((function, f"functions[{index}]", function) for index, function in enumerate(model.functions))


def all_nodes(model: onnx.ModelProto) -> Iterator[tuple[Importer, str, onnx.NodeProto]]:
    """Yield every node of a model, with the importer of its operator and its path."""
    for importer, prefix, body in bodies_of(model):
        yield from ((importer, place, node) for place, node in nodes_with_paths(body.node, prefix))
