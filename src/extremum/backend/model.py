"""A model, from a file, bytes or a ModelProto, and its skeleton without the weights.

Decides what counts as an ONNX model and how weights kept beside it are found. What is in the graph is
:mod:`extremum.backend.survey`'s.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from extremum.errors import ModelError

__all__ = ["inferred", "load", "skeleton"]

# In elements. Shape inference reads small constants (a shape, an axis) and needs no others.
_LARGEST_CONSTANT = 256


def load(model: onnx.ModelProto | bytes | str | os.PathLike[str], *, weights: bool = True) -> onnx.ModelProto:
    """Return a model with its weights.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        A model, its serialised form, or the file that holds it; weights stored beside the file are read too.
    weights : bool
        Whether they are; without them the model names the files that hold them.

    Returns
    -------
    onnx.ModelProto
        The model that was given, or the one that was read.

    Raises
    ------
    ModelError
        If the bytes are no ONNX model, or its external data cannot be read.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> from extremum.backend.model import load
    >>> load(b"not a model")
    Traceback (most recent call last):
        ...
    extremum.errors.ModelError: the bytes hold no ONNX model
      help  give a file written by onnx.save, complete and unchanged
    """
    if isinstance(model, onnx.ModelProto):
        return _with_graph(model, "the ModelProto")
    if isinstance(model, bytes):
        return _parse(model, "the bytes")
    path = Path(model)
    proto = _parse(path.read_bytes(), repr(str(path)))
    if not weights:
        return proto
    try:
        onnx.load_external_data_for_model(proto, str(path.parent))
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise ModelError(
            f"the external data of {str(path)!r} cannot be read",
            given=str(error).partition("\n")[0],
            remedy="keep the data files in the folder of the model",
        ) from None
    return proto


def _parse(data: bytes, source: str) -> onnx.ModelProto:
    try:
        return _with_graph(onnx.ModelProto.FromString(data), source)
    except DecodeError:
        raise _no_model(source) from None


def _with_graph(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    if not proto.HasField("graph"):
        raise _no_model(source)
    return proto


def _no_model(source: str) -> ModelError:
    return ModelError(
        f"{source} hold{'' if source == 'the bytes' else 's'} no ONNX model",
        remedy="give a file written by onnx.save, complete and unchanged",
    )


def skeleton(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy of a model in which large initializers, and those that are not loaded, are inputs of their type.

    Checking and shape inference serialise the model, which protobuf does up to 2 GB only; and they need no weights.

    Parameters
    ----------
    model : onnx.ModelProto
        Left as it is.

    Returns
    -------
    onnx.ModelProto
        The copy.

    Examples
    --------
    >>> import numpy as np
    >>> import onnx
    >>> from extremum.backend.model import skeleton
    >>> weight = onnx.numpy_helper.from_array(np.zeros(1000), "w")
    >>> graph = onnx.helper.make_graph([], "g", [], [], [weight])
    >>> [each.name for each in skeleton(onnx.helper.make_model(graph)).graph.input]
    ['w']
    """
    copy, source = onnx.ModelProto(), model.graph
    for field, content in model.ListFields():
        if field.name == "graph":
            continue
        if field.is_repeated:
            getattr(copy, field.name).extend(content)
        elif field.message_type:
            getattr(copy, field.name).CopyFrom(content)
        else:
            setattr(copy, field.name, content)
    graph = copy.graph
    graph.name = source.name
    graph.node.extend(source.node)
    graph.input.extend(source.input)
    graph.output.extend(source.output)
    graph.value_info.extend(source.value_info)
    graph.sparse_initializer.extend(source.sparse_initializer)
    inputs = {each.name for each in source.input}
    for tensor in source.initializer:
        # Not the bytes: protobuf cannot even count those of a tensor above 2 GB.
        if math.prod(tensor.dims) <= _LARGEST_CONSTANT and not onnx.external_data_helper.uses_external_data(tensor):
            graph.initializer.append(tensor)
        elif tensor.name not in inputs:
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return copy


def inferred(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy of a model with the types that onnx can infer, or the model itself where inference fails.

    Parameters
    ----------
    model : onnx.ModelProto
        Left as it is; a skeleton, for inference serialises it.

    Returns
    -------
    onnx.ModelProto
        With value infos for what lies between inputs and outputs.

    Examples
    --------
    >>> import onnx
    >>> from extremum.backend.model import inferred
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (int64[1] y) { z = Abs(x) y = ArgMax(z) }'
    >>> [each.name for each in inferred(onnx.parser.parse_model(text)).graph.value_info]
    ['z']
    """
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:
        # What is wrong is said better by whoever looks at the nodes.
        return model
