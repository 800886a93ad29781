"""Models whose nodes are converted to the custom operators.

Nodes are converted in the graph, in subgraphs and in functions. Some attributes carry the meaning of a version:
``to_last`` for the 2-D view of Hardmax before 13, ``broadcast`` for Max and Min before 8, ``identity`` for ReduceMax
and ReduceMin 12. All other attributes keep their names, so that a node of a function can refer to the function's
attributes.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, get_args

import onnx
import onnx.inliner

from extremum.errors import ArgumentError, SpecError, within
from extremum.graph.calls import Key, callees_first, key_of
from extremum.graph.limits import with_limited_k
from extremum.graph.load import load
from extremum.graph.one_node import one_node
from extremum.graph.operands import operand_names, resolve_node
from extremum.graph.sites import Site, require_harmless, sites
from extremum.graph.walk import Importer, all_nodes, node_path, nodes_with_paths, subgraphs_of, with_name
from extremum.onnxruntime.operators import ATTRIBUTES, DOMAIN, INTS, KINDS, OPERATORS
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType, element_of

Which = Literal["all", "unsupported"]
"""Which nodes are converted: all of the family, or those that the installed onnxruntime does not run."""


@dataclass(frozen=True, slots=True)
class NodeConversion:
    """One converted node: its place, its version before, and its operator now.

    >>> from extremum.onnxruntime import NodeConversion
    >>> print(NodeConversion("graph.node[2] 'argmax_0'", before="ArgMax-13", after="ArgReduce"))
    graph.node[2] 'argmax_0': ArgMax-13 -> ai.extremum.ArgReduce
    """

    where: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.where}: {self.before} -> {DOMAIN}.{self.after}"


@dataclass(frozen=True, slots=True)
class Conversion:
    """A converted model, and its changes in the order of the nodes: the graph with its subgraphs, then the functions.

    The model is an onnx.ModelProto. If nothing changed, it is the given or loaded model itself.

    >>> import onnx
    >>> from extremum.onnxruntime import convert
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[n] x) => (float[n] y) { y = Abs(x) }'
    >>> print(convert(onnx.parser.parse_model(text)))
    not modified
    """

    model: onnx.ModelProto
    changes: tuple[NodeConversion, ...]

    @property
    def modified(self) -> bool:
        """Whether a node was converted."""
        return bool(self.changes)

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes)) or "not modified"


def convert(
    model: onnx.ModelProto | bytes | str | os.PathLike[str], nodes: Which = "all", *, limit_k: bool = False
) -> Conversion:
    """Convert the nodes of the family to custom operators that compute exactly what their version means.

    Nodes are converted in the graph, in subgraphs and in model-local functions; everything else stays as it is. Weights
    beside the file are neither needed nor read.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        The model, its serialised form, or the file that holds it. Not modified.
    nodes : str
        ``all``, or ``unsupported`` for nodes that the installed onnxruntime does not run. A node of an unknown element
        type counts as unsupported. A node may have an element type that its version does not take, such as bool.
    limit_k : bool
        Whether a TopK whose k may be above the size of its axis takes all elements then, instead of failing.

    Raises
    ------
    ModelError
        If it is not an ONNX model.
    SpecError, AxisError, ElementTypeError
        If a node breaks the promise of its operator's version, as far as the model alone shows it; or if a node of
        ``ai.extremum`` has an attribute that its operator does not have.
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
    original = load(model)
    source = with_limited_k(original) if limit_k else original
    return convert_sites(source, tuple(sites(source)), nodes, in_place=source is not model)


def convert_sites(
    model: onnx.ModelProto, sites: Sequence[Site], nodes: Which = "all", *, in_place: bool = False
) -> Conversion:
    """Return the conversion of a model, given its nodes."""
    _require_attributes(sites)
    require_harmless(sites)
    schemas = _schemas(sites, nodes)
    if not schemas:
        return Conversion(model, ())
    result = model if in_place else deepcopy(model)
    changes = []
    for importer, path, node in all_nodes(result):
        if path in schemas:
            _name_outputs(node, result)
            _rewrite(schemas[path], node)
            changes.append(NodeConversion(with_name(path, node), str(schemas[path]), node.op_type))
            _import(importer)
    _import(result)
    return Conversion(_declare_calls(result, sites, schemas), tuple(changes))


def _require_attributes(sites: Iterable[Site]) -> None:
    """Refuse a node of the domain with an attribute that its operator lacks, or that is of another kind."""
    # ONNX Runtime passes all attributes to a custom operator, which cannot see one that it does not ask for.
    for site in sites:
        node = site.node
        # A function of the model takes precedence over an operator of its name.
        if node.domain != DOMAIN or node.op_type not in ATTRIBUTES or site.is_call:
            continue
        version = site.opsets.get(DOMAIN, 1)
        kinds = ATTRIBUTES[node.op_type]
        if version != 1:
            raise SpecError(
                f"{DOMAIN} has version 1, not {version}", where=site.place, remedy="import version 1"
            )
        for attribute in node.attribute:
            if attribute.name not in kinds:
                raise SpecError(
                    f"{node.op_type}: there is no attribute {attribute.name!r}",
                    where=site.place,
                    remedy=f"the attributes are {', '.join(kinds)}",
                )
            # A reference to an attribute of the function has no value, and may have no type.
            kind = kinds[attribute.name]
            refers = bool(attribute.ref_attr_name)
            fits = attribute.type == kind or (refers and not attribute.type)
            if not fits or (kind == INTS and not refers and not attribute.ints):
                raise SpecError(
                    f"{node.op_type}: attribute {attribute.name!r} is not {KINDS[kind]}",
                    where=site.place,
                    given=f"{attribute.name} of kind {onnx.AttributeProto.AttributeType.Name(attribute.type)}",
                    remedy=f"give it as {KINDS[kind]}",
                )


def _schemas(sites: Iterable[Site], selection: Which) -> dict[str, OperatorVersion]:
    """Return the versions of the nodes to convert, by path."""
    schemas: dict[str, OperatorVersion] = {}
    for site in sites:
        if site.schema is None:
            continue
        with within(site.where):
            # The version has to have every attribute, even one whose value comes with the call of the function.
            strange = {
                each.name: None for each in site.node.attribute if site.schema.attribute(each.name) is None
            }
            attributes = strange | site.attribute_values
            # The custom operators take every element type, and exporters write some that a version forbids.
            resolve_node(site.schema, attributes, site.names, site.inputs, any_element=True)
        if selection == "unsupported":
            # The import raises if onnxruntime is missing or too old.
            import_module("extremum.onnxruntime.library")
            element = next((tensor.element for tensor in site.operands if tensor.element is not None), None)
            if element is not None and _has_kernel(site.schema, site.opsets[site.schema.domain], element):
                continue
        schemas[site.path] = site.schema
    return schemas


@functools.cache
def _has_kernel(schema: OperatorVersion, opset: int, element: str) -> bool:
    from extremum.onnxruntime.library import open_session, session_options

    try:
        open_session(one_node(schema, opset, element).SerializeToString(), session_options())
    except Exception:
        # onnxruntime's exceptions have no public class.
        return False
    return True


def _import(importer: Importer) -> None:
    if DOMAIN not in {each.domain for each in importer.opset_import}:
        importer.opset_import.append(onnx.helper.make_opsetid(DOMAIN, 1))


def _name_outputs(node: onnx.NodeProto, model: onnx.ModelProto) -> None:
    """Name the outputs that nothing reads and that an exporter left without a name: the operators need all."""
    if all(node.output):
        return
    taken = {name for _, _, each in all_nodes(model) for name in (*each.input, *each.output)}
    for at, name in enumerate(node.output):
        other = f"{next(filter(None, node.output), node.op_type)}/output/{at}"
        while other in taken:
            other += "/"
        node.output[at] = name or other


def _rewrite(schema: OperatorVersion, node: onnx.NodeProto) -> None:
    operator, order = OPERATORS[schema.family]
    extra: dict[str, str | int] = {"order": order} if order else {}
    if schema.coerced:
        extra["to_last"] = 1
    if schema.input.maximum > 1 and not schema.broadcasts:
        extra["broadcast"] = 0
    if schema.every_axis and not schema.identity:
        extra["identity"] = 0
    # ONNX Runtime does not let a custom operator tell an empty list from an attribute of another kind.
    rest = [
        each
        for each in node.attribute
        if each.name != "consumed_inputs" and (each.type != INTS or each.ints or each.ref_attr_name)
    ]
    # An input with an empty name has no type, and the types choose a custom operator's kernel.
    present = operand_names(node, schema)
    node.domain = DOMAIN
    node.op_type = operator
    del node.attribute[:], node.input[:]
    node.attribute.extend(onnx.helper.make_attribute(name, value) for name, value in extra.items())
    node.attribute.extend(rest)
    node.input.extend(present)


# This handles calls of functions that hold custom operators, or call such a function. ONNX Runtime infers the types in
# a function without the types of custom operators, so the graph with the call declares the types of its outputs. A
# function cannot declare types, so a function that another function calls is inlined there.
def _declare_calls(
    model: onnx.ModelProto, sites: Iterable[Site], node_paths: Collection[str]
) -> onnx.ModelProto:
    """Return the model with declared types for calls of functions that hold the converted nodes."""
    paths = {path.partition(".")[0] for path in node_paths}
    holders = {key_of(each) for index, each in enumerate(model.functions) if f"functions[{index}]" in paths}
    for function in callees_first(model.functions):
        if not holders.isdisjoint(_calls(function)):
            holders.add(key_of(function))
    if not holders:
        return model
    calls = {site.path: site.types for site in sites if site.is_call and key_of(site.node) in holders}
    _declare(model.graph, "graph", calls)
    inner = {name for function in model.functions for name in _calls(function) if name in holders}
    if inner:
        for function in model.functions:
            if key_of(function) in holders:
                _import(function)
        # A function of another version than the model is not inlined: ONNX Runtime then reports an unknown type.
        with contextlib.suppress(RuntimeError):
            return onnx.inliner.inline_selected_functions(
                model, [(domain, name) for domain, name, _ in sorted(inner)]
            )
    return model


def _calls(function: onnx.FunctionProto) -> Iterator[Key]:
    return (key_of(node) for _, node in nodes_with_paths(function.node, ""))


def _declare(graph: onnx.GraphProto, prefix: str, calls: Mapping[str, Mapping[str, TensorType]]) -> None:
    """Declare the outputs of calls in a graph and its subgraphs, without shapes."""
    # Some exporters state no type of a graph's output.
    untyped = {each.name: each for each in graph.output if each.type.WhichOneof("value") is None}
    names = {each.name for each in (*graph.input, *graph.output, *graph.value_info)} - untyped.keys()
    for index, node in enumerate(graph.node):
        for name, inner in subgraphs_of(node):
            _declare(inner, node_path(prefix, index, name), calls)
        types = calls.get(node_path(prefix, index), {})
        for name in node.output:
            if name in types and name not in names and (element := types[name].element):
                value = onnx.helper.make_tensor_value_info(name, element_of(element).onnx_number, None)
                if name in untyped:
                    untyped[name].CopyFrom(value)
                else:
                    graph.value_info.append(value)
