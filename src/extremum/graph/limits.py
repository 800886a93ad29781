"""How large and how deep a model may be once its functions are put where they are called.

Decides what is refused before anybody works on a model. Every function that calls another twice doubles what there is
to do: 30 of them, in 2 KB, make a billion nodes, and onnx and onnxruntime would write them all out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import onnx

from extremum.errors import ModelError
from extremum.graph.functions import Key, callees_first, key

__all__ = ["DEEPEST", "DEEPEST_GRAPH", "MOST_NODES", "require_bounded", "require_shallow"]

MOST_NODES = 2**18
"""Nodes that come from calls of functions, all together."""

DEEPEST = 64
"""Graphs and functions inside each other."""

DEEPEST_GRAPH = 28
"""Graphs alone inside each other: protobuf reads no more than a hundred messages, which are three for each."""

_DEEPEST_TYPE = 8


def require_bounded(model: onnx.ModelProto) -> None:
    """Refuse a model whose functions call each other in a circle or that is too large or too deep."""
    sizes: dict[Key, tuple[int, int]] = {}
    # The depth first: whoever else walks a graph goes in as deep as it is.
    for body in (*(each.node for each in model.functions), model.graph.node):
        require_shallow(body)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        _require_shallow_type(value.type)
    if model.functions:
        for function in callees_first(model.functions):
            sizes[key(function)] = _measure(function.node, sizes)
        _measure(model.graph.node, sizes)


def require_shallow(body: Iterable[onnx.NodeProto]) -> None:
    """Refuse nodes that hold graphs or types which protobuf could not read."""
    stack = [(body, 0)]
    while stack:
        nodes, depth = stack.pop()
        if depth > DEEPEST_GRAPH:
            raise ModelError(f"graphs of the model stand more than {DEEPEST_GRAPH} deep inside each other")
        for node in nodes:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    stack.append((attribute.g.node, depth + 1))
                    graph = attribute.g
                    for value in (*graph.input, *graph.output, *graph.value_info):
                        _require_shallow_type(value.type)
                stack.extend((each.node, depth + 1) for each in attribute.graphs)
                if attribute.HasField("tp"):
                    _require_shallow_type(attribute.tp)


def _require_shallow_type(value: onnx.TypeProto) -> None:
    depth = 0
    while (field := value.WhichOneof("value")) not in (None, "tensor_type", "sparse_tensor_type", "opaque_type"):
        depth += 1
        if depth > _DEEPEST_TYPE:
            raise ModelError(f"a type of the model is more than {_DEEPEST_TYPE} types inside each other")
        held = getattr(value, field)
        value = held.value_type if field == "map_type" else held.elem_type


def _measure(body: Iterable[onnx.NodeProto], sizes: Mapping[Key, tuple[int, int]]) -> tuple[int, int]:
    """Return how many nodes there are and how deep they stand, calls included."""
    own, called, deepest = 0, 0, 1
    stack = [(body, 1)]
    while stack:
        nodes, depth = stack.pop()
        deepest = max(deepest, depth)
        for node in nodes:
            own += 1
            inner = sizes.get(key(node))
            if inner is not None:
                called += inner[0]
                deepest = max(deepest, depth + inner[1])
            stack.extend((each.g.node, depth + 1) for each in node.attribute if each.HasField("g"))
    if deepest > DEEPEST:
        raise ModelError(
            f"graphs and functions of the model stand more than {DEEPEST} deep inside each other",
            remedy="inline some of the functions",
        )
    if called > MOST_NODES:
        raise ModelError(
            f"the functions of the model make more than {MOST_NODES} nodes where they are called",
            given=f"{called} nodes",
            remedy="inline them, so that the model shows its size",
        )
    return own + called, deepest
