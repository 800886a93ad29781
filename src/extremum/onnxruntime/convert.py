"""Rewriting the nodes of the family to the operators of ``ai.extremum``, wherever they stand in a model.

Decides which attributes carry the meaning of a version over: ``to_last`` for the 2-D view of Hardmax before 13,
``broadcast`` for Max and Min before 8, ``identity`` for ReduceMax and ReduceMin 12. All other attributes keep their
names, so that a node of a function may go on referring to the function's. What a version promises is
:mod:`extremum.spec`'s, what the operators do the library's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, get_args

import onnx

from extremum import runtimes
from extremum.errors import ArgumentError, ExtremumError
from extremum.graph import nodes as nodes_of
from extremum.graph.load import load
from extremum.graph.nodes import operand_names
from extremum.graph.sites import Site, require_harmless, sites
from extremum.onnxruntime.calls import told
from extremum.onnxruntime.operators import DOMAIN, require
from extremum.runtimes.question import refusal
from extremum.spec import Broadcasting, Family, OperatorVersion

__all__ = ["DOMAIN", "Change", "Conversion", "Which", "convert", "rewritten"]

Which = Literal["all", "unsupported"]
"""Which nodes are rewritten: all of the family, or those that the installed onnxruntime does not run."""

_OPERATORS: Mapping[Family, str] = {
    Family.ARGMAX: "ArgReduce",
    Family.ARGMIN: "ArgReduce",
    Family.HARDMAX: "OneHot",
    Family.MAXIMUM: "Extremum",
    Family.MINIMUM: "Extremum",
    Family.LARGEST: "Reduce",
    Family.SMALLEST: "Reduce",
}


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

    Examples
    --------
    >>> from extremum.onnxruntime import Change
    >>> print(Change("graph.node[2] 'argmax_0'", before="ArgMax-13", after="ArgReduce"))
    graph.node[2] 'argmax_0': ArgMax-13 -> ai.extremum.ArgReduce
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


def convert(model: onnx.ModelProto | bytes | str | os.PathLike[str], nodes: Which = "all") -> Conversion:
    """Rewrite the nodes of the family to custom operators that compute exactly what their version means.

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
        If a node breaks the promise of its operator's version, as far as the model alone gives it away; or if a node
        of ``ai.extremum`` has an attribute that its operator does not have.
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
    >>> node = conversion.model.graph.node[0]
    >>> node.domain, node.op_type, [(each.name, each.i) for each in node.attribute]
    ('ai.extremum', 'OneHot', [('to_last', 1)])
    """
    if nodes not in get_args(Which):
        raise ArgumentError(f"nodes is {nodes!r}", remedy="use 'all' or 'unsupported'")
    original = load(model, weights=False)
    return rewritten(original, tuple(sites(original)), nodes, is_ours=original is not model)


def rewritten(
    model: onnx.ModelProto, sites: Sequence[Site], nodes: Which = "all", *, is_ours: bool = False
) -> Conversion:
    """Return the conversion of a model that was read, whose nodes these are; one that is ours is modified."""
    require(sites)
    require_harmless(sites)
    schemas = _selected(sites, nodes)
    if not schemas:
        return Conversion(model, ())
    converted = model
    if not is_ours:
        converted = onnx.ModelProto()
        converted.CopyFrom(model)
    changes = []
    for importer, path, node in nodes_of.everywhere(converted):
        if path in schemas:
            _rewrite(schemas[path], node)
            changes.append(Change(nodes_of.named(path, node), str(schemas[path]), node.op_type))
            _import(importer)
    _import(converted)
    return Conversion(told(converted, sites, schemas), tuple(changes))


def _selected(sites: Iterable[Site], selection: Which) -> dict[str, OperatorVersion]:
    """Return the versions of the nodes that are rewritten, by path."""
    schemas: dict[str, OperatorVersion] = {}
    for site in sites:
        if site.schema is None:
            continue
        try:
            _check(site, site.schema)
        except ExtremumError as error:
            raise error.with_context(where=site.where) from None
        if selection == "all" or not _runs(site, site.schema):
            schemas[site.path] = site.schema
    return schemas


def _import(importer: nodes_of.Importer) -> None:
    if DOMAIN not in {each.domain for each in importer.opset_import}:
        importer.opset_import.append(onnx.helper.make_opsetid(DOMAIN, 1))


def _check(site: Site, schema: OperatorVersion) -> None:
    attributes, inputs = site.attributes, site.inputs
    for reference in site.node.attribute:
        if reference.name not in attributes:
            # Its value comes with the call of the function: any will do, but the version has to have the attribute.
            attribute = schema.attribute(reference.name)
            if attribute is None:
                attributes[reference.name] = None
            elif attribute.default is not None:
                attributes[reference.name] = attribute.default
    nodes_of.resolve(schema, attributes, site.names, inputs)


def _runs(site: Site, schema: OperatorVersion) -> bool:
    # Whether it is there and new enough.
    import_module("extremum.onnxruntime.installed")
    element = next((tensor.element for tensor in site.operands if tensor.element is not None), None)
    return (
        element is not None
        and refusal(runtimes.find("onnxruntime"), schema, site.opsets[schema.domain], element) is None
    )


def _rewrite(schema: OperatorVersion, node: onnx.NodeProto) -> None:
    kept = [each for each in node.attribute if each.name != "consumed_inputs" and not _is_empty(each)]
    stated: list[tuple[str, str | int]] = []
    if schema.family is not Family.HARDMAX:
        smallest = schema.family in (Family.ARGMIN, Family.MINIMUM, Family.SMALLEST)
        stated.append(("order", "min" if smallest else "max"))
    if schema.coerced:
        stated.append(("to_last", 1))
    if schema.input.maximum > 1 and schema.broadcasting is Broadcasting.NONE:
        stated.append(("broadcast", 0))
    if schema.every_axis and not schema.identity:
        stated.append(("identity", 0))
    node.domain, node.op_type = DOMAIN, _OPERATORS[schema.family]
    attributes = [onnx.helper.make_attribute(name, value) for name, value in stated] + kept
    del node.attribute[:]
    node.attribute.extend(attributes)
    # An input that is left out by an empty name has no type, which custom operators are chosen by.
    present = operand_names(node, schema)
    del node.input[:]
    node.input.extend(present)


def _is_empty(attribute: onnx.AttributeProto) -> bool:
    """Return whether an attribute is an empty list: ONNX Runtime gives a custom operator the same for other kinds."""
    return attribute.type == onnx.AttributeProto.INTS and not attribute.ints and not attribute.ref_attr_name
