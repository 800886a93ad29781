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
from extremum.graph.files import read_message
from extremum.graph.limits import require_bounded

__all__ = ["load"]


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
        If the file cannot be read; a FileError if it is no regular file, or larger than a model can be.

    Examples
    --------
    >>> from extremum.graph.load import load
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
    proto = _parse(read_message(path), repr(str(path)))
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
    require_bounded(proto)
    return proto


def _no_model(source: str) -> ModelError:
    return ModelError(
        f"{source} hold{'' if source == 'the bytes' else 's'} no ONNX model",
        remedy="give a file written by onnx.save, complete and unchanged",
    )
