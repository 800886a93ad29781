"""Rewriting the nodes of the family to the operators of ``ai.extremum``, wherever they stand in a model.

Decides which attributes carry the meaning of a version over: ``to_last`` for the 2-D view of Hardmax before 13,
``broadcast`` for Max and Min before 8. All other attributes keep their names, so that a node of a function may go on
referring to the function's. What a version promises is :mod:`extremum.spec`'s, what the operators do the library's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import onnx

from extremum.errors import ArgumentError, ExtremumError
from extremum.graph import nodes as nodes_of
from extremum.graph.load import load
from extremum.graph.types import declared, inferred, known, skeleton
from extremum.spec import Broadcasting, Family, OperatorVersion
from extremum.tensors import TensorType

__all__ = ["DOMAIN", "Change", "Conversion", "Selection", "convert"]

DOMAIN = "ai.extremum"
"""The domain of the custom operators; its version is 1."""

Selection = Literal["all", "unsupported"]
"""Which nodes are rewritten: all of the family, or those that the installed onnxruntime does not run."""


@dataclass(frozen=True, slots=True)
class Change:
    """One node that was rewritten.

    Attributes
    ----------
    where : str
        Its place, such as ``graph.node[2] 'argmax_0'``.
    before : str
        The version it was, such as ``ArgMax-13``.
    after : str
        The operator it is, such as ``ArgReduce``.
    """

    where: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.where}: {self.before} -> {DOMAIN}.{self.after}"


@dataclass(frozen=True, slots=True)
class Conversion:
    """A model after conversion, and what was changed.

    Attributes
    ----------
    model : onnx.ModelProto
        The converted model; the very one that was loaded or given if nothing was changed.
    changes : tuple of Change
        In the order of the nodes: the graph with its subgraphs, then the functions.

    Examples
    --------
    >>> import onnx
    >>> from extremum.onnxruntime import convert
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[n] x) => (float[n] y) { y = Abs(x) }'
    >>> print(convert(onnx.parser.parse_model(text)))
    not modified
    """

    model: onnx.ModelProto
    changes: tuple[Change, ...]

    @property
    def modified(self) -> bool:
        """Whether any node was rewritten."""
        return bool(self.changes)

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes)) or "not modified"


def convert(model: onnx.ModelProto | bytes | str | os.PathLike[str], nodes: Selection = "all") -> Conversion:
    """Rewrite ArgMax, ArgMin, Max, Min and Hardmax to custom operators that compute exactly what their version means.

    Nodes are rewritten in the graph, in subgraphs and in model-local functions; everything else stays as it is. Weights
    beside the file are neither needed nor read.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        The model, its serialised form, or the file that holds it. Not modified.
    nodes : str
        ``all``, or ``unsupported`` for those alone that the installed onnxruntime does not run. A node whose element
        type the model does not give away counts as unsupported.

    Returns
    -------
    Conversion
        The new model and the list of changes.

    Raises
    ------
    ModelError
        If it is no ONNX model.
    SpecError, AxisError, ElementTypeError
        If a node breaks the promise of its operator's version, as far as the model alone gives it away.
    DependencyError
        If ``nodes`` is ``unsupported`` and onnxruntime is missing.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import onnx
    >>> from extremum.onnxruntime import convert
    >>> text = '<ir_version: 8, opset_import: ["" : 11]> g (float[2, 3] x) => (float[2, 3] y) { y = Hardmax(x) }'
    >>> conversion = convert(onnx.parser.parse_model(text))
    >>> print(conversion)
    graph.node[0]: Hardmax-11 -> ai.extremum.OneHot
    >>> print(onnx.printer.to_text(conversion.model.graph.node[0]).strip())
    y = ai.extremum.OneHot <to_last: int = 1> (x)
    """
    if nodes not in get_args(Selection):
        raise ArgumentError(f"nodes is {nodes!r}", remedy="use 'all' or 'unsupported'")
    original = load(model, weights=False)
    typed = inferred(skeleton(original))
    converted = original
    if original is model:
        converted = onnx.ModelProto()
        converted.CopyFrom(original)
    functions = frozenset((nodes_of.canonical(each.domain), each.name) for each in original.functions)
    walk = _Walk(nodes_of.opsets(original.opset_import), functions, nodes)
    walk.graph(converted.graph, typed.graph, "graph", {})
    changes = walk.changes
    for index, function in enumerate(converted.functions):
        walk = _Walk(nodes_of.opsets(function.opset_import), functions, nodes)
        types = {value.name: declared(value.type) for value in function.value_info}
        walk.nodes(function.node, typed.functions[index].node, f"functions[{index}]", types)
        if walk.changes:
            _import(function)
        changes += walk.changes
    if not changes:
        return Conversion(original, ())
    _import(converted)
    return Conversion(converted, tuple(changes))


def _import(importer: onnx.ModelProto | onnx.FunctionProto) -> None:
    if DOMAIN not in {each.domain for each in importer.opset_import}:
        importer.opset_import.append(onnx.helper.make_opsetid(DOMAIN, 1))


@dataclass(slots=True)
class _Walk:
    """A walk through a graph or a function: what it imports, which functions it may call, what it has changed."""

    opsets: Mapping[str, int]
    functions: frozenset[tuple[str, str]]
    selection: Selection
    changes: list[Change] = field(default_factory=list)

    def graph(
        self, graph: onnx.GraphProto, typed: onnx.GraphProto, prefix: str, outer: Mapping[str, TensorType]
    ) -> None:
        self.nodes(graph.node, typed.node, prefix, {**outer, **known(typed)})

    def nodes(
        self,
        body: Sequence[onnx.NodeProto],
        typed: Sequence[onnx.NodeProto],
        prefix: str,
        types: Mapping[str, TensorType],
    ) -> None:
        for index, (node, twin) in enumerate(zip(body, typed, strict=True)):
            pairs = zip(nodes_of.subgraphs(node), nodes_of.subgraphs(twin), strict=True)
            for (name, graph), (_, typed_graph) in pairs:
                self.graph(graph, typed_graph, f"{prefix}.node[{index}].{name}", types)
            if (nodes_of.canonical(node.domain), node.op_type) not in self.functions:
                self._node(node, nodes_of.place(prefix, index, node), types)

    def _node(self, node: onnx.NodeProto, place: str, types: Mapping[str, TensorType]) -> None:
        row = nodes_of.version(node, self.opsets)
        if row is None:
            return
        opset = self.opsets[row.domain]
        inputs = [types.get(name, TensorType()) for name in node.input]
        try:
            _check(row, node, inputs)
        except ExtremumError as error:
            raise error.with_context(where=f"{place}, opset {opset}") from None
        element = next((tensor.element for tensor in inputs if tensor.element is not None), None)
        if self.selection == "unsupported" and element is not None and _runs(row.name, opset, element):
            return
        _rewrite(row, node)
        self.changes.append(Change(place, str(row), node.op_type))


def _check(row: OperatorVersion, node: onnx.NodeProto, inputs: Sequence[TensorType]) -> None:
    attributes = nodes_of.stated(node, {})
    for reference in node.attribute:
        if reference.name not in attributes:
            # Its value comes with the call of the function: any will do, but the version has to have the attribute.
            attribute = row.attribute(reference.name)
            attributes[reference.name] = attribute.default if attribute else None
            inputs = [TensorType(tensor.element) for tensor in inputs]
    nodes_of.resolve(row, attributes, list(node.input), inputs)


def _runs(name: str, opset: int, element: str) -> bool:
    from extremum.onnxruntime.support import refusal

    return refusal(name, opset, element) is None


def _rewrite(row: OperatorVersion, node: onnx.NodeProto) -> None:
    kept = [each for each in node.attribute if each.name != "consumed_inputs"]
    stated: list[tuple[str, str | int]] = []
    match row.family:
        case Family.ARGMAX | Family.ARGMIN:
            operator = "ArgReduce"
        case Family.HARDMAX:
            operator = "OneHot"
        case Family.MAXIMUM | Family.MINIMUM:
            operator = "Extremum"
    if row.family is not Family.HARDMAX:
        stated.append(("order", "min" if row.family in (Family.ARGMIN, Family.MINIMUM) else "max"))
    if row.coerced:
        stated.append(("to_last", 1))
    if row.input.maximum > 1 and row.broadcasting is Broadcasting.NONE:
        stated.append(("broadcast", 0))
    node.domain, node.op_type = DOMAIN, operator
    attributes = [onnx.helper.make_attribute(name, value) for name, value in stated] + kept
    del node.attribute[:]
    node.attribute.extend(attributes)
