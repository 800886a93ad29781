"""A model with other nodes in the places of some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy

import onnx

from extremum.graph.walk import bodies_of, node_path, subgraphs_of


def splice(model: onnx.ModelProto, replacements: Mapping[str, Sequence[onnx.NodeProto]]) -> onnx.ModelProto:
    """Return a copy of a model with the nodes at some paths replaced."""
    copy = deepcopy(model)

    def rebuild(body: onnx.GraphProto | onnx.FunctionProto, prefix: str) -> None:
        before = list(map(deepcopy, body.node))
        del body.node[:]
        for index, node in enumerate(before):
            for name, graph in subgraphs_of(node):
                rebuild(graph, node_path(prefix, index, name))
            body.node.extend(replacements.get(node_path(prefix, index), [node]))

    for _, prefix, body in bodies_of(copy):
        rebuild(body, prefix)
    return copy
