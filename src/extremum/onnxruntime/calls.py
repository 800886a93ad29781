"""Calls of functions that hold custom operators: what ONNX Runtime has to be told of them.

It infers the types in a function without asking custom operators for theirs. So what a call gives is declared in the
graph where the call stands; there is no such place in a function, and one that another calls is put into that other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator

import onnx
import onnx.inliner

from extremum import dtypes
from extremum.graph import nodes
from extremum.graph.nodes import Key, callees_first, key
from extremum.graph.sites import Site
from extremum.onnxruntime.operators import DOMAIN

__all__ = ["told"]


def told(model: onnx.ModelProto, sites: Iterable[Site], rewritten: Collection[str]) -> onnx.ModelProto:
    """Return the model whose nodes at these paths have become custom operators, with what they give declared."""
    holders = _holders(model, rewritten) if model.functions else set()
    if not holders:
        return model
    elements = {
        (site.path, name): site.types[name].element
        for site in sites
        if site.is_call and key(site.node) in holders
        for name in site.node.output
        if name in site.types
    }
    _declare(model.graph, "graph", elements)
    inner = {name for function in model.functions for name in _called(function.node) if name in holders}
    if inner:
        for function in model.functions:
            if key(function) in holders and DOMAIN not in {each.domain for each in function.opset_import}:
                function.opset_import.append(onnx.helper.make_opsetid(DOMAIN, 1))
        # One of another version than the model stays: ONNX Runtime then says that it does not know a type.
        with contextlib.suppress(RuntimeError):
            return onnx.inliner.inline_selected_functions(model, [(domain, name) for domain, name, _ in sorted(inner)])
    return model


def _holders(model: onnx.ModelProto, rewritten: Collection[str]) -> set[Key]:
    """Return the functions that hold rewritten nodes or call one that does."""
    found: set[Key] = set()
    prefixes = {key(each): prefix for _, prefix, each in nodes.bodies(model) if isinstance(each, onnx.FunctionProto)}
    for function in callees_first(model.functions):
        places = (path for path, _ in nodes.located(function.node, prefixes[key(function)]))
        if not found.isdisjoint(_called(function.node)) or any(path in rewritten for path in places):
            found.add(key(function))
    return found


def _called(body: Iterable[onnx.NodeProto]) -> Iterator[Key]:
    return map(key, nodes.walk(body))


def _declare(graph: onnx.GraphProto, prefix: str, elements: dict[tuple[str, str], str | None]) -> None:
    """Declare what calls in a graph and its subgraphs give; shapes are left to be found."""
    known = {each.name for each in (*graph.input, *graph.output, *graph.value_info)}
    for index, node in enumerate(graph.node):
        for name, inner in nodes.subgraphs(node):
            _declare(inner, nodes.path(prefix, index, name), elements)
        for name in node.output:
            element = elements.get((nodes.path(prefix, index), name))
            if element is not None and name not in known:
                number = dtypes.from_name(element).onnx_number
                graph.value_info.append(onnx.helper.make_tensor_value_info(name, number, None))
