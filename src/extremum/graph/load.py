"""A model, from a file, bytes or a ModelProto.

Decides what counts as an ONNX model, how weights kept beside it are found, and that a negative size is an unknown one:
exporters write -1 for a dynamic dimension, and runtimes take it so. What is in the graph is
:mod:`extremum.graph.sites`'s.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from extremum.errors import ModelError
from extremum.graph import nodes
from extremum.graph.external import read_external
from extremum.graph.files import read_message
from extremum.graph.kinds import innermost
from extremum.graph.limits import require_bounded
from extremum.graph.tensors import dense
from extremum.graph.text import require_text

__all__ = ["load", "with_dense"]


def load(model: onnx.ModelProto | bytes | str | os.PathLike[str], *, weights: bool = True) -> onnx.ModelProto:
    """Return a model with its weights, in which no size is negative; a ModelProto that has such sizes is copied."""
    folder = None
    if isinstance(model, onnx.ModelProto):
        proto = _with_graph(model, "the ModelProto")
        if any(True for _ in _negative_sizes(proto)):
            proto = onnx.ModelProto()
            proto.CopyFrom(model)
    elif isinstance(model, bytes):
        proto = _parse(model, "the bytes")
    else:
        path = Path(model)
        proto = _parse(read_message(path), repr(str(path)))
        folder = path.parent
    for size in _negative_sizes(proto):
        size.ClearField("dim_value")
    if weights:
        read_external(proto, folder)
    return proto


def with_dense(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model without sparse initializers: dense ones stand for them; the model itself if it has none."""
    if not any(graph.sparse_initializer for graph in nodes.graphs(model.graph)):
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for graph in nodes.graphs(copy.graph):
        graph.initializer.extend(map(dense, graph.sparse_initializer))
        del graph.sparse_initializer[:]
    return copy


def _negative_sizes(model: onnx.ModelProto) -> Iterator[onnx.TensorShapeProto.Dimension]:
    """Yield the sizes below zero of all types that a model declares."""
    for declared in _types(model):
        tensor = innermost(declared)
        if tensor is not None:
            yield from (size for size in tensor.shape.dim if size.dim_value < 0)


def _types(model: onnx.ModelProto) -> Iterator[onnx.TypeProto]:
    graphs, bodies = [model.graph], [function.node for function in model.functions]
    for function in model.functions:
        yield from (value.type for value in function.value_info)
    while graphs or bodies:
        if graphs:
            graph = graphs.pop()
            bodies.append(graph.node)
            yield from (value.type for value in (*graph.input, *graph.output, *graph.value_info))
        for node in bodies.pop():
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    graphs.append(attribute.g)
                if attribute.HasField("tp"):
                    yield attribute.tp


def _parse(data: bytes, source: str) -> onnx.ModelProto:
    try:
        return _with_graph(onnx.ModelProto.FromString(data), source)
    except DecodeError:
        raise _no_model(source) from None


def _with_graph(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    if not proto.HasField("graph"):
        raise _no_model(source)
    require_bounded(proto)
    require_text(proto)
    return proto


def _no_model(source: str) -> ModelError:
    return ModelError(
        f"{source} hold{'' if source == 'the bytes' else 's'} no ONNX model",
        remedy="give a file written by onnx.save, complete and unchanged",
    )
