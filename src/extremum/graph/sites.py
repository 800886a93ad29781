"""The nodes of a model, each with what is known around it.

Decides the order of the walk (the graph, subgraphs before the node that holds them, then the model-local functions) and
what is known of a tensor at each node. Whether a node is right is asked by :mod:`extremum.backend.survey`, which stops
at the first that is not, and by :mod:`extremum.check`, which goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import onnx

from extremum.errors import ExtremumError
from extremum.graph import nodes
from extremum.graph.functions import callees_first, reached, typed_body
from extremum.graph.types import known
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType

__all__ = ["Site", "sites"]


@dataclass(frozen=True, slots=True)
class Site:
    """A node where it stands.

    Attributes
    ----------
    node : onnx.NodeProto
        The node.
    path : str
        Where it is, without its name: ``graph.node[2].then_branch.node[0]``.
    opsets : mapping of str to int
        The version of each domain that is imported there.
    types : mapping of str to TensorType
        What is known of the tensors there, the node's declared outputs among them.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.sites import sites
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (int64[1] y) { y = ArgMax <axis=1> (x) }'
    >>> (site,) = sites(onnx.parser.parse_model(text))
    >>> str(site.row), site.place, site.attributes, str(site.inputs[0])
    ('ArgMax-13', 'graph.node[0]', {'axis': 1}, 'float32[3]')
    """

    node: onnx.NodeProto
    path: str
    opsets: Mapping[str, int]
    types: Mapping[str, TensorType]

    @property
    def place(self) -> str:
        """Where the node is, with its name if it has one."""
        return f"{self.path} {self.node.name!r}" if self.node.name else self.path

    @property
    def where(self) -> str:
        """The place and the version that is imported there, as an error says it."""
        opset = self.opsets.get(nodes.canonical(self.node.domain))
        return f"{self.place}, opset {opset}" if opset else self.place

    @property
    def row(self) -> OperatorVersion | None:
        """The version in force, or None if the operator is none of this package's or its domain is not imported."""
        return nodes.version(self.node, self.opsets) if nodes.canonical(self.node.domain) in self.opsets else None

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that the node states itself, rather than leaving them to the call of its function."""
        return nodes.stated(self.node, {})

    @property
    def inputs(self) -> list[TensorType]:
        """What is known of each input.

        Where the values of some attributes come with the call of the function, what does not depend on them can be
        checked, shapes cannot: they are unknown then.
        """
        known = [self.types.get(name, TensorType()) for name in self.node.input]
        if len(self.attributes) < len(self.node.attribute):
            return [TensorType(tensor.element) for tensor in known]
        return known

    @property
    def given(self) -> str:
        """What the node states, as an error says it."""
        return nodes.given(self.attributes, self.node.input, self.inputs)

    def output(self) -> TensorType:
        """Return what follows of the output of a node of this package's.

        Raises
        ------
        SpecError, AxisError, ElementTypeError
            If the node breaks the promise of its version.
        """
        assert self.row is not None
        return nodes.resolve(self.row, self.attributes, list(self.node.input), self.inputs)[1]


def sites(model: onnx.ModelProto) -> Iterator[Site]:
    """Yield the nodes of the graph, of its subgraphs and of the model-local functions.

    The types in a function are those of its calls; its nodes come once for each different set of them.

    Parameters
    ----------
    model : onnx.ModelProto
        With the value infos of shape inference in it; the weights are not needed.

    Yields
    ------
    Site
        In the model's order, subgraphs before the node that holds them.
    """
    calls: dict[tuple[str, str], set[tuple[TensorType, ...]]] = {}
    paths = {(each.domain, each.name): f"functions[{index}]" for index, each in enumerate(model.functions)}
    for site in _graph(model.graph, "graph", nodes.opsets(model.opset_import), {}):
        _note_call(site, calls)
        yield site
    functions = callees_first(model.functions)
    callees = reached(functions)
    for function in reversed(functions):
        key = function.domain, function.name
        # A function that is never called is looked at with nothing known.
        for types in sorted(calls.get(key, {()}), key=str):
            body = typed_body(function, types, callees[key])
            for site in _graph(body.graph, paths[key], nodes.opsets(function.opset_import), {}):
                _note_call(site, calls)
                yield site


def _note_call(site: Site, calls: MutableMapping[tuple[str, str], set[tuple[TensorType, ...]]]) -> None:
    types = tuple(site.types.get(name, TensorType()) for name in site.node.input)
    calls.setdefault((site.node.domain, site.node.op_type), set()).add(types)


def _graph(
    graph: onnx.GraphProto, prefix: str, opsets: Mapping[str, int], outer: Mapping[str, TensorType]
) -> Iterator[Site]:
    yield from _nodes(graph.node, prefix, opsets, {**outer, **known(graph)})


def _nodes(
    body: Iterable[onnx.NodeProto], prefix: str, opsets: Mapping[str, int], types: MutableMapping[str, TensorType]
) -> Iterator[Site]:
    for index, node in enumerate(body):
        path = f"{prefix}.node[{index}]"
        for name, graph in nodes.subgraphs(node):
            yield from _graph(graph, f"{path}.{name}", opsets, types)
        site = Site(node, path, opsets, types)
        yield site
        if site.row is not None and len(node.output) == 1:
            try:
                types[node.output[0]] = site.output()
            except ExtremumError:
                # Whoever asked has been told; what the model declares stands.
                continue
