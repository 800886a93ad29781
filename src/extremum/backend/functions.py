"""The model-local functions of a model, in an order in which they can be loaded."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable

import onnx

from extremum.backend import node as nodes
from extremum.errors import ModelError

__all__ = ["callees_first"]


def callees_first(functions: Iterable[onnx.FunctionProto]) -> list[onnx.FunctionProto]:
    """Return the functions so that each comes after those it calls.

    ONNX lets them stand in any order; the reference evaluator lets a function call only those before it.

    Parameters
    ----------
    functions : iterable of onnx.FunctionProto
        In any order.

    Returns
    -------
    list of onnx.FunctionProto
        The same functions.

    Raises
    ------
    ModelError
        If they call each other in a circle.

    Examples
    --------
    >>> import onnx
    >>> from extremum.backend.functions import callees_first
    >>> imports = [onnx.helper.make_opsetid("own", 1)]
    >>> call = onnx.helper.make_node("Inner", ["x"], ["y"], domain="own")
    >>> outer = onnx.helper.make_function("own", "Outer", ["x"], ["y"], [call], imports)
    >>> inner = onnx.helper.make_function("own", "Inner", ["x"], ["x"], [], imports)
    >>> [each.name for each in callees_first([outer, inner])]
    ['Inner', 'Outer']
    """
    named = {(each.domain, each.name): each for each in functions}
    calls = {
        key: {(node.domain, node.op_type) for node in nodes.walk(each.node)} & named.keys()
        for key, each in named.items()
    }
    try:
        return [named[key] for key in graphlib.TopologicalSorter(calls).static_order()]
    except graphlib.CycleError as error:
        circle = " -> ".join(name for _, name in error.args[1])
        raise ModelError("functions of the model call each other in a circle", given=circle) from None
