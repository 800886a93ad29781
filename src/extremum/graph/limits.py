"""How large and how deep a model may be once its functions are put where they are called.

Decides what is refused before anybody works on a model. Every function that calls another twice doubles what there is
to do: 30 of them, in 2 KB, make a billion nodes, and onnx and onnxruntime would write them all out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import onnx

from extremum.errors import ModelError
from extremum.graph.functions import Key, callees_first, key

__all__ = ["DEEPEST", "MOST_NODES", "require_bounded"]

MOST_NODES = 2**18
"""Nodes that come from calls of functions, all together."""

DEEPEST = 64
"""Graphs and functions inside each other. Protobuf itself reads 32 graphs."""


def require_bounded(model: onnx.ModelProto) -> None:
    """Refuse a model whose functions call each other in a circle or that is too large or too deep.

    Parameters
    ----------
    model : onnx.ModelProto
        Left as it is.

    Raises
    ------
    ModelError
        If there is no end to it, or too late a one.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.limits import require_bounded
    >>> require_bounded(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g () => () {}'))
    """
    sizes: dict[Key, tuple[int, int]] = {}
    # The depth first: whoever else walks a graph goes in as deep as it is.
    for body in (*(each.node for each in model.functions), model.graph.node):
        _measure(body, sizes)
    if model.functions:
        for function in callees_first(model.functions):
            sizes[key(function)] = _measure(function.node, sizes)
        _measure(model.graph.node, sizes)


def _measure(body: Iterable[onnx.NodeProto], sizes: Mapping[Key, tuple[int, int]]) -> tuple[int, int]:
    """Return how many nodes there are and how deep they stand, calls included, without recursion of its own."""
    own, called, deepest = 0, 0, 1
    stack = [(body, 1)]
    while stack:
        nodes, depth = stack.pop()
        deepest = max(deepest, depth)
        for node in nodes:
            own += 1
            inner = sizes.get(key(node)) if sizes else None
            if inner is not None:
                called += inner[0]
                deepest = max(deepest, depth + inner[1])
            if node.attribute:
                stack.extend((each.g.node, depth + 1) for each in node.attribute if each.HasField("g"))
        _require_shallow(deepest)
    if called > MOST_NODES:
        raise ModelError(
            f"the functions of the model make more than {MOST_NODES} nodes where they are called",
            given=f"{called} nodes",
            remedy="inline them, so that the model shows its size",
        )
    return own + called, deepest


def _require_shallow(depth: int) -> None:
    if depth > DEEPEST:
        raise ModelError(
            f"graphs and functions of the model stand more than {DEEPEST} deep inside each other",
            remedy="inline some of the functions",
        )
