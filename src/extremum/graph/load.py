"""A model, from a file, bytes or a ModelProto.

Decides what counts as an ONNX model and how weights kept beside it are found. What is in the graph is
:mod:`extremum.graph.sites`'s.
"""

from __future__ import annotations

import os
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from extremum.errors import ModelError
from extremum.graph import nodes
from extremum.graph.external import read_external
from extremum.graph.files import read_message
from extremum.graph.limits import require_bounded
from extremum.graph.tensors import dense
from extremum.graph.text import require_text

__all__ = ["load", "with_dense"]


def load(model: onnx.ModelProto | bytes | str | os.PathLike[str], *, weights: bool = True) -> onnx.ModelProto:
    """Return a model with its weights."""
    folder = None
    if isinstance(model, onnx.ModelProto):
        proto = _with_graph(model, "the ModelProto")
    elif isinstance(model, bytes):
        proto = _parse(model, "the bytes")
    else:
        path = Path(model)
        proto = _parse(read_message(path), repr(str(path)))
        folder = path.parent
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
