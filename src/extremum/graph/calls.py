"""What a node calls: an operator of this package in some version, another operator, or a function of its model."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Mapping

import onnx

from extremum import spec
from extremum.errors import ModelError
from extremum.graph.walk import nodes_with_paths
from extremum.spec import OperatorVersion


def canonical(domain: str) -> str:
    """Return the domain as look-ups spell it: ONNX's own domain has two spellings."""
    return spec.ONNX if domain == "ai.onnx" else domain


def opsets_of(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Return the version of each domain that a model or function imports."""
    return {canonical(each.domain): each.version for each in imports}


def is_of_family(node: onnx.NodeProto) -> bool:
    """Return whether the operator of a node is in this package, in any version."""
    return canonical(node.domain) == spec.ONNX and (spec.ONNX, node.op_type) in spec.OPERATORS


def schema_of(node: onnx.NodeProto, versions: Mapping[str, int]) -> OperatorVersion | None:
    """Return the schema in force for a node, or None if its operator is not in this package."""
    if is_of_family(node):
        return spec.find(spec.ONNX, node.op_type, versions[spec.ONNX])
    return None


Key = tuple[str, str, str]
"""What a node calls: a domain, a name, an overload."""


def key_of(proto: onnx.NodeProto | onnx.FunctionProto) -> Key:
    """Return the key of a function, or of the function that a node calls."""
    name = proto.op_type if isinstance(proto, onnx.NodeProto) else proto.name
    return canonical(proto.domain), name, proto.overload


def callees_first(functions: Iterable[onnx.FunctionProto]) -> list[onnx.FunctionProto]:
    """Return the functions so that each comes after those it calls."""
    # ONNX allows any order; the reference evaluator lets a function call only those before it.
    table = {key_of(each): each for each in functions}
    calls = {}
    for name, function in table.items():
        called = {key_of(node) for _, node in nodes_with_paths(function.node, "")}
        calls[name] = called & table.keys()
    try:
        return [table[name] for name in graphlib.TopologicalSorter(calls).static_order()]
    except graphlib.CycleError as error:
        circle = " -> ".join(name for _, name, _ in error.args[1])
        raise ModelError("functions of the model call each other in a circle", given=circle) from None
