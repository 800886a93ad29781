"""The model-local functions of a model: what names them, and which call which."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable

import onnx

from extremum.errors import ModelError
from extremum.graph import nodes

__all__ = ["Key", "callees_first", "key"]

Key = tuple[str, str, str]
"""What a node calls: a domain, a name, an overload."""


def key(called: onnx.NodeProto | onnx.FunctionProto) -> Key:
    """Return by what name a function is called, or which a node calls."""
    name = called.op_type if isinstance(called, onnx.NodeProto) else called.name
    return nodes.canonical(called.domain), name, called.overload


def callees_first(functions: Iterable[onnx.FunctionProto]) -> list[onnx.FunctionProto]:
    """Return the functions so that each comes after those it calls."""
    # ONNX lets them stand in any order; the reference evaluator lets a function call only those before it.
    named = {key(each): each for each in functions}
    calls = {key: _calls(each) & named.keys() for key, each in named.items()}
    try:
        return [named[key] for key in graphlib.TopologicalSorter(calls).static_order()]
    except graphlib.CycleError as error:
        circle = " -> ".join(name for _, name, _ in error.args[1])
        raise ModelError("functions of the model call each other in a circle", given=circle) from None


def _calls(function: onnx.FunctionProto) -> set[Key]:
    return {key(node) for node in nodes.walk(function.node)}
