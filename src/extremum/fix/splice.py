"""Nodes of a model replaced by others, wherever they stand.

Decides nothing about the nodes. Everything else of the model stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx

from extremum.graph import nodes

__all__ = ["names", "splice"]


def names(model: onnx.ModelProto) -> frozenset[str]:
    """Return the names of all values that nodes read or write, and of the nodes, wherever they stand."""
    found = {value.name for value in model.graph.input}
    for _, _, node in nodes.everywhere(model):
        found.update((node.name, *node.input, *node.output))
    return frozenset(found - {""})


def splice(model: onnx.ModelProto, replacements: Mapping[str, Sequence[onnx.NodeProto]]) -> onnx.ModelProto:
    """Return a copy of a model with other nodes in the place of some."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for _, prefix, body in nodes.bodies(copy):
        _splice(body, prefix, replacements)
    return copy


def _splice(
    body: onnx.GraphProto | onnx.FunctionProto, prefix: str, replacements: Mapping[str, Sequence[onnx.NodeProto]]
) -> None:
    result: list[Any] = []
    for index, node in enumerate(body.node):
        for name, graph in nodes.subgraphs(node):
            _splice(graph, nodes.path(prefix, index, name), replacements)
        result.extend(replacements.get(nodes.path(prefix, index), [node]))
    if any(path.rpartition(".")[0] == prefix for path in replacements):
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in result]
        del body.node[:]
        body.node.extend(copies)
