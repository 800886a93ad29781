"""The model-local functions of a model: which call which, and what a call lets one know of a body."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Sequence

import onnx

from extremum import dtypes
from extremum.errors import ElementTypeError, ModelError
from extremum.graph import nodes
from extremum.graph.types import inferred
from extremum.tensors import TensorType

__all__ = ["callees_first", "reached", "typed_body"]


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
    >>> from extremum.graph.functions import callees_first
    >>> imports = [onnx.helper.make_opsetid("own", 1)]
    >>> call = onnx.helper.make_node("Inner", ["x"], ["y"], domain="own")
    >>> outer = onnx.helper.make_function("own", "Outer", ["x"], ["y"], [call], imports)
    >>> inner = onnx.helper.make_function("own", "Inner", ["x"], ["x"], [], imports)
    >>> [each.name for each in callees_first([outer, inner])]
    ['Inner', 'Outer']
    """
    named = {(each.domain, each.name): each for each in functions}
    calls = {key: _calls(each) & named.keys() for key, each in named.items()}
    try:
        return [named[key] for key in graphlib.TopologicalSorter(calls).static_order()]
    except graphlib.CycleError as error:
        circle = " -> ".join(name for _, name in error.args[1])
        raise ModelError("functions of the model call each other in a circle", given=circle) from None


def _calls(function: onnx.FunctionProto) -> set[tuple[str, str]]:
    return {(node.domain, node.op_type) for node in nodes.walk(function.node)}


def reached(functions: Iterable[onnx.FunctionProto]) -> dict[tuple[str, str], list[onnx.FunctionProto]]:
    """Return for each function those that it calls, directly or through others.

    Parameters
    ----------
    functions : iterable of onnx.FunctionProto
        In an order in which each comes after those it calls.

    Returns
    -------
    dict of (str, str) to list of onnx.FunctionProto
        By domain and name.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.functions import reached
    >>> imports = [onnx.helper.make_opsetid("own", 1)]
    >>> inner = onnx.helper.make_function("own", "Inner", ["x"], ["x"], [], imports)
    >>> call = onnx.helper.make_node("Inner", ["x"], ["y"], domain="own")
    >>> outer = onnx.helper.make_function("own", "Outer", ["x"], ["y"], [call], imports)
    >>> [each.name for each in reached([inner, outer])["own", "Outer"]]
    ['Inner']
    """
    named: dict[tuple[str, str], onnx.FunctionProto] = {}
    closures: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for function in functions:
        direct = _calls(function) & named.keys()
        key = function.domain, function.name
        closures[key] = direct.union(*(closures[each] for each in direct))
        named[key] = function
    return {key: [named[each] for each in closure] for key, closure in closures.items()}


def typed_body(
    function: onnx.FunctionProto, types: Sequence[TensorType], functions: Iterable[onnx.FunctionProto]
) -> onnx.ModelProto:
    """Return the body of a function as a model, with what a call lets onnx infer of its values.

    Parameters
    ----------
    function : onnx.FunctionProto
        The function.
    types : sequence of TensorType
        Of the inputs of the call; inputs beyond them are of unknown type.
    functions : iterable of onnx.FunctionProto
        Those it may call.

    Returns
    -------
    onnx.ModelProto
        The nodes are in the order of the function.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.functions import typed_body
    >>> from extremum.tensors import TensorType
    >>> imports = [onnx.helper.make_opsetid("", 13)]
    >>> nodes = [onnx.helper.make_node("Abs", ["x"], ["a"]), onnx.helper.make_node("ArgMax", ["a"], ["y"])]
    >>> function = onnx.helper.make_function("own", "F", ["x"], ["y"], nodes, imports)
    >>> [each.name for each in typed_body(function, [TensorType("int8", (3,))], []).graph.value_info]
    ['a', 'y']
    """
    known = [*types, *[TensorType()] * (len(function.input) - len(types))]
    graph = onnx.helper.make_graph(
        function.node,
        function.name,
        [_declaration(name, tensor) for name, tensor in zip(function.input, known, strict=False)],
        [onnx.ValueInfoProto(name=name) for name in function.output],
        value_info=function.value_info,
    )
    return inferred(onnx.ModelProto(graph=graph, opset_import=function.opset_import, functions=functions))


def _declaration(name: str, tensor: TensorType) -> onnx.ValueInfoProto:
    try:
        element = dtypes.from_name(str(tensor.element))
    except ElementTypeError:
        return onnx.ValueInfoProto(name=name)
    return onnx.helper.make_tensor_value_info(name, element.onnx_number, tensor.shape)
