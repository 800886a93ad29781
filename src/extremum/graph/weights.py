"""The large tensors of a graph, beside it.

Decides which tensors leave their model: those that are written out nowhere then, and that a runtime is handed as they
are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import onnx

from extremum.dtypes import ELEMENT_TYPES
from extremum.graph.functions import key
from extremum.graph.tensors import is_external

__all__ = ["LARGE", "copy_fields", "joined", "parted"]

LARGE = 4096
"""In bytes; inference reads small tensors, and so does onnxruntime before it is handed the others."""

_LOCATION = "weights"

_SIZES = {each.onnx_number: each.itemsize for each in ELEMENT_TYPES}


def parted(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, bytes]]:
    """Return a copy of a model that says of its large tensors that they are elsewhere, and those by name."""
    # onnxruntime is handed no tensor that it drops, and a function may not read what it is given.
    functions = {key(function) for function in model.functions}
    read = {name for node in model.graph.node if key(node) not in functions for name in node.input}
    names = Counter(each.name for each in model.graph.initializer)
    names.update(each.values.name for each in model.graph.sparse_initializer)
    copy, weights = onnx.ModelProto(), dict[str, bytes]()
    copy_fields(model, copy, but="graph")
    copy_fields(model.graph, copy.graph, but="initializer")
    for tensor in model.graph.initializer:
        content = _content(tensor) if tensor.name in read and names[tensor.name] == 1 else None
        if content is None:
            copy.graph.initializer.append(tensor)
            continue
        weights[tensor.name] = content
        bare = copy.graph.initializer.add(data_location=onnx.TensorProto.EXTERNAL)
        copy_fields(tensor, bare, but="raw_data")
        bare.external_data.add(key="location", value=_LOCATION)
    return copy, weights


def joined(model: onnx.ModelProto, weights: Mapping[str, bytes]) -> onnx.ModelProto:
    """Return a copy of a model with its large tensors in it again."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        if tensor.name in weights and is_external(tensor):
            tensor.raw_data = weights[tensor.name]
            tensor.ClearField("data_location")
            del tensor.external_data[:]
    return copy


def copy_fields(source: Any, target: Any, *, but: str) -> None:
    """Copy all fields of a protobuf message but one, and but remarks that are no UTF-8, which nobody can set."""
    for field, content in source.ListFields():
        if field.name == but or (field.type == field.TYPE_STRING and isinstance(content, bytes)):
            continue
        if field.is_repeated:
            getattr(target, field.name).extend(content)
        elif field.message_type:
            getattr(target, field.name).CopyFrom(content)
        else:
            setattr(target, field.name, content)


def _content(tensor: onnx.TensorProto) -> bytes | None:
    """Return what a large tensor holds, if it is as much as it says."""
    if is_external(tensor) or not tensor.HasField("raw_data") or min(tensor.dims, default=1) < 0:
        return None
    size = math.prod(tensor.dims) * _SIZES.get(tensor.data_type, 0)
    if size < LARGE:
        return None
    content = bytes(tensor.raw_data)
    return content if len(content) == size else None
