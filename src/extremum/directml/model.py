"""An ONNX model, read for the nodes that pick the largest or smallest.

Decides which nodes are looked at (in the graph, its subgraphs and the functions it calls) and what is known of their
tensors. What a node becomes is :mod:`extremum.directml.lowering`'s. The one module here that needs the onnx package.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import onnx
from numpy.typing import NDArray

from extremum import validate
from extremum.directml.tensor import LARGEST
from extremum.errors import ArgumentError, ExtremumError
from extremum.graph import nodes
from extremum.graph.inference import is_made_up
from extremum.graph.inputs import name_dimensions
from extremum.graph.load import load
from extremum.graph.sites import Site, inlined
from extremum.graph.types import array, skeleton
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType
from extremum.validate import Attributes

__all__ = ["Node", "SizedModel"]


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the family that keeps the promise of its version."""

    place: str
    schema: OperatorVersion
    # The values of all attributes.
    values: Attributes
    # Name and type of each input.
    inputs: tuple[tuple[str, TensorType], ...]
    # Name and type of the output.
    output: tuple[str, TensorType]


class SizedModel:
    """A model with a size for each symbolic dimension that was given one."""

    def __init__(self, model: onnx.ModelProto | bytes | str | os.PathLike[str], sizes: Mapping[str, int]) -> None:
        loaded = load(model)
        self._weights = loaded.graph
        self._model = skeleton(loaded)
        name_dimensions(self._model.graph)
        _fix(self._model.graph, sizes)

    def nodes(self) -> Iterator[Node | ExtremumError]:
        """Yield each node of the family in the model's order, or what is wrong with it and where."""
        for site in inlined(self._model):
            if nodes.is_of_family(site.node) and "" in site.opsets:
                try:
                    yield _node(site)
                except ExtremumError as error:
                    yield error.with_context(where=site.place)

    def constants(self, names: Collection[str]) -> dict[str, NDArray[Any]]:
        """Return the tensors with a fixed value that are called one of ``names``."""
        return {name: array(tensor) for name, tensor in _fixed(self._weights) if name in names}


def _node(site: Site) -> Node:
    schema, node = site.schema, site.node
    assert schema is not None
    inputs = [site.types.get(name, TensorType()) for name in site.names]
    values, output = nodes.resolve(schema, site.attributes, site.names, inputs)
    validate.output_count(schema, len(node.output))
    # What comes as an input in the place of an attribute is among the values.
    named = zip(site.names[: schema.input.maximum], map(_without_made_up, inputs), strict=False)
    return Node(site.place, schema, values, tuple(named), (node.output[0], output))


def _without_made_up(tensor: TensorType) -> TensorType:
    """Return a type with nothing known of a size that inference gave a name: nobody can set it."""
    if tensor.shape is None:
        return tensor
    shape = (None if isinstance(size, str) and is_made_up(size) else size for size in tensor.shape)
    return TensorType(tensor.element, tuple(shape))


def _fixed(graph: onnx.GraphProto) -> Iterable[tuple[str, onnx.TensorProto]]:
    yield from ((tensor.name, tensor) for tensor in graph.initializer)
    for node in graph.node:
        if node.op_type == "Constant" and node.output:
            yield from ((node.output[0], attribute.t) for attribute in node.attribute if attribute.name == "value")


def _fix(graph: onnx.GraphProto, sizes: Mapping[str, int]) -> None:
    """Put sizes in the place of symbols."""
    dimensions = [
        dimension
        for value in (*graph.input, *graph.output, *graph.value_info)
        for dimension in value.type.tensor_type.shape.dim
        if dimension.dim_param
    ]
    known = dict.fromkeys(dimension.dim_param for dimension in dimensions)
    for name in sizes:
        if name not in known:
            remedy = f"its symbolic dimensions are: {', '.join(known) or 'none'}"
            raise ArgumentError(f"the model has no dimension {name!r}", remedy=remedy)
        if not (isinstance(sizes[name], Integral) and 0 <= sizes[name] <= LARGEST):
            raise ArgumentError(f"the size of dimension {name!r} is not a number from 0 to {LARGEST}")
    for dimension in dimensions:
        if dimension.dim_param in sizes:
            dimension.dim_value = sizes[dimension.dim_param]
