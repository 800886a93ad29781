"""A model with other nodes in the places of some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy

import onnx

from extremum.graph import nodes


def splice(model: onnx.ModelProto, replacements: Mapping[str, Sequence[onnx.NodeProto]]) -> onnx.ModelProto:
    """Return a copy of a model with the nodes at some paths replaced."""
    copy = deepcopy(model)

    def rebuild(body: onnx.GraphProto | onnx.FunctionProto, prefix: str) -> None:
        before = list(map(deepcopy, body.node))
        del body.node[:]
        for index, node in enumerate(before):
            for name, graph in nodes.subgraphs(node):
                rebuild(graph, nodes.path(prefix, index, name))
            body.node.extend(replacements.get(nodes.path(prefix, index), [node]))

    for _, prefix, body in nodes.bodies(copy):
        rebuild(body, prefix)
    return copy
